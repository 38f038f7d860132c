// Package rebuild replaces an index by a new one with another definition, for changes that the service cannot make in
// place. Programs continue to write and readers to search meanwhile.
// The package is experimental: its API may change in any release.
//
// Each writer has a [Tap] between its sender and the index. Taps and the rebuild share a [Store] in a database, or in
// Redis (see redisstore):
//
//	store, err := rebuild.NewSQL(db, rebuild.SQLOptions{Dialect: rebuild.PostgreSQL, Name: "hotels"}) // CreateTables at each start
//	connect := func(index string) (rebuild.Indexer, error) { return indexes.Client(index) } // indexes is a *search.IndexClient
//	tap, err := rebuild.NewTap(ctx, store, rebuild.TapOptions{Writer: "booking", Index: "hotels-1", Connect: connect})
//	sender, err := bufferedsender.New(tap.Indexer(), &bufferedsender.Options[Hotel]{Tap: tap, OnMergeMissing: bufferedsender.MergeMissingIgnore})
//
// An administrator's program then runs
//
//	report, err := rebuild.Run(ctx, store, indexes, next, rebuild.Fill{All: all, Keys: byKeys}, rebuild.Options{
//		Alias: "hotels", Writers: []string{"booking"},
//		Sender: func(index string) (rebuild.Sender, error) { … }, // the Raw of a sender without a tap, with some requests in flight
//	})
//
// Run creates the index next, fills it with the documents of All, and copies what is written meanwhile: taps mark the
// keys of each request, and Run reads the documents of these keys again with Keys. When few marks are left Run closes
// the taps for less than a second, copies the rest and moves the alias, unless another program has moved it. Writers
// continue with the old index, and Run continues to copy, until readers have reached the new one. Then Run closes the
// taps once more, and the writers switch too. The old index is kept, see [DropOld].
//
// # Guarantees
//
// When the alias moves, the new index has every write that a writer with a tap has confirmed, that is, reported as
// completed. From then on no write is confirmed before the new index has it. A process that cannot read the store
// confirms nothing. Readers see no gap. Run may be killed at any moment and resumes when it is called again. Until the
// writers have switched, [Abort] returns to the old index, which has every write. DESIGN.md has the argument, and the
// state after a crash at each line.
//
// All this depends on what [Fill] reads. The truth is a database, or another store that is written before the index.
// The old index cannot be the truth, because it shows a write some seconds later, at an unknown time. This package
// cannot rebuild an index whose documents exist nowhere else.
//
// # Limits
//
//   - Writes without a tap are not copied and will be missing. Writers with a tap must not write to the alias; they do
//     not while they send by Tap.Indexer.
//   - When a writer switches, its buffered actions are older than the new index: an upload restores an older document
//     until later actions of that key are sent too. A merge may find its document deleted, hence OnMergeMissing above.
//   - If several processes write a key at the same time, without a queue or an outbox that assigns it to one of them,
//     and their writers switch meanwhile, the new index may end with the earlier of two writes. Retries can cause this
//     without a rebuild too, but here it may affect several keys at once. A repair corrects it.
//   - A mark is as durable as the database makes it: asynchronous commits, or a failover that loses commits, may lose
//     confirmed writes.
//   - If Run is killed while the taps are closed, or after it has moved the alias and before the writers have switched,
//     writers keep their actions and confirm nothing until Run or Abort is called. The sender logs the reason.
//   - If a process of Run is stopped, not killed, for more than a minute exactly between its last check and its request
//     to the new index, it may overwrite a newer document with an older one when it continues. The same is true of a
//     request that the service executes long after its connection was cut.
//
// # How to start
//
// Let readers search an alias, created with CreateAlias. Call [SQL.CreateTables] at each start. Give all writers taps,
// and wait until no process without a tap is left, because Run only sees names, not processes. Then call Run, and
// [DropOld] when you trust the new index. The service needs room for both.
//
// # Without aliases
//
// Aliases need api-version 2026-04-01. Without Options.Alias writers switch when the new index has everything, and
// Report.Index is the name that readers must switch to. Until then they do not find later writes.
package rebuild
