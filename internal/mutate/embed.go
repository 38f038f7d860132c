package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Building a test takes much longer than running it. So all mutants that change
// the body of one function are built together: the function gets, for each of
// them, a copy of its body with the change, which is executed if the environment
// says so.
//
//	func (p *pending) head() ref {
//		if mutateChosen == "17" {
//			… the body with mutant 17 …
//		}
//		… the body …
//	}

const (
	chosenEnv  = "AZSEARCH_MUTANT" // the number of the mutant that is to be executed
	chosenName = "mutateChosen"
	chosenFile = "mutate_chosen.go" // declares it in every package that has mutants
)

// insertion is text to be put into a file.
type insertion struct {
	at   int
	text string
}

// embed returns what makes the mutant one of several in its file; false if it
// has to be built alone.
func (m mutant) embed(number int) (insertion, bool, error) {
	source, broken, err := m.apply()
	if err != nil {
		return insertion{}, false, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, m.file, source, parser.SkipObjectResolution)
	if err != nil {
		return insertion{}, false, err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		begin, end := set.Position(f.Body.Lbrace).Offset+1, set.Position(f.Body.Rbrace).Offset
		after := len(source) - end
		if len(broken) < begin+after || !bytes.HasPrefix(broken, source[:begin]) || !bytes.HasSuffix(broken, source[end:]) {
			continue // the change is not in this body, or not only
		}
		if !copyable(f) {
			return insertion{}, false, nil
		}
		text := fmt.Sprintf("\nif %s == %q {%s\n", chosenName, strconv.Itoa(number), broken[begin:len(broken)-after])
		if f.Type.Results == nil {
			text += "return\n"
		}
		return insertion{begin, text + "}\n"}, true, nil
	}
	return insertion{}, false, nil
}

// copyable reports whether the body of a function means the same in a block
// inside the function: there may be no label, which would be declared twice, and
// no := that would declare a parameter or a result anew instead of assigning.
func copyable(f *ast.FuncDecl) bool {
	names := map[string]bool{}
	for _, list := range []*ast.FieldList{f.Recv, f.Type.Params, f.Type.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				names[name.Name] = name.Name != "_"
			}
		}
	}
	ok := true
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if _, label := n.(*ast.LabeledStmt); label {
			ok = false
		}
		return ok
	})
	for _, statement := range f.Body.List { // further inside they are new in both
		if assign, is := statement.(*ast.AssignStmt); is && assign.Tok == token.DEFINE {
			for _, left := range assign.Lhs {
				if name, is := left.(*ast.Ident); is && names[name.Name] {
					ok = false
				}
			}
		}
	}
	return ok
}

// overlay collects changed files for go build -overlay.
type overlay struct {
	dir      string            // for the files
	replaced map[string]string // absolute path: file in dir
}

func (o *overlay) add(file string, content []byte) error {
	original, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	changed := filepath.Join(o.dir, fmt.Sprintf("%d.go", len(o.replaced)))
	o.replaced[original] = changed
	return os.WriteFile(changed, content, 0o600)
}

// write returns the file that go build -overlay is given.
func (o *overlay) write() (string, error) {
	text, err := json.Marshal(map[string]map[string]string{"Replace": o.replaced})
	if err != nil {
		return "", err
	}
	name := filepath.Join(o.dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o600)
}

// together returns the overlay with all insertions, by file.
func together(dir string, insertions map[string][]insertion) (*overlay, error) {
	o := &overlay{dir: dir, replaced: map[string]string{}}
	packages := map[string]string{} // folder: name of the package
	for _, file := range slices.Sorted(maps.Keys(insertions)) {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.PackageClauseOnly)
		if err != nil {
			return nil, err
		}
		packages[filepath.Dir(file)] = parsed.Name.Name
		list := slices.SortedStableFunc(slices.Values(insertions[file]), func(a, b insertion) int { return b.at - a.at })
		for _, i := range list { // from the end, so that the offsets stay right
			source = slices.Concat(source[:i.at], []byte(i.text), source[i.at:])
		}
		if err := o.add(file, source); err != nil {
			return nil, err
		}
	}
	for folder, name := range packages {
		text := fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%q)\n", name, chosenName, chosenEnv)
		if err := o.add(filepath.Join(folder, chosenFile), []byte(text)); err != nil {
			return nil, err
		}
	}
	return o, nil
}
