package encode_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// All tests of this package compare Append with encoding/json, so none of them has expectations of its own about
// JSON.

// verdict is the result of a comparison without a difference.
type verdict int

const (
	same     verdict = iota // both wrote the same bytes
	refused                 // neither wrote anything
	declined                // encoding/json wrote something, Append declined
)

// reference returns the output of encoding/json for v, without the final newline of json.Encoder. A panic in a user's
// method is returned as an error.
func reference(v any) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

const prefix = `{"before":1}<&é,`

// newDst returns a dst with the prefix and room for spare nonzero bytes, which reveal a reader of stale bytes.
func newDst(spare int) []byte {
	dst := bytes.Repeat([]byte{'~'}, len(prefix)+spare)
	copy(dst, prefix)
	return dst[:len(prefix)]
}

// attempt calls Append and checks its promises about dst. panicked is the value of a panic in Append.
func attempt(dst []byte, v any) (got []byte, ok bool, panicked any, problem error) {
	before := bytes.Clone(dst)
	var out []byte
	func() {
		defer func() { panicked = recover() }()
		out, ok = encode.Append(dst, v)
	}()
	switch {
	case !bytes.Equal(dst, before):
		return nil, ok, panicked, fmt.Errorf("dst[:len(dst)] was changed from %q to %q", before, dst)
	case panicked != nil:
		return nil, false, panicked, nil
	case !ok && (len(out) != len(dst) || cap(out) != cap(dst) || (out == nil) != (dst == nil) || cap(dst) > 0 && &out[:1][0] != &dst[:1][0]):
		return nil, false, nil, fmt.Errorf("dst was not returned as it was: %q, len %d, cap %d", out, len(out), cap(out))
	case ok && !bytes.HasPrefix(out, before):
		return nil, true, nil, fmt.Errorf("the result does not begin with dst: %q", out)
	case !ok:
		return nil, false, nil, nil
	}
	return out[len(dst):], true, nil, nil
}

// compare encodes v twice with Append and once with encoding/json. The error names the rule that Append broke.
func compare(v any) (verdict, error) {
	want, wantErr := reference(v)
	result := same
	for _, spare := range []int{0, len(want) + 512} {
		got, ok, panicked, problem := attempt(newDst(spare), v)
		switch {
		case problem != nil:
			return 0, problem
		case wantErr != nil && ok:
			return 0, fmt.Errorf("encoding/json fails with %w, but Append wrote %s", wantErr, clip(got, 0))
		case wantErr != nil:
			result = refused
		case panicked != nil:
			return 0, fmt.Errorf("encoding/json writes %s, but Append panicked: %v", clip(want, 0), panicked)
		case !ok:
			result = declined
		case result == declined:
			return 0, errors.New("left to encoding/json only once")
		case !bytes.Equal(got, want):
			at := firstDifference(got, want)
			return 0, fmt.Errorf("at byte %d\nencoding/json: %s\nAppend:        %s", at, clip(want, at), clip(got, at))
		}
	}
	return result, nil
}

// check fails the test if Append breaks a rule for v.
func check(t testing.TB, v any) verdict {
	t.Helper()
	result, err := compare(v)
	if err != nil {
		require.NoErrorf(t, err, "for a %T", v)
	}
	return result
}

// checkWritten is like check, but Append may decline only for a reason that mayDecline knows.
func checkWritten(t testing.TB, v any) {
	t.Helper()
	if check(t, v) == declined && !mayDecline(reflect.ValueOf(v)) {
		want, _ := reference(v)
		require.FailNowf(t, "left to encoding/json", "a %T: %s", v, clip(want, 0))
	}
}

// mayDecline reports whether v has a part that Append may leave to encoding/json: a value that is not addressable and
// whose MarshalJSON or MarshalText has a pointer receiver. That is rare, and usually a mistake of the user.
func mayDecline(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Pointer, reflect.Interface:
		return mayDecline(v.Elem())
	}
	if t := v.Type(); !v.CanAddr() && !t.Implements(jsonMarshaler) {
		p := reflect.PointerTo(t)
		if p.Implements(jsonMarshaler) || p.Implements(textMarshaler) && !t.Implements(textMarshaler) {
			return true
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if mayDecline(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if mayDecline(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			if mayDecline(i.Value()) {
				return true
			}
		}
	}
	return false
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// clip returns a quoted piece of text around an offset.
func clip(b []byte, at int) string {
	from, to := max(0, at-60), min(len(b), at+60)
	return fmt.Sprintf("%q", b[from:to])
}
