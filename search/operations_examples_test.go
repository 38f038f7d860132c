package search_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each function in the table specified is called by an example. The example runs against the emulator, or against a
// stand-in if the emulator answers with 501.
func TestEveryOperationHasAnExample(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	shown, called := map[string]bool{}, map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				switch {
				case strings.HasPrefix(d.Name.Name, "Example"):
					for name := range calls(d) {
						shown[name] = true
					}
				case d.Name.Name == "uploadFile":
					for name := range calls(d) {
						called[name] = "POST /knowledgesources('{}')/files multipart"
					}
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, is := s.(*ast.ValueSpec); is && v.Names[0].Name == "specified" {
						for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
							for name := range calls(e) {
								called[name] = e.(*ast.KeyValueExpr).Key.(*ast.BasicLit).Value
							}
						}
					}
				}
			}
		}
	}
	require.Greater(t, len(called), 60)
	for name, route := range called {
		assert.True(t, shown[name], "no example calls %s (%s)", name, route)
	}
}

// calls returns the exported names called in n.
func calls(n ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		fun := call.Fun
		if generic, is := fun.(*ast.IndexExpr); is {
			fun = generic.X
		}
		if s, is := fun.(*ast.SelectorExpr); is && s.Sel.IsExported() && s.Sel.Name != "NewReader" {
			names[s.Sel.Name] = true
		}
		return true
	})
	return names
}

// The table in the comment of package search names functions that need an example.
func TestWhatProgramsOfOtherSDKsCallHasAnExample(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	shown := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if d, is := d.(*ast.FuncDecl); is && strings.HasPrefix(d.Name.Name, "Example") {
				ast.Inspect(d, func(n ast.Node) bool {
					if s, is := n.(*ast.SelectorExpr); is {
						shown[s.Sel.Name] = true
					}
					return true
				})
			}
		}
	}
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "here, each with an example:")
	table, _, _ = strings.Cut(table, "// # Errors")
	rows := 0
	for line := range strings.Lines(table) {
		theirs, ours, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "//\t"), "  ")
		if !is || theirs == "Python" {
			continue
		}
		rows++
		for name := range strings.SplitSeq(ours, ",") {
			assert.True(t, shown[strings.TrimSpace(name)], "%s: no example has %s", theirs, name)
		}
	}
	assert.Equal(t, 36, rows)
}
