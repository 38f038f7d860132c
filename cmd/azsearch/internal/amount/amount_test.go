package amount

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNounsFollowTheirNumbers(t *testing.T) {
	for noun, want := range map[string][3]string{
		"document": {"0 documents", "1 document", "2,500 documents"}, "key range": {"0 key ranges", "1 key range", "2,500 key ranges"},
		"key": {"0 keys", "1 key", "2,500 keys"}, "index": {"0 indexes", "1 index", "2,500 indexes"}, "retry": {"0 retries", "1 retry", "2,500 retries"},
	} {
		assert.Equal(t, want, [3]string{Of(0, noun), Of(int64(1), noun), Of(2500, noun)})
	}
}

// plural matches a number that a format prints before a noun in the plural, or before an adjective and one.
var plural = regexp.MustCompile(`%d (?:[a-z-]+ )?[a-z]+s\b|(?:%[sv]|^) (?:[a-z-]+ )?(?:documents|records|keys|requests|retries|fields|ranges|files|indexes|rows|values|entries|actions|definitions|letters)\b`)

// always are a rate, a constant, units of files, and verbs that end like nouns.
var always = regexp.MustCompile(`documents/s|at most %s documents|%d bytes|%d (?:is|has) `)

// TestNoMessageSaysOneDocuments looks at all texts of the command.
func TestNoMessageSaysOneDocuments(t *testing.T) {
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, content, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, err := strconv.Unquote(l.Value)
				require.NoError(t, err)
				assert.Empty(t, plural.FindString(always.ReplaceAllString(text, "")), "%s: use amount.Of, which knows the singular", set.Position(l.Pos()))
			}
			return true
		})
		return nil
	}))
}
