package textindex

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// plainDistance is optimal string alignment over a full table, as in textbooks.
func plainDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func TestEditDistanceIsThatOfTheTextbook(t *testing.T) {
	for _, pair := range [][2]string{{"ab", "ba"}, {"abc", "acb"}, {"abüc", "aübc"}, {"abcd", "badc"}, {"ca", "abc"}, {"", "a"}, {"a", ""}} {
		got, ok := newEditMatcher(pair[0], 3).distance(pair[1], false)
		require.True(t, ok)
		require.Equal(t, plainDistance([]rune(pair[0]), []rune(pair[1])), got, "%q", pair)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abcüé")), 0, 7, -1)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		limit := rapid.IntRange(0, 2).Draw(t, "limit")
		m := newEditMatcher(a, limit)
		want := plainDistance([]rune(a), []rune(b))
		got, ok := m.distance(b, false)
		require.Equal(t, want <= limit, ok, "distance %d", want)
		if ok {
			require.Equal(t, want, got)
		}
		nearest := len(a) + len(b)
		runes := []rune(b)
		for i := range len(runes) + 1 {
			nearest = min(nearest, plainDistance([]rune(a), runes[:i]))
		}
		got, ok = m.distance(b, true)
		require.Equal(t, nearest <= limit, ok, "nearest prefix %d", nearest)
		if ok {
			require.Equal(t, nearest, got)
		}
	})
}

func TestWildcardsMatchAsExpressionsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.RuneFrom([]rune(`ab*?\ü`)), 1, 8, -1).Draw(t, "pattern")
		term := rapid.StringOfN(rapid.RuneFrom([]rune(`ab*?ü`)), 0, 8, -1).Draw(t, "term")
		var b strings.Builder
		for runes := []rune(pattern); len(runes) > 0; runes = runes[1:] {
			switch {
			case runes[0] == '*':
				b.WriteString(".*")
			case runes[0] == '?':
				b.WriteString(".")
			case runes[0] == '\\' && len(runes) > 1:
				runes = runes[1:]
				fallthrough
			default:
				b.WriteString(regexp.QuoteMeta(string(runes[0])))
			}
		}
		w := parseWildcard(pattern)
		want := regexp.MustCompile(`(?s)\A` + b.String() + `\z`).MatchString(term)
		require.Equal(t, want, w.match(term), "%q on %q", pattern, term)
		if want {
			require.True(t, strings.HasPrefix(term, w.prefix))
		}
	})
}

func TestSimilarTermsAreTheNearest(t *testing.T) {
	d := newDictionary()
	for _, term := range []string{"hotel", "hostel", "hotels", "motel", "model", "hot", "zebra", "h"} {
		d.number(term)
	}
	var terms []string
	for _, s := range d.similar("Hotel", 1) {
		terms = append(terms, s.term)
	}
	assert.Equal(t, []string{"hotel", "hostel", "hotels", "motel"}, terms)
	near := d.similar("hotel", 2)
	assert.InDelta(t, 1, near[0].boost, 1e-6)
	assert.InDelta(t, 0.8, near[1].boost, 1e-6)
	assert.InDelta(t, 1-2.0/3, near[len(near)-1].boost, 1e-6, "two edits of the three letters of hot")

	for i := range 200 {
		d.number("word" + string(rune('a'+i/26)) + string(rune('a'+i%26)))
	}
	assert.Len(t, d.similar("wordaa", 2), maxExpansions)
}

func TestTermsAreFoundByTheirPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDictionary()
		word := rapid.StringOfN(rapid.RuneFrom([]rune("abü\U0010FFFF")), 0, 3, -1)
		var all []string
		for range 3 { // readers enumerate between writes
			for _, term := range rapid.SliceOfN(word, 0, 6).Draw(t, "terms") {
				if !slices.Contains(all, term) {
					all = append(all, term)
				}
				d.number(term)
			}
			prefix := word.Draw(t, "prefix")
			want := []string{}
			for _, term := range all {
				if strings.HasPrefix(term, prefix) {
					want = append(want, term)
				}
			}
			slices.Sort(want)
			got := []string{}
			for _, n := range d.withPrefix(prefix) {
				got = append(got, d.terms[n])
			}
			require.Equal(t, want, got)
		}
	})
}

func TestPostingsGiveBackWhatWasPutIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p postings
		want := make(map[uint32][]uint32)
		ordinal := uint32(0)
		for range rapid.IntRange(0, 20).Draw(t, "documents") {
			ordinal += rapid.Uint32Range(1, 300).Draw(t, "distance")
			positions := rapid.SliceOfNDistinct(rapid.Uint32Range(0, 100_000), 1, 5, rapid.ID[uint32]).Draw(t, "positions")
			slices.Sort(positions)
			for _, position := range positions {
				p.see(position)
			}
			p.close(ordinal)
			want[ordinal] = positions
		}
		n := 0
		for c := p.cursor(); c.advance(); n++ {
			require.Len(t, want[c.ordinal], int(c.frequency))
			if rapid.Bool().Draw(t, "read") {
				require.Equal(t, want[c.ordinal], c.read(nil))
			}
		}
		require.Equal(t, len(want), n)
		require.Equal(t, uint32(len(want)), p.count)
	})
}

func TestLengthsRoundAsInLucene(t *testing.T) {
	// From the table of Lucene's SmallFloat: lengths encoded by the same byte are equal.
	for length, want := range map[uint32]float64{1: 1, 2: 2.56, 3: 4, 4: 4, 5: 5.2244897, 7: 7.111111, 10: 10.24, 16: 16, 100: 113.77778} {
		f := float64(decodeNorm(encodeNorm(length)))
		assert.InEpsilon(t, want, 1/(f*f), 1e-6, "length %d", length)
	}
	assert.Zero(t, decodeNorm(0))
	assert.NotZero(t, encodeNorm(1<<31), "no text is so long that its length is nothing")
}

func TestSentences(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"  ", nil},
		{"One", []string{"One"}},
		{"One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"Save 50%.  Free WiFi.", []string{"Save 50%.", "Free WiFi."}},
		{"It costs 3.50 a day. Cheap.", []string{"It costs 3.50 a day.", "Cheap."}},
		{"e.g. this stays whole.", []string{"e.g. this stays whole."}},
		{"What?! Never... \"Really.\" Yes.", []string{"What?!", "Never...", "\"Really.\"", "Yes."}},
		{"First line\nsecond line", []string{"First line", "second line"}},
		{"はい。いいえ。", []string{"はい。", "いいえ。"}},
		{"really? yes", []string{"really?", "yes"}},
	} {
		var got []string
		for _, s := range sentences(test.text) {
			got = append(got, test.text[s.start:s.end])
		}
		assert.Equal(t, test.want, got, "%q", test.text)
	}
}
