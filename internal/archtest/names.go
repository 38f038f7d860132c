package archtest

import (
	"bytes"
	"cmp"
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
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ofService are the packages whose names are those of the service, which decides how many there are.
var ofService = []string{"search", "models"}

// harness are the folders of internal that only tests and programs of the project import. A name that only they
// use is used by tests.
var harness = []string{
	"internal/archtest", "internal/commits", "internal/disk/disktest", "internal/fleetmodel", "internal/interop", "internal/mutate",
	"internal/othersystems", "internal/queuefiles", "internal/queuehistory", "internal/queuekill", "internal/queuelab", "internal/reached",
	"internal/sendertest", "internal/soak", "internal/testkit/...",
	"bufferedsender/queue/queuetest", "search/rebuild/internal/storetest",
}

// Name is an exported name: a function, a type, a constant, a variable, or a method that an exported type declares.
// Fields, and the methods of interfaces, belong to their types.
type Name struct {
	// Folder is that of the package. Text is the name; that of a method is behind its type and a full stop.
	Folder, Text string
}

func (n Name) String() string { return n.Folder + "." + n.Text }

// Exported returns the exported names of the packages that a user of the module can import.
func Exported(tree fs.FS) ([]Name, error) {
	names := make(map[Name]bool)
	enter := func(folder string) bool { return product(folder) && folder != "cmd" && path.Base(folder) != "internal" }
	err := walk(tree, enter, func(file string, f *ast.File, _ *token.FileSet) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		for _, decl := range f.Decls {
			for _, text := range declared(decl) {
				names[Name{path.Dir(file), text}] = true
			}
		}
	})
	return slices.SortedFunc(maps.Keys(names), func(a, b Name) int { return cmp.Compare(a.String(), b.String()) }), err
}

// declared returns the exported names of a declaration.
func declared(decl ast.Decl) (names []string) {
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name)
		} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) && d.Name.IsExported() {
			names = append(names, of+"."+d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				add(s.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					add(id)
				}
			}
		}
	}
	return names
}

// receiver returns the name of the type of a receiver.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// CheckNames returns one line for each exported name, outside of the packages of the service, that nothing justifies:
// no code of another package uses it, no row of the list names it with the task of a user, it is no value of a type
// that something justifies, and no type that a function takes or returns which something justifies. It also returns a
// line for each name in a row that needs none. A row is "folder: Name Name.Method — task".
func CheckNames(names []Name, rows string, u *Usage) (broken []string) {
	tasks := make(map[Name]bool)
	for line := range strings.Lines(rows) {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		row, task, _ := strings.Cut(line, " — ")
		folder, list, _ := strings.Cut(row, ":")
		if strings.TrimSpace(task) == "" {
			broken = append(broken, strings.TrimSpace(row)+": got a row without a task, want what a user does with it")
		}
		for _, text := range strings.Fields(list) {
			n := Name{folder, text}
			tasks[n] = true
			if !slices.Contains(names, n) {
				broken = append(broken, n.String()+": got a row about a name that does not exist: delete it")
			} else if u.used[n] || u.belongs(n, nil) {
				broken = append(broken, n.String()+": got a row about a name that code uses: delete it")
			}
		}
	}
	for _, n := range names {
		if !slices.Contains(ofService, n.Folder) && !u.used[n] && !tasks[n] && !u.belongs(n, tasks) {
			broken = append(broken, n.String()+": no code of another package uses it: unexport it, or name the task of a user in internal/archtest/names.txt")
		}
	}
	return broken
}

// belongs reports whether a name that no code uses comes with one that code uses, or that has a row.
func (u *Usage) belongs(n Name, tasks map[Name]bool) bool {
	return slices.ContainsFunc(u.with[n], func(of Name) bool { return u.used[of] || tasks[of] })
}

// Usage is what is known about the names of a module.
type Usage struct {
	used map[Name]bool
	with map[Name][]Name // the type of a value, and the functions that take or return a type

	fset       *token.FileSet
	exports    map[string]string // export data by import path
	importer   types.Importer
	interfaces []named
}

// named is an interface. Its own package may implement it without being asked by another one if it is not exported.
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

// Used returns which exported names of the module at root code of another package uses: by name, as the type of an
// expression, or, if it is a method, by an interface that its type implements. Tests, examples and the harnesses
// of tests do not count; the programs in bench and samples do.
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

// list returns the files of the packages of the module at root, and fills exports.
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

// otherModules adds the files of the modules in bench and samples, which the go command does not list from here.
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

// Import imports what was built, and makes an empty package of what was not, for code of other modules.
func (u *Usage) Import(of string) (*types.Package, error) {
	if p, err := u.importer.Import(of); err == nil {
		return p, nil
	}
	p := types.NewPackage(of, path.Base(of))
	p.MarkComplete()
	return p, nil
}

// read collects what the files of one package use, and its interfaces that are not exported.
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
	// Errors are those of packages that Import has made up.
	config := types.Config{Importer: u, Error: func(error) {}}
	p, _ := config.Check(Module+"/"+folder, u.fset, files, info) //nolint:errcheck // see above
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

// use marks a name of another package.
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
			text = n.Obj().Name() + "." + text
		}
	}
	u.used[Name{folder, text}] = true
}

func (u *Usage) useType(by string, t types.Type) {
	if n := namedType(t); n != nil {
		u.use(by, n.Obj())
	}
}

// namedType returns the named type of a value, of what it points to, or of its elements; nil if there is none.
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

// exportedInterfaces adds those of all packages that the module is built of.
func (u *Usage) exportedInterfaces() {
	u.addInterface(types.Universe.Lookup("error"), types.Universe.Lookup("error").Exported())
	for path := range u.exports {
		p, err := u.importer.Import(path)
		if err != nil {
			continue // unsafe, and mains
		}
		for _, text := range p.Scope().Names() {
			if obj, ok := p.Scope().Lookup(text).(*types.TypeName); ok {
				u.addInterface(obj, true)
			}
		}
	}
}

// relate marks the methods by which the types of a package implement an interface, and notes which names come with
// which.
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
			for m := range n.Methods() {
				u.signature(p, Name{folder, text + "." + m.Name()}, m.Signature())
			}
			u.satisfied(folder, n)
		}
	}
}

// signature notes the types of a function.
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

// satisfied marks the methods by which a type implements an interface.
func (u *Usage) satisfied(folder string, n *types.Named) {
	for _, method := range []string{"Unwrap", "Is", "As"} { // package errors has no types for them
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

// implements reports whether a type or a pointer to it implements an interface. With type parameters it compares
// names only.
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

// hasParam reports whether a type mentions a type parameter, as those in generic interfaces do.
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
