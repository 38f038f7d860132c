// Package clienttest is for tests of programs that use search.Client: one line makes
// an emulated index and a client for it, which last as long as the test.
// The package is stable.
//
//	client := clienttest.New(t, Hotel{ID: "1", Name: "Ritz"}) // *search.Client
//
// The index is made of the struct tags of the document type, as models.FieldsOf reads
// them, and holds the documents. NewClient takes a definition instead, and options;
// NewIndexClient is for programs that make their indexes themselves. For the rest, such
// as faults and what was sent, make a searchtest.Server and put it into Options.
//
// Nothing listens and no goroutine runs, so all of it works inside a testing/synctest
// bubble as well, and in parallel: each call has a service of its own. What goes wrong
// ends the test with t.Fatal, so the functions are for the goroutine of the test.
//
// It is no part of package searchtest, because that must not depend on the client
// whose tests it is the judge in, nor on azcore: programs that use the emulator with
// another client, azsearch emulator for one, do not build them.
package clienttest
