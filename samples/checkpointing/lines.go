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
	number int64 // from 1
	end    int64 // where the next one begins, in bytes
	text   string
}

// linesFrom yields the lines of a file behind a checkpoint. A last line without
// a newline counts, too: the file must not grow while it is read.
func linesFrom(path string, at checkpoint) iter.Seq2[line, error] {
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
		l := line{number: at.Line, end: at.Offset}
		for {
			text, err := r.ReadString('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{}, err)
				return
			}
			if text == "" {
				return
			}
			l.number++
			l.end += int64(len(text))
			l.text = strings.TrimRight(text, "\r\n")
			if !yield(l, nil) {
				return
			}
		}
	}
}

// seekTo refuses a checkpoint that does not belong to the file as it is now.
func seekTo(f *os.File, at checkpoint) error {
	if at.Offset == 0 {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	foreign := fmt.Errorf("the checkpoint (line %d, byte %d) does not belong to %s: it was replaced or cut off", at.Line, at.Offset, f.Name())
	if at.Offset > info.Size() {
		return foreign
	}
	before := make([]byte, 1)
	if _, err := f.ReadAt(before, at.Offset-1); err != nil {
		return err
	}
	if before[0] != '\n' && at.Offset != info.Size() {
		return foreign
	}
	_, err = f.Seek(at.Offset, io.SeekStart)
	return err
}
