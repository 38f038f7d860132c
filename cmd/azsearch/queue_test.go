package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// openDirectory opens or creates the queue in a directory, for a test that starts the program.
func openDirectory(t *testing.T, dir string) *filequeue.Queue {
	t.Helper()
	testkit.Long(t)
	q, err := filequeue.Open(dir, nil)
	require.NoError(t, err)
	return q
}

// uploads appends a document for each key.
func uploads(t *testing.T, q queue.Queue, keys ...string) {
	t.Helper()
	call := queue.Call{Adder: queue.NewID(), Number: 1}
	for _, key := range keys {
		body, err := json.Marshal(map[string]string{"@search.action": "upload", "id": key, "name": "of\u202e" + key})
		require.NoError(t, err)
		call.Records = append(call.Records, queue.Record{Key: key, Op: models.ActionTypeUpload, Body: body})
	}
	_, err := q.Append(t.Context(), call)
	require.NoError(t, err)
}

// newDirectory creates a queue with waiting keys, some of them parked.
func newDirectory(t *testing.T, waiting, parked []string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "queue")
	q := openDirectory(t, dir)
	uploads(t, q, append(append([]string{}, waiting...), parked...)...)
	if len(parked) > 0 {
		n, err := q.Park(t.Context(), "status 400: \x1b[31mno such field", parked...)
		require.NoError(t, err)
		require.Equal(t, len(parked), n)
	}
	require.NoError(t, q.Close())
	return dir
}

// onQueue runs azsearch queue, which must succeed.
func onQueue(t *testing.T, args ...string) string {
	t.Helper()
	got := runToEnd(t, append([]string{"queue"}, args...)...)
	require.Zero(t, got.code, got.stderr)
	return got.stdout
}

func TestStatsSayWhatIsInTheQueue(t *testing.T) {
	dir := newDirectory(t, []string{"1", "2"}, []string{"3"})
	for _, url := range []string{dir, "file://" + filepath.ToSlash(dir)} {
		out := onQueue(t, "stats", url)
		assert.Regexp(t, `(?m)^waiting +2 keys, the oldest change .* ago$`, out)
		assert.Regexp(t, `(?m)^parked +1 key$`, out)
	}
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(onQueue(t, "stats", dir, "--json")), &got))
	assert.EqualValues(t, 2, got["waiting"])
	assert.EqualValues(t, 1, got["parked"])
	assert.Equal(t, false, got["paused"])
	assert.Equal(t, dir, got["queue"])
}

func TestADirectoryIsReadWhileItsProgramRuns(t *testing.T) {
	dir := newDirectory(t, []string{"1"}, []string{"3"})
	q := openDirectory(t, dir)
	uploads(t, q, "2")
	out := onQueue(t, "stats", dir)
	assert.Regexp(t, `(?m)^waiting +2 keys`, out)
	assert.Regexp(t, `(?m)^queue .*, as of \d{4}-`, out)
	assert.Contains(t, onQueue(t, "peek", dir), "2: 1 waiting")
	assert.Contains(t, onQueue(t, "parked", dir), "3: 1 parked")
	uploads(t, q, "4")
	require.NoError(t, q.Close())
}

func TestADirectoryIsChangedByItsProgramWhileThatRuns(t *testing.T) {
	dir := newDirectory(t, []string{"0"}, []string{"1", "2", "3"})
	q := openDirectory(t, dir)
	defer q.Close()
	assert.Contains(t, onQueue(t, "pause", dir, "--reason", "a migration"), "paused")
	s, err := q.Stats(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "a migration", s.PauseReason)
	assert.Regexp(t, `(?m)^paused +a migration$`, onQueue(t, "stats", dir))
	assert.Equal(t, "resumed\n", onQueue(t, "resume", dir))
	assert.Equal(t, "the queue was not paused\n", onQueue(t, "resume", dir))

	got := runToEnd(t, "queue", "release", dir, "0", "1")
	assert.Equal(t, ended{1, "released 1 key\n", "azsearch: not parked: 0\n"}, got)
	assertRefused(t, runToEnd(t, "queue", "drop", dir, "--all"), "2 parked keys")
	assert.Equal(t, `{"dropped":2}`+"\n", onQueue(t, "drop", "--json", dir, "--all", "--yes"))
	entries, err := q.Inspect(t.Context(), queue.Inspection{})
	require.NoError(t, err)
	require.Len(t, entries, 2)
	assert.Equal(t, []queue.State{queue.Waiting, queue.Waiting}, []queue.State{entries[0].State, entries[1].State})
}

// A program of an older version has no socket, and a program that is opening its queue has none yet.
func TestAProgramThatTakesNoCommandsIsNamed(t *testing.T) {
	dir := newDirectory(t, []string{"1"}, nil)
	q := openDirectory(t, dir)
	control := filepath.Join(dir, "control")
	require.NoError(t, os.Rename(control, control+".gone"))
	got := runToEnd(t, "queue", "pause", dir)
	assertRefused(t, got, fmt.Sprintf("locked by process %d", os.Getpid()))
	assertRefused(t, got, "does not accept commands now")
	require.NoError(t, os.Rename(control+".gone", control))
	require.NoError(t, q.Close())
	assert.Contains(t, onQueue(t, "pause", dir), "paused", "no other program uses the queue")
}

func TestPeekPrintsKeysInTheOrderOfSendingAndNothingThatATerminalObeys(t *testing.T) {
	dir := newDirectory(t, []string{"plain", "es\x1b]0;cape", "with space", "bi\u202edi", "last"}, nil)
	out := onQueue(t, "peek", dir)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.Len(t, lines, 5)
	for i, key := range []string{`plain`, `"es\x1b]0;cape"`, `"with space"`, `"bi\u202edi"`, `last`} {
		assert.True(t, strings.HasPrefix(lines[i], key+": 1 waiting, since "), lines[i])
	}
	assert.NotContains(t, out, "name", "documents are printed on request only")

	out = onQueue(t, "peek", dir, "--bodies", "last", "plain")
	assert.Contains(t, out, `  waiting upload {"@search.action":"upload","id":"last","name":"of\u202elast"}`)
	assert.Equal(t, 4, strings.Count(out, "\n"), "the keys that were named only: %s", out)

	assert.Contains(t, onQueue(t, "peek", dir, "-limit", "2"), "\n… and more")
	assert.Equal(t, 5, strings.Count(onQueue(t, "peek", dir, "-limit", fmt.Sprint(math.MaxInt)), ": 1 waiting"))
	assert.Equal(t, "nothing\n", onQueue(t, "parked", dir))
}

func TestPeekForMachinesIsALineOfJSONForEachKey(t *testing.T) {
	dir := newDirectory(t, []string{"1"}, []string{"2"})
	lines := strings.Split(strings.TrimSuffix(onQueue(t, "peek", dir, "--json", "--bodies"), "\n"), "\n")
	require.Len(t, lines, 2)
	type record struct {
		Op   string
		Body map[string]string
	}
	var got [2]struct {
		Key             string
		States          []string
		Reason          string
		Waiting, Parked []record
	}
	for i, line := range lines {
		require.NoError(t, json.Unmarshal([]byte(line), &got[i]))
	}
	assert.Equal(t, "1", got[0].Key)
	assert.Equal(t, []string{"waiting"}, got[0].States)
	require.Len(t, got[0].Waiting, 1)
	assert.Equal(t, "upload", got[0].Waiting[0].Op)
	assert.Equal(t, "1", got[0].Waiting[0].Body["id"])
	assert.Equal(t, []string{"parked"}, got[1].States)
	assert.Equal(t, "status 400: \x1b[31mno such field", got[1].Reason)
	assert.Equal(t, 1, strings.Count(onQueue(t, "peek", dir, "--json", "--state", "parked"), "\n"))
}

func TestParkedKeysAreReleasedAndDropped(t *testing.T) {
	dir := newDirectory(t, []string{"0"}, []string{"1", "2", "3", "4"})
	out := onQueue(t, "parked", dir)
	assert.Equal(t, 4, strings.Count(out, "\n"))
	assert.Contains(t, out, `("status 400: \x1b[31mno such field")`)

	assert.Equal(t, "released 1 key\n", onQueue(t, "release", dir, "2"))
	assert.Equal(t, `{"dropped":1}`+"\n", onQueue(t, "drop", "--json", dir, "3"))

	got := runToEnd(t, "queue", "release", dir, "1", "2")
	assert.Equal(t, ended{1, "released 1 key\n", "azsearch: not parked: 2\n"}, got, "the parked key is released anyway")

	assertRefused(t, runToEnd(t, "queue", "drop", dir, "--all"), "1 parked key would be dropped: add -yes")
	assert.Equal(t, "dropped 1 key\n", onQueue(t, "drop", dir, "--all", "--yes"))
	assert.Equal(t, "released 0 keys\n", onQueue(t, "release", dir, "--all", "--yes"))

	q := openDirectory(t, dir)
	defer q.Close()
	entries, err := q.Inspect(t.Context(), queue.Inspection{})
	require.NoError(t, err)
	var keys []string
	for _, e := range entries {
		assert.Equal(t, queue.Waiting, e.State)
		keys = append(keys, e.Key)
	}
	assert.Equal(t, []string{"0", "1", "2"}, keys, "the keys have their old places")
}

func TestPauseLastsUntilResume(t *testing.T) {
	dir := newDirectory(t, []string{"1"}, nil)
	assert.Contains(t, onQueue(t, "pause", dir, "--reason", "a migration"), "paused")
	assert.Regexp(t, `(?m)^paused +a migration$`, onQueue(t, "stats", dir))
	got := runToEnd(t, "queue", "drain", dir, "--to", filepath.Join(t.TempDir(), "other"))
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "a migration")
	assert.Equal(t, "resumed\n", onQueue(t, "resume", dir))
	assert.Equal(t, "the queue was not paused\n", onQueue(t, "resume", dir))
	assert.NotContains(t, onQueue(t, "stats", dir), "paused")
}

func TestDirectoryInUseIsRefusedWithItsHolder(t *testing.T) {
	dir := newDirectory(t, []string{"1"}, nil)
	q := openDirectory(t, dir)
	defer q.Close()
	for _, args := range [][]string{
		{"repair", dir}, {"drain", dir, "--to", t.TempDir()},
		{"drain", newDirectory(t, []string{"2"}, nil), "--to", dir},
	} {
		assertRefused(t, runToEnd(t, append([]string{"queue"}, args...)...), fmt.Sprintf("process %d on ", os.Getpid()))
	}
}

func TestQueueThatIsMissingIsNotMade(t *testing.T) {
	empty := t.TempDir()
	for _, command := range []string{"stats", "peek", "parked", "pause", "resume", "repair"} {
		assertRefused(t, runToEnd(t, "queue", command, empty), "there is no queue in "+empty)
		assertRefused(t, runToEnd(t, "queue", command, filepath.Join(empty, "none")), "there is no directory")
	}
	entries, err := os.ReadDir(empty)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestMistakesInACommandAboutAQueueAreOneLineAndExit2(t *testing.T) {
	testkit.Long(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"fly"}, `"fly"`},
		{[]string{"stats"}, "the queue is missing"},
		{[]string{"stats", ""}, "the queue is missing"},
		{[]string{"stats", "a", "b"}, `"b"`},
		{[]string{"stats", "http://localhost"}, "http:// is not a queue"},
		{[]string{"stats", "file://elsewhere/queue"}, "not a directory of this machine"},
		{[]string{"stats", "redis://localhost:1/0"}, "?name=QUEUE"},
		{[]string{"stats", "redis://localhost:1/0?name=a", "-name", "b"}, "two names"},
		{[]string{"stats", "redis://user:sec ret@localhost"}, "special characters"},
		{[]string{"stats", "redis://:secret@127.0.0.1:1/0?name=a"}, "refused"},
		{[]string{"stats", "queue", "-name", "b"}, "queues on Redis"},
		{[]string{"peek", "queue", "-limit", "0"}, "at least one key"},
		{[]string{"release", "queue"}, "name keys, or use -all"},
		{[]string{"release", "queue", "1", "-all"}, "together"},
		{[]string{"release", "queue", ""}, "a key is empty"},
		{[]string{"drain", "queue"}, "-to is missing"},
		{[]string{"drain", "queue", "-fly"}, "-fly"},
		{[]string{"repair"}, "one queue is needed"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			got := runToEnd(t, append([]string{"queue"}, c.args...)...)
			assertRefused(t, got, c.says)
			assert.NotContains(t, got.stderr, "secret")
		})
	}
	dir := newDirectory(t, []string{"1"}, nil)
	assertRefused(t, runToEnd(t, "queue", "peek", dir, "-state", "gone"), `"gone"`)
	assertRefused(t, runToEnd(t, "queue", "pause", dir, "-reason", ""), "-reason must not be empty")
}

func TestDamagedDirectoryIsRepaired(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	q := openDirectory(t, dir)
	for i := range 100 {
		uploads(t, q, fmt.Sprintf("key-%02d", i))
	}
	require.NoError(t, q.Close())
	assert.Equal(t, "nothing to repair\n", onQueue(t, "repair", dir))

	logs, err := filepath.Glob(filepath.Join(dir, "log-*"))
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	content, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	at := strings.Index(string(content), `"id":"key-50"`)
	require.Positive(t, at)
	content[at+7] ^= 1
	require.NoError(t, os.WriteFile(logs[0], content, 0o600))

	assertRefused(t, runToEnd(t, "queue", "stats", dir), "azsearch queue repair")
	assert.Regexp(t, `^repaired, with 99 keys in the queue; \d+ bytes at 1 place could not be read, .*; kept for inspection: damaged-`, onQueue(t, "repair", dir))
	assert.Regexp(t, `(?m)^waiting +99 keys`, onQueue(t, "stats", dir))
	assert.Equal(t, "nothing to repair\n", onQueue(t, "repair", dir))
}
