package journal

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// Read calls do for each readable frame of a file, with its number, until do returns an error. frame is valid until do
// returns. The error is that of do or of the disk, fs.ErrNotExist if there is no file, or a *Damage if the rest of the
// file cannot be the result of a crash.
func (f Format) Read(folder fs.FS, name string, do func(frame []byte, number uint32) error) (err error) {
	var synced disk.Extent
	if f.Mark != "" {
		if synced, err = disk.ReadMark(folder, f.Mark); err != nil {
			return err
		}
	}
	file, err := disk.OpenReading(folder, name)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written
	r := &reader{format: f, file: file}
	if err := r.begin(); err != nil {
		return err
	}
	for {
		frame, err := r.next()
		if err != nil {
			return err
		}
		if frame == nil {
			if err = r.tail(); err == nil && r.of == synced.Of && uint64(r.number) < synced.Count {
				err = &Damage{r.offset, fmt.Errorf("%w: %d frames are missing", errShort, synced.Count-uint64(r.number))}
			}
			return err
		}
		if r.number == 1 {
			r.of = identity(frame)
		}
		if err := do(frame, r.number); err != nil {
			return err
		}
	}
}

// reader reads a file from its first to its last readable frame.
type reader struct {
	format Format
	file   *disk.Reading
	bad    error // the beginning does not match the format

	offset int64  // where the next frame begins
	number uint32 // of the last one
	of     [16]byte

	window []byte
	from   int64 // offset of the window
	tried  int64 // bytes checked as frames by the search
}

func (r *reader) begin() error {
	magic := r.format.Magic
	begin, err := r.bytes(0, len(magic))
	if err != nil {
		return err
	}
	version := len(magic) - 1
	switch {
	case string(begin) == magic:
		r.offset = int64(len(magic))
	case len(begin) == len(magic) && string(begin[:version]) == magic[:version]:
		other := begin[version] // begin is valid until the next call
		frame, err := r.frame(int64(len(magic)))
		if err != nil {
			return err
		}
		if frame != nil {
			r.bad = fmt.Errorf("%w: got %d, want %d, and the frames are of this version", errVersion, other, magic[version])
			return nil
		}
		r.bad = fmt.Errorf("%w: got version %d, want %d; open the folder with the program that wrote it", ErrFormat, other, magic[version])
	default:
		r.bad = errMagic
	}
	return nil
}

// next returns the next frame, valid until the next call, or nil if the frame with the next number cannot be read.
func (r *reader) next() ([]byte, error) {
	if r.bad != nil {
		return nil, nil
	}
	b, err := r.frame(r.offset)
	if err != nil || b == nil || le.Uint32(b[4:]) != r.number+1 {
		return nil, err
	}
	r.number++
	r.offset += int64(len(b))
	return b, nil
}

// maxTried bounds the search in bytes that are crafted to look like frames everywhere: it ends after about a second
// instead of hours.
const maxTried int64 = 2 << 30

// tail judges the bytes behind the last frame: nil if a crash can have left them, otherwise a *Damage, or the error of
// the disk.
func (r *reader) tail() error {
	if r.bad != nil {
		return &Damage{0, r.bad}
	}
	later, err := r.later()
	switch {
	case err != nil:
		return err
	case later:
		return &Damage{r.offset, errMiddle}
	case r.tried > maxTried:
		return &Damage{r.offset, errSearch}
	case r.file.Size-r.offset > int64(HeaderSize+r.format.MaxPayload):
		return &Damage{r.offset, errLong}
	}
	return nil
}

// later reports whether a frame with a later number can be read at any offset.
func (r *reader) later() (bool, error) {
	for offset := r.offset; offset+HeaderSize < r.file.Size && r.tried <= maxTried; offset++ {
		b, err := r.bytes(offset, HeaderSize)
		if err != nil {
			return false, err
		}
		if ahead := le.Uint32(b[4:]) - r.number; ahead == 0 || ahead > 1<<24 {
			continue
		}
		if n := int64(le.Uint32(b)); n <= int64(r.format.MaxPayload) {
			r.tried += n
		}
		if b, err = r.frame(offset); b != nil || err != nil {
			return b != nil, err
		}
	}
	return false, nil
}

// bytes returns up to n bytes from an offset, fewer at the end. They are valid until the next call.
func (r *reader) bytes(offset int64, n int) ([]byte, error) {
	n = int(min(int64(n), max(r.file.Size-offset, 0)))
	if offset < r.from || offset+int64(n) > r.from+int64(len(r.window)) {
		wide := min(2*int64(HeaderSize+r.format.MaxPayload), r.file.Size-offset)
		r.window, r.from = slices.Grow(r.window[:0], int(wide))[:wide], offset
		if err := r.file.Read(r.window, offset); err != nil {
			r.window = nil
			return nil, err
		}
	}
	return r.window[offset-r.from:][:n], nil
}

// frame returns the frame at an offset, or nil if none can be read there.
func (r *reader) frame(offset int64) ([]byte, error) {
	b, err := r.bytes(offset, HeaderSize)
	if err != nil || len(b) < HeaderSize {
		return nil, err
	}
	n := le.Uint32(b)
	if n == 0 || int64(n) > int64(r.format.MaxPayload) {
		return nil, nil
	}
	b, err = r.bytes(offset, HeaderSize+int(n))
	if err != nil || len(b) < HeaderSize+int(n) || le.Uint32(b[8:]) != frameSum(b) || !r.format.WellFormed(b[HeaderSize:]) {
		return nil, err
	}
	return b, nil
}
