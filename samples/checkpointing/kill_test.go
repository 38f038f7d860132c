package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// asProgram makes the test binary behave like the program, so that there is a
// process to kill.
const asProgram = "CHECKPOINTING_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	testkit.Main(m)
}

// program returns a process of the sample.
func program(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	return cmd, &out
}

// stages are the moments of a batch at which the loader is killed.
var stages = []string{"before the batch is applied", "after it, before the answer", "some time after the answer"}

// The promise of the sample: killed anywhere, any number of times, and run again,
// it leaves no gap; and at no time is the checkpoint above what is in the index.
func TestKilledAnywhereAndRunAgainLeavesNoGap(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	const lines, kills = 40_000, 12
	dir := t.TempDir()
	input := filepath.Join(dir, "input.txt")
	require.NoError(t, writeInput(input, lines))
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	defer srv.Close()
	// Retries and refused documents in between, so that lines settle far out of
	// order, and line 77 never.
	srv.SetFaults(&searchtest.Faults{Seed: seed, Rules: []searchtest.Fault{
		{Operation: searchtest.OpIndexDocuments, Documents: []searchtest.DocumentFault{
			{Keys: []string{"line-77"}, Status: 400, Message: "not this one"},
			{Ratio: 0.001, Times: 1, Status: 422},
		}},
	}})
	args := []string{"-in", input, "-endpoint", srv.URL(), "-api-key", searchtest.AdminKey, "-index", demoIndex, "-save-every", "1ms"}

	complete := func(upTo int64) {
		t.Helper()
		for _, number := range missingLines(srv, upTo) {
			require.EqualValues(t, 77, number, "this line is not in the index, and the checkpoint says it is settled")
		}
	}
	killed, last := 0, int64(0)
	for range kills {
		cmd, out := program(t, args...)
		batch, stage := 1+random.IntN(12), random.IntN(len(stages))
		delay := time.Duration(random.IntN(20)) * time.Millisecond
		var seen atomic.Int64
		kill := func() { _ = cmd.Process.Kill() } // SIGKILL
		started := make(chan struct{})
		srv.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			<-started // cmd.Process is set
			if !strings.HasSuffix(r.URL.Path, "search.index") || seen.Add(1) != int64(batch) {
				return next(r)
			}
			if stage == 0 {
				kill()
				return nil, fmt.Errorf("killed")
			}
			resp, err := next(r)
			if stage == 1 {
				kill()
				return nil, fmt.Errorf("killed")
			}
			time.AfterFunc(delay, kill) // somewhere in the handlers, or while the checkpoint is written
			return resp, err
		})
		require.NoError(t, cmd.Start())
		close(started)
		err := cmd.Wait()
		if err == nil {
			break // it was through before its time had come
		}
		killed++
		at, readErr := readCheckpoint(input + ".checkpoint")
		require.NoError(t, readErr)
		t.Logf("killed at batch %d, %s: line %d (%v)", batch, stages[stage], at.Line, err)
		require.GreaterOrEqual(t, at.Line, last, "the checkpoint went back: %s", out)
		last = at.Line
		complete(at.Line)
	}
	require.Greater(t, killed, 3)
	srv.Intercept(nil)

	cmd, out := program(t, args...)
	require.NoError(t, cmd.Run(), "%s", out)
	at, err := readCheckpoint(input + ".checkpoint")
	require.NoError(t, err)
	require.EqualValues(t, lines, at.Line)
	complete(lines)
	require.EqualValues(t, lines-1, srv.DocumentCount(demoIndex))

	refused, err := os.ReadFile(input + ".refused")
	require.NoError(t, err)
	for record := range bytes.SplitSeq(bytes.TrimSpace(refused), []byte("\n")) {
		var r struct{ Line, Status int }
		require.NoError(t, json.Unmarshal(record, &r))
		require.Equal(t, 77, r.Line)
		require.Equal(t, 400, r.Status)
	}

	// Nothing is left to do, and nothing is done.
	before := len(srv.Requests())
	cmd, out = program(t, args...)
	require.NoError(t, cmd.Run(), "%s", out)
	for _, r := range srv.Requests()[before:] {
		require.NotEqual(t, searchtest.OpIndexDocuments, r.Operation)
	}
}

func TestDemonstrationRuns(t *testing.T) {
	cmd, out := program(t)
	require.NoError(t, cmd.Run(), "%s", out)
	require.Contains(t, out.String(), "The index has 20000 documents of 20000 lines, 0 are missing.")
	require.Contains(t, out.String(), "below it 0 lines are missing")
}
