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

func logName(n uint64) string  { return logPrefix + strconv.FormatUint(n, 10) }
func baseName(n uint64) string { return basePrefix + strconv.FormatUint(n, 10) }

// numberOf returns the number in a file name with this prefix.
func numberOf(name, prefix string) (n uint64, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.ParseUint(rest, 10, 63)
	return n, ok && err == nil && strconv.FormatUint(n, 10) == rest
}

// numbered returns the numbers of the files with this prefix, in ascending order.
func numbered(entries []fs.DirEntry, prefix string) (all []uint64) {
	for _, e := range entries {
		if n, ok := numberOf(e.Name(), prefix); ok {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// tidy removes the files that a base replaces: F3.
func tidy(folder disk.Folder, base uint64) error {
	entries, err := folder.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		log, isLog := numberOf(e.Name(), logPrefix)
		other, isBase := numberOf(e.Name(), basePrefix)
		if isLog && log < base || isBase && other != base {
			err = errors.Join(err, disk.Remove(folder, e.Name()))
		}
	}
	return err
}

// logs appends to the log files, from one goroutine. O1 to X1 are lines of DESIGN.md.
type logs struct {
	folder disk.Folder
	bits   int
	number uint64       // of the newest log, or of the last attempt to create one
	file   journal.File // the newest log; closed after an error

	before  uint64 // the last log read or begun, or 0
	durable uint32 // how many of its frames were read or are durable: the next log records both
}

// begin creates a new log durably: O1 and R1. extra are records after its first one.
func (l *logs) begin(k kind, extra []byte) error {
	if err := l.file.Close(); err != nil {
		return err
	}
	l.number++
	first := appendFirst(make([]byte, journal.HeaderSize, 64), k, l.bits, l.before, l.durable)
	if err := l.file.Create(l.folder, logName(l.number), format, append(first, extra...)); err != nil {
		return err
	}
	l.before, l.durable = l.number, 1
	return nil
}

// append makes frames durable: A1 and A2. After an error the next call begins a new log.
func (l *logs) append(frames ...[]byte) error {
	if !l.file.IsOpen() {
		if err := l.begin(kindContinues, nil); err != nil {
			return err
		}
	}
	err := l.file.Append(frames...)
	l.durable = l.file.Number()
	return err
}

// end writes the closed record and closes the log: X1.
func (l *logs) end() error {
	err := l.append(append(make([]byte, journal.HeaderSize), byte(kindClosed)))
	return errors.Join(err, l.file.Close())
}
