package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/backup"
	"github.com/go-azsearch/azsearch/internal/queuekill"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// kills is how often a test kills a command: five times, in the soak kills fifty times.
func kills() int { return min(queuekill.Kills(5), 50) }

// killer kills a command again and again.
type killer struct {
	*session
	progress func() int64  // grows with each checkpoint
	repeats  func() int64  // documents or ranges that the next run does again
	most     int64         // of repeats, after one kill
	spread   time.Duration // the kill follows a checkpoint within this time
}

// run runs the command, kills it, and begins again. One kill in four does not wait for a checkpoint. It returns the end
// of the last run, which is not killed.
func (k *killer) run(args ...string) ended {
	r := rand.New(rand.NewPCG(3, 4))
	most, sum := int64(0), int64(0)
	for n := range kills() {
		before := k.progress()
		var stdout, stderr bytes.Buffer
		cmd := k.command(args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		require.NoError(k.t, cmd.Start())
		over := make(chan struct{})
		go func() {
			defer close(over)
			_ = cmd.Wait() // it is killed
		}()
		var moment <-chan time.Time
		if n%4 == 3 {
			moment = time.After(time.Duration(r.Int64N(int64(k.spread))))
		}
		look := time.NewTicker(5 * time.Millisecond)
		for done := false; !done; {
			select {
			case <-look.C:
				if moment == nil && k.progress() > before {
					moment = time.After(time.Duration(r.Int64N(int64(k.spread))))
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
		require.Negative(k.t, cmd.ProcessState.ExitCode(), "the process ended before kill %d: %s%s", n+1, &stdout, &stderr)
		assert.GreaterOrEqual(k.t, k.progress(), before, "a checkpoint never goes back")
		again := k.repeats()
		assert.LessOrEqual(k.t, again, k.most, "kill %d", n+1)
		most, sum = max(most, again), sum+again
	}
	k.t.Logf("%s: killed %d times; at most %d done again, %d together, allowed after each kill %d", args[0], kills(), most, sum, k.most)
	return k.session.run(args...)
}

// count returns the number of documents of the index hotels, 0 while there is none.
func (e *emulator) count(t *testing.T) int64 {
	status, _, body := e.call(t, http.DefaultClient, http.MethodGet, "/indexes('hotels')/docs/$count", searchtest.AdminKey, "")
	if status == http.StatusNotFound {
		return 0
	}
	require.Equal(t, http.StatusOK, status)
	n, err := strconv.ParseInt(strings.TrimPrefix(body, "\ufeff"), 10, 64)
	require.NoError(t, err)
	return n
}

// lines returns the complete lines of a file but the first, none while there is no file.
func (s *session) lines(name string) []string {
	content, _ := os.ReadFile(filepath.Join(s.dir, name))
	all := strings.SplitAfter(string(content), "\n")
	return all[min(1, len(all)-1) : len(all)-1]
}

// TestLoadThatIsKilledLeavesNoGap kills a load, and runs it again with the same checkpoint: at the end every record is
// in the index or rejected, and each run repeats what was sent since the last checkpoint alone.
func TestLoadThatIsKilledLeavesNoGap(t *testing.T) {
	testkit.Long(t)
	const second = 5000 // records sent in a second, that is between checkpoints, because a request takes 200 ms
	records := kills()*9000 + 3000
	e := startEmulator(t, "-quiet", "-latency", "200ms")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	var b strings.Builder
	var starts []int64 // of the records that are valid
	for i := range records {
		stars := "5"
		if i%1000 == 7 {
			stars = `"many"`
		} else {
			starts = append(starts, int64(b.Len()))
		}
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"name\":%q,\"stars\":%s}\n", i, strings.Repeat("x", 400), stars)
	}
	s := newSession(t, e.url, map[string]string{"a.jsonl": b.String()})
	args := []string{"load", "-index", "hotels", "-resume", "state.json", "-in-flight", "1", "-quiet", "-json", "a.jsonl"}
	offset := func() int64 {
		var state struct {
			Next struct{ Offset int64 }
		}
		if content, err := os.ReadFile(filepath.Join(s.dir, "state.json")); err == nil {
			require.NoError(t, json.Unmarshal(content, &state))
		}
		return state.Next.Offset
	}
	killer := killer{session: s, progress: offset, spread: time.Second / 2, most: 2 * second, repeats: func() int64 {
		before, _ := slices.BinarySearch(starts, offset())
		assert.GreaterOrEqual(t, e.count(t), int64(before), "all documents before the checkpoint are in the index")
		return e.count(t) - int64(before)
	}}
	got := killer.run(args...)
	bad := records / 1000
	assert.Equal(t, 1, got.code, got.stderr)
	assert.Contains(t, got.stderr, fmt.Sprintf("%d of ", bad))
	assert.Equal(t, int64(records-bad), e.count(t))
	assert.Equal(t, bad, strings.Count(s.file("rejects.jsonl"), "\n"), "the file has each reject once")
	got = s.run(args...)
	assert.Equal(t, 1, got.code, "the rejected record is still missing in the index")
	assert.NoFileExists(t, filepath.Join(s.dir, "rejects-2.jsonl"))
}

// TestBackupThatIsKilledHasNoGap kills a backup, and the restore of it. Both continue with the key range, or the files,
// that they were at.
func TestBackupThatIsKilledHasNoGap(t *testing.T) {
	testkit.Long(t)
	const size, readers = 4994, 4 // documents of a key range, and files that a restore reads at once
	records := kills() * 8000
	e := startEmulator(t, "-quiet", "-latency", "20ms")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, map[string]string{"a.jsonl": hotelLines(records)})
	got := s.run("load", "-index", "hotels", "-quiet", "a.jsonl")
	require.Zero(t, got.code, got.stderr)

	progress := func(name string) func() int64 { return func() int64 { return int64(len(s.lines(name))) } }
	killer := killer{session: s, progress: progress("b/journal.jsonl"), spread: 150 * time.Millisecond, most: 1, repeats: func() (again int64) {
		journal := s.lines("b/journal.jsonl")
		files, _ := os.ReadDir(filepath.Join(s.dir, "b/documents/hotels"))
		for _, f := range files {
			if !slices.ContainsFunc(journal, func(line string) bool { return strings.Contains(line, strconv.Quote(f.Name())) }) {
				again++
			}
		}
		return again
	}}
	got = killer.run("backup", "-in-flight", "1", "-quiet", "b")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "continuing; written already: ")
	whole := s.run("backup", "c")
	require.Zero(t, whole.code, whole.stderr)
	assert.Equal(t, whole.stdout, got.stdout, "the digest is the same")
	assert.Contains(t, got.stdout, fmt.Sprintf("hotels\t%d documents\t", records))

	target := startEmulator(t, "-quiet", "-latency", "20ms")
	s.url = target.url
	manifest, err := backup.OpenManifest(filepath.Join(s.dir, "b"))
	require.NoError(t, err)
	complete := int64(0)
	killer.most, killer.progress, killer.repeats = readers*size+1000, func() int64 {
		n := target.count(t)
		if n == int64(records) {
			complete++ // kill it while it compares, too
		}
		return n + complete
	}, func() int64 {
		sizes := map[string]int64{}
		for _, f := range manifest.Indexes[0].Files {
			sizes["hotels/"+f.Name] = f.Documents
		}
		again := target.count(t)
		for _, line := range s.lines("b/restore.jsonl") {
			again -= sizes[strings.TrimSuffix(line, "\n")]
		}
		assert.GreaterOrEqual(t, again, int64(0), "all documents of finished files are in the index")
		return again
	}
	got = killer.run("restore", "-in-flight", "1", "-quiet", "b")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "the same as in the backup")
	got = s.run("verify", "b", "hotels")
	assert.Zero(t, got.code, got.stderr)
	assert.Equal(t, 2, strings.Count(got.stdout, strings.TrimSpace(strings.TrimPrefix(whole.stdout, "hotels"))), "both digests are that of the backup")
	got = s.run("restore", "b")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, fmt.Sprintf(`index "hotels" has %s documents; nothing was changed`, humanize.Comma(int64(records))))
}
