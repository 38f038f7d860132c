package declarations

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Found is the result of parsing a folder.
type Found struct {
	// Declarations are the documents.
	Declarations []Declaration
	// Packages are the package comments, without keys and names.
	Packages []Declaration
	// Broken has an error for each file that does not parse.
	Broken []error
}

// Parse reads the files of the folder. It skips files that do not parse, and lists them in Broken. The result, with
// its order, depends only on the files.
func (f Folder) Parse() Found {
	var (
		out       Found
		fileNames []string // of out.Declarations
	)
	for _, name := range f.Files {
		about, decls, err := parseFile(f, name)
		if err != nil {
			out.Broken = append(out.Broken, err)
			continue
		}
		for range decls {
			fileNames = append(fileNames, name)
		}
		out.Declarations = append(out.Declarations, decls...)
		if about.Doc != "" {
			out.Packages = append(out.Packages, about)
		}
	}
	setKeys(f.ImportPath, out.Declarations, fileNames)
	return out
}

func parseFile(f Folder, name string) (about Declaration, decls []Declaration, err error) {
	src, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		return about, nil, err
	}
	fset := token.NewFileSet()
	rel := strings.ToValidUTF8(path.Join(f.rel, name), "?")
	tree, err := parser.ParseFile(fset, rel, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return about, nil, err
	}
	r := &fileReader{fset: fset, src: src, like: Declaration{
		Package: strings.ToValidUTF8(f.ImportPath, "?"),
		File:    rel,
		Test:    strings.HasSuffix(name, "_test.go"),
	}}
	for _, decl := range tree.Decls {
		r.read(decl)
	}
	about = r.start("package", tree.Name, tree)
	about.Name, about.Doc, about.Exported = "", tree.Doc.Text(), true
	return about, r.decls, nil
}

// fileReader collects the declarations of a file.
type fileReader struct {
	fset  *token.FileSet
	src   []byte
	like  Declaration // common fields
	decls []Declaration
}

func (r *fileReader) read(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		d := r.start("func", decl.Name, decl)
		if decl.Recv != nil && len(decl.Recv.List) > 0 {
			receiver := typeName(decl.Recv.List[0].Type)
			d.Kind = "method"
			d.Name = receiver + "." + d.Name
			d.Exported = d.Exported && ast.IsExported(receiver)
		}
		d.Signature = r.text(decl.Pos(), decl.Type.End())
		d.Doc = decl.Doc.Text()
		r.decls = append(r.decls, d)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			r.readSpec(decl, spec)
		}
	}
}

// readSpec reads one line of a group, or the only line of a declaration without parentheses. The comment above a
// group documents the group, not each name in it.
func (r *fileReader) readSpec(decl *ast.GenDecl, spec ast.Spec) {
	var node ast.Node = spec
	var doc *ast.CommentGroup
	if !decl.Lparen.IsValid() {
		node, doc = decl, decl.Doc
	}
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		d := r.start("type", spec.Name, node)
		d.Doc = cmp.Or(spec.Doc.Text(), doc.Text(), spec.Comment.Text())
		switch spec.Type.(type) {
		case *ast.StructType:
			d.Signature = "type " + r.text(spec.Pos(), spec.Type.Pos()) + " struct"
		case *ast.InterfaceType:
			d.Signature = "type " + r.text(spec.Pos(), spec.Type.Pos()) + " interface"
		default:
			d.Signature = "type " + r.text(spec.Pos(), spec.End())
		}
		r.decls = append(r.decls, d)
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			d := r.start(decl.Tok.String(), name, node) // const or var
			d.Doc = cmp.Or(spec.Doc.Text(), doc.Text(), spec.Comment.Text())
			d.Signature = decl.Tok.String() + " " + r.text(spec.Pos(), spec.End())
			r.decls = append(r.decls, d)
		}
	}
}

// start returns a declaration of name that spans node.
func (r *fileReader) start(kind string, name *ast.Ident, node ast.Node) Declaration {
	d := r.like
	d.Kind = kind
	d.Name = name.Name
	d.Exported = name.IsExported()
	// Not Position: it follows the //line directives of cgo and generators, which name other files.
	d.Line = int32(r.fset.PositionFor(node.Pos(), false).Line)
	d.Lines = int32(r.fset.PositionFor(node.End(), false).Line) - d.Line + 1
	return d
}

// maxText limits the text of a declaration, in bytes: some are tables of thousands of lines.
const maxText = 300

// text returns a piece of the source on one line.
func (r *fileReader) text(from, to token.Pos) string {
	file := r.fset.File(from)
	piece := r.src[file.Offset(from):file.Offset(to)]
	piece = piece[:min(len(piece), 4*maxText)] // more than maxText, because white space is removed
	text := strings.Join(strings.Fields(string(piece)), " ")
	if len(text) > maxText {
		text = text[:maxText]
	}
	return strings.ToValidUTF8(text, "") // a cut may split a character
}

// typeName returns the name of a receiver's type: Map for *Map[K, V].
func typeName(x ast.Expr) string {
	name, _, _ := strings.Cut(strings.Trim(types.ExprString(x), "*()"), "[")
	return name
}
