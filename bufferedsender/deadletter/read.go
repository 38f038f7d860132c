package deadletter

import (
	"errors"
	"io/fs"
	"iter"
	"slices"
)

// Read returns the letters in a directory, oldest first, one at a time. It needs
// no File and locks nothing, so it also reads what another process is writing:
//
//	for letter, err := range deadletter.Read(os.DirFS("/var/lib/hotels/dead")) { … }
//
// An error comes with no letter, and the next letters follow it: *DamagedError
// is about one line, any other about the rest of a file. What a crash has torn
// at the end of a file is left out. A letter that is delivered or discarded
// meanwhile may still be returned.
func Read(dir fs.FS) iter.Seq2[Letter, error] {
	return func(yield func(Letter, error) bool) {
		entries, err := fs.ReadDir(dir, ".")
		if err != nil {
			yield(Letter{}, err)
			return
		}
		var stems []string
		for _, e := range entries {
			if stem, ext, ok := stemOf(e.Name()); ok && ext == lettersExt {
				stems = append(stems, stem)
			}
		}
		slices.Sort(stems)
		for _, stem := range stems {
			// The journal first: a rewrite between the two makes it say what is
			// so anyway. The other way round letters would come back.
			j, err := readJournal(dir, stem)
			if err != nil {
				if !yield(Letter{}, err) {
					return
				}
				continue
			}
			for r, err := range recordsOf(dir, stem, &j) {
				if errors.Is(err, fs.ErrNotExist) {
					break // nothing was left in it
				}
				if !yield(r.Letter, err) {
					return
				}
			}
		}
	}
}

// recordsOf returns what is left in a file, as it is by now. See Read.
func recordsOf(dir fs.FS, stem string, j *journal) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for l, err := range linesIn(dir, stem) {
			if err != nil {
				yield(record{}, err)
				return
			}
			r, there, err := l.record(stem, j)
			if (there || err != nil) && !yield(r, err) {
				return
			}
		}
	}
}

// record returns what a line holds, if it is still there. The error is a
// *DamagedError.
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

// linesIn returns the lines of a file of letters.
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
