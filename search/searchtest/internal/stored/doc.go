// Package stored is for the parts of the emulator that read documents: how an
// index keeps them, and the fields that they consist of. A document is one run
// of bytes, written in one go when it arrives and never changed afterwards, that
// filters, sorting, facets and replies read in place.
package stored
