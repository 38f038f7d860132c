// Package models is for everyone who handles documents or indexes of Azure AI
// Search: it holds the plain data that goes over the wire, and nothing that
// talks to a service. It depends on the standard library alone.
// The package is stable.
//
// # Documents
//
// A document is a value of any type that encoding/json writes as an object: a
// struct of yours, a [Document] when the fields are not known beforehand, a
// json.RawMessage, or a [Patch] when a merge has to tell "null" from "leave it".
// An action is a document and what to do with it: [UploadAction], [MergeAction],
// [MergeOrUploadAction], [DeleteAction].
//
// What the service is sent differs from what json.Marshal writes in a few ways,
// each of which [AppendAction] explains: no HTML escaping, float32 at 32 bits,
// an infinite float64 as the string of an Edm.Double ([DecodeDocument] reads it), NaN
// refused with the path of the field, names that belong to the service refused.
//
// The key of a document is found by the tag `search:"key"` ([KeyFieldOf]) or by
// the name that the definition of the index gives it ([KeyFieldByName]). Package
// keys checks keys and makes legal ones of any string.
//
// Three things can be said about a field, and Go has a way for each:
//
//	leave it, or unknown    absent   json:",omitzero" or ",omitempty" on a nil pointer; not in the map
//	make it null            null     a nil pointer without these; nil in the map; Patch.Clear
//	make it zero            0, ""    a pointer to zero; zero in the map
//
// Times are RFC 3339 with their offset, which is what time.Time writes.
//
// # Indexes
//
// A [SearchIndex] is the definition of an index. [FieldsOf] derives its fields
// from the tags of a struct. Definitions that were read keep what this library
// does not know, so that changing one thing and writing the rest back is safe.
//
// # Errors
//
// What is wrong with a document is an [*EncodeError], what is wrong with a type
// is a [*FieldError], and what is wrong with a field of a Document is a
// [*DocumentError]. All name the field.
package models
