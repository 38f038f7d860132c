package archtest

import (
	"context"
	_ "embed"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// tasks justify the exported names that no code of another package uses.
//
//go:embed names.txt
var tasks string

// mostNames limits the exported names outside of search and models. It only decreases.
const mostNames = 833

var once = sync.OnceValues(func() (*Usage, error) { return Used(context.Background(), root) })

// used returns the usage of all names in this module, computed once for all tests.
func used(t *testing.T) *Usage {
	t.Helper()
	testkit.Long(t)
	u, err := once()
	require.NoError(t, err)
	return u
}

func TestEveryExportedNameServesATask(t *testing.T) {
	names, err := Exported(os.DirFS(root))
	require.NoError(t, err)
	u := used(t)
	for _, line := range CheckNames(names, tasks, u) {
		t.Error(line)
	}
}

func TestExportedNamesBecomeFewer(t *testing.T) {
	names, err := Exported(os.DirFS(root))
	require.NoError(t, err)
	names = slices.DeleteFunc(names, func(n Name) bool { return slices.Contains(ofService, n.Folder) })
	assert.LessOrEqual(t, len(names), mostNames, "unexport a name for each new one")
	assert.GreaterOrEqual(t, len(names), mostNames, "lower mostNames")
}

func TestExportedNamesAreFunctionsTypesValuesAndMethods(t *testing.T) {
	file := func(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package p\n" + content)} }
	names, err := Exported(fstest.MapFS{
		"retry/a.go": file("type T[K any] struct { Field int }\nfunc (t *T[K]) M() {}\nfunc (T[K]) m() {}\ntype I interface { M() }\n" +
			"type t int\nfunc (t) M() {}\nfunc (*t) P() {}\nfunc (t) p() {}\ntype E[K any] struct{ *t }\nfunc F() {}\nfunc f() {}\nconst A, b = 1, 2\nvar V int"),
		"retry/a_test.go":          file("func F2() {}"),
		"retry/a_windows.go":       file("func F() {}"),
		"retry/internal/a.go":      file("func F() {}"),
		"cmd/a.go":                 file("func F() {}"),
		"bench/a.go":               file("func F() {}"),
		"search/searchtest/a/b.go": file("func F() {}"),
	})
	require.NoError(t, err)
	assert.Equal(t, []Name{
		{"retry", "A"}, {"retry", "E"}, {"retry", "E.M"}, {"retry", "E.P"}, {"retry", "F"}, {"retry", "I"}, {"retry", "T"}, {"retry", "T.M"}, {"retry", "V"}, {"search/searchtest/a", "F"},
	}, names)
}

func TestNamesWithoutATaskAreFound(t *testing.T) {
	name := func(text string) Name { return Name{"a/p", text} }
	names := []Name{name("Used"), name("Unused"), name("Row"), name("Row.M"), name("Value"), name("Argument"), {"models", "Of"}}
	u := &Usage{used: map[Name]bool{name("Used"): true}, with: map[Name][]Name{name("Value"): {name("Used")}, name("Argument"): {name("Row")}}}
	broken := CheckNames(names, "# a comment\n\na/p: Row — do something\na/p: Row.M\na/p: Used Gone Value — use it\n", u)
	assert.Equal(t, []string{
		"a/p: Row.M: got a row without a task, want what a user does with it",
		"a/p.Used: got a row about a name that code uses: delete it",
		"a/p.Gone: got a row about a name that does not exist: delete it",
		"a/p.Value: got a row about a name that code uses: delete it",
		"a/p.Unused: no code of another package uses it: unexport it, or name the task of a user in internal/archtest/names.txt",
	}, broken)
}
