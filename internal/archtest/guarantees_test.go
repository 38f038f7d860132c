package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var testName = regexp.MustCompile("`(Test\\w+)`")

// unproven returns a line for each row of a table of promises whose last column names no test, or one that does not
// exist.
func unproven(text string, tests map[string]bool) (broken []string) {
	inTable := false
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch proof := strings.TrimSpace(cells[len(cells)-1]); {
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case proof == "proof":
			inTable = true
		case inTable && !strings.HasPrefix(proof, "---"):
			named := testName.FindAllStringSubmatch(proof, -1)
			if len(named) == 0 {
				broken = append(broken, "got a promise without a test:"+cells[0])
			}
			for _, n := range named {
				if !tests[n[1]] {
					broken = append(broken, n[1]+": got no such test in the tree, want the one that proves:"+cells[0])
				}
			}
		}
	}
	return broken
}

func TestEveryGuaranteeHasATestThatExists(t *testing.T) {
	tests := make(map[string]bool)
	require.NoError(t, walk(os.DirFS(root), product, func(name string, file *ast.File, _ *token.FileSet) {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && strings.HasSuffix(name, "_test.go") {
				tests[f.Name.Name] = true
			}
		}
	}))
	text, err := os.ReadFile(filepath.Join(root, "bufferedsender", "GUARANTEES.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "| proof |")
	for _, line := range unproven(string(text), tests) {
		t.Error("bufferedsender/GUARANTEES.md: " + line)
	}
}

func TestAGuaranteeWithoutATestIsFound(t *testing.T) {
	const text = "| promise | limits | proof |\n|---|---|---|\n| a | | `TestA` |\n| b | | |\n| c | | `TestA` `TestC` |\n\n| d | what |\n|---|---|\n| e | f |\n"
	assert.Equal(t, []string{
		"got a promise without a test: b ",
		"TestC: got no such test in the tree, want the one that proves: c ",
	}, unproven(text, map[string]bool{"TestA": true}))
}
