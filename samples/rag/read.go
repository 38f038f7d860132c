package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// readPackage returns the documentation of what the package in a folder of tree
// exports, in passages without vectors. It reads what is built for Linux,
// wherever it runs, so that everybody finds the same.
func readPackage(tree fs.FS, folder string) ([]Passage, error) {
	entries, err := fs.ReadDir(tree, folder)
	if err != nil {
		return nil, err
	}
	r := &packageReader{importPath: folder, fset: token.NewFileSet()}
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := fs.ReadFile(tree, path.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if ok, err := isBuilt(name, src); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		file, err := parser.ParseFile(r.fset, path.Join(folder, name), src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no Go package in %s", folder)
	}
	// Before go/doc takes the comments away.
	texts := make([]string, len(files))
	for i, file := range files {
		texts[i] = file.Doc.Text()
	}
	if r.doc, err = doc.NewFromFiles(r.fset, files, folder); err != nil {
		return nil, err
	}
	for i, file := range files {
		if texts[i] != "" {
			r.add("package", "", file, "", texts[i])
		}
	}
	r.readAll()
	setIDs(r.passages)
	return r.passages, nil
}

// isBuilt reports whether a file belongs to a build for Linux.
func isBuilt(name string, src []byte) (bool, error) {
	ctxt := build.Default
	ctxt.GOOS, ctxt.GOARCH, ctxt.CgoEnabled = "linux", "amd64", false
	ctxt.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
	return ctxt.MatchFile("", name)
}

// packageReader collects the passages of a package.
type packageReader struct {
	importPath string
	fset       *token.FileSet
	doc        *doc.Package
	passages   []Passage
}

func (r *packageReader) readAll() {
	r.addValues("const", r.doc.Consts)
	r.addValues("var", r.doc.Vars)
	r.addFuncs("func", r.doc.Funcs)
	for _, t := range r.doc.Types {
		r.add("type", t.Name, t.Decl, r.source(t.Decl), t.Doc)
		r.addValues("const", t.Consts)
		r.addValues("var", t.Vars)
		r.addFuncs("func", t.Funcs)
		r.addFuncs("method", t.Methods)
	}
}

// addValues adds groups of constants or variables, called by their first names.
func (r *packageReader) addValues(kind string, values []*doc.Value) {
	for _, v := range values {
		r.add(kind, v.Names[0], v.Decl, r.source(v.Decl), v.Doc)
	}
}

func (r *packageReader) addFuncs(kind string, funcs []*doc.Func) {
	for _, f := range funcs {
		symbol := f.Name
		if kind == "method" {
			symbol = strings.TrimPrefix(f.Orig, "*") + "." + symbol
		}
		r.add(kind, symbol, f.Decl, r.source(f.Decl), f.Doc)
	}
}

// source returns a declaration as gofmt writes it.
func (r *packageReader) source(decl ast.Decl) string {
	var b strings.Builder
	if err := format.Node(&b, r.fset, decl); err != nil {
		return "" // go/doc has left something that cannot be written: the text remains
	}
	return b.String()
}

// add adds the passages about one symbol.
func (r *packageReader) add(kind, symbol string, node ast.Node, source, text string) {
	like := Passage{
		Source:  r.fset.PositionFor(node.Pos(), false).Filename,
		Package: r.importPath,
		Kind:    kind,
		Symbol:  symbol,
	}
	var blocks []block
	if source != "" {
		blocks = append(blocks, block{text: source})
	}
	for _, content := range r.doc.Parser().Parse(text).Content {
		printed := string(r.doc.Printer().Text(&comment.Doc{Content: []comment.Block{content}}))
		_, heading := content.(*comment.Heading)
		blocks = append(blocks, block{text: strings.Trim(printed, "\n"), heading: heading})
	}
	for _, part := range split(blocks) {
		p := like
		p.Text = kind + " " + p.title() + "\n" + part
		r.passages = append(r.passages, p)
	}
}

const (
	// maxPassage is the length of a passage in bytes. Models take more, but the
	// vector of a passage about many things is near to none of them.
	maxPassage = 1000
	// maxOverlap is how long the end of a passage may be to begin the next one with
	// as well.
	maxOverlap = 250
)

// block is a paragraph, a list, a piece of code or a heading.
type block struct {
	text    string
	heading bool
}

// split puts blocks together into passages of at most maxPassage bytes. A heading
// begins a new one, and all passages below it begin with it. Where a text is cut
// for its length, the next passage begins with the last paragraph of the one
// before, if that is short: what "it" is often stands there.
func split(blocks []block) (parts []string) {
	var heading string
	var part []string // of the passage that is being made
	size, fresh := 0, false
	put := func(text string) {
		part = append(part, text)
		size += len(text) + 2
	}
	begin := func() {
		part, size, fresh = nil, 0, false
		if heading != "" {
			put(heading)
		}
	}
	end := func() {
		if fresh {
			parts = append(parts, strings.Join(part, "\n\n"))
		}
		begin()
	}
	for _, b := range blocks {
		if b.heading {
			end()
			heading = b.text
			begin()
			continue
		}
		for _, piece := range pieces(b.text, maxPassage-min(len(heading)+2, maxOverlap)) {
			if fresh && size+len(piece) > maxPassage {
				last := part[len(part)-1]
				end()
				if len(last) <= maxOverlap && size+len(last)+2+len(piece) <= maxPassage {
					put(last)
				}
			}
			put(piece)
			fresh = true
		}
	}
	end()
	return parts
}

// pieces cuts a text that is longer than most bytes, best at the end of a line,
// else of a sentence, else of a word.
func pieces(text string, most int) (cut []string) {
	for len(text) > most {
		at := most
		for at > 0 && !utf8.RuneStart(text[at]) {
			at--
		}
		for _, end := range []string{"\n", ". ", " "} {
			if i := strings.LastIndex(text[:at], end); i > 0 {
				at = i + len(end)
				break
			}
		}
		if piece := strings.Trim(text[:at], "\n"); strings.TrimSpace(piece) != "" {
			cut = append(cut, piece)
		}
		text = text[at:]
	}
	if strings.TrimSpace(text) != "" {
		cut = append(cut, strings.Trim(text, "\n"))
	}
	return cut
}
