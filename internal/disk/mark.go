package disk

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
)

// Extent is how much of a file, or of a log of several files, was durable.
type Extent struct {
	// Of identifies the file or log, so that an Extent is not compared with another one.
	Of [16]byte
	// Segment and Offset are the end of the durable part: everything before them has been synced.
	Segment, Offset uint64
	// Count is how many records, or frames, that part has.
	Count uint64
}

// Mark is a small file with the Extent of a log. A crash can shorten a log only behind what was synced, so a log that
// ends before its Mark has lost durable data, by a bad copy, an incomplete restore, or a disk that lies about syncs. It
// would otherwise look like a log with a torn end.
//
// Note is called after each sync of the log, and is one write into one sector that is not synced itself. After a crash
// of the machine the Mark may be older than the log, by some half a minute, or absent; then a shorter loss is not
// detected. It is never newer, because it is written after the sync has returned: a Mark that is ahead proves loss.
// A directory that was restored as a whole has the Mark of its log, so that nothing is detected.
//
// Not safe for concurrent use.
type Mark struct{ area Area }

// The content is magic[8] of[16] segment u64 offset u64 count u64, and the CRC-32C of these as u32.
const (
	markMagic = "azmark\x00\x01"
	markSize  = 52
	markRoom  = 512 // one sector: a crash keeps the old content or the new one
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ReadMark returns the Extent in a Mark; the zero Extent if there is none, or if it cannot be understood.
func ReadMark(folder fs.FS, name string) (Extent, error) {
	f, err := OpenReading(folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return Extent{}, nil
	}
	if err != nil {
		return Extent{}, err
	}
	defer f.Close() // it was only read
	if f.Size < markSize {
		return Extent{}, nil
	}
	b := make([]byte, markSize)
	if err := f.Read(b, 0); err != nil {
		return Extent{}, err
	}
	le := binary.LittleEndian
	if string(b[:8]) != markMagic || crc32.Checksum(b[:48], castagnoli) != le.Uint32(b[48:]) {
		return Extent{}, nil
	}
	return Extent{[16]byte(b[8:24]), le.Uint64(b[24:]), le.Uint64(b[32:]), le.Uint64(b[40:])}, nil
}

// OpenMark opens a Mark for writing, and makes it if there is none. An existing content stays.
func OpenMark(folder Folder, name string) (*Mark, error) {
	area, err := folder.Reopen(name, markRoom)
	if errors.Is(err, fs.ErrNotExist) {
		area, err = folder.Allocate(name, markRoom)
	}
	if err != nil {
		return nil, err
	}
	return &Mark{area}, nil
}

// Note replaces the content, without syncing it. After an error the content is the old one, or none.
func (m *Mark) Note(e Extent) error {
	le := binary.LittleEndian
	b := append(make([]byte, 0, markSize), markMagic...)
	b = append(b, e.Of[:]...)
	for _, n := range []uint64{e.Segment, e.Offset, e.Count} {
		b = le.AppendUint64(b, n)
	}
	_, err := m.area.WriteAt(le.AppendUint32(b, crc32.Checksum(b, castagnoli)), 0)
	return err
}

// Close closes the file.
func (m *Mark) Close() error { return m.area.Close() }
