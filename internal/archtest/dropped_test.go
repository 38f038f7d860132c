package archtest

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDurableCodeDropsNoErrorAndNoOkWithoutAReason(t *testing.T) {
	broken, err := CheckDropped(t.Context(), root)
	require.NoError(t, err)
	for _, line := range broken {
		t.Error(line)
	}
}

func TestEachKindOfDroppedResultIsFound(t *testing.T) {
	const source = `package p
import "time"
type stopper struct{}
func (stopper) Stop() bool { return true }
func both() (int, error)
func failed() error
func found() (int, bool)
func done() bool
func yield() bool
func f(m map[string]int, a any) {
	_ = failed()
	n, _ := both()
	_, _ = both()
	n, _ = found()
	failed()
	done()
	yield()
	n, _ = m["a"]
	s, _ := a.(string)
	_, err := both()
	_ = n
	_ = failed() // it cannot fail: n is positive
	for range 3 { done() }
	_, _, _ = err, s, n
	t := time.NewTimer(0)
	t.Stop()
	t.Reset(0)
	stopper{}.Stop()
	flags := map[string]bool{}
	if _, ok := flags["a"]; ok {
		n, _ = m["b"]
	}
}
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", source, parser.ParseComments)
	require.NoError(t, err)
	broken, err := droppedIn(fset, Module+"/p", []*ast.File{f}, importer.Default())
	require.NoError(t, err)
	why := " is dropped: handle it, or say on the line why it does not matter"
	assert.Equal(t, []string{
		"p/p.go:11: an error" + why, "p/p.go:12: an error" + why, "p/p.go:13: an error" + why, "p/p.go:14: a bool" + why,
		"p/p.go:16: a bool" + why, "p/p.go:18: a bool" + why, "p/p.go:19: a bool" + why, "p/p.go:23: a bool" + why,
		"p/p.go:28: a bool" + why, "p/p.go:31: a bool" + why,
	}, broken)
}
