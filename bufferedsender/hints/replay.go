package hints

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
)

// replay makes a set of a file.
type replay struct {
	set     *Set
	loading *taking // of the marks: what is added behind one must not be lost if it is taken off
	sealed  bool    // the snapshot has ended
}

// load reads the file, if there is one.
func (s *Set) load(folder disk.Folder) (found bool, err error) {
	file, err := format.Open(folder, fileName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	r := replay{set: s, loading: new(taking)}
	for {
		b, err := file.Next()
		if err != nil {
			return false, err
		}
		if b == nil {
			break
		}
		_ = each(b[header:], r.apply) // Next returns only frames that are well formed
	}
	damage, err := file.Tail()
	if err != nil {
		return false, err
	}
	if damage == nil && !r.sealed {
		damage = &journal.Damage{Offset: file.Offset, Reason: errUnsealed}
	}
	if damage != nil {
		return false, &DamagedError{fileName, damage.Offset, damage.Reason}
	}
	r.finish()
	return true, nil
}

var errUnsealed = errors.New("the snapshot has no end")

func (r *replay) apply(o op, name, key string) {
	if o == opSealed {
		r.sealed = true
		return
	}
	s, x := r.set, r.set.index(name)
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

// finish corrects the lines, and gives the marks back.
func (r *replay) finish() {
	s := r.set
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
