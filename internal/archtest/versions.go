package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// versionsHome is the only folder that names api-versions.
const versionsHome = "internal/apiversion"

// versionText is an api-version as a text of its own or in an address. The years
// leave out the date of Go's layouts of times.
var versionText = regexp.MustCompile(`^20(1[5-9]|[2-9]\d)-[01]\d-[0-3]\d(-[A-Za-z]+)?$|api-version=20\d\d-`)

// CheckVersions returns one line for each text in Go code that names an
// api-version outside of internal/apiversion. Tests may name some, as their cases.
// So may bench and samples, which stand for other people's programs.
func CheckVersions(tree fs.FS) ([]string, error) {
	var broken []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (isLocal(d.Name()) || d.Name() == "testdata" || name == "bench" || name == "samples" || name == versionsHome):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && versionText.MatchString(text) {
				broken = append(broken, fmt.Sprintf(
					"%s: got the api-version %q, want a capability of %s: ask Version.Has by name, and add what is missing to its table",
					fset.Position(literal.Pos()), text, versionsHome))
			}
			return true
		})
		return nil
	})
	return broken, err
}
