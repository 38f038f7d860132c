// Package filequeue is a durable queue in a directory of one machine, for a buffered sender. It needs no server and no
// dependency. The package is stable.
//
//	q, err := filequeue.Open("/var/lib/hotels/queue", &filequeue.Options{Index: "hotels"})
//
// # What it survives
//
// When Append returns nil, the records are synced to the disk: a crash of the process or machine loses none of them.
// Concurrent callers share a sync, see Queue. Commits and reservations survive the process, but are synced only with
// the next Append: after a power failure some documents are sent again. Leases end with the process: the process that
// opens the directory next gets the leased keys.
//
// # What it costs
//
// Memory: about 85 bytes for each waiting key, whatever the size of its documents, and 350 bytes plus the reason for
// one that is leased, delayed or parked. Bodies are on the disk only. The disk holds at most four times the size of the
// waiting records, or four segments (256 MB by default) if that is more, and one reserve segment. When there is no room
// for another segment, Append returns queue.ErrFull; waiting records are still sent and settled, using the reserve
// segment. So a queue that has filled its volume empties it again. An exceeded quota counts as a full disk.
//
// # Where it works
//
// One process at a time uses the directory; the error of a second one names it. Options.ReadOnly shows the content
// while that process runs, and so do the commands stats, peek and parked of azsearch queue. The commands release, drop,
// pause and resume ask that process to make the change, through a socket in the directory that only its user may access
// (not on Windows). One goroutine serves this socket until Close, so use memqueue in a testing/synctest bubble. The
// directory must be on a local file system: on Linux, NFS, SMB and similar ones are refused as far as they can be
// recognized, unless Options.AllowNetwork is set. If other processes or machines add to the same index, use redisqueue.
// Linux, macOS and the BSDs are supported. On Windows the package builds and reads the same format, but is not safe
// against a power failure: directories cannot be synced.
//
// DESIGN.md in this folder explains crash safety.
package filequeue
