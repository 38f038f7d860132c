package digesttree

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/journal"
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

// logs are the logs, which one goroutine writes. The lines O1 to X1 are those of DESIGN.md.
type logs struct {
	folder disk.Folder
	bits   int
	number uint64       // of the newest log there is, or was tried
	file   journal.File // the newest log; given up after an error

	// The last log that was read or begun, and how many of its frames were read or are durable: a new one names them.
	// 0: none.
	before  uint64
	durable uint32
}

// begin makes a new log, durably: O1 and R1. extra are records behind its first.
func (j *logs) begin(k kind, extra []byte) error {
	if err := j.file.Close(); err != nil {
		return err
	}
	j.number++
	first := make([]byte, header, 64)
	first = appendFirst(first, k, j.bits, j.before, j.durable)
	if err := j.file.Create(j.folder, logName(j.number), format, append(first, extra...)); err != nil {
		return err
	}
	j.before, j.durable = j.number, 1
	return nil
}

// append makes frames durable: A1 and A2.
func (j *logs) append(chunks []chunk) error {
	frames := make([][]byte, len(chunks))
	for i, c := range chunks {
		frames[i] = c.data
	}
	err := j.file.Append(frames...)
	j.durable = j.file.Number()
	return err
}

// end is X1.
func (j *logs) end() error {
	if !j.file.IsOpen() { // it was given up, by a fold for example, and nothing was told since
		if err := j.begin(kindContinues, nil); err != nil {
			return err
		}
	}
	err := j.append([]chunk{{data: append(make([]byte, header), byte(kindClosed))}})
	return errors.Join(err, j.file.Close())
}
