// Package hints is for programs that give documents up without the index having them, because there was no room in an
// outage or because the service refused them, and repair the index later: it keeps the keys of these documents, so that
// the repair compares them first, and need not compare everything.
// The package is experimental: its API may change in any release.
//
//	set, err := hints.Open("/var/lib/hotels/hints", nil)
//	if err != nil { … }
//	err = set.Add("hotels", "42", "43") // given up
//	…
//	batch := set.Take("hotels", 1000)
//	if err := compare(ctx, batch); err != nil {
//		set.Back(batch)
//	} else {
//		set.Done(batch)
//	}
//
// A fleet adds keys by its Options.Hints, and a repair takes them by its own.
//
// # Guarantees
//
//   - A [Set] drops no key silently. Where it has no room for more it turns the index with the most keys into one to be
//     compared whole ([Batch].Everything). Add refuses what cannot be the key of a document, with an error.
//   - A key is there once, however often it is added. Keys are taken oldest first, and each by one batch at a time.
//   - A key that is added while it is taken stays when its batch is done: what was compared may be older. The same goes
//     for everything. What is taken and not done when the process ends is there again in the next one.
//   - Add never waits for a disk: a goroutine writes and syncs at once what was added. [Set.Sync] returns when that is
//     durable. The end of the process or of the machine loses what was under way: the last milliseconds, if the disk
//     works, and never what was added before a Sync that returned nil. It never leaves half of a change. It may lose
//     that something was done, which is then compared once more.
//   - A disk that fails or hangs takes nothing from memory. [Stats].Err and Unsynced show it; all is written again when
//     the disk works, which is tried after a second, and then more and more seldom, at least once a minute.
//   - Memory and file are bounded by Options.MaxMemory; only the names of indexes may come on top.
//   - One process has the folder; Open of another one fails and names the first. A file that something other than a
//     crash has changed is refused, with [ErrDamaged].
//
// # Limits
//
// An empty folder is an empty set, also where a volume was not mounted. Damage to the very last record looks like a
// crash, and its keys are lost. Keys are in the file as they are; only its owner can read it. DESIGN.md in this folder
// has the argument about crashes.
package hints
