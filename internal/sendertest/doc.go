// Package sendertest is the harness of the tests of [bufferedsender.BufferedSender],
// and of whatever is built on it.
//
// A [Rig] is an emulated service with an index, a sender to it, and a record of all
// that happens between the two. When a test ends it closes the sender and checks
// the accounts, whatever the test was about:
//
//	rig := sendertest.New(t, &sendertest.Options{MaxBatchActions: 10})
//	rig.Respond(sendertest.First(1, sendertest.Always(503, "")))
//	rig.Upload(sendertest.Hotels("k", 10)...)
//	require.NoError(t, rig.Flush())
//	assert.Len(t, rig.Requests(), 2)
//
// An [Answer] decides in place of the emulator what a request comes to. A [Ledger]
// notes in which order a sender reports what. An [Indexer] is for what no service
// does, such as ignoring a context. [RunModel] runs one random program against a
// sender and compares with a naive model.
//
// Nearly all of it is made for the bubbles of testing/synctest, where time costs
// nothing. Only tests import it, and programs that are tests themselves.
package sendertest
