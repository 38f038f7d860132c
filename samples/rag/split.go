package main

import (
	"strings"
	"unicode/utf8"
)

const (
	// maxPassage is the length of a passage in bytes. Models take more, but the
	// vector of a passage about many things is near to none of them.
	maxPassage = 1000
	// maxOverlap is how long the end of a passage may be to begin the next one with
	// as well.
	maxOverlap = 250
)

// block is a paragraph, a list, a piece of code or a heading.
type block struct {
	text    string
	heading bool
}

// split puts blocks together into passages of at most maxPassage bytes. A heading
// begins a new one, and all passages below it begin with it. Where a text is cut
// for its length, the next passage begins with the last paragraph of the one
// before, if that is short: what "it" is often stands there.
func split(blocks []block) (parts []string) {
	var heading string
	var part []string // of the passage that is being made
	size, fresh := 0, false
	put := func(text string) {
		part = append(part, text)
		size += len(text) + 2
	}
	begin := func() {
		part, size, fresh = nil, 0, false
		if heading != "" {
			put(heading)
		}
	}
	end := func() {
		if fresh {
			parts = append(parts, strings.Join(part, "\n\n"))
		}
		begin()
	}
	for _, b := range blocks {
		if b.heading {
			end()
			heading = b.text
			begin()
			continue
		}
		for _, piece := range pieces(b.text, maxPassage-min(len(heading)+2, maxOverlap)) {
			if fresh && size+len(piece) > maxPassage {
				last := part[len(part)-1]
				end()
				if len(last) <= maxOverlap && size+len(last)+2+len(piece) <= maxPassage {
					put(last)
				}
			}
			put(piece)
			fresh = true
		}
	}
	end()
	return parts
}

// pieces cuts a text that is longer than most bytes, best at the end of a line,
// else of a sentence, else of a word.
func pieces(text string, most int) (cut []string) {
	for len(text) > most {
		at := most
		for at > 0 && !utf8.RuneStart(text[at]) {
			at--
		}
		for _, end := range []string{"\n", ". ", " "} {
			if i := strings.LastIndex(text[:at], end); i > 0 {
				at = i + len(end)
				break
			}
		}
		if piece := strings.Trim(text[:at], "\n"); strings.TrimSpace(piece) != "" {
			cut = append(cut, piece)
		}
		text = text[at:]
	}
	if strings.TrimSpace(text) != "" {
		cut = append(cut, strings.Trim(text, "\n"))
	}
	return cut
}
