// Package stored defines how an index stores documents, and the fields of documents. A document is one byte slice,
// written once when it arrives and immutable afterwards. Filters, sorting, facets and replies read it in place.
package stored
