// Package filequeue is for programs that keep what a buffered sender has accepted on the
// disk of one machine: a queue in a directory, which needs no server and no dependency.
// The package is stable.
//
//	q, err := filequeue.Open("/var/lib/hotels/queue", &filequeue.Options{Index: "hotels"})
//
// # What it survives
//
// When Append returns nil, the records are on the disk and synced: a crash of the process or of the
// machine loses none of them. Many callers share a sync, see Queue. Commits and reservations
// survive the process, and are synced with the next Append: after a loss of power some documents are
// sent again. Leases end with the process: who opens the directory next gets what was leased.
//
// # What it costs
//
// About 85 bytes of memory for each key that waits, whatever its documents are, and 350 and its reason for one that
// is leased, delayed or parked; bodies are on the disk only. The disk holds at most four times what waits, or four
// segments (256 MB by default), and one that is kept for a full disk: when there is no room for another, Append returns
// queue.ErrFull, and what waits is sent and dropped with the room that was kept, so that a queue that has filled its
// volume empties it again. A quota counts as a full disk.
//
// # Where it works
//
// One process has the directory at a time; the error of a second one names it. Options.ReadOnly shows what is in it
// while that process runs, and so do the commands stats, peek and parked of azsearch queue; release, drop, pause and
// resume have that process change it, on a socket in the directory that its user alone may use (not on Windows). One
// goroutine waits there until Close, so in a bubble of testing/synctest use memqueue. The directory must be
// on a local file system: NFS, SMB and the like are refused where they can be recognised, on Linux,
// unless Options.AllowNetwork is set. Other processes, or machines, that add to the same index
// need redisqueue. Linux, macOS and the BSDs are supported. On Windows it builds and keeps its
// format, but a loss of power was not considered there: directories cannot be synced.
//
// DESIGN.md in this folder has the argument about crashes.
package filequeue
