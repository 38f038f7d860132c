// Package journal is for packages that keep a copy of their memory in files of a folder: repair hints and the digest
// tree. It has numbered frames with checksums, in memory and in files, and the goroutine that writes. Dead letters are
// lines of JSON, and the states of a repair are whole files; these need package disk only. The file queue has its own
// log, whose frames attest to each other.
//
// # Format
//
// A file has the magic of its [Format], which is eight bytes including the version as the last one, and then frames. A
// frame is,
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
// any of the changed names.
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
// An error at any line ends the File: no frame is written behind an end that may be torn. No later sync is trusted to
// make data durable after an earlier one has failed, because Linux calls such pages clean. The owner starts a new file,
// or replaces this one, from memory. For the same reason an owner does not append to a file that it has found: its
// content may be in the page cache only.
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
//   - another beginning: a Damage. If the version differs and the first frame cannot be read, [ErrFormat] is in its
//     chain. If the version differs and the frame can be read, the version is a flipped bit: the checksums of a next
//     version start with its number, so that this version cannot read its frames.
//   - an end before the [disk.Mark] of the file, if its Format has one: a Damage.
//
// A damaged last frame behind that looks like a torn one, so it is dropped.
//
// Owners that write several frames for one sync, as the digest tree does, ignore a Damage: the first frame of each file
// has the number of durable frames of the previous file, and a file with fewer frames is damaged.
//
// # The writer
//
// [Loop] is the only goroutine that writes. Callers change memory under the mutex of the owner, add records to [Frames]
// and return; the loop writes the records that have accumulated. After an error it waits a second, then twice as long
// each time, up to a minute; a waiting Sync or Close triggers the next attempt at once. disk.OpenLocked lets one
// process use the folder; release unlocks it, and so does the end of the process.
package journal
