package archtest

import (
	_ "embed"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oldVoice has the files in which idioms are still allowed. It only shrinks.
//
//go:embed voice.txt
var oldVoice string

// mostWordsOfMarkdown limits the words of all pages, except lists of mutants and licences. It only decreases.
const mostWordsOfMarkdown = 39_500

// TestSentencesAreReadOnce refuses idioms, except in the files of voice.txt. With -update it deletes files without
// idioms from voice.txt; it adds none.
func TestSentencesAreReadOnce(t *testing.T) {
	found, err := ReadVoice(os.DirFS(root))
	require.NoError(t, err)
	old := strings.Fields(oldVoice)
	if flag.Lookup("update").Value.String() == "true" {
		left := slices.DeleteFunc(slices.Clone(old), func(name string) bool { return found[name] == nil })
		require.NoError(t, os.WriteFile("voice.txt", []byte(strings.Join(left, "\n")+"\n"), 0o644))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(old, name) {
			t.Error(strings.Join(found[name], "\n"))
		}
	}
	for _, name := range old {
		assert.NotEmpty(t, found[name], "%s has no idiom any more: go test ./internal/archtest -run Sentences -update deletes it from voice.txt", name)
	}
	t.Logf("%d files with old idioms are left", len(old))
}

func TestIdiomsAreFound(t *testing.T) {
	found, err := ReadVoice(fstest.MapFS{
		"a.md":           &fstest.MapFile{Data: []byte("# A\n\nIt is told apart.\nThe caller is told.\n`somebody` is quoted.\n")},
		"testdata/a.md":  &fstest.MapFile{Data: []byte("nobody")},
		"a/MUTANTS.md":   &fstest.MapFile{Data: []byte("nobody")},
		"a/a.go":         &fstest.MapFile{Data: []byte("package a\n\n// F is what it is.\n// It has a dead letter.\nfunc F() string { return \"in vain it goes on\" }\n\n// G asks nobody. //voice:ok it quotes\nfunc G() {}\n")},
		"a/fine.go":      &fstest.MapFile{Data: []byte("package a\n\n// N is how many there are; there is no other.\nconst N = 1\n")},
		"a/fine_test.go": &fstest.MapFile{Data: []byte("package a\n\n// nobody\n")},
	})
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{
		"a.md": {`a.md:4: got "told" (told: write notify, report, pass)`},
		"a/a.go": {
			`a/a.go:3: got "F is what" (is-what: write a noun)`,
			`a/a.go:5: got "in vain" (idiom: write fails, periodically, anyway, buffered, safety net, usually, automatically)`,
			`a/a.go:5: got "goes on" (go-on: write continue, resume)`,
		},
	}, found)
}

func TestMarkdownStaysShort(t *testing.T) {
	words := 0
	require.NoError(t, eachPage(os.DirFS(root), func(text string) { words += len(strings.Fields(text)) }))
	assert.LessOrEqual(t, words, mostWordsOfMarkdown, "take away a page, or a paragraph, for each new one")
	assert.Greater(t, words, mostWordsOfMarkdown-3000, "lower mostWordsOfMarkdown")
}
