package models

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// documentType describes a type of documents, independent of their values.
type documentType struct {
	plan  *encode.Plan
	boxes sync.Pool // of *T; cleared after use
	// boxed means that documents are encoded through a pointer, so that methods with a pointer receiver are called.
	boxed bool
	// asked means that there are such methods. They get a copy, which they may keep.
	asked bool
	// dynamic means that T is an interface, so each document has its own plan.
	dynamic bool
	// anyName means that the names of members are unknown, or one of them is reserved.
	anyName bool
}

var documentTypes sync.Map // reflect.Type → *documentType, written once per type

func documentTypeOf[T any]() *documentType {
	t := reflect.TypeFor[T]()
	if known, ok := documentTypes.Load(t); ok {
		return known.(*documentType)
	}
	d := &documentType{plan: encode.PlanOf(t), boxed: needsBox(t), asked: encode.AsksAddress(t), dynamic: t.Kind() == reflect.Interface}
	d.boxes.New = func() any { return new(T) }
	names, isObject := encode.PlanOf(encode.Deref(t)).Object()
	d.anyName = !isObject || slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, reservedPrefix) })
	known, _ := documentTypes.LoadOrStore(t, d)
	return known.(*documentType)
}

// needsBox reports whether storing a t in an interface needs a copy.
func needsBox(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Interface:
		return false
	}
	return true
}

// appendPlanned appends the JSON of the document at doc by the plan of its type. ok is false if only encoding/json
// can encode the document, or can explain why it cannot be encoded.
func appendPlanned[T any](t *documentType, dst []byte, doc *T) (out []byte, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			out, ok = dst, false // encoding/json will hit the same panic
		}
	}()
	switch {
	case t.dynamic:
		return encode.AppendDocument(dst, *doc)
	case !t.boxed:
		return t.plan.AppendDocument(dst, reflect.ValueOf(*doc))
	case t.asked:
		return t.plan.AppendDocument(dst, reflect.ValueOf(addressOf(*doc)).Elem())
	}
	return t.plan.AppendDocument(dst, reflect.ValueOf(doc).Elem())
}

// encodable returns the value to pass to encoding/json for doc: doc itself if an interface holds it without a copy,
// otherwise its address.
func encodable[T any](doc T) any {
	if needsBox(reflect.TypeFor[T]()) {
		return addressOf(doc)
	}
	return doc
}

// addressOf is a separate function so that only documents that need it escape to the heap.
func addressOf[T any](doc T) any { return &doc }
