package hints

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// errNoReaderAt is for a disk.Folder that does not do what it promises.
var errNoReaderAt = errors.New("hints: the files of the folder cannot be read anywhere")

// load reads the file, if there is one.
func (s *Set) load(folder disk.Folder) (found bool, err error) {
	f, err := folder.Open(fileName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	at, ok := f.(io.ReaderAt)
	if !ok {
		return false, errNoReaderAt
	}
	r := replay{set: s, file: file{r: at, size: info.Size()}, loading: new(taking), names: make(map[string]struct{})}
	if err := r.run(); err != nil {
		return false, err
	}
	r.finish()
	return true, nil
}

// replay makes a set of a file.
type replay struct {
	set     *Set
	file    file
	loading *taking             // who has the marks: what is added behind one must not be lost if it is taken off
	names   map[string]struct{} // all that the file mentions
	last    uint32              // sequence number
	sealed  bool                // the snapshot has ended
	damage  *DamagedError       // the first
}

// run reads as far as a crash can have left it, and beyond that only if damage is accepted.
func (r *replay) run() error {
	begin, err := r.file.bytes(0, len(magic))
	if err != nil {
		return err
	}
	offset := int64(len(magic))
	if string(begin) != magic {
		r.damaged(0, "it does not begin as a file of hints does, or it is of another version")
		offset = 0
	}
	for r.damage == nil || r.set.options.AcceptDamage {
		b, err := r.file.frame(offset)
		if err != nil {
			return err
		}
		if b != nil && le.Uint32(b[4:]) == r.last+1 {
			r.apply(b)
			offset += int64(len(b))
			continue
		}
		if offset >= r.file.size {
			break
		}
		next, b, err := r.file.search(offset, r.last)
		if err != nil {
			return err
		}
		switch {
		case b != nil:
			r.damaged(offset, "a frame cannot be read, and there are others behind it")
			r.last, offset = le.Uint32(b[4:])-1, next
			continue
		case r.file.tried > maxTried:
			r.damaged(offset, "a frame cannot be read, and whether there are others behind it takes too long to find out")
		case r.sealed && r.file.size-offset > header+maxPayload:
			r.damaged(offset, "what is at the end is too long for a frame")
		}
		break
	}
	if !r.sealed {
		r.damaged(offset, "the snapshot has no end")
	}
	if r.damage != nil && !r.set.options.AcceptDamage {
		return r.damage
	}
	return nil
}

func (r *replay) damaged(offset int64, reason string) {
	if r.damage == nil {
		r.damage = &DamagedError{File: fileName, Offset: offset, Reason: reason}
	}
}

// apply applies a frame, which is well-formed.
func (r *replay) apply(b []byte) {
	r.last = le.Uint32(b[4:])
	_ = each(b[header:], func(o op, name, key string) error {
		if o == opSealed {
			r.sealed = true
			return nil
		}
		r.names[name] = struct{}{}
		r.operation(o, r.set.index(name), key)
		return nil
	}) // frame has gone through it, and left out what is malformed
}

func (r *replay) operation(o op, x *index, key string) {
	s := r.set
	switch o {
	case opAdd:
		if _, ok := x.keys[key]; !ok {
			x.add(key)
			s.keys++
			s.bytes += cost(key)
		}
	case opDone:
		if _, ok := x.keys[key]; ok {
			s.remove(x, key) // but not from the line: see finish
		}
	case opEverything:
		s.drop(x)
		x.all, x.allBy = true, r.loading
	case opCompared:
		x.all, x.allBy = false, nil
	case opForget:
		s.drop(x)
		x.all, x.allBy = false, nil
	}
}

// finish makes the lines right, and gives the marks back.
func (r *replay) finish() {
	s := r.set
	if r.damage != nil {
		s.damaged = true
		for name := range r.names {
			s.everything(s.index(name))
		}
	}
	for _, x := range s.indexes {
		if x.all {
			s.drop(x)
			x.allBy = nil
		}
		// A key that was done and added again is in line twice; it is as old as its last place.
		kept := make([]string, 0, len(x.keys))
		for _, chunk := range slices.Backward(x.line.chunks) {
			for _, key := range slices.Backward(chunk) {
				if by, ok := x.keys[key]; ok && by == nil {
					x.keys[key] = r.loading
					kept = append(kept, key)
				}
			}
		}
		x.line = line{}
		for _, key := range slices.Backward(kept) {
			x.wait(key)
		}
		s.tidy(x)
	}
}

// file is read through a window.
type file struct {
	r      io.ReaderAt
	size   int64
	window []byte
	at     int64 // where the window begins
	tried  int64 // bytes of what search took for frames
}

// maxTried ends a search in bytes that are made to look like frames everywhere, after about a second: in a large file
// it would take hours.
const maxTried int64 = 2 << 30

// windowSize is more than a frame.
const windowSize = 2 * maxPayload

// bytes returns up to n bytes from an offset: fewer at the end. They are valid until the next call.
func (f *file) bytes(offset int64, n int) ([]byte, error) {
	n = int(min(int64(n), max(f.size-offset, 0)))
	if offset < f.at || offset+int64(n) > f.at+int64(len(f.window)) {
		f.window = slices.Grow(f.window[:0], int(min(windowSize, f.size)))[:min(windowSize, f.size-offset)]
		f.at = offset
		read, err := f.r.ReadAt(f.window, offset)
		if read < len(f.window) {
			f.window = nil
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return f.window[offset-f.at:][:n], nil
}

// frame returns the frame at an offset, or nil if there is none that can be read.
func (f *file) frame(offset int64) ([]byte, error) {
	b, err := f.bytes(offset, header)
	if err != nil || len(b) < header {
		return nil, err
	}
	n := le.Uint32(b)
	if n == 0 || n > maxPayload {
		return nil, nil
	}
	b, err = f.bytes(offset, header+int(n))
	if err != nil || len(b) < header+int(n) || le.Uint32(b[8:]) != sum(b) {
		return nil, err
	}
	if each(b[header:], func(op, string, string) error { return nil }) != nil {
		return nil, nil
	}
	return b, nil
}

// search looks for the next frame that can be read, and has a number above last that it can have.
func (f *file) search(offset int64, last uint32) (int64, []byte, error) {
	for ; offset+header < f.size; offset++ {
		b, err := f.bytes(offset, header)
		if err != nil {
			return 0, nil, err
		}
		if ahead := le.Uint32(b[4:]) - last; ahead == 0 || ahead > 1<<24 {
			continue
		}
		if n := le.Uint32(b); n <= maxPayload {
			f.tried += int64(n)
		}
		if b, err = f.frame(offset); b != nil || err != nil {
			return offset, b, err
		}
		if f.tried > maxTried {
			return 0, nil, nil
		}
	}
	return 0, nil, nil
}
