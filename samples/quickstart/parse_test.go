package main

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models/keys"
)

// Whatever a folder declares, and in however many files, each declaration has a
// legal key of its own.
func TestKeysAreLegalAndUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "init", "_", "T.a", "a.b", "Ünïcode", strings.Repeat("long", 300)})
		file := rapid.SampledFrom([]string{"a.go", "b.go", "x_test.go"})
		path := rapid.SampledFrom([]string{"p", "p/a", "p.a", "p_test", "."})
		seen := map[string]bool{}
		for _, p := range rapid.SliceOfNDistinct(path, 1, 3, rapid.ID).Draw(t, "paths") {
			decls := make([]Declaration, rapid.IntRange(0, 20).Draw(t, "n"))
			files := make([]string, len(decls))
			for i := range decls {
				decls[i].Name, files[i] = name.Draw(t, "name"), file.Draw(t, "file")
			}
			setKeys(p, decls, files)
			for i := range decls {
				require.NoError(t, keys.Validate(decls[i].Key))
				require.False(t, seen[decls[i].Key], "%s %s in %s: key %s twice", p, decls[i].Name, files[i], decls[i].Key)
				seen[decls[i].Key] = true
			}
		}
	})
}

// A package that everybody has, as it is read from the real source.
func TestStandardLibraryIsRead(t *testing.T) {
	source, err := findSource(goroot() + "/errors")
	require.NoError(t, err, "GOROOT is %s", goroot())
	require.Len(t, source.packages, 1)
	found := parseFolder(source.packages[0])
	require.Empty(t, found.broken)
	at := slices.IndexFunc(found.decls, func(d Declaration) bool { return d.Name == "Is" })
	require.GreaterOrEqual(t, at, 0, "errors.Is in %s", runtime.Version())
	is := found.decls[at]
	require.Equal(t, "func Is(err, target error) bool", is.Signature)
	require.Contains(t, is.Doc, "Is reports whether any error in err's tree matches target.")
	require.True(t, is.Exported)
	require.Equal(t, "wrap.go", is.File)
}

func TestLargestFoldersComeFirst(t *testing.T) {
	source, err := findSource(small(t))
	require.NoError(t, err)
	require.True(t, slices.IsSortedFunc(source.packages, func(a, b sourceFolder) int { return cmp.Compare(b.bytes, a.bytes) }))
	var sum int64
	for _, f := range source.packages {
		sum += f.bytes
	}
	require.Equal(t, source.bytes, sum)
}

func TestTextIsOneLineAndCutBetweenCharacters(t *testing.T) {
	root := tree(t, map[string]string{"a.go": "package a\n\nvar A = \"" + strings.Repeat("é", 4000) + "\"\n\nvar (\n\tB int // about B\n)\n"})
	source, err := findSource(root)
	require.NoError(t, err)
	decls := parseFolder(source.packages[0]).decls
	require.Len(t, decls, 2)
	text := strings.TrimPrefix(decls[0].Signature, "var ")
	require.LessOrEqual(t, len(text), maxText)
	require.Greater(t, len(text), maxText-4)
	require.NotContains(t, decls[0].Signature, "\ufffd")
	require.Equal(t, "var B int", decls[1].Signature)
	require.Equal(t, "about B\n", decls[1].Doc)
	require.Equal(t, ".#A", must(keys.Decode(decls[0].Key)))
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

// FuzzParse: whatever a file holds, it is read or reported, and every document
// made of it could be sent.
func FuzzParse(f *testing.F) {
	for _, src := range []string{"package a\nvar A, B = 1, 2", "package a\nfunc (x (*T[int])) M()", "package a\nfunc (x []int) M()", "package a\n//line x:1\nconst A = 1", "package a\ntype (\n)", "package"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		source, err := findSource(tree(t, map[string]string{"a.go": src}))
		require.NoError(t, err)
		found := parseFolder(source.packages[0])
		require.True(t, len(found.broken) == 0 || len(found.decls) == 0)
		for _, d := range found.decls {
			require.NoError(t, keys.Validate(d.Key))
			require.Positive(t, d.Line)
			require.Positive(t, d.Lines)
			require.NotContains(t, d.Signature, "\n")
		}
	})
}
