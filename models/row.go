package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// Row is a document as a comparison sees it: its key, and what tells one state of the document from another. Both
// sides of a comparison fill in the same fields.
type Row struct {
	Key string
	// Version is a number that rises with each change: a sequence, or the time of the change. 0: it has none.
	Version int64
	// Digest is anything that differs when the document does, see DigestOf; "": it has none.
	Digest string
	// Hidden says that the document exists and is not to be in the index: a draft, for example. Only sources have
	// such rows.
	Hidden bool
	// Problem says why the document cannot be compared: its version is no number, for example. A comparison leaves the
	// key out, and names it. "": none.
	Problem string
}

// DigestOf returns a digest of some fields of a document in JSON: the same for the document as it was uploaded, and
// as the service returns it. So the order of fields does not count, nor how numbers and times are written, nor what
// of a time is less than a millisecond, which the service cuts off, nor what begins with an "@"; a field that is
// missing, null or an empty list is the same, and so is one in an object, and the "crs" of a point. fields are names
// at the top level; none means all that the document has, which is only the same on both sides if they have the same
// fields.
//
// Numbers are compared as float64, and integers that it would change as they are: what a field of type Edm.Single or
// smaller rounds, such as vectors, is different, so leave it out, and an integer above 2^53 in a field of type
// Edm.Double may be. An error says that the document is not one object in JSON.
func DigestOf(document []byte, fields ...string) (string, error) {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var all map[string]any
	err := d.Decode(&all)
	if err == nil && all == nil {
		err = errors.New("it is null, and not an object")
	}
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is something behind the object")
		}
	}
	if err != nil {
		return "", fmt.Errorf("the document for a digest: %w", err)
	}
	if len(fields) > 0 {
		for name := range all {
			if !slices.Contains(fields, name) {
				delete(all, name)
			}
		}
	}
	text, err := json.Marshal(plain(all))
	if err != nil {
		return "", fmt.Errorf("the document for a digest: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// plain returns a value so that equal ones are written equally; nil for what is nothing.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			field = plain(field)
			if field == nil || name[:min(1, len(name))] == "@" || name == "crs" && v["type"] == "Point" {
				delete(v, name)
				continue
			}
			v[name] = field
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && !isLargeInteger(v, f) {
			if f == 0 {
				return json.Number("0") // not -0
			}
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	case string:
		if t, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return t.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
		}
	}
	return value
}

// isLargeInteger reports whether a number is an integer that float64 would change. One that is how a float64 is
// written, with zeros for the digits that it does not have, is not: that is what becomes of a float64 in JSON.
func isLargeInteger(n json.Number, f float64) bool {
	_, err := n.Int64()
	return err == nil && strconv.FormatFloat(f, 'f', -1, 64) != n.String()
}
