package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
)

// line is one line of the input.
type line struct {
	start, end int64 // in bytes; the next one starts at end
	text       string
}

// linesFrom yields the lines of a file that start at byte at or behind it. A last
// line without a newline counts, too: the file must not grow while it is read.
func linesFrom(path string, at int64) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(line{}, err)
			return
		}
		defer f.Close()
		if err := seekTo(f, at); err != nil {
			yield(line{}, err)
			return
		}
		r := bufio.NewReader(f)
		l := line{end: at}
		for {
			text, err := r.ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{}, err)
				return
			}
			if text == "" {
				return
			}
			l.start, l.end = l.end, l.end+int64(len(text))
			l.text = strings.TrimRight(text, "\r\n")
			if !yield(l, nil) {
				return
			}
		}
	}
}

// seekTo refuses a position that does not belong to the file as it is now.
func seekTo(f *os.File, at int64) error {
	if at == 0 {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	foreign := fmt.Errorf("the checkpoint (byte %d) does not belong to %s: it was replaced or cut off", at, f.Name())
	if at > info.Size() {
		return foreign
	}
	before := make([]byte, 1)
	if _, err := f.ReadAt(before, at-1); err != nil {
		return err
	}
	if before[0] != '\n' && at != info.Size() {
		return foreign
	}
	_, err = f.Seek(at, io.SeekStart)
	return err
}
