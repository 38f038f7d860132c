// Package digesttree is for programs that send documents to an index and want to find out in seconds what of it got
// lost on its way, without reading the index (so not what others delete there): it keeps which version of each key
// the service has confirmed, and compares that with the source by digests.
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
// It is for little that got lost: a round of RunTree finds 128 keys at most and takes some three times its
// Pause, six seconds by default, so thousands of differences are repaired faster by Repairer.Run. RunTree does all that
// there is to do: at first, once a week, and after a crash it builds the tree from a scan of the index
// ([Tree.Rebuild]); it compares it with the source ([Tree.Compare]), looks the keys that differ up in the index,
// repairs them, and tells the tree what the index has ([Tree.Look]). A program without such a source or index calls
// these. `go run ./samples/repair` shows it.
//
// # Guarantees
//
//   - The [Tree] never says that a version was confirmed that it was not told, by a call or by a row of a Rebuild,
//     whatever a crash leaves of its files.
//   - Telling it never waits for a disk. A goroutine writes and syncs it within a second; the end of the process or of
//     the machine loses what came later. [Tree.Sync] returns when all is durable.
//   - What was lost that way shows as a difference, which a look into the index settles. Where a deletion was lost,
//     or a version that has been replaced since, the tree may agree with a source that has the older state. So after
//     such an end all segments are due for [Tree.Rebuild]: [Stats].Unclean.
//   - [Tree.Compare] returns at most 128 keys, each of which differed at two moments with a pause between, and was the
//     same both times. The next call begins behind them. It says which side is behind.
//   - A segment that differs twice although none of its keys does is not compared until it is built again:
//     [Stats].Fruitless.
//   - What cannot be read is never an error of [Open]: it becomes unknown, and is built again. One process has the
//     folder; Open of another one fails and names the first.
//   - A key takes itself and 10 bytes on the disk, twice while it is folded. In memory is what has changed since, at
//     most as much as on the disk, and 128 MiB: twice while it is folded or compared, or up to three times where all
//     changes are of few keys.
//
// # Limits
//
// It does not know what others do to the index before a Rebuild, which has to read all of it: the comparison of the
// whole index finds that. Nor can it know that its folder is an older one, from a backup that was made after a Close:
// that looks like the end of it. What was told since is missing, so documents that were added and deleted since, say,
// are surplus and not found. Do not restore the folder: remove it, and the next RunTree builds the tree from the index.
// One tree is for one index and for all that writes to it: several processes that write to the
// same index have no common tree, and each would miss what the others wrote. The hash is not cryptographic: keys and
// versions can be chosen that make two states look the same. Keys are in the files as they are; only their owner can
// read them. DESIGN.md in this folder has the argument about crashes.
package digesttree
