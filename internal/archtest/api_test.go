package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// TestTheStableAPIIsWhatItsFilesSay fails for each change of the exported API of a stable package until
//
//	go test ./internal/archtest -run Stable -update
//
// has written it to .ci/api. The commit also needs a line in CHANGELOG.md.
func TestTheStableAPIIsWhatItsFilesSay(t *testing.T) {
	promises, err := ReadPromises(root)
	require.NoError(t, err)
	for _, line := range promises.Broken {
		t.Error(line)
	}
	u := used(t)
	api, err := u.API(promises.Stable)
	require.NoError(t, err)
	files := make(map[string]bool)
	for folder, text := range api {
		file := filepath.Join(".ci", "api", strings.ReplaceAll(folder, "/", ".")+".txt")
		files[filepath.Base(file)] = true
		testkit.Golden(t, filepath.Join("..", root, file), []byte(text))
	}
	entries, err := os.ReadDir(filepath.Join(root, ".ci", "api"))
	require.NoError(t, err)
	for _, e := range entries {
		assert.True(t, files[e.Name()], ".ci/api/%s is of no stable package: delete it, and say so in CHANGELOG.md", e.Name())
	}
	if t.Failed() {
		t.Log("The API of a stable package has changed. If users should get that, say so in CHANGELOG.md, and run:\n\n\tgo test ./internal/archtest -run Stable -update")
	}
}

func TestWhatAPackageExportsIsListed(t *testing.T) {
	const text = `package p
type T[K any] struct { A int; b string }
func (*T[K]) M(a K) error { return nil }
func (T[K]) m() {}
type I interface { N() }
type E struct { inner }
type inner struct{}
func (inner) P() {}
type Names = []string
func F(x ...int) {}
func f() {}
const C, c = 1, 2
var V map[string]*E
`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", text, 0)
	require.NoError(t, err)
	config := types.Config{Error: func(error) {}}
	pkg, err := config.Check("p", set, []*ast.File{file}, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"const C untyped int = 1",
		"field T[K any].A int",
		"func F(x ...int)",
		"method E.P()",
		"method T[K any].M(a K) error",
		"type E struct",
		"type I interface{N()}",
		"type Names = []string",
		"type T[K any] struct",
		"var V map[string]*E",
	}, exports(pkg))
}

func TestAPackageWithoutAPromiseIsFound(t *testing.T) {
	folder := t.TempDir()
	for name, comment := range map[string]string{
		"a": "// Package a does a.\n// The package is stable.\n//\n// It was experimental.", "b": "// Package b is experimental: it may change.",
		"c": "// Package c does c.\n//\n// It is stable.", "d": "// Package d is stable, and experimental.", "internal": "// Package internal does nothing.",
	} {
		require.NoError(t, os.Mkdir(filepath.Join(folder, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name, "doc.go"), []byte(comment+"\npackage "+name+"\n"), 0o644))
	}
	got, err := ReadPromises(folder)
	require.NoError(t, err)
	const want = ": got a first paragraph of the package comment without a promise about the API, want the word stable or experimental"
	assert.Equal(t, Promises{Stable: []string{"a"}, Experimental: []string{"b"}, Broken: []string{"c" + want, "d" + want}}, got)
}
