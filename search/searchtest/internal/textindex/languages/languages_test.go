package languages

import (
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var functions = map[string]func(string) string{
	"FoldASCII":       FoldASCII,
	"NormalizeArabic": NormalizeArabic, "StemArabic": StemArabic,
	"NormalizePersian": NormalizePersian,
	"NormalizeSorani":  NormalizeSorani, "StemSorani": StemSorani,
	"NormalizeGerman": NormalizeGerman, "LightGerman": LightGerman,
	"LightFrench": LightFrench, "MinimalFrench": MinimalFrench,
	"LightSpanish": LightSpanish, "LightItalian": LightItalian, "LightPortuguese": LightPortuguese,
	"NormalizeHindi": NormalizeHindi, "StemHindi": StemHindi, "NormalizeIndic": NormalizeIndic,
	"NormalizeWidth": NormalizeWidth,
	"StemPolish":     StemPolish,
}

// The file was written with bleve v2.6.3, from which this package is derived. Each line is a function, a word and its
// result. It covers nearly every rule and character.
func TestWordsAreStillThoseOfBleve(t *testing.T) {
	text, err := os.ReadFile("testdata/words.txt")
	require.NoError(t, err)
	tried := map[string]int{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, fields, 3, line)
		name, word, want := fields[0], fields[1], fields[2]
		require.Contains(t, functions, name)
		assert.Equal(t, want, functions[name](word), "%s of %+q", name, word)
		tried[name]++
	}
	for name := range functions {
		assert.Greater(t, tried[name], 20, name)
	}
}

func FuzzWords(f *testing.F) {
	for _, word := range []string{"", "a", "ß", "ée", "ﾞ", "ｶﾞ", "\u0915\u093c", "\u0647\u200c", "ales", "xx\xff", "aaaaaaaaaa", "ivement", "najlepszego"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if len(word) > 200 {
			return
		}
		for name, change := range functions {
			if first, again := change(word), change(word); first != again {
				t.Fatalf("%s(%q) is %q, then %q", name, word, first, again)
			}
		}
	})
}

func TestStopwordsAreSortedAndHaveNoComments(t *testing.T) {
	files, err := stopwordFiles.ReadDir("stopwords")
	require.NoError(t, err)
	require.Len(t, files, 28)
	for _, file := range files {
		language := strings.TrimSuffix(file.Name(), ".txt")
		words := Stopwords(language)
		require.Greater(t, len(words), 40, language)
		for i, word := range words {
			require.NotContains(t, word, "|", language)
			require.NotContains(t, word, "#", language)
			require.True(t, i == 0 || words[i-1] < word, "%s: %q", language, word)
		}
	}
	assert.Contains(t, Stopwords("german"), "dieses")
	assert.PanicsWithValue(t, `there is no list of stop words for "elvish"`, func() { Stopwords("elvish") })
}

func TestADamagedPolishTableIsAnError(t *testing.T) {
	unzip, err := gzip.NewReader(bytes.NewReader(polishTable))
	require.NoError(t, err)
	var whole bytes.Buffer
	_, err = whole.ReadFrom(unzip)
	require.NoError(t, err)
	zipped := func(data []byte) []byte {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, gzip.NoCompression)
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	changed := func(at int, to byte) []byte {
		data := bytes.Clone(whole.Bytes())
		data[at] = to
		return zipped(data)
	}
	for name, table := range map[string][]byte{
		"not compressed":            []byte("-0ME2"),
		"the zip is cut off":        polishTable[:len(polishTable)/2],
		"empty":                     zipped(nil),
		"cut off":                   zipped(whole.Bytes()[:whole.Len()-1]),
		"cut off at a row":          zipped(whole.Bytes()[:100_000]),
		"something behind it":       zipped(append(bytes.Clone(whole.Bytes()), 0)),
		"another method":            changed(4, 'X'),
		"read from the beginning":   changed(7, 1),
		"a trie from the beginning": changed(16, 1),
		"too many commands":         changed(21, 0x7f),
	} {
		_, err := readTries(table)
		assert.Error(t, err, name)
	}
	tries, err := readTries(zipped(whole.Bytes()))
	require.NoError(t, err)
	assert.Len(t, tries, 8)
}
