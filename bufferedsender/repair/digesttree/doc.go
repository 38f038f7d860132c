// Package digesttree detects in seconds what a sender has lost on its way to an index, which is scanned only at first,
// weekly and after a crash: a [Tree] records the version of each key that the service has confirmed, and compares these
// with the source by digests. It does not detect what other programs delete in the index.
// The package is experimental: its API may change in any release.
//
//	tree, err := digesttree.Open("/var/lib/hotels/tree", nil)
//	…
//	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{
//		Handlers: digesttree.Follow(tree, func(h Hotel) int64 { return h.Version }),
//	})
//	…
//	r := repair.Repairer{Source: source, Index: index, Sender: sender.Raw()}
//	report, err := r.RunTree(ctx, tree)
//
// It is meant for small losses: a round of RunTree finds at most 128 keys and takes about three times its Pause, six
// seconds by default, so Repairer.Run is faster for thousands of differences. RunTree does everything needed. At first,
// once a week and after a crash it builds the tree from a scan of the index ([Tree.Rebuild]). It compares the tree with
// the source ([Tree.Compare]), looks up the differing keys in the index, repairs them, and updates the tree
// ([Tree.Look]). A program without a repair.Source or repair.Index calls these methods itself. `go run
// ./samples/repair` shows it.
//
// # Guarantees
//
//   - The [Tree] never has a version that was not confirmed to it, by a call or by a row of a Rebuild, whatever a crash
//     leaves of its files.
//   - Recording never waits for a disk. A goroutine writes and syncs changes within a second; a crash of the process or
//     the machine loses later ones. [Tree.Sync] returns when all changes are durable.
//   - A change lost in a crash shows as a difference, which a lookup in the index settles. But if a deletion was lost,
//     or a version that has since been replaced, the tree may agree with a source that has the older state. So after a
//     crash all segments are due for [Tree.Rebuild]: [Stats].Unclean.
//   - [Tree.Compare] returns at most 128 keys. Each differed at two moments with a pause between them, in the same way.
//     The next call begins behind them. Each [Difference] has both versions.
//   - A segment whose digests differ twice although none of its keys does is not compared until it is built again:
//     [Stats].Fruitless.
//   - Unreadable files are never an error of [Open]: their segments become unknown and are built again. One process has
//     the folder; Open in another one fails and names the first.
//   - A key takes its length and 10 bytes on disk, twice during a fold. Memory has the changes since the last fold: at
//     most as much as is on disk, and at most 128 MiB. A fold or a comparison takes twice that, or up to three times if
//     all changes are of few keys.
//
// # Limits
//
// A tree does not know what other programs do to the index until a Rebuild reads all of it; a full pass finds that too.
// One tree serves one index and all programs that write to it: if several processes write to an index, each tree would
// miss the writes of the others. Do not restore its folder from a backup: a copy made after a Close looks like the
// latest state, so documents that were added and deleted since, for example, are surplus and not found. Remove the
// folder instead; the next RunTree builds the tree from the index. The hash is not cryptographic: keys and versions can
// be chosen so that two states look the same. Files contain the keys unencrypted; only their owner can read them.
// DESIGN.md in this folder has the argument about crashes.
package digesttree
