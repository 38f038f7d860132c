package analysis

import (
	"errors"
	"strings"
)

// shingles joins neighbouring words. For a removed word a filler is used, at most max-1 fillers in a row.
type shingles struct {
	min, max             int
	unigrams, orUnigrams bool
	separator, filler    string
}

type shingleFilter struct {
	MaxShingleSize             int    `json:"maxShingleSize"`
	MinShingleSize             int    `json:"minShingleSize"`
	OutputUnigrams             bool   `json:"outputUnigrams"`
	OutputUnigramsIfNoShingles bool   `json:"outputUnigramsIfNoShingles"`
	TokenSeparator             string `json:"tokenSeparator"`
	FilterToken                string `json:"filterToken"`
}

func (p *shingleFilter) filters() ([]filter, error) {
	err := errors.Join(within("maxShingleSize", p.MaxShingleSize, 2, 1<<31-1), within("minShingleSize", p.MinShingleSize, 2, 1<<31-1))
	if err == nil && p.MinShingleSize > p.MaxShingleSize {
		err = errors.New("minShingleSize must not be greater than maxShingleSize")
	}
	if err != nil {
		return nil, err
	}
	return []filter{shingles{
		p.MinShingleSize, p.MaxShingleSize, p.OutputUnigrams, p.OutputUnigramsIfNoShingles, p.TokenSeparator, p.FilterToken,
	}}, nil
}

func (f shingles) filter(s *stream) {
	row, fillers := f.row(s)
	var out []token
	made := false
	for i, t := range row {
		if f.unigrams && !fillers[i] {
			out = append(out, t)
		}
		var b strings.Builder
		onlyFillers := true
		for n := 1; n <= f.max && i+n <= len(row); n++ {
			last := row[i+n-1]
			if n > 1 {
				b.WriteString(f.separator)
			}
			b.WriteString(last.text)
			onlyFillers = onlyFillers && fillers[i+n-1]
			if n >= f.min && !onlyFillers {
				made = true
				out = append(out, token{text: b.String(), start: t.start, end: max(t.end, last.end), pos: t.pos})
			}
		}
	}
	if !made && !f.unigrams && f.orUnigrams {
		for i, t := range row {
			if !fillers[i] {
				out = append(out, t)
			}
		}
	}
	s.tokens, s.next = out, len(row)
	if len(row) > 0 {
		s.next = row[len(row)-1].pos + 1
	}
}

// row returns the words, and fillers for removed words, at consecutive positions.
func (f shingles) row(s *stream) (row []token, filler []bool) {
	pos, previous := -1, -1
	fill := func(gap, at int) {
		gap = min(gap, f.max-1) // more could not be in a shingle with a word
		for range gap {
			pos++
			row = append(row, token{text: f.filler, start: at, end: at, pos: pos})
			filler = append(filler, true)
		}
	}
	end := 0
	for _, t := range s.tokens {
		if gap := t.pos - previous - 1; gap > 0 {
			fill(gap, t.start)
		}
		previous = t.pos
		pos++
		t.pos = pos
		end = t.end
		row, filler = append(row, t), append(filler, false)
	}
	if gap := s.next - previous - 1; gap > 0 && len(row) > 0 {
		fill(gap, end)
	}
	return row, filler
}
