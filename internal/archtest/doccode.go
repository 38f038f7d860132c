package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// docPrelude has the declarations that code in package comments may use.
const docPrelude = `type Hotel struct { ID, Name string; Rating float64; Version int64 }
`

// docImports are the packages outside this module that code in package comments may use.
var docImports = []string{
	"context", "database/sql", "errors", "fmt", "iter", "log", "net/http", "os", "strings", "testing", "time",
	"github.com/Azure/azure-sdk-for-go/sdk/azcore", "github.com/jackc/pgx/v5/stdlib",
}

// pgxPath does not end in the name of its package.
const pgxPath = "github.com/jackc/pgx/v5"

var (
	looksLikeGo = regexp.MustCompile(`(?m):= |^func |^\w+\.\w+\(|\berr = `)
	leftOut     = regexp.MustCompile(`(?m)^\s*…$|…`)
	// ofExcerpts matches errors that an excerpt of code may have.
	ofExcerpts = regexp.MustCompile(`^undefined: [a-z]\w*$|^declared and not used|not used$|^missing return$`)
	qualifier  = regexp.MustCompile(`\b([a-z]+)\.[A-Z]`)
)

// CheckDocCode returns one line for each type error in the Go code of package comments in tree. … stands for omitted
// code. Undeclared lower-case names are allowed; they stand for the reader's own.
func (u *Usage) CheckDocCode(tree fs.FS) (broken []string, err error) {
	enter := func(folder string) bool { return product(folder) && folder != "cmd" && path.Base(folder) != "internal" }
	err = walk(tree, enter, func(name string, file *ast.File, _ *token.FileSet) {
		if file.Doc != nil && !strings.HasSuffix(name, "_test.go") {
			for _, block := range codeBlocks(file.Doc.Text()) {
				for _, problem := range u.checkBlock(block) {
					broken = append(broken, fmt.Sprintf("%s: the code of the package comment does not compile: %s", name, problem))
				}
			}
		}
	})
	return broken, err
}

// codeBlocks returns the indented parts of a comment that look like Go.
func codeBlocks(text string) (blocks []string) {
	var block []string
	for line := range strings.SplitSeq(text+"\nend", "\n") {
		if strings.HasPrefix(line, "\t") || line == "" && len(block) > 0 {
			block = append(block, strings.TrimPrefix(line, "\t"))
			continue
		}
		if code := strings.Join(block, "\n"); looksLikeGo.MatchString(code) {
			blocks = append(blocks, code)
		}
		block = nil
	}
	return blocks
}

// checkBlock returns the errors in a block of code.
func (u *Usage) checkBlock(code string) (problems []string) {
	code = leftOut.ReplaceAllString(code, "")
	var imports strings.Builder
	for _, q := range qualifier.FindAllStringSubmatch(code, -1) {
		if p := u.packageNamed(q[1]); p != "" && !strings.Contains(imports.String(), p+`"`) {
			fmt.Fprintf(&imports, "import %q\n", p)
		}
	}
	head := "package p\n" + imports.String() + docPrelude
	file, err := parser.ParseFile(u.fset, "", head+code, parser.SkipObjectResolution)
	if err != nil {
		file, err = parser.ParseFile(u.fset, "", head+"func _() error {\n"+code+"\nreturn nil\n}", parser.SkipObjectResolution)
	}
	if err != nil {
		return []string{err.Error()}
	}
	config := types.Config{Importer: u.importer, Error: func(err error) {
		var mistake types.Error
		if errors.As(err, &mistake) && !ofExcerpts.MatchString(mistake.Msg) {
			problems = append(problems, mistake.Msg)
		}
	}}
	_, _ = config.Check("p", u.fset, []*ast.File{file}, nil) // Check calls Error
	return problems
}

// packageNamed returns the path of the package with a name in a comment, "" if there is none.
func (u *Usage) packageNamed(name string) string {
	if name == "pgx" {
		return pgxPath
	}
	for _, p := range docImports {
		if path.Base(p) == name {
			return p
		}
	}
	for _, p := range slices.Sorted(maps.Keys(u.exports)) {
		if strings.HasPrefix(p, Module+"/") && path.Base(p) == name && !strings.Contains(p, "/internal/") && !strings.Contains(p, "/samples/") {
			return p
		}
	}
	return ""
}
