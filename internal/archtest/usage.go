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
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Usage is the use of names in a module.
type Usage struct {
	used map[Name]bool
	with map[Name][]Name // related names: the type of a value, and functions with a type as parameter or result

	fset       *token.FileSet
	exports    map[string]string // export data by import path
	importer   types.Importer
	interfaces []named
}

// named is an interface. An unexported one does not count as use by another package in its own package.
type named struct {
	folder   string
	exported bool
	*types.Interface
}

func newUsage() *Usage {
	u := &Usage{used: make(map[Name]bool), with: make(map[Name][]Name), fset: token.NewFileSet(), exports: make(map[string]string)}
	u.importer = importer.ForCompiler(u.fset, "gc", func(path string) (io.ReadCloser, error) {
		if u.exports[path] == "" {
			return nil, errors.New("not built here")
		}
		return os.Open(u.exports[path])
	})
	return u
}

// Used returns the exported names in the module at root that code of other packages uses: by name, as the type of an
// expression, or, for a method, through an interface that its type implements. Tests, examples and test harnesses do
// not count; the programs in bench and samples do.
func Used(ctx context.Context, root string) (*Usage, error) {
	u := newUsage()
	packages, err := u.list(ctx, root)
	if err != nil {
		return nil, err
	}
	ours := slices.Sorted(maps.Keys(packages))
	if err := otherModules(root, packages); err != nil {
		return nil, err
	}
	for folder, files := range packages {
		if err := u.read(folder, files); err != nil {
			return nil, err
		}
	}
	u.exportedInterfaces()
	for _, folder := range ours {
		u.relate(folder)
	}
	return u, nil
}

// list returns the files of the packages in the module at root, and sets exports.
func (u *Usage) list(ctx context.Context, root string) (map[string][]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	packages := make(map[string][]string)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		u.exports[p.ImportPath] = p.Export
		if folder, ok := strings.CutPrefix(p.ImportPath, Module+"/"); ok {
			for _, file := range p.GoFiles {
				packages[folder] = append(packages[folder], filepath.Join(p.Dir, file))
			}
		}
	}
}

// otherModules adds the files of the modules in bench and samples, which go list does not report for this module.
func otherModules(root string, packages map[string][]string) error {
	return walk(os.DirFS(root), func(folder string) bool {
		first, _, _ := strings.Cut(folder, "/")
		return !product(first)
	}, func(file string, _ *ast.File, _ *token.FileSet) {
		folder, full := path.Dir(file), filepath.Join(root, filepath.FromSlash(file))
		if folder == "." || strings.HasSuffix(file, "_test.go") || slices.Contains(packages[folder], full) {
			return
		}
		packages[folder] = append(packages[folder], full)
	})
}

// Import imports a built package, and returns an empty package for others, which code of other modules may import.
func (u *Usage) Import(of string) (*types.Package, error) {
	if p, err := u.importer.Import(of); err == nil {
		return p, nil
	}
	p := types.NewPackage(of, path.Base(of))
	p.MarkComplete()
	return p, nil
}

// read collects the names that the files of one package use, and its unexported interfaces.
func (u *Usage) read(folder string, paths []string) error {
	if matchAny(harness, folder) {
		return nil
	}
	var files []*ast.File
	for _, path := range paths {
		f, err := parser.ParseFile(u.fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	info := &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object),
	}
	// Packages that Import made up cause errors.
	config := types.Config{Importer: u, Error: func(error) {}}
	p, _ := config.Check(Module+"/"+folder, u.fset, files, info)
	for _, obj := range info.Uses {
		if f, ok := obj.(*types.Func); ok {
			obj = f.Origin()
		}
		u.use(folder, obj)
	}
	for _, tv := range info.Types {
		u.useType(folder, tv.Type)
	}
	for _, obj := range info.Defs {
		if obj != nil {
			u.useType(folder, obj.Type())
		}
	}
	for _, text := range p.Scope().Names() {
		u.addInterface(p.Scope().Lookup(text), false)
	}
	return nil
}

// use marks a name of another package as used.
func (u *Usage) use(by string, obj types.Object) {
	if obj.Pkg() == nil || !obj.Exported() {
		return
	}
	folder, ok := strings.CutPrefix(obj.Pkg().Path(), Module+"/")
	if !ok || folder == by {
		return
	}
	text := obj.Name()
	if f, ok := obj.(*types.Func); ok {
		if recv := f.Signature().Recv(); recv != nil {
			n := namedType(recv.Type())
			if n == nil {
				return
			}
			text = outer(n).Name() + "." + text
		}
	}
	u.used[Name{folder, text}] = true
}

// outer returns the exported type that embeds an unexported type, or the type itself.
func outer(n *types.Named) types.Object {
	if scope := n.Obj().Pkg().Scope(); !n.Obj().Exported() {
		for _, text := range scope.Names() {
			if obj := scope.Lookup(text); obj.Exported() && slices.Contains(embedded(obj.Type()), n.Origin()) {
				return obj
			}
		}
	}
	return n.Obj()
}

// embedded returns the named types that a struct embeds.
func embedded(t types.Type) (all []*types.Named) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for f := range s.Fields() {
		if n := namedType(f.Type()); f.Embedded() && n != nil {
			all = append(all, n.Origin())
		}
	}
	return all
}

func (u *Usage) useType(by string, t types.Type) {
	if n := namedType(t); n != nil {
		u.use(by, n.Obj())
	}
}

// namedType returns the named type of a value, of its pointer target, or of its elements; nil if there is none.
func namedType(t types.Type) *types.Named {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return t
	case *types.Pointer:
		return namedType(t.Elem())
	case *types.Slice:
		return namedType(t.Elem())
	case *types.Map:
		return namedType(t.Elem())
	}
	return nil
}

func (u *Usage) addInterface(obj types.Object, exported bool) {
	if obj == nil || obj.Exported() != exported {
		return
	}
	if i, ok := obj.Type().Underlying().(*types.Interface); ok && i.NumMethods() > 0 {
		folder := ""
		if obj.Pkg() != nil {
			folder = strings.TrimPrefix(obj.Pkg().Path(), Module+"/")
		}
		u.interfaces = append(u.interfaces, named{folder, exported, i})
	}
}

// exportedInterfaces adds the exported interfaces of all packages in the build.
func (u *Usage) exportedInterfaces() {
	u.addInterface(types.Universe.Lookup("error"), types.Universe.Lookup("error").Exported())
	for path := range u.exports {
		p, err := u.importer.Import(path)
		if err != nil {
			continue // unsafe, and main packages
		}
		for _, text := range p.Scope().Names() {
			if obj, ok := p.Scope().Lookup(text).(*types.TypeName); ok {
				u.addInterface(obj, true)
			}
		}
	}
}

// relate marks the methods through which types of a package implement interfaces, and records related names.
func (u *Usage) relate(folder string) {
	p, err := u.importer.Import(Module + "/" + folder)
	if err != nil {
		return // a program, which exports nothing
	}
	for _, text := range p.Scope().Names() {
		switch obj := p.Scope().Lookup(text).(type) {
		case *types.Const:
			if n := namedType(obj.Type()); n != nil && n.Obj().Pkg() == p {
				u.with[Name{folder, text}] = []Name{{folder, n.Obj().Name()}}
			}
		case *types.Func:
			u.signature(p, Name{folder, text}, obj.Signature())
		case *types.TypeName:
			n, ok := types.Unalias(obj.Type()).(*types.Named)
			if !ok || !obj.Exported() || types.IsInterface(n) {
				continue
			}
			for _, of := range append(embedded(n), n) {
				if of.Obj().Pkg() != p || of != n && of.Obj().Exported() {
					continue
				}
				for m := range of.Methods() {
					u.signature(p, Name{folder, text + "." + m.Name()}, m.Signature())
				}
			}
			u.satisfied(folder, n)
		}
	}
}

// signature records the types in the signature of a function.
func (u *Usage) signature(p *types.Package, of Name, s *types.Signature) {
	for _, tuple := range []*types.Tuple{s.Params(), s.Results()} {
		for v := range tuple.Variables() {
			if n := namedType(v.Type()); n != nil && n.Obj().Pkg() == p && ast.IsExported(of.Text) {
				t := Name{of.Folder, n.Obj().Name()}
				u.with[t] = append(u.with[t], of)
			}
		}
	}
}

// satisfied marks the methods through which a type implements an interface.
func (u *Usage) satisfied(folder string, n *types.Named) {
	for _, method := range []string{"Unwrap", "Is", "As"} { // package errors calls these without a named interface
		u.used[Name{folder, n.Obj().Name() + "." + method}] = true
	}
	for _, i := range u.interfaces {
		if (i.folder == folder && !i.exported) || !implements(n, i.Interface) {
			continue
		}
		for m := range i.Methods() {
			u.used[Name{folder, n.Obj().Name() + "." + m.Name()}] = true
		}
	}
}

// implements reports whether a type or its pointer implements an interface. With type parameters it compares only
// names.
func implements(n *types.Named, i *types.Interface) bool {
	pointer := types.NewPointer(n)
	generic := n.TypeParams().Len() > 0
	for m := range i.Methods() {
		obj, _, _ := types.LookupFieldOrMethod(pointer, true, m.Pkg(), m.Name())
		f, ok := obj.(*types.Func)
		if !ok {
			return false
		}
		generic = generic || f.Signature().Params().Len() == m.Signature().Params().Len() && hasParam(m.Signature())
	}
	return generic || types.Implements(pointer, i)
}

// hasParam reports whether a type contains a type parameter, as in generic interfaces.
func hasParam(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Signature:
		return hasParam(t.Params()) || hasParam(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if hasParam(v.Type()) {
				return true
			}
		}
	case *types.Pointer:
		return hasParam(t.Elem())
	case *types.Slice:
		return hasParam(t.Elem())
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			if hasParam(a) {
				return true
			}
		}
	}
	return false
}
