// Command othersystems checks in CI that the module and its tests compile for other systems.
//
//	go run ./internal/othersystems windows/386 darwin/arm64
//
// It type-checks with the sizes of that system and generates no code, so it finds, for example, constants that
// overflow a 32-bit int. It checks declarations of dependencies, and all code of the module. A compiler would first
// compile the standard library and all dependencies for each system, which takes minutes.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "othersystems: no system is named; name some, such as windows/386")
		os.Exit(2)
	}
	code := 0
	for _, system := range os.Args[1:] {
		problems, packages, err := check(".", system)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		for _, problem := range problems {
			fmt.Printf("%s: %v\n", system, problem)
			code = 1
		}
		fmt.Printf("%s: %d packages, %d problems\n", system, packages, len(problems))
	}
	os.Exit(code)
}

// listed is a package as reported by go list. A package with its tests is a separate entry, whose ImportPath has the
// test program in brackets.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}

	done    chan struct{} // closed when checked is set
	checked *types.Package
}

// check type-checks the module in dir, with its tests, for a system such as windows/386. It returns the problems in
// the module's own packages, and the number of these packages.
func check(dir, system string) (problems []error, packages int, err error) {
	goos, goarch, ok := strings.Cut(system, "/")
	sizes := types.SizesFor("gc", goarch)
	if !ok || sizes == nil {
		return nil, 0, fmt.Errorf("othersystems: reading a system failed: got %q, want GOOS/GOARCH, such as windows/386", system)
	}
	all, err := list(dir, goos, goarch)
	if err != nil {
		return nil, 0, err
	}
	known := map[string]*listed{}
	for _, p := range all {
		known[p.ImportPath] = p
	}
	var (
		set     = token.NewFileSet()
		mu      sync.Mutex // guards problems
		running = make(chan struct{}, runtime.GOMAXPROCS(0))
		checks  sync.WaitGroup
	)
	for _, p := range all {
		if own(p) {
			packages++
		}
		checks.Go(func() {
			defer close(p.done)
			for _, path := range p.Imports {
				if dep := known[path]; dep != nil {
					<-dep.done
				}
			}
			running <- struct{}{}
			defer func() { <-running }()
			found := p.check(set, sizes, known)
			if own(p) {
				mu.Lock()
				defer mu.Unlock()
				problems = append(problems, found...)
			}
		})
	}
	checks.Wait()
	return problems, packages, nil
}

// list returns the packages of the module, their tests, and all dependencies.
func list(dir, goos, goarch string) (all []*listed, err error) {
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,Imports,ImportMap,Module", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0") // needs no foreign C compiler
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("othersystems: listing the packages for %s/%s failed: %w\n%s", goos, goarch, err, &stderr)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{done: make(chan struct{})}
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("othersystems: reading the list of packages failed: %w", err)
		}
		if strings.HasSuffix(p.ImportPath, ".test") {
			continue // the generated main package of a test program
		}
		all = append(all, p)
	}
}

// own reports whether p is a package of the module, with or without its tests.
func own(p *listed) bool { return p.Module != nil && p.Module.Main }

// check type-checks p. Its imports must have been checked.
func (p *listed) check(set *token.FileSet, sizes types.Sizes, known map[string]*listed) (problems []error) {
	if p.ImportPath == "unsafe" {
		p.checked = types.Unsafe
		return nil
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		files = append(files, file)
	}
	config := types.Config{
		Sizes:            sizes,
		IgnoreFuncBodies: !own(p),
		Importer: importer(func(path string) (*types.Package, error) {
			dep := known[cmp.Or(p.ImportMap[path], path)]
			if dep == nil || dep.checked == nil {
				return nil, fmt.Errorf("no package %s for this system", path)
			}
			return dep.checked, nil
		}),
		Error: func(err error) { problems = append(problems, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	p.checked, _ = config.Check(path, set, files, nil) // Error received its errors
	return problems
}

// importer is a types.Importer.
type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
