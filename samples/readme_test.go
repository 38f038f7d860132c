package samples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(content)
}

var (
	goBlock  = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	indented = regexp.MustCompile(`(?m)^\t*`)
	link     = regexp.MustCompile(`\]\(([^)#]+)\)`)
	command  = regexp.MustCompile(`(?:cd (\w+) && )?go (?:run|test)[^\n` + "`" + `]* (\./[a-z/]+)`)
	spaces   = regexp.MustCompile(`\s+`)
)

// Every Go block of README.md is in example_test.go, apart from indentation, so it compiles and runs.
func TestCodeInREADMECompiles(t *testing.T) {
	flat := func(s string) string { return indented.ReplaceAllString(s, "") }
	compiled := flat(read(t, "samples/example_test.go"))
	blocks := goBlock.FindAllStringSubmatch(read(t, "README.md"), -1)
	require.Len(t, blocks, 2)
	for _, b := range blocks {
		require.True(t, strings.Contains(compiled, flat(b[1])), "this block of README.md is not in samples/example_test.go:\n%s", b[1])
	}
	require.NotEmpty(t, clientOfREADME(t).IndexName())
}

func TestWhatREADMEPointsToExists(t *testing.T) {
	readme := read(t, "README.md")
	links := link.FindAllStringSubmatch(goBlock.ReplaceAllString(readme, ""), -1) // code contains brackets too
	require.NotEmpty(t, links)
	for _, l := range links {
		_, err := os.Stat(filepath.Join("..", filepath.FromSlash(l[1])))
		require.NoError(t, err)
	}
	commands := command.FindAllStringSubmatch(readme, -1)
	require.GreaterOrEqual(t, len(commands), 2)
	for _, c := range commands {
		require.DirExists(t, filepath.Join("..", c[1], filepath.FromSlash(c[2])), c[0])
	}
}

// Readers skip a longer page.
func TestREADMEIsShort(t *testing.T) {
	readme := read(t, "README.md")
	require.LessOrEqual(t, strings.Count(readme, "\n"), 90)
	for line := range strings.Lines(readme) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSpace(line)), 120, line)
	}
}

func TestDefaultsInTheGuaranteesAreThoseOfTheCode(t *testing.T) {
	// Numbers are written with spaces in the text: 32 768.
	number := func(n int64) string { return strings.ReplaceAll(humanize.Comma(n), ",", " ") }
	text := read(t, "bufferedsender/GUARANTEES.md")
	for _, row := range []string{
		fmt.Sprintf("%d documents or %d MB a request", bufferedsender.DefaultMaxBatchActions, search.DefaultMaxBatchBytes/1_000_000),
		fmt.Sprintf("a buffer of %s documents or %d MiB", number(bufferedsender.DefaultMaxBufferedActions), bufferedsender.DefaultMaxBufferedBytes>>20),
		fmt.Sprintf("%.0f s until a batch that is not full is sent", bufferedsender.DefaultAutoFlushInterval.Seconds()),
		fmt.Sprintf("%.0f s for a request", bufferedsender.DefaultRequestTimeout.Seconds()),
		"api-version " + search.DefaultAPIVersion,
		fmt.Sprintf("%d ms of back-off at first and %.0f s at most", retry.DefaultDelay.Milliseconds(), retry.DefaultMaxDelay.Seconds()),
	} {
		require.Contains(t, spaces.ReplaceAllString(text, " "), row)
	}
	require.Equal(t, 4, retry.Options{}.MaxAttempts())
	require.Contains(t, text, "Four attempts for each document by default")
}
