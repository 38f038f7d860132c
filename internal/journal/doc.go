// Package journal is for packages that keep a copy of what is in memory in files of a folder: repair hints and the
// digest tree. It has numbered frames with checksums, in memory and in files, and the goroutine that writes. Dead
// letters are lines of JSON and the states of a repair are whole files, so these need package disk only; the file queue
// has a log of its own, whose frames attest to each other.
//
// # Format
//
// A file is the magic of its [Format], eight bytes of which the last is the version, then frames. A frame is,
// little-endian:
//
//	length of the payload u32, number u32, CRC-32C of these eight bytes and of the payload u32, payload
//
// Numbers grow by one from 1. No payload is empty, so zeros are not a frame. The files of former versions of hints
// and of the digest tree have this format: their magics and largest payloads are parameters.
//
// # The state after a crash at each line
//
// "Sync" is fsync of the file, "sync names" fsync of the folder. Until then a crash may leave any part of a file, and
// any of the names that changed.
//
// File.Replace: see disk.Replace. A file is the old one or the new one, whole.
//
// File.Create, of a file that is not there:
//
//	N1 create, write, sync           perhaps the name; any part of the first frame
//	N2 sync names                    the file with its first frame: durable
//
// File.Append:
//
//	A1 write the frames              any part of them; each frame is read whole or not at all
//	A2 sync                          the frames: durable
//
// An error at any line ends the File: no frame is written behind an end that may be torn, and no later sync is
// trusted to make durable what an earlier one could not (Linux calls such pages clean). The owner begins a new file,
// or replaces this one, from memory. For the same reason the owner appends to no file that it has found: what was
// read may be in the page cache only.
//
// # Recovery
//
// [Format.Read] returns frames up to the first one that cannot be read, and judges the rest:
//
//   - nothing, or fewer bytes than a frame may have, without a later frame among them: a crash has torn the last
//     write. The rest is dropped, and no caller is notified, because none was promised these frames.
//   - a later frame, more bytes than a frame may have, or bytes that take too long to search: a [Damage], which the
//     owner returns to the caller of its Open. This holds for owners that sync each frame before they write the next
//     one.
//   - another beginning: a Damage. If only the version differs, and the first frame cannot be read, [ErrFormat] is in
//     its chain. If that can be read the version is a flipped bit: the checksums of a next version begin with its
//     number, so that no frame of it can be read here.
//
// Damage of the last frame cannot be told from a torn one: it is lost, as on a disk that loses what it has synced.
//
// Owners that write several frames for one sync, as the digest tree does, ignore a Damage: the first frame of each file
// names how many frames of the file before were durable, and a file that has fewer is damaged.
//
// # The writer
//
// [Loop] is the only goroutine that writes. Callers change memory under the mutex of the owner, add records to [Frames]
// and return; the loop writes what has collected meanwhile. After an error it waits a second, then twice as long each
// time, at most a minute; a waiting Sync or Close does not wait for that. One process has the folder, by
// disk.OpenLocked: release unlocks it, and so does the end of the process.
package journal
