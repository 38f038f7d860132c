package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Limits on size, for readability.
const (
	mostFields  = 25
	mostLines   = 80  // per function
	mostColumns = 120 // per comment line, without indentation
)

// long matches the comment that gives a reason for exceeding these limits.
var long = regexp.MustCompile(`(?m)^//archtest:long \S+ \S+`)

// product reports whether a folder is part of the product. bench and samples stand for programs of users.
func product(name string) bool { return name != "bench" && name != "samples" }

// walk calls visit for each Go file in folders for which enter returns true.
func walk(tree fs.FS, enter func(folder string) bool, visit func(name string, file *ast.File, set *token.FileSet)) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (isLocal(d.Name()) || d.Name() == "testdata" || !enter(name)):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		p, err := parse(tree, name)
		if err == nil {
			visit(name, p.file, p.set)
		}
		return err
	})
}

// parsed is a parsed Go file. Checks do not modify it.
type parsed struct {
	content []byte
	file    *ast.File
	set     *token.FileSet
}

// parsing caches files by name, because many checks read the same tree.
var parsing = map[string]parsed{}

// parse returns a parsed file. It reuses the result of an earlier call if the content is the same.
func parse(tree fs.FS, name string) (parsed, error) {
	content, err := fs.ReadFile(tree, name)
	if err != nil {
		return parsed{}, err
	}
	if p, ok := parsing[name]; ok && bytes.Equal(p.content, content) {
		return p, nil
	}
	p := parsed{content: content, set: token.NewFileSet()}
	if p.file, err = parser.ParseFile(p.set, name, content, parser.SkipObjectResolution|parser.ParseComments); err != nil {
		return parsed{}, err
	}
	parsing[name] = p
	return p, nil
}

// CheckSource returns one line for each comment line that is too long and, outside tests, for each function and
// struct that is too long without a reason, and each assertion to an unnamed interface.
func CheckSource(tree fs.FS) ([]string, error) {
	var broken []string
	err := walk(tree, func(string) bool { return true }, func(name string, file *ast.File, set *token.FileSet) {
		report := func(at token.Pos, format string, args ...any) {
			broken = append(broken, fmt.Sprintf("%s: ", set.Position(at))+fmt.Sprintf(format, args...))
		}
		comments(file, report)
		if !strings.HasSuffix(name, "_test.go") {
			sizes(file, set, report)
			anonymous(file, report)
		}
	})
	return broken, err
}

// Owed returns a line for each declaration whose reason for being long is "owed": it should be divided.
func Owed(tree fs.FS) (owed []string, err error) {
	err = walk(tree, func(string) bool { return true }, func(_ string, file *ast.File, set *token.FileSet) {
		for _, group := range file.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//archtest:long owed: ") {
					owed = append(owed, fmt.Sprintf("%s: %s", set.Position(c.Pos()), c.Text))
				}
			}
		}
	})
	return owed, err
}

// comments reports long comment lines, except code, URLs and the output of examples.
func comments(file *ast.File, report func(token.Pos, string, ...any)) {
	for _, group := range file.Comments {
		for _, c := range group.List {
			switch {
			case strings.HasPrefix(c.Text, "//\t"), !strings.HasPrefix(c.Text, "// "), strings.Contains(c.Text, "://"):
				continue
			case strings.HasPrefix(c.Text, "// Output:"), strings.HasPrefix(c.Text, "// Unordered output:"):
				goto next
			}
			if n := utf8.RuneCountInString(c.Text); n > mostColumns {
				report(c.Pos(), "got a comment of %d columns, want %d at most: break the line", n, mostColumns)
			}
		}
	next:
	}
}

// sizes reports long functions and structs without a reason.
func sizes(file *ast.File, set *token.FileSet, report func(token.Pos, string, ...any)) {
	const fix = ": divide it, or give the reason in a comment //archtest:long"
	excused := func(doc *ast.CommentGroup) bool {
		if doc == nil {
			return false
		}
		for _, c := range doc.List {
			if long.MatchString(c.Text) {
				return true
			}
		}
		return false
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if n := set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1; n > mostLines && !excused(d.Doc) {
				report(d.Pos(), "got %d lines in %s, want %d at most"+fix, n, d.Name.Name, mostLines)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok || excused(d.Doc) || excused(t.Doc) {
					continue
				}
				if n := fields(t.Type); n > mostFields {
					report(t.Pos(), "got %d fields in %s, want %d at most"+fix, n, t.Name.Name, mostFields)
				}
			}
		}
	}
}

// fields returns the number of fields of a struct, including those of nested unnamed structs; 0 for other types.
func fields(t ast.Expr) (n int) {
	s, ok := t.(*ast.StructType)
	if !ok {
		return 0
	}
	for _, f := range s.Fields.List {
		n += max(1, len(f.Names), fields(f.Type))
	}
	return n
}

// anonymous reports unnamed interfaces with methods: only a declared type has a place to document its
// implementations.
func anonymous(file *ast.File, report func(token.Pos, string, ...any)) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			return false
		case *ast.FuncType:
			return false // constraints of type parameters
		case *ast.InterfaceType:
			if len(n.Methods.List) > 0 {
				report(n.Pos(), "got an interface without a name, want a type: name it here, or in models/optional.go if another package implements it")
			}
			return false
		}
		return true
	})
}
