package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Building a test takes much longer than running it, so all mutants are built together. For each of them a function
// gets a modified copy of its body, which runs if the environment selects that mutant:
//
//	func (p *pending) head() ref {
//		if mutateChosen == "internal/publisher/MUTANTS.md:17" {
//			return func() ref { … the body with that mutant … }()
//		}
//		… the body …
//	}
//
// The copy is a function literal, so that labels, and := with the name of a result, stay valid.

const (
	chosenEnv  = "AZSEARCH_MUTANT" // selects the mutant to run
	chosenName = "mutateChosen"
	chosenFile = "mutate_chosen.go" // declares chosenName in every package with mutants
)

// insertion is text to insert into a file.
type insertion struct {
	at   int
	text string
}

// embed returns the insertion that adds the mutant to its file.
func (m mutant) embed() (insertion, error) {
	source, broken, err := m.apply()
	if err != nil {
		return insertion{}, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, m.file, source, parser.SkipObjectResolution)
	if err != nil {
		return insertion{}, err
	}
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		begin, end := offset(f.Body.Lbrace)+1, offset(f.Body.Rbrace)
		after := len(source) - end
		if len(broken) < begin+after || !bytes.HasPrefix(broken, source[:begin]) || !bytes.HasSuffix(broken, source[end:]) {
			continue // the change is not, or not only, in this body
		}
		body := broken[begin : len(broken)-after]
		if bytes.Contains(body, []byte("recover()")) {
			return insertion{}, errors.New("recover has no effect in a copy of the function that is deferred; break another function")
		}
		keyword, results, last := "", "", "return\n"
		if r := f.Type.Results; r != nil {
			keyword, results, last = "return ", string(source[offset(r.Pos()):offset(r.End())]), ""
		}
		// A compiler error then names the line of the list.
		text := fmt.Sprintf("\nif %s == %q {\n%sfunc() %s {\n//line %s mutant:1\n%s}()\n%s}\n//line %s:%d\n",
			chosenName, m.name(), keyword, results, m.name(), body, last, filepath.Base(m.file), set.Position(f.Body.Lbrace).Line)
		return insertion{begin, text}, nil
	}
	return insertion{}, errors.New("the change is not inside one function")
}

// embedAll writes the files with insertions to dir, and returns the path for go build -overlay.
func embedAll(dir string, insertions map[string][]insertion) (overlay string, err error) {
	files := map[string][]byte{} // by name in the tree
	for _, file := range slices.Sorted(maps.Keys(insertions)) {
		source, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.PackageClauseOnly)
		if err != nil {
			return "", err
		}
		list := slices.SortedStableFunc(slices.Values(insertions[file]), func(a, b insertion) int { return b.at - a.at })
		for _, i := range list { // from the end, so that offsets stay valid
			source = slices.Concat(source[:i.at], []byte(i.text), source[i.at:])
		}
		chosen := fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%q)\n", parsed.Name.Name, chosenName, chosenEnv)
		files[file], files[filepath.Join(filepath.Dir(file), chosenFile)] = source, []byte(chosen)
	}
	replaced := map[string]string{} // absolute name in the tree: name in dir
	for i, file := range slices.Sorted(maps.Keys(files)) {
		original, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replaced[original] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replaced[original], files[file], 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
