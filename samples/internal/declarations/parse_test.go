package declarations

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models/keys"
)

// Each declaration has a legal and unique key, for any content and number of files.
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

// Reads a package of the real source.
func TestStandardLibraryIsRead(t *testing.T) {
	source, err := Find(StandardLibrary() + "/errors")
	require.NoError(t, err, "the source is in %s", StandardLibrary())
	require.Len(t, source.Packages, 1)
	found := source.Packages[0].Parse()
	require.Empty(t, found.Broken)
	at := slices.IndexFunc(found.Declarations, func(d Declaration) bool { return d.Name == "Is" })
	require.GreaterOrEqual(t, at, 0, "errors.Is in %s", runtime.Version())
	is := found.Declarations[at]
	require.Equal(t, "func Is(err, target error) bool", is.Signature)
	require.Contains(t, is.Doc, "Is reports whether any error in err's tree matches target.")
	require.True(t, is.Exported)
	require.Equal(t, "wrap.go", is.File)
}

func TestLargestFoldersComeFirst(t *testing.T) {
	source, err := Find(tree(t, map[string]string{
		"root.go":  "package root\n",
		"a/a.go":   "package a\n\n// A is the largest.\nconst A = 1\n",
		"a/b.go":   "package a\n\nconst B = 1\n",
		"z/one.go": "package z\n\nvar One int\n",
	}))
	require.NoError(t, err)
	require.Len(t, source.Packages, 3)
	require.Equal(t, "a", source.Packages[0].ImportPath)
	require.Equal(t, []string{"a.go", "b.go"}, source.Packages[0].Files)
	require.True(t, slices.IsSortedFunc(source.Packages, func(a, b Folder) int { return cmp.Compare(b.Bytes, a.Bytes) }))
	var sum int64
	for _, f := range source.Packages {
		sum += f.Bytes
	}
	require.Equal(t, source.Bytes, sum)
}

func TestTextIsOneLineAndCutBetweenCharacters(t *testing.T) {
	root := tree(t, map[string]string{"a.go": "package a\n\nvar A = \"" + strings.Repeat("é", 4000) + "\"\n\nvar (\n\tB int // about B\n)\n"})
	source, err := Find(root)
	require.NoError(t, err)
	decls := source.Packages[0].Parse().Declarations
	require.Len(t, decls, 2)
	text := strings.TrimPrefix(decls[0].Signature, "var ")
	require.LessOrEqual(t, len(text), maxText)
	require.Greater(t, len(text), maxText-4)
	require.NotContains(t, decls[0].Signature, "\ufffd")
	require.Equal(t, "var B int", decls[1].Signature)
	require.Equal(t, "about B\n", decls[1].Doc)
	require.Equal(t, ".#A", must(keys.Decode(decls[0].Key)))
}

func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
	}
	return root
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

// FuzzParse checks that every file is read or reported, and that every document can be sent.
func FuzzParse(f *testing.F) {
	for _, src := range []string{"package a\nvar A, B = 1, 2", "package a\nfunc (x (*T[int])) M()", "package a\nfunc (x []int) M()", "package a\n//line x:1\nconst A = 1", "package a\ntype (\n)", "package"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		source, err := Find(tree(t, map[string]string{"a.go": src}))
		require.NoError(t, err)
		found := source.Packages[0].Parse()
		require.True(t, len(found.Broken) == 0 || len(found.Declarations) == 0)
		for _, d := range found.Declarations {
			require.NoError(t, keys.Validate(d.Key))
			require.Positive(t, d.Line)
			require.Positive(t, d.Lines)
			require.NotContains(t, d.Signature, "\n")
		}
	})
}
