package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/wire"
)

// Replies to queries are decoded member by member, not by encoding/json alone. The service mixes metadata into the
// members of a document,
//
//	{"@search.score":1.5,"@search.highlights":{…},"hotelId":"1","rating":4}
//
// so a T that accepts all members (a map, a json.RawMessage) would accept the metadata too, and the document could
// not be sent back. Here the two are separated by name, and T gets only the members of the document.

var errNoResults = fmt.Errorf("%w: it has no list of results", ErrMalformedReply)

// decodeReply calls member for each member of a reply. Errors have ErrMalformedReply in their chain, except those
// about a document.
func decodeReply(b []byte, member func(name string, value []byte) error) error {
	var failed error
	err := wire.EachMember(b, func(quoted, value []byte) bool {
		name, ok := wire.Unquote(quoted)
		if !ok {
			failed = malformedReply(wire.ErrNotJSON)
			return false
		}
		if failed = member(name, value); failed != nil && !errors.As(failed, new(*ResultError)) {
			failed = malformedReply(fmt.Errorf("member %q: %w", name, failed))
		}
		return failed == nil
	})
	if err != nil {
		return malformedReply(err)
	}
	return failed
}

func malformedReply(err error) error { return fmt.Errorf("%w: %w", ErrMalformedReply, err) }

// decodeResults decodes a list of results with decode, which may use scratch until it returns.
func decodeResults[R any](list []byte, to *[]R, decode func(r *R, b []byte, scratch *[]byte) error) error {
	i := wire.Space(list, 0)
	if i >= len(list) || list[i] != '[' {
		return fmt.Errorf("it is %s", jsonKind(list[i:]))
	}
	results := []R{}
	var scratch []byte
	for i = wire.Space(list, i+1); i < len(list) && list[i] != ']'; {
		end := wire.ValueEnd(list, i)
		if end < 0 {
			return wire.ErrNotJSON
		}
		if len(results) == cap(results) { // estimate the number of results from the length of this one
			results = slices.Grow(results, max(1, min(len(list)/(end-i)-len(results), mostResults)))
		}
		results = results[:len(results)+1]
		if err := decode(&results[len(results)-1], list[i:end], &scratch); err != nil {
			return atPosition(len(results)-1, err)
		}
		if i = wire.Space(list, end); i < len(list) && list[i] == ',' {
			i = wire.Space(list, i+1)
		}
	}
	if i >= len(list) {
		return wire.ErrNotJSON
	}
	*to = results
	return nil
}

// mostResults is the largest number of results in a page.
const mostResults = 1000

// atPosition adds the position of the result to err.
func atPosition(position int, err error) error {
	var misfit *misfitError
	if errors.As(err, &misfit) {
		return &ResultError{Position: position, Err: misfit.err}
	}
	return fmt.Errorf("result %d: %w", position, err)
}

// misfitError means that a document does not fit into its Go type. It is not about the reply.
type misfitError struct{ err error }

func (e *misfitError) Error() string { return e.err.Error() }

// Unwrap returns the error of encoding/json.
func (e *misfitError) Unwrap() error { return e.err }

// decodeFound decodes a document, and calls about for each member of metadata.
func decodeFound[T any](b []byte, scratch *[]byte, doc *T, about func(quoted, value []byte) error) error {
	members, err := splitFound(b, (*scratch)[:0], about)
	if err != nil {
		return err
	}
	*scratch = members
	if err := DecodeDocument(members, doc); err != nil {
		return &misfitError{err}
	}
	return nil
}

// splitFound calls about for each member of metadata and appends an object with all other members to dst. The service
// writes the metadata first, so usually the rest can be copied unchanged.
func splitFound(b, dst []byte, about func(quoted, value []byte) error) ([]byte, error) {
	dst = append(dst, '{')
	var failed error
	rest := -1 // start of the members of the document
	err := wire.EachMember(b, func(quoted, value []byte) bool {
		if !isAbout(quoted) {
			rest = cap(b) - cap(quoted) // quoted is a subslice of b
			return false
		}
		failed = about(quoted, value)
		return failed == nil
	})
	switch {
	case err != nil:
		return nil, err
	case failed != nil:
		return nil, failed
	case rest < 0:
		return append(dst, '}'), nil
	case !mayHoldAbout(b[rest:]):
		return append(dst, b[rest:]...), nil
	}
	tail := append([]byte{'{'}, b[rest:]...)
	err = wire.EachMember(tail, func(quoted, value []byte) bool {
		if isAbout(quoted) {
			failed = about(quoted, value)
			return failed == nil
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, quoted...), ':'), value...)
		return true
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

// isAbout reports whether a member with this name is metadata.
func isAbout(quoted []byte) bool {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		name, ok := wire.Unquote(quoted)
		if !ok {
			return false
		}
		quoted = []byte(`"` + name)
	}
	return bytes.HasPrefix(quoted, []byte(`"@search.`)) || bytes.HasPrefix(quoted, []byte(`"@odata.`))
}

// mayHoldAbout is false if members certainly has no metadata.
func mayHoldAbout(members []byte) bool {
	return bytes.Contains(members, []byte(`"@`)) || bytes.Contains(members, []byte(`"\u0040`))
}

// keep adds a member without a field.
func keep(to *map[string]json.RawMessage, name string, value []byte) {
	if *to == nil {
		*to = map[string]json.RawMessage{}
	}
	(*to)[name] = bytes.Clone(value)
}

// decodeNullable decodes a string; null becomes "".
func decodeNullable[S ~string](value []byte, to *S) error {
	var s *string
	if err := json.Unmarshal(value, &s); err != nil {
		return err
	}
	if s != nil {
		*to = S(*s)
	}
	return nil
}

// decodeName decodes a name and normalizes the case of known names. The service capitalizes some names that its
// specification writes in lower case.
func decodeName[S ~string](value []byte, to *S, names ...S) error {
	if err := decodeNullable(value, to); err != nil {
		return err
	}
	for _, name := range names {
		if strings.EqualFold(string(*to), string(name)) {
			*to = name
		}
	}
	return nil
}

// decodeScore decodes a number faster than encoding/json, because every result has one.
func decodeScore(value []byte, to *float64) error {
	if c := value[0]; c == '-' || c >= '0' && c <= '9' {
		if f, err := strconv.ParseFloat(string(value), 64); err == nil {
			*to = f
			return nil
		}
	}
	return json.Unmarshal(value, to)
}

func isNull(b []byte) bool { return string(bytes.TrimSpace(b)) == "null" }

// notNil returns list, or an empty one for nil, which JSON would write as null.
func notNil[E any](list []E) []E {
	if list == nil {
		return []E{}
	}
	return list
}

// replyWriter writes an object member by member.
type replyWriter struct {
	out []byte
	err error
}

func appendMember(dst []byte, name string, value any) ([]byte, error) {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(appendString(dst, name), ':')
	out, err := appendValue(dst, value)
	if err != nil {
		return nil, fmt.Errorf("member %q: %w", name, err)
	}
	return out, nil
}

func newReplyWriter() *replyWriter { return &replyWriter{out: []byte{'{'}} }

// member writes a member if it is present.
func (w *replyWriter) member(name string, value any, present bool) {
	if w.err == nil && present {
		if out, err := appendMember(w.out, name, value); err != nil {
			w.err = err
		} else {
			w.out = out
		}
	}
}

// others writes members in the order of their names.
func (w *replyWriter) others(members map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		w.member(name, members[name], true)
	}
}

// document writes the members of a document; null has none.
func (w *replyWriter) document(doc any) {
	if w.err != nil {
		return
	}
	encoded, err := appendValue(nil, doc)
	if err != nil {
		w.err = err
		return
	}
	if isNull(encoded) {
		return
	}
	w.err = wire.EachMember(encoded, func(quoted, value []byte) bool {
		if len(w.out) > 1 {
			w.out = append(w.out, ',')
		}
		w.out = append(append(append(w.out, quoted...), ':'), value...)
		return true
	})
}

func (w *replyWriter) end() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return append(w.out, '}'), nil
}
