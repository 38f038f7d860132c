package models

// Document is a document whose fields are not known when the program is
// written.
type Document map[string]any
