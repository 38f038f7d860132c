package deadletter

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// note writes to the mark of the segment how many dead letters are durable. A mark that cannot be written stays behind,
// so that Open detects less.
func (s *segment) note(dir disk.Folder, size int64, first bool) {
	if first {
		s.mark, _ = disk.OpenMark(dir, s.stem+markExt) // nil after an error
	}
	if s.mark != nil && s.mark.Note(extentOf(size, s.letters)) != nil {
		s.unmark()
	}
}

func (s *segment) unmark() {
	if s.mark != nil {
		_ = s.mark.Close() // it was not synced either
		s.mark = nil
	}
}

func extentOf(size, letters int64) disk.Extent {
	return disk.Extent{Offset: uint64(size), Count: uint64(letters)} //nolint:gosec // not negative
}

// missing returns how many dead letters of a file were durable and are neither in it nor done. The file may be in use.
func missing(dir fs.FS, stem string) (int64, error) {
	for {
		noted, err := disk.ReadMark(dir, stem+markExt) // before the file, to which its owner may add
		if err != nil || noted.Count == 0 {
			return 0, err
		}
		n, err := missingFrom(dir, stem, noted)
		if err != nil || n == 0 {
			return 0, err
		}
		// A walk removes the mark before it replaces the file.
		if now, err := disk.ReadMark(dir, stem+markExt); err != nil || now == noted {
			return n, err
		}
	}
}

func missingFrom(dir fs.FS, stem string, noted disk.Extent) (int64, error) {
	f, err := disk.OpenReading(dir, stem+lettersExt)
	if err == nil {
		var last [1]byte
		err = f.Read(last[:], int64(noted.Offset)-1) //nolint:gosec // the size of a file
		_ = f.Close()                                // it was only read
		if err == nil && last[0] == '\n' {
			return 0, nil // without reading a file of many megabytes
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	j, err := readJournal(dir, stem)
	if errors.As(err, new(*formatError)) { // a newer version knows what is done
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n := int64(noted.Count) - int64(len(j.done)) //nolint:gosec // a number of dead letters
	for l, err := range linesIn(dir, stem) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return 0, err
		}
		if _, there, err := l.record(stem, &j); there || err != nil { // a damaged line is reported anyway
			n--
		}
	}
	return max(n, 0), nil
}

// missingError is the error of a file that ends in a line before dead letters that were durable; nil if there are none.
func missingError(dir fs.FS, stem string, line int) error {
	n, err := missing(dir, stem)
	if err != nil || n == 0 {
		return err
	}
	return &DamagedError{File: stem + lettersExt, Line: line, Err: fmt.Errorf("%w: %d; remove %s%s to accept that", errMissing, n, stem, markExt)}
}

var errMissing = errors.New("the file ends here, but dead letters that were durable are missing")
