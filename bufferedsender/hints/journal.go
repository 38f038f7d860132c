package hints

import (
	"errors"
	"io"
	"io/fs"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// Names in the folder.
const (
	fileName = "hints.log"
	tmpName  = "hints.tmp"
	lockName = "lock"
)

// slack is how much larger than twice the set a file may be.
const slack = 64 << 10

// journal is the file that one goroutine writes. The lines C1 to A2 are those of DESIGN.md.
type journal struct {
	folder disk.Folder
	handle disk.Handle // nil: there is nothing to append to, only rewrite helps
	size   int64
	seq    uint32
}

// part is what a snapshot has of one index.
type part struct {
	name string
	all  bool
	keys [][]string
}

// append makes changes durable.
func (j *journal) append(changes frames) error {
	for _, b := range changes.list {
		seal(b, j.seq+1)
		if _, err := j.handle.Write(b); err != nil { // A1
			return j.giveUp(err)
		}
		if err := j.handle.Sync(); err != nil { // A2
			return j.giveUp(err)
		}
		j.seq++
		j.size += int64(len(b))
	}
	return nil
}

// rewrite makes a new file of a snapshot, durably.
func (j *journal) rewrite(parts []part) error {
	if err := j.create(parts); err != nil {
		return j.giveUp(errors.Join(err, j.removeTmp()))
	}
	// C3. Windows renames over no file that is open.
	err := j.close()
	if err == nil {
		err = j.folder.Rename(tmpName, fileName)
	}
	if err == nil {
		err = j.folder.SyncNames() // C4
	}
	if err == nil {
		j.handle, err = j.folder.Append(fileName)
	}
	if err != nil {
		return j.giveUp(err)
	}
	return nil
}

// create is C1 and C2.
func (j *journal) create(parts []part) error {
	if err := j.removeTmp(); err != nil {
		return err
	}
	h, err := j.folder.Create(tmpName)
	if err != nil {
		return err
	}
	size, seq, err := writeSnapshot(h, parts)
	if err == nil {
		err = h.Sync()
	}
	if err = errors.Join(err, h.Close()); err != nil {
		return err
	}
	j.size, j.seq = size, seq
	return nil
}

func (j *journal) removeTmp() error {
	if err := j.folder.Remove(tmpName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// giveUp leaves a file whose end nobody knows.
func (j *journal) giveUp(err error) error { return errors.Join(err, j.close()) }

func (j *journal) close() error {
	if j.handle == nil {
		return nil
	}
	h := j.handle
	j.handle = nil
	return h.Close()
}

// writeSnapshot writes what a file begins with.
func writeSnapshot(w io.Writer, parts []part) (size int64, seq uint32, err error) {
	var f frames
	if _, err := io.WriteString(w, magic); err != nil {
		return 0, 0, err
	}
	size = int64(len(magic))
	flush := func(keep int) {
		for len(f.list) > keep && err == nil {
			seq++
			seal(f.list[0], seq)
			_, err = w.Write(f.list[0])
			size += int64(len(f.list[0]))
			f.list = f.list[1:]
		}
	}
	for _, p := range parts {
		if p.all {
			f.add(opEverything, p.name, "")
		}
		for _, keys := range p.keys {
			for _, key := range keys {
				f.add(opAdd, p.name, key)
				if flush(1); err != nil {
					return 0, 0, err
				}
			}
		}
	}
	flush(0)
	f = frames{}
	f.add(opSealed, "", "")
	flush(0)
	return size, seq, err
}
