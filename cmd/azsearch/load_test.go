package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// session runs azsearch in a folder, with a service.
type session struct {
	t        *testing.T
	dir, url string
	input    string
}

func newSession(t *testing.T, url string, files map[string]string) *session {
	s := &session{t: t, dir: t.TempDir(), url: url}
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600))
	}
	return s
}

func (s *session) command(args ...string) *exec.Cmd {
	path := program(s.t)
	cmd := exec.CommandContext(s.t.Context(), path, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "AZURE_SEARCH_ENDPOINT="+s.url, "AZURE_SEARCH_API_KEY="+searchtest.AdminKey)
	return cmd
}

func (s *session) run(args ...string) ended {
	cmd := s.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Stdin = &stdout, &stderr, strings.NewReader(s.input)
	_ = cmd.Run() // the exit code has the result
	assert.NotContains(s.t, stdout.String()+stderr.String(), searchtest.AdminKey, "no secret in output")
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (s *session) file(name string) string {
	content, err := os.ReadFile(filepath.Join(s.dir, name))
	require.NoError(s.t, err)
	return string(content)
}

func hotelLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"name\":\"Hotel %d\"}\n", i, i)
	}
	return b.String()
}

const hotelFields = `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"name","type":"Edm.String"},
	{"name":"stars","type":"Edm.Int32"},{"name":"tags","type":"Collection(Edm.String)"}]}`

// The session loads three files, one of them with mistakes, repairs it and loads its rejects.
func TestLoadSession(t *testing.T) {
	e := startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{
		"hotels.json": hotelFields, "a.jsonl": hotelLines(3), "b.csv": "\ufeffpath;Title;tags\n/x y;\"The \"\"Ritz\"\"\";a,b\n", "bad.jsonl": "{\"id\":\"8\",\"stars\":\"five\"}\n{\"id\":\"9\",\"stars\":5}\n",
	})

	got := s.run("load", "-index", "hotels", "a.jsonl")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stderr, "azsearch load -create")

	got = s.run("load", "-index", "hotels", "-create", "hotels.json", "-dry-run", "a.jsonl")
	assert.Zero(t, got.code, got.stderr)
	assert.Equal(t, "azsearch: would load 3 documents of 3 records: 81 B in about 1 request; nothing was sent\n", got.stderr)

	got = s.run("load", "-create", "hotels.json", "-until-visible", "*.jsonl")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, `azsearch: rejected bad.jsonl:1: field stars: "five" is not Edm.Int32; use digits, within the range of the type`)
	assert.Contains(t, got.stderr, "loaded 4 documents of 5 records in ")
	assert.Contains(t, got.stderr, "not in the index: 1 of 5 records (1 value); see rejects.jsonl, correct the cause, and run: azsearch load -index hotels rejects.jsonl\n")

	got = s.run("load", "-index", "hotels", "-rejects", "rejects.jsonl", "a.jsonl")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "rejects of an earlier run")

	got = s.run("replay", "rejects.jsonl")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "azsearch load -index NAME rejects.jsonl")

	first := s.file("rejects.jsonl")
	got = s.run("load", "-index", "hotels", "-unknown", "drop", "-map", "no such=name", "rejects.jsonl")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "see rejects-2.jsonl, correct the cause, and run: azsearch load -index hotels -unknown drop -map 'no such=name' rejects-2.jsonl\n")
	assert.Equal(t, first, s.file("rejects.jsonl"), "an earlier file stays as it is")
	assert.Contains(t, s.file("rejects-2.jsonl"), "bad.jsonl")

	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "rejects.jsonl"), []byte(strings.ReplaceAll(s.file("rejects.jsonl"), `\"five\"`, "5")), 0o600))
	got = s.run("load", "-index", "hotels", "-rejects", "again.jsonl", "-quiet", "-json", "rejects.jsonl")
	assert.Zero(t, got.code, got.stderr)
	assert.Empty(t, got.stderr)
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	assert.Equal(t, float64(1), report["completed"])
	assert.NoFileExists(t, filepath.Join(s.dir, "again.jsonl"))
	require.NoError(t, os.Remove(filepath.Join(s.dir, "rejects.jsonl")))

	got = s.run("load", "-index", "hotels", "-key", "path", "-map", "Title=name", "-split", "tags=,", "b.csv")
	assert.Zero(t, got.code, got.stderr)
	status, _, body := e.call(t, http.DefaultClient, http.MethodGet, "/indexes('hotels')/docs('b64-L3ggeQ')", searchtest.AdminKey, "")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, `"name":"The \"Ritz\"","stars":null,"tags":["a","b"]`)

	s.input = "{\"id\":\"0\",\"@search.action\":\"delete\"}\n{\"id\":\"1\"}"
	got = s.run("load", "-index", "hotels", "-action", "merge", "-jq", ".name = \"from stdin\"", "-queue", "queue", "-")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "deleted 1")
	status, _, body = e.call(t, http.DefaultClient, http.MethodGet, "/indexes('hotels')/docs('1')", searchtest.AdminKey, "")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, "from stdin")
}

func TestLoadRefusesWhatCannotWorkInOneLine(t *testing.T) {
	testkit.Long(t)
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, map[string]string{"a.jsonl": hotelLines(1), "town.csv": "id,town\n1,x\n", "twice.csv": "id,id\n", "notjson.json": "{"})
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-index", "hotels"}, 2, "no file is named"},
		{[]string{"a.jsonl"}, 2, "-index NAME"},
		{[]string{"-index", "hotels", "none.jsonl", "also*.csv"}, 2, "none.jsonl"},
		{[]string{"-index", "hotels", "a.jsonl", "a.jsonl"}, 2, "named twice"},
		{[]string{"-index", "hotels", "-fly", "a.jsonl"}, 2, "-fly"},
		{[]string{"-index", "hotels", "-action", "fly", "a.jsonl"}, 2, "mergeOrUpload"},
		{[]string{"-index", "hotels", "-map", "x", "a.jsonl"}, 2, "NAME=VALUE"},
		{[]string{"-index", "hotels", "-map", "x=nme", "a.jsonl"}, 2, `no field "nme"`},
		{[]string{"-index", "hotels", "-jq", ".[", "a.jsonl"}, 2, "-jq"},
		{[]string{"-index", "hotels", "-format", "xml", "a.jsonl"}, 2, "parquet"},
		{[]string{"-index", "hotels", "-unknown", "keep", "a.jsonl"}, 2, "reject or drop"},
		{[]string{"-index", "hotels", "-in-flight", "0", "a.jsonl"}, 2, "1 to 1000"},
		{[]string{"-index", "hotels", "-dry-run", "-resume", "x", "a.jsonl"}, 2, "-resume has no effect"},
		{[]string{"-index", "hotels", "-resume", "no/such/x", "a.jsonl"}, 2, "does not exist"},
		{[]string{"-index", "hotels", "-rejects", "no/such/x", "a.jsonl"}, 2, "does not exist"},
		{[]string{"-create", "notjson.json", "a.jsonl"}, 2, "notjson.json"},
		{[]string{"-index", "hotels", "-quiet", "town.csv"}, 2, "-map town=FIELD"},
		{[]string{"-index", "hotels", "-quiet", "twice.csv"}, 1, "rename one"},
		{[]string{"-index", "none", "a.jsonl"}, 3, "-create"},
		{[]string{"-endpoint", "ftp://x", "-index", "hotels", "a.jsonl"}, 2, "endpoint"},
		{[]string{"-endpoint", "http://127.0.0.1:1", "-index", "hotels", "a.jsonl"}, 3, "check the endpoint"},
	} {
		got := s.run(append([]string{"load"}, c.args...)...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.says, "%v", c.args)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
		assert.Empty(t, got.stdout)
	}
	s.url = ""
	got := s.run("load", "-index", "hotels", "a.jsonl")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "AZURE_SEARCH_ENDPOINT")
}

// The documents loaded before the index was recreated are gone, although each reply was a success.
func TestLoadIntoAnIndexThatIsMadeAgainIsNoSuccess(t *testing.T) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, nil)
	cmd := s.command("load", "-index", "hotels", "-in-flight", "1", "-quiet", "-")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = in.Write([]byte(hotelLines(20_000)))
	require.NoError(t, err)
	testkit.Eventually(t, func() bool {
		status, _, _ := e.call(t, http.DefaultClient, http.MethodGet, "/indexes('hotels')/docs('0')", searchtest.AdminKey, "")
		return status == http.StatusOK
	})
	e.call(t, http.DefaultClient, http.MethodDelete, "/indexes/hotels", searchtest.AdminKey, "")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	require.NoError(t, in.Close())
	_ = cmd.Wait() // the exit code has the result
	assert.Equal(t, 1, cmd.ProcessState.ExitCode(), stderr.String())
	assert.Contains(t, stderr.String(), `index hotels was deleted and created again during the load: document "0" is gone`)
}

func TestLoadIntoAnEmulatorOfItsOwn(t *testing.T) {
	s := newSession(t, "", map[string]string{"hotels.json": hotelFields, "a.jsonl": hotelLines(2000)})
	got := s.run("load", "-endpoint", "emulator", "-create", "hotels.json", "a.jsonl")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "loaded 2,000 documents")
}

// With -jq a record is decoded, and verify decodes the lines of a file. Neither takes what decoding changes for the
// record itself.
func TestRecordThatDecodingWouldChangeIsNeitherLoadedNorEqual(t *testing.T) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	lossy := map[string]string{
		"utf8.jsonl": "{\"id\":\"1\",\"name\":\"caf\xe9\"}\n", "half.jsonl": `{"id":"1","name":"\ud800"}` + "\n", "twice.jsonl": `{"id":"1","name":"x","name":"y"}` + "\n",
	}
	s := newSession(t, e.url, map[string]string{"good.jsonl": `{"id":"1","name":"\ufffd"}` + "\n", "utf8.csv": "id,name\n1,caf\xe9\n"})
	for name, content := range lossy {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600))
		got := s.run("load", "-index", "hotels", "-jq", ".", "-rejects", "rejects-"+name, name)
		assert.Equal(t, 1, got.code, name)
		got = s.run("verify", "-key", "id", name, "good.jsonl")
		assert.Equal(t, 1, got.code, name)
		assert.Contains(t, got.stderr, name+":1: ", "the file is wrong, not different")
	}
	got := s.run("load", "-index", "hotels", "-jq", ".", "utf8.csv")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "utf8.csv:2: the text is not UTF-8")
	assert.Zero(t, e.count(t))
}

// A producer such as tail -f may say nothing for hours.
func TestRecordsOfAPipeAreSentBeforeItEndsAndASignalEndsTheWait(t *testing.T) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, nil)
	cmd := s.command("load", "-index", "hotels", "-")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = in.Write([]byte(hotelLines(2) + `{"id"`))
	require.NoError(t, err)
	testkit.Eventually(t, func() bool { return e.count(t) == 2 })
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait() // the exit code has the result
	assert.Equal(t, 130, cmd.ProcessState.ExitCode(), stderr.String())
}
