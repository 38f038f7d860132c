package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
)

func TestMain(m *testing.M) {
	// The program starts itself as a worker, so the test binary must act as the program.
	for _, arg := range os.Args[1:] {
		if arg == "-worker" {
			main()
		}
	}
	testkit.Main(m)
}

// run runs the program, which must find every acknowledged document in the index.
func run(t *testing.T, args ...string) string {
	t.Helper()
	o := stagetest.Succeeds(t, program, args)
	assert.Empty(t, o.Err)
	assert.Regexp(t, `(?m)^index +\d+ documents: each has the last write`, o.Out)
	return o.Out
}

func TestNothingIsLostWhenTheProcessIsStartedAgain(t *testing.T) {
	out := run(t, "-for", "1s")
	assert.Contains(t, out, "keys wait in the queue. The next one continues.")
	assert.Contains(t, out, "restarted 1 times")
}

var disturbed = regexp.MustCompile(`(?m)^disturbed [1-9]\d* kills, \d+ freezes$`)

func TestNothingIsLostWhenTheProcessIsKilled(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	needsSignals(t)
	assert.Regexp(t, disturbed, run(t, "-kill", "-for", "4s"))
}

func TestNothingIsLostWhenProcessesThatShareAServerAreKilled(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	needsSignals(t)
	server := servers.NewRedis(t, "--appendonly", "yes")
	assert.Regexp(t, disturbed, run(t, "-kill", "-for", "4s", "-redis", server.URL()))
	assert.Equal(t, "0", strings.TrimSpace(server.CLI(t, "DBSIZE")), "the sample leaves no queue behind")
}

func needsSignals(t *testing.T) {
	t.Helper()
	if !stage.CanFreeze {
		stagetest.Refuses(t, program, "not supported on this system", "-kill")
		t.Skip("this system has no signals that stop a process for a while")
	}
}

func TestServerThatIsNotThereIsOneLine(t *testing.T) {
	o := stagetest.Run(t.Context(), t, program, "-redis", "redis://127.0.0.1:1")
	assert.Equal(t, stage.ExitProblem, o.Code)
	assert.Equal(t, 1, strings.Count(o.Err, "\n"), o.Err)
}
