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

// Limits of what a reader takes in at once.
const (
	mostFields  = 25
	mostLines   = 80  // of a function
	mostColumns = 120 // of a comment, without its indentation
)

// long is the reason beside a declaration for being longer than these limits.
var long = regexp.MustCompile(`(?m)^//archtest:long \S+ \S+`)

// product reports whether a folder of the module is part of it: bench and samples stand for other people's programs.
func product(name string) bool { return name != "bench" && name != "samples" }

// walk calls visit for each Go file, below the folders for which enter returns true.
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

// parsed is a file of Go. No check changes it.
type parsed struct {
	content []byte
	file    *ast.File
	set     *token.FileSet
}

// parsing has every file by its name: a dozen checks read the same tree.
var parsing = map[string]parsed{}

// parse returns a file of the tree, parsed now or by an earlier call that has found the same content.
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

// CheckSource returns one line for each comment that is too long, and outside of tests for each function and each
// struct that is too long without a reason, and for each assertion to an interface without a name.
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

// Owed returns a line for each declaration whose reason to be long is that it was not divided yet.
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

// comments reports long lines of comments, but for code, addresses and the output of examples.
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

// sizes reports functions and structs that are long and give no reason.
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

// fields counts the fields of a struct, those of structs without a name inside included; 0 for any other type.
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

// anonymous reports interfaces with methods that have no name: who implements them, and what that changes, can be
// written down only where a type is declared.
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
