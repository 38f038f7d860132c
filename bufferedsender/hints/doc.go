// Package hints keeps the keys of documents that a program gave up although the index lacks them, because the service
// refused them or an outage left no room. A later repair compares these keys first, and need not compare everything.
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
// A fleet adds keys by its Options.Hints; a repair takes them by its own.
//
// # Guarantees
//
//   - A [Set] drops no key silently. Without room for more keys it replaces those of the index with the most by one
//     mark: compare the whole index ([Batch].Everything). Add returns an error for a text that cannot be a key.
//   - A key is in the set once, however often it is added. Keys are taken oldest first, each by one batch at a time.
//   - A key that is added while it is taken stays when its batch is done, because the comparison may have been earlier.
//     The same holds for everything. Keys taken and not done when the process ends are in the set of the next process.
//   - Add never waits for a disk: a goroutine writes and syncs additions at once. [Set.Sync] returns when they are
//     durable. A crash of the process or the machine loses the writes under way: the last milliseconds if the disk
//     works, and nothing added before a Sync that returned nil. It never leaves half a change. It may lose that a key
//     is done; the key is then compared again.
//   - If the disk fails or hangs, memory keeps everything, and [Stats].Err and Unsynced report it. Writing is retried
//     after a second, then at growing intervals of up to a minute, and writes everything again.
//   - Options.MaxMemory bounds memory and file, except for the names of indexes.
//   - One process has the folder; Open in another one fails and names the first. A file that was changed by anything
//     but a crash is refused with [ErrDamaged].
//
// # Limits
//
// An empty folder is an empty set, even if a volume is not mounted. Damage to a record that no Sync has waited for
// looks like a crash, and loses its keys. The file has the keys unencrypted; only its owner can read it. DESIGN.md in
// this folder has the argument about crashes.
package hints
