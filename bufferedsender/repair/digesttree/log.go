package digesttree

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// Names in the folder.
const (
	logPrefix     = "log."
	basePrefix    = "base."
	tmpName       = "base.tmp"
	rebuildPrefix = "rebuild."
	lockName      = "lock"
)

// logMagic is how a log begins. The last byte is the version of the format.
const logMagic = "aztlog\x00\x01"

func logName(n uint64) string  { return logPrefix + strconv.FormatUint(n, 10) }
func baseName(n uint64) string { return basePrefix + strconv.FormatUint(n, 10) }

// numbered returns the numbers of the files whose names begin so, in order.
func numbered(entries []fs.DirEntry, prefix string) (all []uint64) {
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), prefix); ok {
			if n, err := strconv.ParseUint(rest, 10, 63); err == nil && strconv.FormatUint(n, 10) == rest {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	return all
}

// journal is the logs, which one goroutine writes. The lines O1 to X1 are those of DESIGN.md.
type journal struct {
	folder disk.Folder
	bits   int
	number uint64      // of the newest log there is, or was tried
	handle disk.Handle // nil: there is nothing to append to, only a new log helps
	frames uint32      // in the newest log that is durable

	// The last log that was read or begun, and how many of its frames were read or are durable: a new one names them. 0: none.
	before  uint64
	durable uint32
}

// begin makes a new log, durably: O1 and R1. extra are records behind its first.
func (j *journal) begin(k kind, extra []byte) error {
	if err := j.close(); err != nil {
		return err
	}
	j.number++
	first := make([]byte, header, 64)
	first = appendFirst(first, k, j.bits, j.before, j.durable)
	first = append(first, extra...)
	seal(first, 1)
	h, err := j.folder.Create(logName(j.number))
	if err != nil {
		return err
	}
	if _, err = io.WriteString(h, logMagic); err == nil {
		_, err = h.Write(first)
	}
	if err == nil {
		err = h.Sync()
	}
	if err == nil {
		err = j.folder.SyncNames()
	}
	if err != nil {
		return errors.Join(err, h.Close())
	}
	j.handle, j.frames, j.before, j.durable = h, 1, j.number, 1
	return nil
}

// append makes frames durable: A1 and A2. The log is given up if that fails.
func (j *journal) append(chunks []chunk) error {
	for _, c := range chunks {
		seal(c.data, j.frames+1)
		if _, err := j.handle.Write(c.data); err != nil { // A1
			return errors.Join(err, j.close())
		}
		j.frames++
	}
	if err := j.handle.Sync(); err != nil { // A2
		return errors.Join(err, j.close())
	}
	j.durable = j.frames
	return nil
}

// end is X1.
func (j *journal) end() error {
	if j.handle == nil { // it was given up, by a fold for example, and nothing was told since
		if err := j.begin(kindContinues, nil); err != nil {
			return err
		}
	}
	err := j.append([]chunk{{data: append(make([]byte, header), byte(kindClosed))}})
	return errors.Join(err, j.close())
}

func (j *journal) close() error {
	if j.handle == nil {
		return nil
	}
	h := j.handle
	j.handle = nil
	return h.Close()
}

// remove removes a file that need not be there.
func remove(folder disk.Folder, name string) error {
	if err := folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
