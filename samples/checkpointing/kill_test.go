package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// asProgram makes the test binary act as the program, so that the test can kill a process.
const asProgram = "CHECKPOINTING_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	testkit.Main(m)
}

// process returns a process of the sample.
func process(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// stages are the moments of the kill.
var stages = []string{"before a batch is applied", "after it, before the answer", "some time after the answer", "at any time"}

// The promise of the sample: killed at any moment and started again, any number of times, the loader leaves no gap,
// and the checkpoint is never above a missing line.
func TestKilledAnywhereAndRunAgainLeavesNoGap(t *testing.T) {
	testkit.Long(t)
	const seed = 1 // a fixed seed: the result of CI must not depend on chance
	random := rand.New(rand.NewPCG(seed, 0))

	// A run that will be killed gets no reply after its third batch of 200 lines, so lines remain for the next run.
	const kills, batches = 50, 3
	const lines = (kills + 1) * batches * 200
	dir := t.TempDir()
	input := filepath.Join(dir, "input.txt")
	require.NoError(t, writeInput(input, lines))
	refusedLine := int64(0)
	for l, err := range linesFrom(input, 0) {
		require.NoError(t, err)
		if l.text == "This is line 777." {
			refusedLine = l.start
			break
		}
	}
	require.Positive(t, refusedLine)
	srv := searchtest.NewServer(&searchtest.Options{KeepChanges: -1})
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer srv.Close()
	// Retries make lines settle far out of order, and one line is always rejected.
	disturb := func(n int) {
		srv.SetFaults(&searchtest.Faults{Seed: seed + uint64(n), Rules: []searchtest.Fault{
			{Operation: searchtest.OpIndexDocuments, Documents: []searchtest.DocumentFault{
				{Keys: []string{fmt.Sprint("byte-", refusedLine)}, Status: 400, Message: "not this one"},
				{Ratio: 0.002, Times: 1, Status: 422},
			}},
		}})
	}
	args := []string{"-in", input, "-endpoint", srv.URL(), "-api-key", searchtest.AdminKey, "-index", demoIndex, "-save-every"}

	// complete checks that the index has every line below the checkpoint. It deletes the others from the index,
	// because they would hide a line that a later run skips.
	complete := func(upTo int64) int {
		t.Helper()
		srv.Intercept(nil)
		srv.SetFaults(nil)
		docs := srv.Documents(demoIndex)
		lines := 0
		for l, err := range linesFrom(input, 0) {
			require.NoError(t, err)
			if l.end > upTo {
				break
			}
			lines++
			key := entryOf(l).Key
			if _, ok := docs[key]; !ok && l.start != refusedLine {
				require.Fail(t, "the checkpoint counts this line as settled, but it is not in the index", "%+v", l)
			}
			delete(docs, key)
		}
		client := open(t, srv)
		for some := range slices.Chunk(slices.Collect(maps.Keys(docs)), 1000) {
			_, err := search.DeleteDocumentsByKey(t.Context(), client, "key", some, nil)
			require.NoError(t, err)
		}
		return lines
	}
	last := int64(0)
	for n := range kills {
		disturb(n)
		// With 1ns the checkpoint is written after every line.
		saveEvery := []string{"1ns", "1ms"}[random.IntN(2)]
		cmd, out := process(t, append(args, saveEvery)...)
		batch, stage := int64(1+random.IntN(batches)), random.IntN(len(stages))
		delay := time.Duration(random.IntN(20_000)) * time.Microsecond
		var seen atomic.Int64
		kill := func() { _ = cmd.Process.Kill() } // SIGKILL
		started := make(chan struct{})
		srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			<-started // cmd.Process is set
			if !strings.HasSuffix(r.URL.Path, "search.index") {
				return next(r)
			}
			this := seen.Add(1)
			switch {
			case this > batches:
				<-r.Context().Done() // until the client is dead
				return nil, r.Context().Err()
			case this != batch || stage == 3:
				return next(r)
			case stage == 0:
				kill()
				return nil, errors.New("killed")
			}
			resp, err := next(r)
			if stage == 1 {
				kill()
				return nil, errors.New("killed")
			}
			time.AfterFunc(delay, kill) // in a handler, or while the checkpoint is written
			return resp, err
		})
		require.NoError(t, cmd.Start())
		close(started)
		if stage == 3 { // possibly while it starts
			time.AfterFunc(4*delay, kill)
		}
		err := cmd.Wait()
		require.ErrorContains(t, err, "killed", "%s", out)
		at, readErr := readCheckpoint(input + ".checkpoint")
		require.NoError(t, readErr)
		t.Logf("%d: saving every %s, killed %s, batch %d, delay %v: byte %d, line %d", n+1, saveEvery, stages[stage], batch, delay, at.Offset, complete(at.Offset))
		require.GreaterOrEqual(t, at.Offset, last, "the checkpoint went back: %s", out)
		last = at.Offset
	}
	require.Positive(t, last, "no run got anywhere")
	disturb(kills)

	cmd, out := process(t, append(args, "1ms")...)
	require.NoError(t, cmd.Run(), "%s", out)
	at, err := readCheckpoint(input + ".checkpoint")
	require.NoError(t, err)
	info, err := os.Stat(input)
	require.NoError(t, err)
	require.Equal(t, info.Size(), at.Offset)
	require.Equal(t, lines, complete(at.Offset))
	require.EqualValues(t, lines-1, srv.DocumentCount(demoIndex))

	refused, err := os.ReadFile(input + ".refused")
	require.NoError(t, err)
	for record := range bytes.SplitSeq(bytes.TrimSpace(refused), []byte("\n")) {
		var r struct{ Byte, Status int64 }
		require.NoError(t, json.Unmarshal(record, &r))
		require.Equal(t, refusedLine, r.Byte)
		require.EqualValues(t, 400, r.Status)
	}

	// Nothing is left, so the run must send nothing.
	before := len(srv.Requests())
	cmd, out = process(t, append(args, "1ms")...)
	require.NoError(t, cmd.Run(), "%s", out)
	for _, r := range srv.Requests()[before:] {
		require.NotEqual(t, searchtest.OpIndexDocuments, r.Operation)
	}
}

func TestDemonstrationRuns(t *testing.T) {
	cmd, out := process(t)
	require.NoError(t, cmd.Run(), "%s", out)
	require.Contains(t, out.String(), "The index has 20000 documents of 20000 lines, 0 are missing.")
	require.Contains(t, out.String(), "0 lines before it are missing")
}
