package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Load returns the packages of the module in folder root as go list reports them for goos.
func Load(ctx context.Context, root, goos string) ([]Package, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,GoFiles,CgoFiles,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = root
	// Without cgo, a foreign goos needs no C compiler.
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var pkgs []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct {
			ImportPath, Dir                          string
			GoFiles, CgoFiles                        []string
			Imports, TestImports, XTestImports, Deps []string
		}
		if err := dec.Decode(&listed); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		p := Package{
			Path:        listed.ImportPath,
			Imports:     listed.Imports,
			TestImports: append(listed.TestImports, listed.XTestImports...),
			Deps:        listed.Deps,
		}
		for _, f := range append(listed.GoFiles, listed.CgoFiles...) {
			starts, err := startsGoroutine(filepath.Join(listed.Dir, f), nil)
			if err != nil {
				return nil, err
			}
			p.StartsGoroutine = p.StartsGoroutine || starts
		}
		pkgs = append(pkgs, p)
	}
}

// startsGoroutine reports whether a Go file has a go statement. If src is not nil, it replaces the content of the
// file.
func startsGoroutine(path string, src any) (bool, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		return false, err
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.GoStmt); ok {
			found = true
		}
		return !found
	})
	return found, nil
}
