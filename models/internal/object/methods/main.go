// Command methods writes methods_json.go and methods_print.go of the package in the current folder: the methods that
// all objects share, except those that a file of the package already has. See package object.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const jsonFile, printFile = "methods_json.go", "methods_print.go"

func main() {
	log.SetFlags(0)
	files, err := generate(".")
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(name, content, 0o644)) //nolint:gosec // a source file
	}
	if err != nil {
		log.Fatal(err)
	}
}

// generate returns the files for the package in a folder.
func generate(folder string) (map[string][]byte, error) {
	s, err := read(folder)
	if err != nil {
		return nil, err
	}
	written, err := s.file("", s.json())
	if err != nil {
		return nil, err
	}
	printed, err := s.file("\"fmt\"\n\"log/slog\"\n\n", s.print())
	return map[string][]byte{jsonFile: written, printFile: printed}, err
}

// source holds the declarations of a package.
type source struct {
	name    string
	objects []string            // the structs with AdditionalProperties
	has     map[string]bool     // methods by "Type.Name", fields, and functions by ".Name"
	markers map[string]string   // the only method of an interface, if it is unexported
	unions  map[string][]string // the types of each union, from its Register call
}

func read(folder string) (*source, error) {
	s := &source{has: map[string]bool{}, markers: map[string]string{}, unions: map[string][]string{}}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if base := filepath.Base(name); base == jsonFile || base == printFile || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil, err
		}
		s.name = f.Name.Name
		ast.Inspect(f, s.visit)
	}
	slices.Sort(s.objects)
	return s, nil
}

func (s *source) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil {
			s.has["."+n.Name.Name] = true
		} else {
			receiver := n.Recv.List[0].Type
			if pointer, is := receiver.(*ast.StarExpr); is {
				receiver = pointer.X
			}
			if id, is := receiver.(*ast.Ident); is {
				s.has[id.Name+"."+n.Name.Name] = true
			}
		}
	case *ast.TypeSpec:
		s.declaration(n)
	case *ast.CallExpr:
		s.registration(n)
	}
	return true
}

func (s *source) declaration(n *ast.TypeSpec) {
	switch t := n.Type.(type) {
	case *ast.InterfaceType:
		if len(t.Methods.List) == 1 && len(t.Methods.List[0].Names) == 1 {
			if name := t.Methods.List[0].Names[0]; !name.IsExported() {
				s.markers[n.Name.Name] = name.Name
			}
		}
	case *ast.StructType:
		for _, f := range t.Fields.List {
			for _, name := range f.Names {
				s.has[n.Name.Name+"."+name.Name] = true
				if name.Name == "AdditionalProperties" && n.TypeParams == nil && n.Name.IsExported() {
					s.objects = append(s.objects, n.Name.Name)
				}
			}
		}
	}
}

// registration records the types of object.Register[Union, Unknown](pkg, …, object.Of[Type](…), …).
func (s *source) registration(call *ast.CallExpr) {
	register, is := call.Fun.(*ast.IndexListExpr)
	if !is || len(register.Indices) != 2 {
		return
	}
	union := fmt.Sprint(register.Indices[0])
	for _, argument := range call.Args {
		if of, is := argument.(*ast.CallExpr); is {
			if f, is := of.Fun.(*ast.IndexExpr); is {
				s.unions[union] = append(s.unions[union], fmt.Sprint(f.Index))
			}
		}
	}
	if s.unions[union] != nil {
		s.unions[union] = append(s.unions[union], fmt.Sprint(register.Indices[1]))
	}
}

// json returns the JSON methods, the marker methods of unions, and the object.Package.
func (s *source) json() string {
	text := s.each("MarshalJSON", "func (x %s) MarshalJSON() ([]byte, error) { return types.Encode(x) }\n")
	text += s.each("UnmarshalJSON", "func (x *%s) UnmarshalJSON(b []byte) error { return types.Decode(b, x) }\n")
	for _, union := range slices.Sorted(maps.Keys(s.unions)) {
		if marker := s.markers[union]; marker != "" {
			for _, x := range s.unions[union] {
				text += fmt.Sprintf("func (%s) %s() {}\n", x, marker)
			}
			text += "\n"
		}
	}
	register := ""
	if s.has[".register"] {
		register = "Register: register, "
	}
	return text + "var types = &object.Package{" + register + "Objects: objects}\n\n//archtest:long a list\nfunc objects() []any {\nreturn []any{\n" +
		s.each("UnmarshalJSON", "%s{},\n") + "}\n}\n"
}

// print returns the methods that hide secrets. A type with a field named Format gets String and GoString instead.
func (s *source) print() string {
	text := ""
	for _, x := range s.objects {
		if s.has[x+".Format"] {
			text += fmt.Sprintf("func (x %[1]s) String() string { return object.String(x) }\n\nfunc (x %[1]s) GoString() string { return object.String(x) }\n\n", x)
		}
	}
	return text + s.each("Format", "func (x %s) Format(s fmt.State, _ rune) { object.Format(s, x) }\n") +
		s.each("LogValue", "func (x %s) LogValue() slog.Value { return object.LogValue(x) }\n")
}

// each returns the text for each object that has no method or field of that name.
func (s *source) each(method, text string) string {
	var out strings.Builder
	for _, x := range s.objects {
		if !s.has[x+"."+method] {
			fmt.Fprintf(&out, text, x)
		}
	}
	return out.String() + "\n"
}

func (s *source) file(imports, text string) ([]byte, error) {
	return format.Source([]byte("// Code generated by go generate (models/internal/object/methods). DO NOT EDIT.\n\npackage " + s.name +
		"\n\nimport (\n" + imports + "\"github.com/go-azsearch/azsearch/models/internal/object\"\n)\n\n" + text))
}
