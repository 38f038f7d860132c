package archtest

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// TestEveryMessageIsListed compares testdata/messages.golden with the code; -update rewrites it. Review a changed
// message there next to its neighbours: can a user act on it?
func TestEveryMessageIsListed(t *testing.T) {
	m, err := ReadMessages(os.DirFS(root))
	require.NoError(t, err)
	for _, line := range m.Broken {
		t.Error(line)
	}
	for _, line := range m.Lines {
		if _, message, ok := strings.Cut(line, ": log: "); ok {
			_, message, _ = strings.Cut(message, ": ")
			assert.LessOrEqual(t, len(strings.Fields(message)), mostWords, "%s: got a log message that is long, or does not begin with its package, want %d words: make values and advice attributes", line, mostWords)
		}
	}
	testkit.Golden(t, "messages.golden", []byte(strings.Join(m.Lines, "\n")+"\n"))
}

// mostWords limits the words of a log message; advice goes into an attribute.
const mostWords = 9

func TestMessagesAreFound(t *testing.T) {
	m, err := ReadMessages(fstest.MapFS{
		"a/a.go": &fstest.MapFile{Data: []byte(`package a
const text = "a: constant"
var errA = errors.New("a: " + "state")
func f(name string) error {
	l.Warn("a: literal", "name", name)
	slog.InfoContext(ctx, text)
	message := "a: one"
	if name != "" { message = "a: other" }
	l.LogAttrs(ctx, level, message)
	l.Error("a: " + name)
	forward(1, "a: forwarded", nil)
	for _, row := range []struct{ message string }{{"a: row"}} { l.Info(row.message) }
	return fmt.Errorf("a: %s:\n%w", name, err)
}
func forward(n int, what string, err error) { again(what) }
func again(what string) { l.Debug(what); http.Error(w, "text", 404) }
`)},
		"a/a_test.go":       &fstest.MapFile{Data: []byte("package a\nvar e = errors.New(\"of a test\")")},
		"samples/a/main.go": &fstest.MapFile{Data: []byte("package main\nvar e = errors.New(\"of a sample\")")},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{
		`a: error: a: %s:\n%w`, "a: error: a: state", "a: log: a: constant", "a: log: a: forwarded", "a: log: a: literal",
		"a: log: a: one", "a: log: a: other", "a: log: a: row",
	}, m.Lines)
	assert.Equal(t, []string{"a/a.go:10:2: got a log message that is not constant, want a constant one, and values as attributes"}, m.Broken)
}
