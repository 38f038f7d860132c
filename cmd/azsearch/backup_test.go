package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// killed runs a command and kills it up to five times, each a moment after it has written to its journal. It returns
// the end of the run that was not killed.
func (s *session) killed(journal string, spread time.Duration, args ...string) ended {
	r := rand.New(rand.NewPCG(3, 4))
	size := func() int64 {
		info, err := os.Stat(filepath.Join(s.dir, journal))
		if err != nil {
			return 0 // not yet, or not any more
		}
		return info.Size()
	}
	for kills := range 5 {
		before := size()
		var stdout, stderr bytes.Buffer
		cmd := s.command(args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		require.NoError(s.t, cmd.Start())
		over := make(chan struct{})
		go func() {
			defer close(over)
			_ = cmd.Wait() // most are killed
		}()
		look := time.NewTicker(5 * time.Millisecond)
		var moment <-chan time.Time
		for done := false; !done; {
			select {
			case <-look.C:
				if moment == nil && size() > before {
					moment = time.After(time.Duration(r.Int64N(int64(spread))))
				}
			case <-moment:
				_ = cmd.Process.Kill()
				<-over
				done = true
			case <-over:
				done = true
			}
		}
		look.Stop()
		if code := cmd.ProcessState.ExitCode(); code >= 0 { // it has exited
			require.Positive(s.t, kills, "it ended before it was killed")
			return ended{code, stdout.String(), stderr.String()}
		}
	}
	return s.run(args...)
}

// TestBackupThatIsKilledHasNoGap kills a backup five times, and the restore of it.
func TestBackupThatIsKilledHasNoGap(t *testing.T) {
	testkit.Long(t)
	const records = 30_000
	e := startEmulator(t, "-quiet", "-latency", "20ms")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, map[string]string{"a.jsonl": hotelLines(records)})
	got := s.run("load", "-index", "hotels", "-quiet", "a.jsonl")
	require.Zero(t, got.code, got.stderr)

	got = s.killed("b/journal.jsonl", 300*time.Millisecond, "backup", "-in-flight", "1", "-quiet", "b")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "continuing; written already: ")
	whole := s.run("backup", "c")
	require.Zero(t, whole.code, whole.stderr)
	assert.Equal(t, whole.stdout, got.stdout, "the same digest")
	assert.Contains(t, got.stdout, fmt.Sprintf("hotels\t%d documents\t", records))

	target := startEmulator(t, "-quiet", "-latency", "20ms")
	s.url = target.url
	got = s.killed("b/restore.jsonl", 100*time.Millisecond, "restore", "-in-flight", "1", "-quiet", "b")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "the same as in the backup")
	got = s.run("verify", "b", "hotels")
	assert.Zero(t, got.code, got.stderr)
	assert.Equal(t, 2, strings.Count(got.stdout, strings.TrimSpace(strings.TrimPrefix(whole.stdout, "hotels"))), "both digests are that of the backup")
	got = s.run("restore", "b")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, `index "hotels" has 30,000 documents; nothing was changed`)
}

// TestVerifySession compares whatever can be compared.
func TestVerifySession(t *testing.T) {
	e := startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{"hotels.json": hotelFields, "a.jsonl": hotelLines(2500), "bom.jsonl": "\ufeff" + hotelLines(2500), "bad.jsonl": hotelLines(1) + "{\"id\":\n", "b.jsonl": strings.Replace(hotelLines(2500), "Hotel 77\"", "Inn 77\"", 1)})
	require.Zero(t, s.run("load", "-create", "hotels.json", "-quiet", "a.jsonl").code)
	require.Zero(t, s.run("load", "-create", "hotels.json", "-index", "inns", "-quiet", "b.jsonl").code)
	require.Zero(t, s.run("backup", "-index", "hotels", "dir").code)
	require.NoError(t, os.CopyFS(filepath.Join(s.dir, "cut"), os.DirFS(filepath.Join(s.dir, "dir"))))
	parts, err := filepath.Glob(filepath.Join(s.dir, "cut/documents/hotels/*"))
	require.NoError(t, err)
	require.NoError(t, os.Truncate(parts[0], 100))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"a.jsonl", "hotels"}, 0, ""},
		{[]string{"dir", "a.jsonl"}, 0, ""},
		{[]string{"hotels", "hotels"}, 0, ""},
		{[]string{"-key", "id", "a.jsonl", "b.jsonl"}, 1, "\"77\": differs"},
		{[]string{"hotels", "inns"}, 1, "\"77\": differs"},
		{[]string{"-to-endpoint", "ftp://x", "hotels", "hotels"}, 2, "http"},
		{[]string{"a.jsonl", "b.jsonl"}, 2, "-key FIELD"},
		{[]string{"-index", "inns", "dir", "a.jsonl"}, 2, "-index NAME"},
		{[]string{"hotels", "none"}, 3, "\"none\" is not an index"},
		{[]string{"bom.jsonl", "hotels"}, 0, ""},
		{[]string{"hotels", "bad.jsonl"}, 1, "bad.jsonl:2: not JSON"},
		{[]string{"cut", "hotels"}, 1, "cut/documents/hotels/"},
		{[]string{"hotels"}, 2, "arguments are missing"},
	} {
		got := s.run(append([]string{"verify"}, c.args...)...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stdout+got.stderr, c.says, "%v", c.args)
		if strings.HasSuffix(got.stderr, " differ\n") || c.code == 0 {
			assert.Equal(t, 2, strings.Count(got.stdout, "\t2500 documents\t"), "both digests: %s", got.stdout)
		}
	}
}

// TestRestoreSession brings a backup back, changed by an expression.
func TestRestoreSession(t *testing.T) {
	e, other := startEmulator(t, "-quiet"), startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{"hotels.json": hotelFields, "a.jsonl": hotelLines(100)})
	require.Zero(t, s.run("load", "-create", "hotels.json", "-quiet", "a.jsonl").code)
	require.Zero(t, s.run("backup", "dir").code)
	s.url = other.url
	status, _, body := other.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, strings.Replace(hotelFields, `"name":"name"`, `"name":"title"`, 1))
	require.Equal(t, http.StatusCreated, status, body)
	got := s.run("restore", "dir")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "exists and differs")
	got = s.run("restore", "-jq", "{id, title: .name} | select(.id != \"17\")", "dir")
	require.Zero(t, got.code, got.stderr)
	_, _, body = other.call(t, http.DefaultClient, http.MethodGet, "/indexes('hotels')/docs('16')", searchtest.AdminKey, "")
	assert.Contains(t, body, `"title":"Hotel 16"`)
	_, _, body = other.call(t, http.DefaultClient, http.MethodGet, "/indexes('hotels')/docs/$count", searchtest.AdminKey, "")
	assert.Equal(t, "99", strings.TrimPrefix(body, "\ufeff"))
	got = s.run("restore", "-index", "hotels", "-as", "inns", "dir")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "index inns: 100 documents, digest ")
	assert.Zero(t, s.run("verify", "-index", "hotels", "dir", "inns").code)
	got = s.run("restore", "-index", "hotels", "-as", "inns", "dir")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, `index "inns" has 100 documents; nothing was changed`)
	got = s.run("restore", "-jq", ".[", "dir")
	assert.Equal(t, 2, got.code)
}

func TestBackupRefusesWhatCannotWorkInOneLine(t *testing.T) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, nil)
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "full"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "full", "notes.txt"), nil, 0o600))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"backup"}, 2, "use azsearch backup DIR"},
		{[]string{"backup", "a", "b"}, 2, "unknown argument \"b\""},
		{[]string{"backup", "-in-flight", "0", "a"}, 2, "1 to 1000"},
		{[]string{"backup", "-passes", "3", "a"}, 2, "1 to 2"},
		{[]string{"backup", "-index", "rooms*", "a"}, 2, "no index matches"},
	} {
		got := s.run(c.args...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.says, "%v", c.args)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
		assert.Empty(t, got.stdout)
	}
	got := s.run("backup", "full")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "notes.txt")
}
