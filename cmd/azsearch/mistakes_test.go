package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The command lines are typical of users who have not read the help.
func TestMistakesAreAnsweredWithWhatToWriteInstead(t *testing.T) {
	_, s := withRooms(t, roomFields, nil)
	require.Zero(t, s.run("backup", "dir").code)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"search", "-index", "rooms"}, 2, "INDEX is its first argument, as in azsearch search INDEX [TEXT]"},
		{[]string{"get", "-index", "rooms", "1"}, 2, "INDEX is its first argument, as in azsearch get INDEX KEY..."},
		{[]string{"delete", "--index", "rooms"}, 2, "INDEX is its first argument, as in azsearch delete INDEX"},
		{[]string{"export", "-index=rooms"}, 2, "INDEX is its first argument"},
		{[]string{"search", "rooms", "-fly"}, 2, "-fly (see azsearch search -help)"},
		{[]string{"search", "rooms", "-top", "-1"}, 2, "-top -1: use 0 to "},
		{[]string{"delete", "-yes", "rooms", "stars lt 5"}, 2, `unknown argument "stars lt 5"; a filter follows -filter`},
		{[]string{"get", "rooms"}, 2, "arguments are missing"},
		{[]string{"load", "-index", "rooms", "-in-flight", "many", "a.jsonl"}, 2, `for flag -in-flight: invalid syntax (see azsearch load -help)`},
		{[]string{"load", "-index", "rooms", "missing.jsonl"}, 2, "azsearch: missing.jsonl: no such file or directory\n"},
		{[]string{"stats", "-endpoint", "ftp://rooms"}, 2, "azsearch: endpoint "},
		{[]string{"search", "rooms", "-json", "-o", "table"}, 2, "-json and -o table are two formats"},
		{[]string{"search", "rooms", "-json"}, 0, ""},
		{[]string{"restore", "-index", "rooms-copy", "dir"}, 2, "no index matches; there are: rooms; -as NEW restores the index that -index selects under another name"},
		{[]string{"backup", "-index", "zoo", "other"}, 2, "no index matches; there are: rooms\n"},
	} {
		got := s.run(c.args...)
		assert.Equal(t, c.code, got.code, c.args)
		assert.Contains(t, got.stderr, c.says, c.args)
	}
	for _, c := range []struct{ filter, says string }{
		{"starz lt 5", "the index has no field starz: did you mean stars?"},
		{"name eq Loud", `text stands in single quotes, and the shell removes those around a word: -filter "name eq 'Loud'"`},
		{"stars = 2", "write eq instead of ="},
		{"name eq 'O'Brien'", "a quote inside it is doubled"},
	} {
		for _, command := range [][]string{{"delete", "rooms"}, {"search", "rooms"}, {"export", "rooms"}, {"copy", "rooms", "others"}} {
			got := s.run(append(command, "-filter", c.filter)...)
			assert.NotZero(t, got.code)
			assert.Contains(t, got.stderr, c.says, "%v", command)
			assert.NotContains(t, got.stderr, "RowsOptions")
			assert.NotContains(t, got.stderr, "DeleteWhere")
			assert.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
		}
	}
}

func (s *session) without(variable string, args ...string) ended {
	cmd := s.command(args...)
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, variable+"=") })
	// The tests must not use the machine's identity, and requesting it takes seconds.
	cmd.Env = append(cmd.Env, "AZURE_TOKEN_CREDENTIALS=AzureCLICredential", "PATH=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code has the result
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func TestMissingKeyOfALocalServiceIsOneSentence(t *testing.T) {
	e := startEmulator(t, "-quiet")
	got := newSession(t, e.url, nil).without("AZURE_SEARCH_API_KEY", "stats")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stderr, "set AZURE_SEARCH_API_KEY to the key that azsearch emulator prints, or sign in with az login\n")
	assert.NotContains(t, got.stderr, "DefaultAzureCredential")
	assert.Equal(t, 1, strings.Count(got.stderr, "\n"))
}

func TestDoctorNamesTheMistakeInTheEndpoint(t *testing.T) {
	e := startEmulator(t, "-quiet")
	s := newSession(t, e.url, nil)
	got := s.run("doctor", "-index", "none")
	assert.Equal(t, 1, got.code)
	assert.Regexp(t, `ok +credential +an admin key\nfailure +index +"none" does not exist`, got.stdout)

	got = s.without("AZURE_SEARCH_ENDPOINT", "doctor")
	assert.Equal(t, 1, got.code, "a finding, not a mistake of usage")
	assert.Regexp(t, `^failure +endpoint +no service is named\n +→ set AZURE_SEARCH_ENDPOINT or -endpoint`, got.stdout)

	for _, more := range [][]string{nil, {"-index", "rooms"}} {
		got = s.run(append([]string{"doctor", "-endpoint", e.url + "/search"}, more...)...)
		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.stdout, "→ remove the path /search from the endpoint\n")
		assert.NotContains(t, got.stdout, "portal")
		assert.NotContains(t, got.stdout, "does not exist")
	}

	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	got = s.run("doctor", "-endpoint", "http://"+closed.Addr().String())
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "→ nothing listens there")
	assert.NotContains(t, got.stdout, "firewall")
}

func TestInferNamesTheIndexAndWhatToDoNext(t *testing.T) {
	e := startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{"t.csv": "id,price\n1,5\n2,abc\n"})
	got := s.run("infer", "t.csv")
	assert.Zero(t, got.code)
	assert.Contains(t, got.stderr, `azsearch: the index is named "documents", because an index cannot be named "t"; -index sets another`)
	assert.Contains(t, got.stderr, `azsearch: price: Edm.String, because of "abc" (t.csv:3; 1 of 2 values)`)
	assert.Contains(t, s.run("infer", "-h").stdout, "load -create hotels.json")
	require.NoError(t, os.WriteFile(s.dir+"/t.json", []byte(got.stdout), 0o600))
	got = s.run("load", "-create", "t.json", "-quiet", "t.csv")
	assert.Zero(t, got.code, got.stderr)
	status, _, _ := e.call(t, http.DefaultClient, http.MethodGet, "/indexes('documents')", searchtest.AdminKey, "")
	assert.Equal(t, http.StatusOK, status)
}
