// Package repair is for programs whose index is made of something else, usually a database: it compares the two and
// repairs what differs. A document was deleted by hand in the index, a message was lost, a job died half-way: users
// search for what is not there any more, and do not find what is.
// The package is experimental: its API may change in any release.
//
//	rows, err := search.NewRows(client, &search.RowsOptions{Version: "version"})
//	if err != nil { … }
//	source := &repair.SQLSource{
//		DB: db, Table: "hotels", Key: `id COLLATE "C"`, Version: "version", Placeholder: repair.Dollar,
//		Load: repair.Uploads(loadHotels, func(h Hotel) string { return h.ID }),
//	}
//	r := repair.Repairer{Source: source, Index: rows, Sender: sender.Raw(), Options: repair.Options{DryRun: true}}
//	report, err := r.Run(ctx)
//	fmt.Println(report.Missing, report.Surplus, report.Different, report.Keys)
//
// Without DryRun it repairs: [Repairer.Run] makes one pass, [Repairer.Watch] one every so often, and
// [Repairer.RunKeys] looks at some keys alone. [DeleteWhere] deletes what meets a filter;
// search.DeleteMatching does so for up to 1000 documents, without a receipt or a sortable key. search.WaitVisible waits
// until the index shows what was written.
//
// # What is promised
//
//   - Nothing is deleted that exists, and no newer write is lost, while others write at full speed, if they write
//     through the same sender, in the same process, that repairs, or through a queue or an outbox that [Options].Mark
//     gives the keys to: each key is taken before its truth is read.
//   - Other writers are not held: what a repair writes may come after what they have just written. It looks again
//     after [Options].Pause, and repairs again, until both sides agree; so a wrong state of that kind lasts about as
//     long as the pause.
//   - Nothing is deleted when the source has no row, or could not be read to its end. In 24 hours no more than the
//     smaller of 5 % of the documents and 10 000 are deleted, and no more overwritten, unless [Options].AllowDeletes
//     says exactly how many or [Options].MaxShare is larger. A pass that finds more writes nothing, and ends with a
//     [DeletesError]. GUARDS.md has the whole rule.
//   - A document whose version in the index is larger than in the source is left alone and reported, unless
//     [Options].TrustSource is set.
//   - A second pass over a quiet system repairs nothing. What the service rejects is tried again when it has changed,
//     or after a day.
//   - With [Options].Store a pass resumes after a crash.
//
// # What a source must be like
//
// Its keys come in the order of their bytes, each once, as the keys of the index do; otherwise a pass ends with an
// [OrderError] that says what to do. What it returns was committed, and is not older than what the writers have read:
// a replica that lags is not a source. Versions rise with each change of a document. Without versions and digests only
// missing and surplus documents are found.
//
// A row that cannot be compared, because its version is text or a Lookup shows its key in another spelling, is left out
// and named: [Report].Unreadable, and a line of the log.
//
// What the index has is compared with what the source has: an index that is made of two tables takes one Source of
// both, or [search.RowsOptions].Filter on the side of the index that matches what is of the one table only. Otherwise
// the documents of the other are surplus.
//
// # What an index must be like
//
// Its key field is filterable and sortable, without a normalizer (`search:"key,filterable,sortable"`); that can only
// be decided when it is created. A field with the version is retrievable. One that is added later is empty in all
// documents, so the first pass writes each of them once: it needs MaxShare 1.
//
// # Deletes, rebuilds and stores
//
// To delete permanently, delete from the source first, then from the index with DeleteWhere; otherwise the next pass
// restores the document. While an index is rebuilt (search/rebuild) a repair is one of its writers: give it the Raw of
// a sender with a tap, or wait. Such a sender writes to the index that the rebuild has in use: read it by the alias,
// with [Options].SameIndex. Read by its name it is refused when the writers have come over to the next one.
// [FileStore] and [SQLStore] keep states for processes of one machine or of several.
//
// # Without reading the index
//
// A pass reads all of the index. What a sender has lost is found without that: a tree of package digesttree records
// what the service confirms, [Repairer.RunTree] compares it with the source, reads from the index the keys that
// differ, and repairs what differs there. It cannot see what others do to the index; so make a pass as well, but less
// often. Watch does both, with [Options].Tree.
//
// A pass reads all keys of both sides, at the speed of the slower one, and keeps some ten thousand rows in memory.
// The index is usually the slower one, because each page is a request: [search.RowsOptions].ReadAhead asks for
// several at once.
package repair
