package deadletter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-azsearch/azsearch/models"
)

// Decode returns the document of a letter as a T, the type of the documents of
// the sender that it will be sent through.
//
// A T that cannot hold all of it would change what is written: the fields that
// it does not have would be lost, and so would a null that a merge is to set.
// Then the error is ErrChanged and names the field. models.Document and
// json.RawMessage hold any document; a sender of them needs Documents.KeyField. Of
// a delete only the key counts. The error is ErrRedacted if there is no document.
func Decode[T any](l Letter) (T, error) {
	var doc T
	if l.Document == nil {
		return doc, ErrRedacted
	}
	if err := json.Unmarshal(l.Document, &doc); err != nil {
		return doc, err
	}
	if l.Action == models.ActionTypeDelete {
		return doc, nil
	}
	again, err := encodeDocument(l.Action, doc)
	if err != nil {
		return doc, err
	}
	if bytes.Equal(again, l.Document) {
		return doc, nil
	}
	field, err := difference(l.Document, again)
	if err != nil {
		return doc, err
	}
	if field != "" {
		return doc, fmt.Errorf("%w %T: field %q differs", ErrChanged, doc, field)
	}
	return doc, nil
}

// encodeDocument returns the JSON of a document as it is in a Letter about it.
func encodeDocument[T any](action models.ActionType, doc T) (json.RawMessage, error) {
	encoded, err := models.AppendAction(nil, action, doc)
	if err != nil {
		return nil, err
	}
	_, encoded, more := bytes.Cut(encoded, []byte{','})
	if !more { // the name of the action was all
		return json.RawMessage("{}"), nil
	}
	return append(json.RawMessage("{"), encoded...), nil
}

// difference returns the name of a field in which two documents differ, or "".
func difference(a, b []byte) (string, error) {
	var was, is map[string]any
	for text, into := range map[*[]byte]*map[string]any{&a: &was, &b: &is} {
		dec := json.NewDecoder(bytes.NewReader(*text))
		dec.UseNumber()
		if err := dec.Decode(into); err != nil {
			return "", err
		}
	}
	var names []string
	for name := range was {
		names = append(names, name)
	}
	for name := range is {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v, before := was[name]
		w, after := is[name]
		if before != after || !same(v, w) {
			return name, nil
		}
	}
	return "", nil
}

// same reports whether two values of JSON mean the same.
func same(v, w any) bool {
	switch v := v.(type) {
	case json.Number:
		w, ok := w.(json.Number)
		return ok && sameNumber(v, w)
	case []any:
		w, ok := w.([]any)
		return ok && slices.EqualFunc(v, w, same)
	case map[string]any:
		w, ok := w.(map[string]any)
		if !ok || len(v) != len(w) {
			return false
		}
		for name, x := range v {
			if y, ok := w[name]; !ok || !same(x, y) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(v, w)
}

// sameNumber compares integers exactly, and what is written with a point or an
// exponent as the double that the service makes of it.
func sameNumber(v, w json.Number) bool {
	if v == w {
		return true
	}
	_, vErr := v.Int64()
	_, wErr := w.Int64()
	if vErr == nil && wErr == nil {
		return false
	}
	x, xErr := v.Float64()
	y, yErr := w.Float64()
	return xErr == nil && yErr == nil && x == y
}
