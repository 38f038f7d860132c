// Package models holds the plain data types for documents and indexes of Azure AI Search, in the form in which they
// are sent and received. Nothing in it talks to a service. It depends on the standard library alone. The package is
// stable.
//
// # Documents
//
// A document is a value of any type that encoding/json encodes as an object: a struct, a [Document] for fields that
// are unknown at compile time, a json.RawMessage, or a [Patch] if a merge must distinguish null from unchanged. An
// action is a document and an operation on it: [UploadAction], [MergeAction], [MergeOrUploadAction], [DeleteAction].
//
// Documents are encoded as by json.Marshal, with a few differences that [AppendAction] explains: no HTML escaping,
// float32 with 32 bits, and an infinite float64 as the string of an Edm.Double, which [DecodeDocument] reads. NaN is
// refused with the path of the field, and so are member names that are reserved by the service.
//
// The key of a document is the field with the tag `search:"key"` ([KeyFieldOf]) or the field with a given name
// ([KeyFieldByName]). Package keys checks keys and makes legal keys from any string.
//
// A field has three states, and each has a representation in Go:
//
//	leave it, or unknown    absent   json:",omitzero" or ",omitempty" on a nil pointer; not in the map
//	make it null            null     a nil pointer without these; nil in the map; Patch.Clear
//	make it zero            0, ""    a pointer to zero; zero in the map
//
// Times are RFC 3339 with an offset, the format of time.Time.
//
// # Indexes
//
// A [SearchIndex] is the definition of an index. [FieldsOf] derives its fields from the tags of a struct. Definitions
// that were read keep their unknown members, so it is safe to change one member and write the rest back,
// except that secrets must be set again: the service returns "<redacted>" or nothing in their place.
//
// Types with secrets print and log *** in their place. encoding/json encodes the secrets, because requests are made of
// it, and so does the JSON handler of log/slog for slices, maps and structs that hold such types. fmt cannot mask
// values in unexported fields of other structs.
//
// # Errors
//
// An [*EncodeError] is the error of a document, a [*FieldError] that of a type, and a [*DocumentError] that of a
// field of a Document. All of them name the field.
package models
