// Copyright (c) 2014-2018 Couchbase, Inc.
// SPDX-License-Identifier: Apache-2.0
// Changed for this module: see doc.go.

package languages

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
)

// polishTable is stemmer_20000.tbl of Stempel: tries in Java's serialization. In a trie a word, read from its end,
// leads to the commands that make its stem.
//
//go:embed polish.tbl.gz
var polishTable []byte

var polishTries = sync.OnceValue(func() []trie {
	tries, err := readTries(polishTable)
	if err != nil {
		panic("the table of the Polish stemmer, which is part of the program, is damaged: " + err.Error())
	}
	return tries
})

// StemPolish is the Stempel stemmer. It returns "" for some words without a stem in the table. The first call reads
// the table, which takes longer.
func StemPolish(text string) string {
	word := []rune(text)
	return string(change(word, commands(polishTries(), word)))
}

// trie is one of the tries. Each edits the part of the word that the previous ones skipped.
type trie struct {
	root     int32
	commands []string
	rows     []map[rune]cell
}

// cell is the target of a character: a command and a row, each -1 for none.
type cell struct{ command, row int32 }

// lastOnPath returns the last command on the path of word, read from its end.
func (t *trie) lastOnPath(word []rune) (last []rune) {
	row := t.rows[t.root]
	for i, r := range slices.Backward(word) {
		c, ok := row[r]
		if !ok {
			return last
		}
		if c.command >= 0 {
			last = []rune(t.commands[c.command])
		}
		if c.row < 0 || i == 0 {
			return last
		}
		row = t.rows[c.row]
	}
	return last
}

// commands returns the commands of all tries for word, as pairs of a command and its parameter.
func commands(tries []trie, word []rune) (all []rune) {
	seen, previous, before := word, []rune(nil), ' '
	for i := range tries {
		found := tries[i].lastOnPath(seen)
		if len(found) == 0 || len(found) == 1 && found[0] == '*' {
			return all
		}
		if (before == '-' || before == 'D') && before == found[0] {
			return all // a skip or deletion must not follow one of the same kind
		}
		before = found[len(found)-2]
		if found[0] == '-' {
			skip := consumed(found)
			if i > 0 {
				skip += consumed(previous)
			}
			if skip > len(word) {
				return all
			}
			word = word[:len(word)-skip]
		}
		previous = found
		all = append(all, found...)
		if len(word) > 0 {
			seen = word
		}
	}
	return all
}

// consumed returns the number of characters that commands skip, replace or delete.
func consumed(commands []rune) (n int) {
	for i := 0; i < len(commands); i++ {
		switch commands[i] {
		case '-', 'D':
			i++
			n += int(commands[i] - 'a' + 1)
		case 'R':
			i++
			n++
		}
	}
	return n
}

// change applies the commands from the end of word to its beginning. It stops at a command that leads outside the
// word.
func change(word, commands []rune) []rune {
	if len(word) == 0 {
		return word
	}
	at := len(word) - 1
	for i := 0; i+1 < len(commands); i += 2 {
		parameter := commands[i+1]
		count := int(parameter - 'a' + 1)
		switch commands[i] {
		case '-':
			at -= count - 1
		case 'R':
			if at < 0 || at >= len(word) {
				return word
			}
			word[at] = parameter
		case 'D':
			end := at
			at -= count - 1
			if at < 0 || at >= len(word) {
				return word
			}
			word = slices.Delete(word, at, end+1)
		case 'I':
			at++
			if at < 0 || at > len(word) {
				return word
			}
			word = slices.Insert(word, at, parameter)
		}
		at--
	}
	return word
}

// tableReader reads data written by Java's DataOutput. After the first error it returns zeros.
type tableReader struct {
	data []byte
	err  error
}

func (r *tableReader) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.data, r.err = nil, io.ErrUnexpectedEOF
		return make([]byte, max(0, min(n, 8)))
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *tableReader) boolean() bool { return r.take(1)[0] != 0 }
func (r *tableReader) int() int32    { return int32(binary.BigEndian.Uint32(r.take(4))) }
func (r *tableReader) char() rune    { return rune(binary.BigEndian.Uint16(r.take(2))) }

// text reads a string. In this table Java's modified UTF-8 equals UTF-8.
func (r *tableReader) text() string { return string(r.take(int(r.char()))) }

// count reads the number of elements that follow, each of at least size bytes.
func (r *tableReader) count(size int) int {
	n := int(r.int())
	if n < 0 || n > len(r.data)/size {
		r.data, r.err = nil, io.ErrUnexpectedEOF
		return 0
	}
	return n
}

// readTries reads a compressed table.
func readTries(compressed []byte) ([]trie, error) {
	unzip, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(unzip)
	if err != nil {
		return nil, err
	}
	r := &tableReader{data: data}
	// The method of reduction; M means several tries. The boolean is false: they are read from the end of a word.
	if method := r.text(); method != "-0ME2" || r.boolean() {
		return nil, fmt.Errorf("it is of another kind, %q", method)
	}
	r.int() // number of characters that a trie skips
	tries := make([]trie, r.count(1))
	for i := range tries {
		t := &tries[i]
		if r.boolean() {
			return nil, fmt.Errorf("trie %d is read from the beginning of a word", i)
		}
		t.root = r.int()
		t.commands = make([]string, r.count(2))
		for k := range t.commands {
			t.commands[k] = r.text()
		}
		t.rows = make([]map[rune]cell, r.count(4))
		for k := range t.rows {
			n := r.count(18)
			t.rows[k] = make(map[rune]cell, n)
			for range n {
				letter := r.char()
				var c cell
				c.command = r.int()
				r.int() // number of words that lead here
				c.row = r.int()
				r.int() // number of characters to skip
				t.rows[k][letter] = c
			}
		}
	}
	if r.err == nil && len(r.data) > 0 {
		r.err = fmt.Errorf("%d bytes are left over", len(r.data))
	}
	return tries, r.err
}
