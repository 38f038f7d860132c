// Package hints is for programs that give documents up without the index having them, because there was no room in an
// outage or because the service refused them, and repair the index later: it keeps the keys of these documents, so
// that the repair compares them first, and need not compare everything.
//
//	repairs, err := hints.Open("/var/lib/hotels/hints", nil)
//	if err != nil { … }
//	repairs.Add("hotels", "42", "43") // given up
//	…
//	batch := repairs.Take("hotels", 1000)
//	if err := compare(ctx, batch); err != nil {
//		repairs.Back(batch)
//	} else {
//		repairs.Done(batch)
//	}
//	…
//	if err := repairs.Close(ctx); err != nil { … }
//
// # What is promised
//
//   - A [Set] forgets no key silently. What it has no room for turns the index with the most keys into one that is to
//     be compared whole ([Batch].Everything). It refuses what cannot be the key of a document, with an error.
//   - A key is there once, however often it is added. Keys are taken oldest first, and each by one at a time.
//   - A key that is added while it is taken stays when its batch is done: what was compared may be older. The same
//     goes for everything.
//   - What is taken and not done when the process ends is there again in the next one.
//   - Add never waits for a disk. It is in memory when Add returns, and written and synced at once by a goroutine,
//     with all that was added meanwhile. [Set.Sync] returns when it is durable. The end of the process or of the
//     machine loses what was under way: what was added in the last milliseconds, if the disk works, and never more
//     than what was added after the last Sync that returned nil. It never leaves half of a change.
//   - A disk that fails or hangs takes nothing from memory. [Stats].Err and Unsynced show it; all is written anew
//     when it works again, which is tried after a second, and then more and more seldom, at least once a minute.
//   - A crash may lose that something was done. It is then compared once more.
//   - The file is at most Options.MaxBytes, the keys are at most Options.MaxKeys. Only what the names of indexes
//     take, that are to be compared whole, may come on top.
//   - One process has the folder; another one that opens it gets [ErrLocked].
//   - A file that something other than a crash has changed is refused by [Open], with a [DamagedError].
//
// # What is not
//
// An empty folder is an empty set: nobody can tell that a volume was not mounted. Damage to the very last record
// looks like a crash, and its keys are lost. Keys are in the file as they are; it is readable by its owner only.
//
// DESIGN.md in this folder has the argument about crashes.
package hints
