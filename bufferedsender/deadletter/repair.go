package deadletter

import (
	"io/fs"

	"github.com/go-azsearch/azsearch/internal/disk"
)

// repair completes a file left by a crash, so that it ends with a line feed, and returns its size. A file without a
// dead letter is removed; its size is 0. If dead letters are missing that were durable, no crash has left the end: it
// stays as a damaged line.
func repair(dir disk.Folder, stem string) (int64, error) {
	name := stem + lettersExt
	size, last, err := endOf(dir, name)
	if err != nil || size > 0 && last == '\n' {
		return size, err
	}
	if size == 0 {
		return 0, dir.Remove(name)
	}
	begin, letter, err := tornEnd(dir, name)
	if err != nil {
		return 0, err
	}
	lost, err := missing(dir, stem)
	if err != nil {
		return 0, err
	}
	switch {
	case letter || lost > 0: // it needs the line feed only
		err = disk.Append(dir, name, []byte("\n"))
		if disk.Full(err) { // readers accept it without
			return size, nil
		}
		return size + 1, err
	case begin == 0:
		return 0, dir.Remove(name)
	}
	return begin, dir.Cut(name, begin)
}

// tornEnd returns the start of the last line, which has no line feed, and whether it is a whole dead letter.
func tornEnd(dir disk.Folder, name string) (begin int64, letter bool, err error) {
	f, err := dir.Open(name)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	for l, err := range linesOf(f, maxLine) {
		if err != nil {
			return 0, false, err
		}
		if l.ended {
			begin = l.end
			continue
		}
		_, err := parseRecord(l.raw)
		letter = err == nil && !l.long
	}
	return begin, letter, nil
}

// endOf returns the size of a file and its last byte.
func endOf(dir fs.FS, name string) (size int64, last byte, err error) {
	f, err := disk.OpenReading(dir, name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	if f.Size == 0 {
		return 0, 0, nil
	}
	var b [1]byte
	if err := f.Read(b[:], f.Size-1); err != nil {
		return 0, 0, err
	}
	return f.Size, b[0], nil
}
