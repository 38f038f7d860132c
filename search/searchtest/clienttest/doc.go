// Package clienttest provides emulated indexes for tests of programs that use search.Client:
// one line makes an index and a client for it, which last as long as the test.
// The package is stable.
//
//	client := clienttest.New(t, Hotel{ID: "1", Name: "Ritz"}) // *search.Client
//
// The fields of the index come from the struct tags of the document type, as models.FieldsOf
// reads them. NewClient takes a definition and options. NewIndexClient is for programs that
// create their indexes themselves; NewIndexClient(t, nil).IndexerClient() is for indexers. For
// everything else, such as faults and a log of requests, make a searchtest.Server and set it
// in Options.
//
// Nothing listens and no goroutine starts, so tests work inside a testing/synctest bubble.
// Each call makes its own service, so tests can run in parallel. Errors end the test with
// t.Fatal, so call the functions only from the goroutine of the test.
//
// Package searchtest does not contain these functions, because it must not depend on the
// client that it tests, nor on azcore. So programs that use the emulator with another client,
// such as azsearch emulator, do not compile these packages.
package clienttest
