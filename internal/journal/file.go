package journal

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// File is a file to which one goroutine appends. The zero value is not open. N1 to A2 are the lines in the package
// comment.
type File struct {
	handle disk.Handle // nil: the file was given up, or closed
	size   int64
	number uint32     // of the last durable frame
	mark   *disk.Mark // nil: none
	of     [16]byte
}

// IsOpen reports whether Append can succeed.
func (f *File) IsOpen() bool { return f.handle != nil }

// Size returns the size of the durable part, in bytes.
func (f *File) Size() int64 { return f.size }

// Number is the number of the last frame that is durable.
func (f *File) Number() uint32 { return f.number }

// Create makes a file that does not exist, with its first frame, durably. f must not be open.
func (f *File) Create(folder disk.Folder, name string, format Format, frame []byte) error {
	h, err := folder.Create(name)
	if err != nil {
		return err
	}
	Seal(frame, 1)
	if _, err = io.WriteString(h, format.Magic); err == nil {
		_, err = h.Write(frame)
	}
	if err == nil {
		err = h.Sync() // N1
	}
	if err == nil {
		err = folder.SyncNames() // N2
	}
	if err != nil {
		return errors.Join(err, h.Close())
	}
	*f = File{handle: h, size: int64(len(format.Magic) + len(frame)), number: 1}
	return nil
}

// Replace is disk.Replace for a file with the frames that write passes to put. It leaves the file open.
func (f *File) Replace(folder disk.Folder, tmp, name string, format Format, write func(put func(frame []byte))) error {
	if err := f.Close(); err != nil { // Windows cannot rename over an open file
		return err
	}
	size, number, of := int64(len(format.Magic)), uint32(0), [16]byte{}
	if err := disk.Replace(folder, tmp, name, func(w *bufio.Writer) error {
		_, _ = w.WriteString(format.Magic) // w keeps the first error of all writes, and Flush returns it
		write(func(frame []byte) {
			number++
			Seal(frame, number)
			if number == 1 {
				of = identity(frame)
			}
			_, _ = w.Write(frame) // as above
			size += int64(len(frame))
		})
		return nil
	}); err != nil {
		return err
	}
	h, err := folder.Append(name)
	if err != nil {
		return err
	}
	*f = File{handle: h, size: size, number: number, of: of}
	if format.Mark != "" {
		f.mark, _ = disk.OpenMark(folder, format.Mark) // without one less is detected
	}
	f.note()
	return nil
}

// identity distinguishes a file from others by its first frame.
func identity(frame []byte) [16]byte {
	sum := sha256.Sum256(frame)
	return [16]byte(sum[:16])
}

// note writes to the mark what is durable. A mark that cannot be written stays behind.
func (f *File) note() {
	if f.mark != nil && f.mark.Note(disk.Extent{Of: f.of, Offset: uint64(f.size), Count: uint64(f.number)}) != nil { //nolint:gosec // not negative
		f.unmark()
	}
}

func (f *File) unmark() {
	if f.mark != nil {
		_ = f.mark.Close() // it was not synced either
		f.mark = nil
	}
}

// Append makes frames durable. If that fails, the file is given up.
func (f *File) Append(frames ...[]byte) error {
	size, number := f.size, f.number
	for _, b := range frames {
		number++
		Seal(b, number)
		if _, err := f.handle.Write(b); err != nil { // A1
			return errors.Join(err, f.Close())
		}
		size += int64(len(b))
	}
	if err := f.handle.Sync(); err != nil { // A2
		return errors.Join(err, f.Close())
	}
	f.size, f.number = size, number
	f.note()
	return nil
}

// Close closes the file, if it is open.
func (f *File) Close() error {
	if f.handle == nil {
		return nil
	}
	f.unmark()
	h := f.handle
	f.handle = nil
	return h.Close()
}
