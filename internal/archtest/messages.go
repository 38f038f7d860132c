package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// logMethods are the methods of slog.Logger and the functions of slog, with the index of the message argument.
var logMethods = map[string]int{
	"Debug": 0, "Info": 0, "Warn": 0, "Error": 0, "DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1, "Log": 2, "LogAttrs": 2,
}

// notLoggers are packages and variables that have such methods but do not log.
var notLoggers = []string{"http", "math", "t", "single"}

// Messages are the log messages and errors of the module, for review side by side.
type Messages struct {
	// Lines are "package: log: message" and "package: error: text", sorted and unique. A %v stands for a value.
	Lines []string
	// Broken has a line for each log message that is not constant.
	Broken []string
}

// ReadMessages returns the messages of public packages, of the packages they import, and of commands.
func ReadMessages(tree fs.FS) (Messages, error) {
	var m Messages
	packages := make(map[string]*speaker)
	err := walk(tree, func(folder string) bool { return product(folder) && !matchAny(harnessed, Module+"/"+folder) }, func(name string, file *ast.File, set *token.FileSet) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		folder := path.Dir(name)
		if packages[folder] == nil {
			packages[folder] = &speaker{folder: folder, forwards: make(map[string]int), constants: make(map[string]string)}
		}
		p := packages[folder]
		p.files = append(p.files, file)
		p.sets = append(p.sets, set)
	})
	for _, p := range packages {
		p.read(&m)
	}
	slices.Sort(m.Lines)
	m.Lines = slices.Compact(m.Lines)
	slices.Sort(m.Broken)
	return m, err
}

// harnessed is harness plus the project's own programs, whose messages users do not see.
var harnessed = func() (all []string) {
	for _, folder := range append([]string{"internal/live", "internal/overview", "search/rebuild/internal/storetest"}, harness...) {
		all = append(all, "./"+folder)
	}
	return all
}()

// speaker is a package with messages.
type speaker struct {
	folder    string
	files     []*ast.File
	sets      []*token.FileSet
	constants map[string]string // values of string constants by name
	forwards  map[string]int    // functions that log one of their parameters, with its index
}

func (p *speaker) read(m *Messages) {
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				for i, name := range v.Names {
					if i < len(v.Values) {
						if text, ok := p.text(v.Values[i], nil); ok {
							p.constants[name.Name] = text
						}
					}
				}
			}
			return true
		})
	}
	for range 3 { // finds functions that call such functions, three levels deep
		p.calls(func(f *ast.FuncDecl, message ast.Expr, _ token.Position) {
			if id, ok := message.(*ast.Ident); ok {
				if i := parameter(f, id.Name); i >= 0 {
					p.forwards[f.Name.Name] = i
				}
			}
		})
	}
	p.calls(func(f *ast.FuncDecl, message ast.Expr, at token.Position) {
		if text, ok := p.text(message, nil); ok {
			m.Lines = append(m.Lines, fmt.Sprintf("%s: log: %s", p.folder, text))
			return
		}
		if id, ok := message.(*ast.Ident); ok && parameter(f, id.Name) >= 0 {
			return // reported at its callers
		}
		texts := p.assigned(f, message)
		if len(texts) == 0 {
			m.Broken = append(m.Broken, fmt.Sprintf("%s: got a log message that is not constant, want a constant one, and values as attributes", at))
		}
		for _, text := range texts {
			m.Lines = append(m.Lines, fmt.Sprintf("%s: log: %s", p.folder, text))
		}
	})
	p.errors(m)
}

// calls calls visit for each call that logs, directly or through a function that forwards its message.
func (p *speaker) calls(visit func(f *ast.FuncDecl, message ast.Expr, at token.Position)) {
	for i, file := range p.files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if place := p.place(call); place >= 0 && place < len(call.Args) {
						visit(f, call.Args[place], p.sets[i].Position(call.Pos()))
					}
				}
				return true
			})
		}
	}
}

// place returns the index of the message argument of a call, -1 if the call does not log.
func (p *speaker) place(call *ast.CallExpr) int {
	name := ""
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
		if id, ok := fun.X.(*ast.Ident); ok && slices.Contains(notLoggers, id.Name) {
			return -1
		}
		if i, ok := logMethods[name]; ok {
			return i
		}
	}
	if i, ok := p.forwards[name]; ok {
		return i
	}
	return -1
}

// text returns the value of a string literal, a constant, or a concatenation of these, false for other expressions.
func (p *speaker) text(e ast.Expr, known map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		a, okA := p.text(e.X, known)
		b, okB := p.text(e.Y, known)
		return a + b, okA && okB
	case *ast.ParenExpr:
		return p.text(e.X, known)
	case *ast.Ident:
		if text, ok := known[e.Name]; ok {
			return text, true
		}
		text, ok := p.constants[e.Name]
		return text, ok
	}
	return "", false
}

// assigned returns the texts assigned in f to the message: to the variable, or to the field message in rows of a
// table.
func (p *speaker) assigned(f *ast.FuncDecl, message ast.Expr) (texts []string) {
	if s, ok := message.(*ast.SelectorExpr); ok { // rows of a table
		ast.Inspect(f, func(n ast.Node) bool {
			if row, ok := n.(*ast.CompositeLit); ok && s.Sel.Name == "message" {
				for _, cell := range row.Elts {
					if text, ok := p.text(cell, nil); ok {
						texts = append(texts, text)
					}
				}
			}
			return true
		})
		return texts
	}
	id, ok := message.(*ast.Ident)
	if !ok {
		return nil
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, to := range a.Lhs {
				if v, ok := to.(*ast.Ident); ok && v.Name == id.Name {
					if text, ok := p.text(a.Rhs[i], nil); ok {
						texts = append(texts, text)
					}
				}
			}
		}
		return true
	})
	return texts
}

// errors adds the texts of errors.New and fmt.Errorf.
func (p *speaker) errors(m *Messages) {
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, _ := s.X.(*ast.Ident)
			if of == nil || of.Name+"."+s.Sel.Name != "errors.New" && of.Name+"."+s.Sel.Name != "fmt.Errorf" {
				return true
			}
			if text, ok := p.text(call.Args[0], nil); ok {
				m.Lines = append(m.Lines, fmt.Sprintf("%s: error: %s", p.folder, strings.ReplaceAll(text, "\n", `\n`)))
			}
			return true
		})
	}
}

// parameter returns the index of the parameter with the given name, -1 if there is none.
func parameter(f *ast.FuncDecl, name string) int {
	i := 0
	for _, field := range f.Type.Params.List {
		for _, id := range field.Names {
			if id.Name == name {
				return i
			}
			i++
		}
	}
	return -1
}
