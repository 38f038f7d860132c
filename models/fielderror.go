package models

import (
	"reflect"

	"github.com/go-azsearch/azsearch/models/internal/encode"
)

// FieldError says what is wrong with the declaration of a document type. It is
// about the program, not about a document.
type FieldError struct {
	// Type is the document type: "catalog.Hotel".
	Type string
	// Field is the field, in Go names from the type on: "Rooms.Rate". It is empty
	// if the problem is the type as a whole.
	Field string
	// Problem is what is wrong, and where possible what to do about it.
	Problem string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return "document type " + e.Type + ": " + e.Problem
	}
	return "document type " + e.Type + ": field " + e.Field + ": " + e.Problem
}

func typeName(t reflect.Type) string { return encode.Deref(t).String() }
