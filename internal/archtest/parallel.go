package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// CheckParallel returns one line for each test that sets a variable of its package while other tests of the package
// run in parallel, since these would see the change. The test should set a field of a value of its own instead.
func CheckParallel(tree fs.FS) (broken []string, err error) {
	type tests struct {
		parallel  bool
		variables map[string]bool // names of package variables
		set       map[string][]string
	}
	folders := make(map[string]*tests)
	err = walk(tree, func(string) bool { return true }, func(name string, file *ast.File, set *token.FileSet) {
		of := path.Dir(name) + " " + file.Name.Name
		if folders[of] == nil {
			folders[of] = &tests{variables: make(map[string]bool), set: make(map[string][]string)}
		}
		f := folders[of]
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					for _, s := range d.Specs {
						for _, id := range s.(*ast.ValueSpec).Names {
							f.variables[id.Name] = true
						}
					}
				}
			case *ast.FuncDecl:
				if strings.HasSuffix(name, "_test.go") && strings.HasPrefix(d.Name.Name, "Test") && d.Name.Name != "TestMain" {
					f.parallel = f.parallel || callsParallel(d)
					for v, at := range assigned(d) {
						f.set[v] = append(f.set[v], fmt.Sprintf("%s: %s", set.Position(at), d.Name.Name))
					}
				}
			}
		}
	})
	for _, f := range folders {
		for v, at := range f.set {
			for _, where := range at {
				if f.parallel && f.variables[v] {
					broken = append(broken, fmt.Sprintf("%s sets %s, which tests that run in parallel read: make it a field", where, v))
				}
			}
		}
	}
	slices.Sort(broken)
	return broken, err
}

func callsParallel(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		s, is := n.(*ast.SelectorExpr)
		found = found || is && s.Sel.Name == "Parallel"
		return !found
	})
	return found
}

// assigned returns the names that f sets but does not declare.
func assigned(f *ast.FuncDecl) map[string]token.Pos {
	names, own := make(map[string]token.Pos), map[string]bool{"_": true}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				if id, is := to.(*ast.Ident); is {
					if n.Tok == token.DEFINE {
						own[id.Name] = true
					} else {
						names[id.Name] = id.Pos()
					}
				}
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				own[id.Name] = true
			}
		case *ast.Field:
			for _, id := range n.Names {
				own[id.Name] = true
			}
		case *ast.RangeStmt:
			for _, to := range []ast.Expr{n.Key, n.Value} {
				if id, is := to.(*ast.Ident); is && n.Tok == token.DEFINE {
					own[id.Name] = true
				}
			}
		}
		return true
	})
	for name := range own {
		delete(names, name)
	}
	return names
}
