package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// versionsHome is the only folder that may name api-versions.
const versionsHome = "internal/apiversion"

// versionText matches an api-version as a whole string or in a URL. The years exclude the date in Go's time layouts.
var versionText = regexp.MustCompile(`^20(1[5-9]|[2-9]\d)-[01]\d-[0-3]\d(-[A-Za-z]+)?$|api-version=20\d\d-`)

// CheckVersions returns one line for each string in Go code that names an api-version outside internal/apiversion.
// Tests may name some, and so may bench and samples, which stand for programs of users.
func CheckVersions(tree fs.FS) ([]string, error) {
	var broken []string
	enter := func(folder string) bool { return product(folder) && folder != versionsHome }
	err := walk(tree, enter, func(name string, file *ast.File, set *token.FileSet) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && versionText.MatchString(text) {
				broken = append(broken, fmt.Sprintf(
					"%s: got the api-version %q, want a capability of %s: ask Version.Has by name, and add what is missing to its table",
					set.Position(literal.Pos()), text, versionsHome))
			}
			return true
		})
	})
	return broken, err
}
