package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// Promises groups the public packages by the promise about their API in the first paragraph of the package comment.
type Promises struct {
	Stable, Experimental []string
	// Broken has a line for each package that promises neither or both.
	Broken []string
}

// ReadPromises returns the promises of the packages in the module at root, except commands and internal packages.
func ReadPromises(root string) (Promises, error) {
	docs := make(map[string]string)
	enter := func(folder string) bool {
		return product(folder) && folder != "cmd" && folder != "bufferedsender/test" && path.Base(folder) != "internal"
	}
	err := walk(os.DirFS(root), enter, func(name string, file *ast.File, _ *token.FileSet) {
		if folder := path.Dir(name); !strings.HasSuffix(name, "_test.go") {
			docs[folder] += file.Doc.Text()
		}
	})
	var p Promises
	for _, folder := range slices.Sorted(maps.Keys(docs)) {
		paragraph, _, _ := strings.Cut(docs[folder], "\n\n")
		words := strings.Fields(strings.NewReplacer(".", " ", ":", " ", ",", " ").Replace(paragraph))
		stable, experimental := slices.Contains(words, "stable"), slices.Contains(words, "experimental")
		switch {
		case stable && !experimental:
			p.Stable = append(p.Stable, folder)
		case experimental && !stable:
			p.Experimental = append(p.Experimental, folder)
		default:
			p.Broken = append(p.Broken, folder+": got a first paragraph of the package comment without a promise about the API, want the word stable or experimental")
		}
	}
	return p, err
}

// API returns, for each of the packages in folders, a sorted line per exported function, type, field, method,
// variable, and constant with its value.
func (u *Usage) API(folders []string) (map[string]string, error) {
	all := make(map[string]string)
	for _, folder := range folders {
		pkg, err := u.importer.Import(Module + "/" + folder)
		if err != nil {
			return nil, err
		}
		all[folder] = strings.Join(exports(pkg), "\n") + "\n"
	}
	return all, nil
}

// exports returns the lines of a package.
func exports(pkg *types.Package) (lines []string) {
	qualify := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return strings.TrimPrefix(p.Path(), Module+"/")
	}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			add("%s = %s", types.ObjectString(o, qualify), o.Val().ExactString())
		case *types.TypeName:
			lines = append(lines, typeLines(o, qualify)...)
		default:
			add("%s", types.ObjectString(o, qualify))
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(a, b) })
	return lines
}

// typeLines returns the lines of a type. Fields and methods have their own lines, so that a diff shows only what
// changed.
func typeLines(o *types.TypeName, qualify types.Qualifier) (lines []string) {
	if o.IsAlias() {
		return []string{types.ObjectString(o, qualify)}
	}
	name := types.TypeString(o.Type(), qualify)
	switch t := o.Type().Underlying().(type) {
	case *types.Struct:
		lines = append(lines, "type "+name+" struct")
		for f := range t.Fields() {
			if f.Exported() {
				lines = append(lines, fmt.Sprintf("field %s.%s %s", name, f.Name(), types.TypeString(f.Type(), qualify)))
			}
		}
	default:
		lines = append(lines, types.ObjectString(o, qualify))
	}
	if !types.IsInterface(o.Type()) {
		for m := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
			if f := m.Obj(); f.Exported() {
				signature := strings.TrimPrefix(types.TypeString(f.Type(), qualify), "func")
				lines = append(lines, fmt.Sprintf("method %s.%s%s", name, f.Name(), signature))
			}
		}
	}
	return lines
}
