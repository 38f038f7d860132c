// Package rebuild replaces an index by a new one, for changes of a definition that the service does not make in
// place, while programs continue to write and readers to search.
// The package is experimental: its API may change in any release.
//
// Writers take part by a [Tap], which is between their sender and the index. What they share with the rebuild is in a
// database, or in Redis (see redisstore):
//
//	store, err := rebuild.NewSQL(db, rebuild.SQLOptions{Dialect: rebuild.PostgreSQL, Name: "hotels"}) // CreateTables at each start
//	connect := func(index string) (rebuild.Indexer, error) { return indexes.Client(index) } // indexes is a *search.IndexClient
//	tap, err := rebuild.NewTap(ctx, store, rebuild.TapOptions{Writer: "booking", Index: "hotels-1", Connect: connect})
//	sender, err := bufferedsender.New(tap.Indexer(), &bufferedsender.Options[Hotel]{Tap: tap, OnMergeMissing: bufferedsender.MergeMissingIgnore})
//
// A program for the administrator then runs
//
//	report, err := rebuild.Run(ctx, store, indexes, next, rebuild.Fill{All: all, Keys: byKeys}, rebuild.Options{
//		Alias: "hotels", Writers: []string{"booking"},
//		Sender: func(index string) (rebuild.Sender, error) { … }, // the Raw of a sender without a tap, with some requests in flight
//	})
//
// It creates the index next, fills it with what All yields, and brings over what is written meanwhile: taps mark the
// keys of each request, and Run reads the documents of these keys again, with Keys. When little is left the taps are
// closed, for less than a second: the rest is brought over, and the alias is moved, unless another program has. Writers
// continue with the old index, and Run continues to copy, until readers have arrived at the new one. The taps are
// closed once more, and the writers come over too. The old index is kept, see [DropOld].
//
// # What is promised
//
// When the alias moves, no write is missing from the new index that a writer with a tap has confirmed: whose action
// was completed. From then on nothing is confirmed before the new index has it. A process that cannot read the store
// confirms nothing. Readers see no gap. Killed at any moment, Run resumes when it is called again, and until the
// writers have come over [Abort] leads back to the old index, which lacks nothing. DESIGN.md has the argument, and
// the state after a crash at each line.
//
// It stands on what Fill reads: see [Fill]. The truth is a database, or whatever is written before the index is. The
// old index cannot be it: it shows a write some seconds later, at an unknown time. An index whose documents are
// nowhere else is not rebuilt by this package.
//
// # What is not
//
//   - Writers without a tap are not seen, and what they write is missing. Writers with one must not write to the
//     alias, which they do not as long as they send by Tap.Indexer.
//   - What waits in a sender when its writer comes over is older than what the new index has already: an upload puts
//     the older document back until what waits behind it is sent too. A merge may find that its document is deleted:
//     hence OnMergeMissing above.
//   - A key that several processes write at the same time, without a queue or an outbox that gives it to one of them,
//     may end in the new index with the earlier of two writes that they have made while their writers came over. It
//     is as with a retry without a rebuild; here it may happen to several keys at once. A repair corrects it.
//   - A mark is as durable as the database keeps it: with asynchronous commits, or a failover that loses some, a
//     write that was confirmed may be missing.
//   - If Run is killed while the taps are closed, or between moving the alias and the end, writers keep what they
//     have, and confirm nothing, until it is called again, or Abort is. A sender logs why.
//   - A process of Run that is stopped, not killed, exactly between its last check and its request to the new index,
//     for more than a minute, may write an older document over a newer one when it continues. So may a request that the
//     service carries out long after it was cut.
//
// # Where to begin
//
// Readers search an alias, whose name no index has: CreateAlias, and let them use it. Call [SQL.CreateTables] at each
// start. Give all writers taps, and wait until no process without one is left: Run sees names, not processes. Then
// Run, and [DropOld] when you trust the new index. The service needs room for both.
//
// # Without aliases
//
// Aliases take api-version 2026-04-01. Without Options.Alias the writers come over when the new index has everything,
// and Report.Index is the name that readers are to switch to. Until they do they find what was written before.
package rebuild
