package models

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// documentType is what is known of a type of documents before any is seen.
type documentType struct {
	plan  *encode.Plan
	boxes sync.Pool // of *T; their contents are gone after use
	// boxed: documents are written through a pointer, which gives them an
	// address, so that methods with a pointer receiver are asked.
	boxed bool
	// asked: there are such methods. They get a copy that they may keep.
	asked bool
	// dynamic: T is an interface, so that each document has its own plan.
	dynamic bool
	// anyName: the names of members are not known, or one is reserved.
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

// needsBox reports whether values of t do not fit an interface without a copy.
func needsBox(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Interface:
		return false
	}
	return true
}

// appendPlanned appends the JSON of the document at doc by the plan of its type.
// It is false if only encoding/json can do it, or knows why it cannot be done.
func appendPlanned[T any](t *documentType, dst []byte, doc *T) (out []byte, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			out, ok = dst, false // encoding/json meets the same panic
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

// encodable returns what to hand to encoding/json for doc: doc itself where it
// fits an interface without a copy, its address otherwise.
func encodable[T any](doc T) any {
	if needsBox(reflect.TypeFor[T]()) {
		return addressOf(doc)
	}
	return doc
}

// addressOf is a function of its own so that only documents that need it are
// moved to the heap.
func addressOf[T any](doc T) any { return &doc }
