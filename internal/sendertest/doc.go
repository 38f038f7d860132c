// Package sendertest is the test harness of [bufferedsender.BufferedSender] and of packages built on it.
//
// A [Rig] is an emulated service with an index, a sender to it, and a record of all events and requests. At the end of
// a test it closes the sender and checks the accounts:
//
//	rig := sendertest.New(t, &sendertest.Options{MaxBatchActions: 10})
//	rig.Respond(sendertest.First(1, sendertest.Always(503, "")))
//	rig.Upload(sendertest.Hotels("k", 10)...)
//	require.NoError(t, rig.Flush())
//	assert.Len(t, rig.Requests(), 2)
//
// An [Answer] replies to a request instead of the emulator. A [Ledger] records what a sender reports, in order. An
// [Indexer] does what no service does, such as ignoring a context. [RunModel] runs one random program against a sender
// and compares it with a naive model.
//
// Most of it is for bubbles of testing/synctest, where time costs nothing. Only tests, and programs that are tests,
// import it.
package sendertest
