package analysis

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// pathTokenizer makes a token of a path and of each of its parents; with reverse, of the path and of each of its
// suffixes. All are at position 0. It drops tokens longer than max UTF-16 code units.
type pathTokenizer struct {
	delimiter, replacement string
	max                    int
	reverse                bool
	skip                   int
}

type pathTokenizerSpec struct {
	Delimiter      string `json:"delimiter"`
	Replacement    string `json:"replacement"`
	MaxTokenLength int    `json:"maxTokenLength"`
	Reverse        bool   `json:"reverse"`
	Skip           int    `json:"skip"`
}

func (p *pathTokenizerSpec) tokenizer() (tokenizer, error) {
	err := errors.Join(within("maxTokenLength", p.MaxTokenLength, 1, maxTokenLength), within("skip", p.Skip, 0, 1<<31-1))
	if utf8.RuneCountInString(p.Delimiter) != 1 || utf8.RuneCountInString(p.Replacement) != 1 {
		err = errors.Join(err, errors.New("delimiter and replacement must be one character each"))
	}
	if err != nil {
		return nil, err
	}
	return pathTokenizer{p.Delimiter, p.Replacement, p.MaxTokenLength, p.Reverse, p.Skip}, nil
}

func (t pathTokenizer) tokenize(dst []token, text string) []token {
	if text == "" {
		return dst
	}
	emit := func(start, end int) {
		if end > start && length16(text[start:end]) <= t.max {
			dst = append(dst, token{text: strings.ReplaceAll(text[start:end], t.delimiter, t.replacement), start: start, end: end})
		}
	}
	var delimiters []int
	for at := 0; ; {
		i := strings.Index(text[at:], t.delimiter)
		if i < 0 {
			break
		}
		delimiters = append(delimiters, at+i)
		at += i + len(t.delimiter)
	}
	if t.reverse {
		t.ends(text, delimiters, emit)
	} else {
		t.parents(text, delimiters, emit)
	}
	return dst
}

// parents emits the path up to each delimiter, and the whole path. A leading delimiter does not make an empty
// parent. Skipped parts are in no token.
func (t pathTokenizer) parents(text string, delimiters []int, emit func(start, end int)) {
	if len(delimiters) > 0 && delimiters[0] == 0 {
		delimiters = delimiters[1:]
	}
	if t.skip > len(delimiters) {
		return
	}
	start := 0
	if t.skip > 0 {
		start = delimiters[t.skip-1]
	}
	for _, d := range delimiters[t.skip:] {
		emit(start, d)
	}
	emit(start, len(text))
}

// ends emits the whole path, and the path after each delimiter, without the skipped parts at the end.
func (t pathTokenizer) ends(text string, delimiters []int, emit func(start, end int)) {
	starts := []int{0}
	for _, d := range delimiters {
		if next := d + len(t.delimiter); next < len(text) {
			starts = append(starts, next)
		}
	}
	if t.skip >= len(starts) {
		return
	}
	end := len(text)
	if t.skip > 0 {
		end = starts[len(starts)-t.skip]
	}
	for _, start := range starts[:len(starts)-t.skip] {
		emit(start, end)
	}
}
