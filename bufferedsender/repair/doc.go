// Package repair compares an index with its source, usually a database, and repairs the differences. It finds documents
// that were deleted in the index by hand, updates that a lost message or an aborted job never applied, and documents
// whose row no longer exists.
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
// Without DryRun it repairs: [Repairer.Run] makes one pass, [Repairer.Watch] one pass per interval, [Repairer.RunKeys]
// checks given keys only. [DeleteWhere] deletes the documents that match a filter; search.DeleteMatching does so
// without a receipt and without a sortable key field. search.WaitVisible waits until the index shows a write.
//
// # What is promised
//
//   - No existing document is deleted and no newer write is lost, if every writer uses the repairing sender itself, in
//     this process, or the queue or outbox that [Options].Mark adds keys to: each key is taken before its truth is
//     read. Writers may run at full speed.
//   - Other writers are not held off, so a repair may overwrite a newer write of theirs. The pass looks again after
//     [Options].Pause and repairs until both sides agree; the wrong state lasts about one pause.
//   - If the source has no rows, or cannot be read to its end, nothing is deleted. In 24 hours at most 5 % of the
//     documents, and at most 10 000, are deleted, and as many overwritten, unless [Options].AllowDeletes gives the
//     exact number of deletes or [Options].MaxShare is larger. A pass that finds more writes nothing, except keys of
//     [Options].Hints, and returns a [DeletesError]. GUARDS.md has the whole rule.
//   - A document with a higher version in the index than in the source is reported and left alone, unless
//     [Options].TrustSource is set.
//   - A second pass over a quiet system repairs nothing. A document that the service rejected is tried again when its
//     row has changed, or after a day.
//   - With [Options].Store a pass resumes after a crash.
//
// # Requirements of a source
//
// Rows come in the byte order of their keys, each key once, like the keys of the index; otherwise the pass ends with an
// [OrderError] that names the remedy. All rows are committed and at least as new as what the writers have read, so a
// lagging replica cannot be a source. The version of a row rises with each change of its document. Without versions and
// digests a pass finds only missing and surplus documents.
//
// A row is left out if it cannot be compared: its version is text, or Lookup returns its key in another spelling. Such
// keys are counted in [Report].Unreadable, and logged.
//
// A pass compares the whole index with the whole source. If two tables feed an index, use one Source that covers both,
// or limit the index side to one table with [search.RowsOptions].Filter; otherwise the documents of the other table are
// surplus.
//
// # Requirements of an index
//
// The key field is filterable and sortable and has no normalizer (`search:"key,filterable,sortable"`); these attributes
// are fixed when the index is created. The version field is retrievable. A version field added later is empty in all
// documents, so the first pass writes every document once and needs MaxShare 1.
//
// # Deletes, rebuilds and stores
//
// To delete permanently, delete from the source first, then from the index with DeleteWhere; otherwise the next pass
// restores the document. During a rebuild (search/rebuild) a repair is one of the index's writers: give it the Raw of a
// sender with a tap, or wait until the rebuild ends. A sender with a tap writes to the index that the rebuild uses, so
// read that index by its alias and set [Options].SameIndex. A repair that reads by the index name is refused once the
// writers have switched to the next index. [FileStore] shares states between processes of one machine, [SQLStore]
// between machines.
//
// # Without reading the index
//
// A pass reads the whole index. [Repairer.RunTree] finds what a sender has lost without that: it compares the source
// with a tree of package digesttree, which records what the service confirms, and reads only keys that differ. It
// cannot detect what other writers do to the index, so also make a full pass, but less often. Watch does both if
// [Options].Tree is set.
//
// A pass reads all keys of both sides at the speed of the slower one, and keeps some ten thousand rows in memory. The
// index is usually slower, because each page is a request: [search.RowsOptions].ReadAhead requests several pages at
// once.
package repair
