package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// small returns a small source tree.
func small(t *testing.T) string {
	t.Helper()
	return stagetest.Files(t, map[string]string{
		"os/file.go":      "package os\n\n// ReadFile reads the named file and returns the contents.\nfunc ReadFile(name string) ([]byte, error) { return nil, nil }\n\n// ReadDir reads a directory.\nfunc ReadDir(name string) {}\n\nfunc readAll() {}\n",
		"os/file_test.go": "package os\n\n// TestReadFile reads a file.\nfunc TestReadFile() {}\n",
		"net/dial.go":     "package net\n\n// Dial connects to an address.\nfunc Dial(address string) {}\n\n// Conn is a connection with a timeout.\ntype Conn struct{}\n\n// Timeout says how long.\nfunc (c *Conn) Timeout() int { return 0 }\n",
		"net/http/get.go": "package http\n\n// Get connects and reads, unless a timeout ends it.\nfunc Get(url string) {}\n\n// MaxReads is how many reads there can be.\nconst MaxReads = 7\n",
		"network/x.go":    "package network\n\n// Timeout is elsewhere.\nvar Timeout int\n",
	})
}

func start(ctx context.Context, t *testing.T, args ...string) stagetest.Outcome {
	t.Helper()
	return stagetest.Run(ctx, t, program, args...)
}

// filled returns a client of an index with the small tree.
func filled(t *testing.T) *search.Client {
	t.Helper()
	service := stage.Emulate(nil)
	t.Cleanup(func() { require.NoError(t, service.Close()) })
	require.NoError(t, fill(t.Context(), service, small(t), "decls"))
	client, err := service.Indexes.Client("decls")
	require.NoError(t, err)
	return client
}

func names(a answer) []string {
	all := []string{}
	for i := range a.results {
		all = append(all, a.results[i].Document.Name)
	}
	return all
}

func TestWordsAndFiltersFindDeclarations(t *testing.T) {
	client := filled(t)
	for name, c := range map[string]struct {
		q    question
		want []string
	}{
		"one word":                          {question{words: "contents"}, []string{"ReadFile"}},
		"a stem of the documentation":       {question{words: "connecting"}, []string{"Dial", "Get", "Conn"}},
		"all words must match":              {question{words: "connects address"}, []string{"Dial"}},
		"a name that is typed as two words": {question{words: "read dir"}, []string{"ReadDir"}},
		"either of two words":               {question{words: "contents|address"}, []string{"ReadFile", "Dial"}},
		"an excluded word":                  {question{words: "timeout -connection", pkg: "net"}, []string{"Conn.Timeout"}},
		"the beginning of a word":           {question{words: "addr*"}, []string{"Dial"}},
		"one package":                       {question{words: "timeout", pkg: "net"}, []string{"Conn.Timeout", "Conn"}},
		"the packages below a package":      {question{words: "timeout", pkg: "net/..."}, []string{"Conn.Timeout", "Conn", "Get"}},
		"one kind":                          {question{words: "timeout", kinds: []string{"type"}}, []string{"Conn"}},
		"two kinds":                         {question{words: "timeout", kinds: []string{"type", "var"}}, []string{"Conn", "Timeout"}},
		"no tests unless asked for":         {question{words: "testreadfile", all: true}, []string{"TestReadFile"}},
		"nothing unexported either":         {question{words: "readall", all: true}, []string{"readAll"}},
		"a package that would be a filter":  {question{words: "timeout", pkg: "net' or true or package eq '"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.top, c.q.page = 10, 1
			a, err := find(t.Context(), client, c.q)
			require.NoError(t, err)
			require.ElementsMatch(t, c.want, names(a))
			require.EqualValues(t, len(c.want), a.count)
			require.False(t, a.fuzzy && len(c.want) > 0)
			if c.q.all {
				c.q.all = false
				hidden, err := find(t.Context(), client, c.q)
				require.NoError(t, err)
				require.NotContains(t, names(hidden), c.want[0])
			}
		})
	}
}

func TestMisspelledWordsFindWhatIsSpelledAlike(t *testing.T) {
	client := filled(t)
	a, err := find(t.Context(), client, question{words: "Raedfile", top: 10, page: 1})
	require.NoError(t, err)
	require.True(t, a.fuzzy)
	require.Equal(t, "ReadFile", names(a)[0])

	a, err = find(t.Context(), client, question{words: "ReadFiel", top: 10, page: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"ReadFile"}, a.suggestions)

	// Operators as words, operator characters, and short words.
	require.Equal(t, "and~1 contnts~2 of adr~1 or not~1", question{words: `AND (contnts) OF adr" OR NOT`}.alike())
	require.Empty(t, question{words: "+-*"}.alike())
}

// Every text must get an answer.
func TestAnyWordsAreAnswered(t *testing.T) {
	client := filled(t)
	word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"AND", "OR", "NOT", "&&", "~2", "\"", "(", "/a", "read", "file:", "a\\", "*", "?", "[a TO b]", strings.Repeat("x", 120)}))
	rapid.Check(t, func(t *rapid.T) {
		q := question{words: strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "words"), " "), pkg: rapid.String().Draw(t, "pkg"), top: 3, page: 1}
		_, err := find(context.Background(), client, q)
		require.NoError(t, err, "%q", q.words)
	})
}

func TestPagesFollowOneAnother(t *testing.T) {
	client := filled(t)
	var all []string
	for n := 1; n <= 3; n++ {
		a, err := find(t.Context(), client, question{words: "timeout", top: 2, page: n})
		require.NoError(t, err)
		require.EqualValues(t, 4, a.count)
		require.Equal(t, 2*n-1, a.first)
		all = append(all, names(a)...)
	}
	require.ElementsMatch(t, []string{"Conn.Timeout", "Conn", "Get", "Timeout"}, all)
	o := start(t.Context(), t, "-root", small(t), "-top", "2", "-page", "3", "timeout")
	require.Equal(t, "nothing found on this page, 4 in all\n", o.Out)
}

func TestResultsAndFacetsAreShown(t *testing.T) {
	o := start(t.Context(), t, "-root", small(t), "-kind", "func,const", "reads")
	require.Equal(t, 0, o.Code, o.Err)
	require.Contains(t, o.Out, "ReadFile os os/file.go:4\n    func ReadFile(name string) ([]byte, error)\n    ReadFile [reads] the named file and returns the contents.\n")
	require.Contains(t, o.Out, "1 to 4 of 4\nkinds     func 3, const 1\npackages  net/http 2, os 2\n")
}

func TestNothingFoundIsSaidAndNoError(t *testing.T) {
	o := start(t.Context(), t, "-root", small(t), "xylophone")
	require.Equal(t, 0, o.Code, o.Err)
	require.Equal(t, "nothing matches \"xylophone\"; these are spelled alike\nnothing found on this page, 0 in all\n", o.Out)
}

func TestWithoutWordsItDemonstrates(t *testing.T) {
	o := start(t.Context(), t, "-root", small(t))
	require.Equal(t, 0, o.Code, o.Err)
	require.Contains(t, o.Out, "$ search read file\nReadFile")
	require.Contains(t, o.Out, "$ search unmarshl\nnothing matches \"unmarshl\"")
	require.Contains(t, o.Out, "newre may become: ")
}

// listen returns an emulator with an index, and flags that search it with a query key.
func listen(t *testing.T) (*searchtest.Server, []string) {
	t.Helper()
	service := stage.Emulate(nil)
	srv := service.Emulator
	t.Cleanup(func() { require.NoError(t, srv.Close()) })
	require.NoError(t, fill(t.Context(), service, small(t), "decls"))
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	return srv, []string{"-endpoint", srv.URL(), "-api-key", searchtest.QueryKey, "-index", "decls"}
}

func TestQueryKeyIsEnoughForAService(t *testing.T) {
	_, flags := listen(t)
	o := start(t.Context(), t, append(flags, "contents")...)
	require.Equal(t, 0, o.Code, o.Err)
	require.Contains(t, o.Out, "ReadFile os")
	require.Empty(t, o.Err)
	o = start(t.Context(), t, append(flags, "raedfile")...)
	require.Contains(t, o.Out, "ReadFile os", o.Err)
}

func TestMissingIndexSaysWhatToRun(t *testing.T) {
	srv, flags := listen(t)
	o := start(t.Context(), t, append(flags, "-index", "nowhere", "contents")...)
	require.Equal(t, stage.ExitProblem, o.Code)
	require.Equal(t, "sample: there is no index nowhere at "+srv.URL()+"; fill it: go run ./samples/quickstart -endpoint "+srv.URL()+" -index nowhere\n", o.Err)
}

func TestWrongKeyIsOneLineAndExitCode1(t *testing.T) {
	srv, _ := listen(t)
	o := start(t.Context(), t, "-endpoint", srv.URL(), "-api-key", "wrong", "contents")
	require.Equal(t, stage.ExitProblem, o.Code)
	require.Equal(t, 1, strings.Count(o.Err, "\n"), o.Err)
	require.Contains(t, o.Err, "key")
	require.NotContains(t, o.Err, "wrong")
}

// An error of Suggest must be reported.
func TestFailedSuggestionIsAnError(t *testing.T) {
	srv, flags := listen(t)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpSuggest, Status: http.StatusForbidden}}})
	o := start(t.Context(), t, append(flags, "raedfile")...)
	require.Equal(t, stage.ExitProblem, o.Code)
	require.Contains(t, o.Err, ": Forbidden. (Suggest of index")
}
