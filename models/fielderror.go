package models

import (
	"reflect"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// FieldError is a mistake in the declaration of a document type. It concerns the program, not a document.
type FieldError struct {
	// Type is the document type: "catalog.Hotel".
	Type string
	// Field is the path of the field in Go names, below the type: "Rooms.Rate". It is empty if the problem is the type
	// itself.
	Field string
	// Problem is the mistake, and the fix where possible.
	Problem string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return "document type " + e.Type + ": " + e.Problem
	}
	return "document type " + e.Type + ": field " + e.Field + ": " + e.Problem
}

func typeName(t reflect.Type) string { return encode.Deref(t).String() }
