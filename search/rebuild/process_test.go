package rebuild

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// otherProcess is the environment variable that makes the test binary run as another process: "rebuild" or "write",
// then the URLs of service and database.
const otherProcess = "REBUILD_TEST_OF"

func otherMain(job string) error {
	what, rest, _ := strings.Cut(job, " ")
	url, address, _ := strings.Cut(rest, " ")
	x, err := openTable("sqlite", address)
	if err != nil {
		return err
	}
	if what == "rebuild" {
		return x.rebuild(context.Background(), url)
	}
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	return x.write(url, "b", stop)
}

// child is another process with its own connection to the service.
type child struct {
	*exec.Cmd
	line  *httptest.Server
	stdin io.Closer
	said  strings.Builder // read after its end
	ended chan error
}

// kill ends the process. When it returns, none of the process's requests is pending.
func (c *child) kill() (err error) {
	_ = c.Process.Kill()
	err = <-c.ended
	c.line.Close()
	return err
}

// Run is killed ten times, in all steps, and a writer once.
func TestARebuildWhoseProcessIsKilledAgainAndAgainMissesNothing(t *testing.T) {
	testkit.Long(t)
	self, err := os.Executable()
	require.NoError(t, err)
	address := "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)"
	x, err := openTable("sqlite", address)
	require.NoError(t, err)
	defer x.db.Close()
	x.fillWith(t, 2000)
	service := x.serve(t)
	store, err := x.store(t.Context())
	require.NoError(t, err)
	start := func(what string) *child {
		c := &child{Cmd: exec.CommandContext(t.Context(), self), line: httptest.NewServer(service), ended: make(chan error, 1)}
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", otherProcess, what, c.line.URL, address))
		c.Stderr = &c.said
		c.stdin, err = c.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		go func() { c.ended <- c.Wait() }()
		return c
	}
	record := func() Record {
		r, err := store.Load(t.Context())
		require.NoError(t, err)
		return r
	}

	stop, failed := make(chan struct{}), make(chan error, 1)
	go func() { failed <- x.write(service.URL(), "a", stop) }()
	b := start("write")
	awaitTaps(t, store)

	order := []Step{StepNone, stepCreating, stepMarking, StepFilling, stepCatchingUp, stepClosing, stepSwapping, stepSettling, stepMoving, StepMoved}
	kills := []Step{StepNone, stepMarking, StepFilling, StepFilling, stepCatchingUp, stepClosing, stepSwapping, stepSettling, stepSettling, stepMoving}
	killed, at := 0, map[Step]int{}
	over := false
	for n := 0; !over; n++ {
		require.Less(t, n, 50)
		run := start("rebuild")
		ended := run.ended
		if n < len(kills) {
			for slices.Index(order, record().Step) < slices.Index(order, kills[n]) && len(ended) == 0 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond) // at a random position
			if err = run.kill(); err != nil {
				killed++
				at[record().Step]++
			}
		} else {
			err = <-ended
			run.line.Close()
		}
		if run.said.Len() > 0 { // it ended without a kill
			require.Contains(t, run.said.String(), ErrTooSlow.Error(), "the machine may be, and nothing else")
		}
		over = err == nil
		if n == 5 {
			require.Error(t, b.kill())
			b = start("write")
		}
		// The killed process has no pending requests, so the next one need not wait a minute.
		if r := record(); r.Owner != "" {
			r.Owner = ""
			_, err = store.Swap(t.Context(), r)
			require.NoError(t, err)
		}
	}
	t.Logf("killed %d times: %v", killed, at)
	assert.GreaterOrEqual(t, killed, 5)
	close(stop)
	require.NoError(t, <-failed)
	require.NoError(t, b.stdin.Close())
	require.NoError(t, <-b.ended, &b.said)
	b.line.Close()
	x.check(t, service)
	assert.Equal(t, StepMoved, record().Step)
}
