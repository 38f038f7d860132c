package deadletter

import (
	"errors"
	"io/fs"
	"iter"
	"slices"
)

// Read returns the dead letters in a directory, oldest first, one at a time. It needs no File and takes no lock, so it
// can read files that another process is writing:
//
//	for l, err := range deadletter.Read(os.DirFS("/var/lib/hotels/dead")) { … }
//
// An error comes without a dead letter, and further dead letters may follow: *DamagedError concerns one line, any other
// error the rest of a file. A line torn by a crash at the end of a file is left out. Dead letters that are delivered or
// discarded meanwhile may still be returned.
func Read(dir fs.FS) iter.Seq2[Letter, error] {
	return func(yield func(Letter, error) bool) {
		entries, err := fs.ReadDir(dir, ".")
		if err != nil {
			yield(Letter{}, err)
			return
		}
		var stems []string
		for _, e := range entries {
			if stem, ext, ok := stemOf(e.Name()); ok && (ext == lettersExt || ext == markExt) {
				stems = append(stems, stem)
			}
		}
		slices.Sort(stems)
		for _, stem := range slices.Compact(stems) {
			// Read the journal first. If the file is rewritten in between, the journal only repeats the outcome; in the other order
			// delivered dead letters would reappear.
			j, err := readJournal(dir, stem)
			if err != nil {
				if !yield(Letter{}, err) {
					return
				}
				continue
			}
			for r, err := range recordsOf(dir, stem, &j) {
				if errors.Is(err, fs.ErrNotExist) {
					break // all its dead letters are done
				}
				if !yield(r.Letter, err) {
					return
				}
			}
		}
	}
}

// recordsOf returns the remaining records of a file, with their newest reasons. See Read.
func recordsOf(dir fs.FS, stem string, j *journal) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		line := 1
		for l, err := range linesIn(dir, stem) {
			if errors.Is(err, fs.ErrNotExist) {
				if lost := missingError(dir, stem, line); lost != nil && !yield(record{}, lost) {
					return
				}
			}
			if err != nil {
				yield(record{}, err)
				return
			}
			line = l.number + 1
			r, there, err := l.record(stem, j)
			if (there || err != nil) && !yield(r, err) {
				return
			}
		}
		if err := missingError(dir, stem, line); err != nil {
			yield(record{}, err)
		}
	}
}

// record returns the record of a line, unless it is done. The error is a *DamagedError.
func (l *line) record(stem string, j *journal) (r record, there bool, err error) {
	if len(l.raw) == 0 {
		return record{}, false, nil
	}
	if l.long {
		err = errors.New("it is too long")
	} else {
		r, err = parseRecord(l.raw)
	}
	switch {
	case err == nil:
		r, there = j.now(r)
		return r, there, nil
	case !l.ended: // torn, or being written
		return record{}, false, nil
	}
	return record{}, false, &DamagedError{File: stem + lettersExt, Line: l.number, Err: err}
}

// linesIn returns the lines of a file of dead letters.
func linesIn(dir fs.FS, stem string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		f, err := dir.Open(stem + lettersExt)
		if err != nil {
			yield(line{}, err)
			return
		}
		defer f.Close()
		linesOf(f, maxLine)(yield)
	}
}
