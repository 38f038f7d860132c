package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
)

// read parses a package from files.
func read(t testing.TB, files map[string]string, importPath string) ([]Passage, error) {
	t.Helper()
	tree, err := declarations.Find(stagetest.Files(t, files))
	require.NoError(t, err)
	return readPackage(tree, importPath)
}

// library has one of each kind of documentation.
var library = map[string]string{
	"lib/doc.go":          "// Package lib lends things.\n//\n// # Lending\n//\n// Lending is free.\n//\n// # Returning\n//\n// Returning is a duty.\npackage lib\n",
	"lib/book.go":         "package lib\n\n// Lost and Found are states.\nconst (\n\tLost = iota\n\tFound\n)\n\n// ErrGone says that there is none.\nvar ErrGone error\n\n// Book is what is lent.\ntype Book struct {\n\tTitle string // on the cover\n\tpages int\n}\n\n// NewBook prints one.\nfunc NewBook() *Book { return nil }\n\n// Lend gives it away.\nfunc (b *Book) Lend(to string) error { return nil }\n\nfunc hidden() {}\n",
	"lib/book_test.go":    "// Package lib is tested.\npackage lib\n\n// TestBook is no documentation.\nfunc TestBook() {}\n",
	"lib/book_windows.go": "package lib\n\n// Lock works otherwise there.\nfunc Lock() {}\n",
	"lib/book_linux.go":   "package lib\n\n// Lock works.\nfunc Lock() {}\n",
	"lib/sub/no.go":       "package sub\n\n// No belongs to another package.\nfunc No() {}\n",
}

func TestDocumentationBecomesPassages(t *testing.T) {
	passages, err := read(t, library, "lib")
	require.NoError(t, err)
	type line struct{ source, kind, symbol, text string }
	var got []line
	for _, p := range passages {
		require.Equal(t, "lib", p.Package)
		require.Nil(t, p.Vector)
		got = append(got, line{p.Source, p.Kind, p.Symbol, p.Text})
	}
	require.Equal(t, []line{
		{"lib/doc.go", "package", "", "package lib\nPackage lib lends things."},
		{"lib/doc.go", "package", "", "package lib\n# Lending\n\nLending is free."},
		{"lib/doc.go", "package", "", "package lib\n# Returning\n\nReturning is a duty."},
		{"lib/book.go", "var", "ErrGone", "var lib.ErrGone\nvar ErrGone error\n\nErrGone says that there is none."},
		{"lib/book.go", "type", "Book", "type lib.Book\ntype Book struct\n\nBook is what is lent."},
		{"lib/book.go", "func", "NewBook", "func lib.NewBook\nfunc NewBook() *Book\n\nNewBook prints one."},
		{"lib/book.go", "method", "Book.Lend", "method lib.Book.Lend\nfunc (b *Book) Lend(to string) error\n\nLend gives it away."},
		{"lib/book_linux.go", "func", "Lock", "func lib.Lock\nfunc Lock()\n\nLock works."},
	}, got)
}

func TestIDsAreThoseOfThePlace(t *testing.T) {
	ids := func(files map[string]string) map[string]string {
		passages, err := read(t, files, "lib")
		require.NoError(t, err)
		all := map[string]string{}
		for _, p := range passages {
			require.NoError(t, keys.Validate(p.ID))
			require.NotContains(t, all, p.ID)
			all[p.ID] = p.Text
		}
		return all
	}
	before := ids(library)
	require.Equal(t, before, ids(library))

	// An added declaration or word must not change other IDs.
	changed := map[string]string{}
	for name, content := range library {
		changed[name] = content
	}
	changed["lib/book.go"] = strings.Replace(changed["lib/book.go"], "// NewBook prints", "// Atlas is large.\nfunc Atlas() {}\n\n// NewBook really prints", 1)
	after := ids(changed)
	require.Len(t, after, len(before)+1)
	for id := range before {
		require.Contains(t, after, id)
	}
}

func TestWhatIsNoPackageIsAnError(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"no folder":  {"other/a.go": "package other\n"},
		"only tests": {"lib/a_test.go": "// Package lib is tested.\npackage lib\n"},
		"no Go":      {"lib/a.go": "package lib\nfunc {"},
		"no text":    {"lib/a.go": "package lib\n"},
	} {
		_, err := read(t, files, "lib")
		require.Error(t, err, name)
	}
}

// Every package of the story must be readable and sendable.
func TestStandardLibraryIsRead(t *testing.T) {
	tree, err := declarations.Find(declarations.StandardLibrary())
	require.NoError(t, err)
	for name := range strings.SplitSeq(defaultPackages, ",") {
		passages, err := readPackage(tree, name)
		require.NoError(t, err)
		require.NotEmpty(t, passages, name)
		checkPassages(t, passages)
	}
}

func checkPassages(t require.TestingT, passages []Passage) {
	seen := map[string]bool{}
	for _, p := range passages {
		require.False(t, seen[p.ID], "%s twice", p.title())
		seen[p.ID] = true
		require.NotEmpty(t, p.Source)
		_, part, _ := strings.Cut(p.Text, "\n")
		require.NotEmpty(t, strings.TrimSpace(part), "%s is empty", p.title())
	}
}

// FuzzRead checks that every file is read or refused.
func FuzzRead(f *testing.F) {
	for _, content := range library {
		f.Add(content)
	}
	f.Add("package a\n//line x:1\nconst A = 1")
	f.Add("package a\ntype T[P any] struct{ P }\nfunc (T[P]) M() {}")
	f.Fuzz(func(t *testing.T, content string) {
		passages, err := read(t, map[string]string{"lib/a.go": content}, "lib")
		require.True(t, err == nil || passages == nil)
		checkPassages(t, passages)
	})
}

func TestTextIsCutWhereItMakesSense(t *testing.T) {
	short := strings.Repeat("s", 100)
	long := strings.Repeat("l", maxPassage-50)
	for name, c := range map[string]struct {
		paragraphs []string
		want       []string
	}{
		"nothing":                            {nil, nil},
		"text that fits stays together":      {[]string{"a", "b"}, []string{"a\n\nb"}},
		"a heading begins a passage":         {[]string{"a", "# H", "b"}, []string{"a", "# H\n\nb"}},
		"a heading alone is none":            {[]string{"# G", "# H", "b"}, []string{"# H\n\nb"}},
		"all passages have their heading":    {[]string{"# H", long, long}, []string{"# H\n\n" + long, "# H\n\n" + long}},
		"a short end begins the next one":    {[]string{long[:600], short, long[:600]}, []string{long[:600] + "\n\n" + short, short + "\n\n" + long[:600]}},
		"a long end does not":                {[]string{long[:600], long[:600]}, []string{long[:600], long[:600]}},
		"a short end does not if it is full": {[]string{short, long}, []string{short, long}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, split(c.paragraphs)) })
	}
	require.Equal(t, []string{"first line", "second line"}, pieces("first line\nsecond line", 15))
	require.Equal(t, []string{"First. ", "Second one."}, pieces("First. Second one.", 14))
	require.Equal(t, []string{"éé", "éé"}, pieces("éééé", 5))
}

// No word is lost or reordered, and no passage is too long.
func TestPassagesHoldTheWholeText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var paragraphs []string
		var all []string
		word := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"a", "b", "é"}).Draw(t, "letter"), rapid.IntRange(1, 300).Draw(t, "length"))
		})
		for i := range rapid.IntRange(0, 12).Draw(t, "paragraphs") {
			words := rapid.SliceOfN(word, 1, 8).Draw(t, "words")
			text := strings.Join(words, rapid.SampledFrom([]string{" ", "\n", ". "}).Draw(t, "between")) + " " + strings.Repeat("i", i+1) // makes each word unique
			if rapid.IntRange(0, 4).Draw(t, "heading") == 0 {
				text = "# H"
			} else {
				all = append(all, strings.ReplaceAll(text, ".", ""))
			}
			paragraphs = append(paragraphs, text)
		}
		var rest []string
		for _, b := range all {
			rest = append(rest, strings.Fields(b)...)
		}
		for _, part := range split(paragraphs) {
			require.LessOrEqual(t, len(part), maxPassage)
			// After the heading and the overlap, the part continues with the next words.
			words := strings.Fields(strings.ReplaceAll(strings.TrimPrefix(part, "# H"), ".", ""))
			for len(words) > 0 && (len(rest) < len(words) || !equal(rest[:len(words)], words)) {
				words = words[1:]
			}
			require.NotEmpty(t, words, "a passage brings nothing new")
			rest = rest[len(words):]
		}
		require.Empty(t, rest)
	})
}

func equal(a, b []string) bool { return strings.Join(a, " ") == strings.Join(b, " ") }
