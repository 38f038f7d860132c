package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// durable are the folders whose code rebuilds state, or removes files that hold it. An error or ok ignored there can
// lose acknowledged data. "/..." includes all folders below, except queuetest.
var durable = []string{
	"internal/disk", "internal/journal", "bufferedsender/deadletter", "bufferedsender/hints", "bufferedsender/outbox", "bufferedsender/outbox/outboxpgx", "internal/sqlkit",
	"bufferedsender/queue/...", "bufferedsender/repair", "bufferedsender/repair/digesttree",
	"cmd/azsearch/internal/drain", "internal/rediskit", "search/rebuild", "search/rebuild/redisstore",
}

func isDurable(path string) bool {
	return slices.ContainsFunc(durable, func(folder string) bool {
		below, all := strings.CutSuffix(folder, "/...")
		return path == Module+"/"+below || all && strings.HasPrefix(path, Module+"/"+below+"/") && !strings.HasSuffix(path, "/queuetest")
	})
}

// CheckDropped returns one line for each error, and each bool from a call, type assertion or map, that code in the
// durable folders ignores without a comment on the same line.
func CheckDropped(ctx context.Context, root string) ([]string, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export"}
	for _, folder := range durable {
		args = append(args, "./"+folder)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := make(map[string]string)
	var listed []listedPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if isDurable(p.ImportPath) {
			listed = append(listed, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var broken []string
	for _, p := range listed {
		files := make([]*ast.File, len(p.GoFiles))
		for i, name := range p.GoFiles {
			if files[i], err = parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments); err != nil {
				return nil, err
			}
		}
		lines, err := droppedIn(fset, p.ImportPath, files, imports)
		if err != nil {
			return nil, err
		}
		broken = append(broken, lines...)
	}
	return broken, nil
}

type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// droppedIn checks the files of one package.
func droppedIn(fset *token.FileSet, path string, files []*ast.File, imports types.Importer) (broken []string, err error) {
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object)}
	if _, err := (&types.Config{Importer: imports}).Check(path, fset, files, info); err != nil {
		return nil, err
	}
	for _, f := range files {
		reasons := make(map[int]bool)
		for _, c := range f.Comments {
			reasons[fset.Position(c.Pos()).Line] = true
		}
		ast.Inspect(f, func(n ast.Node) bool {
			stmt, ok := n.(ast.Stmt)
			if !ok {
				return true
			}
			for _, what := range droppedBy(stmt, info) {
				if at := fset.Position(stmt.End()); !reasons[at.Line] {
					broken = append(broken, fmt.Sprintf("%s/%s:%d: %s is dropped: handle it, or say on the line why it does not matter",
						path[len(Module)+1:], filepath.Base(at.Filename), at.Line, what))
				}
			}
			return true
		})
	}
	return broken, nil
}

// droppedBy returns the kinds of values that a statement ignores.
func droppedBy(stmt ast.Stmt, info *types.Info) (what []string) {
	add := func(t types.Type) {
		switch {
		case types.Identical(t, types.Universe.Lookup("error").Type()):
			what = append(what, "an error")
		case types.Identical(t.Underlying(), types.Typ[types.Bool]) || types.Identical(t, types.Typ[types.UntypedBool]):
			what = append(what, "a bool")
		}
	}
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		for i, to := range s.Lhs {
			if id, ok := to.(*ast.Ident); !ok || id.Name != "_" {
				continue
			}
			if len(s.Lhs) == len(s.Rhs) {
				if _, call := s.Rhs[i].(*ast.CallExpr); call {
					add(info.Types[s.Rhs[i]].Type)
				}
				continue
			}
			_, call := s.Rhs[0].(*ast.CallExpr)
			if results, ok := info.Types[s.Rhs[0]].Type.(*types.Tuple); ok && (call || i == 1) { // result 0 of a map or assertion is a value, not an ok
				add(results.At(i).Type())
			}
		}
	case *ast.ExprStmt: // errcheck checks errors
		if call, ok := s.X.(*ast.CallExpr); !ok || saysNothing(call, info) {
			break
		}
		if t := info.Types[s.X].Type; t != nil && types.Identical(t.Underlying(), types.Typ[types.Bool]) {
			add(t)
		}
	}
	return what
}

// saysNothing reports whether the bool of a call carries no information: that of yield after the last element, and
// those of a timer, whose channel has no stale value after Stop or Reset since Go 1.23.
func saysNothing(call *ast.CallExpr, info *types.Info) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "yield"
	case *ast.SelectorExpr:
		method, ok := info.Uses[f.Sel].(*types.Func)
		return ok && (method.FullName() == "(*time.Timer).Stop" || method.FullName() == "(*time.Timer).Reset")
	}
	return false
}
