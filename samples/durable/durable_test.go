package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestMain(m *testing.M) {
	// The program starts itself, and in a test that is the test binary.
	for _, arg := range os.Args[1:] {
		if arg == "-role" {
			main()
		}
	}
	testkit.Main(m)
}

// play runs the program, which must find everything in the index.
func play(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	// A file, which the processes inherit: each writes by itself, and several may at once.
	complaints, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer complaints.Close()
	code := run(t.Context(), args, strings.NewReader(""), &out, complaints)
	said, err := os.ReadFile(complaints.Name())
	require.NoError(t, err)
	require.Zero(t, code, "%s\n%s", said, &out)
	assert.Empty(t, string(said))
	assert.Regexp(t, `(?m)^index +\d+ documents: each has the last write`, out.String())
	return out.String()
}

func TestNothingIsLostWhenTheProcessIsStartedAgain(t *testing.T) {
	out := play(t, "-for", "1s")
	assert.Contains(t, out, "keys wait in the queue. The next one goes on.")
	assert.Contains(t, out, "restarted 1 times")
}

var disturbed = regexp.MustCompile(`(?m)^disturbed [1-9]\d* kills, \d+ freezes$`)

func TestNothingIsLostWhenTheProcessIsKilled(t *testing.T) {
	needsSignals(t)
	assert.Regexp(t, disturbed, play(t, "-kill", "-for", "4s"))
}

func TestNothingIsLostWhenProcessesThatShareAServerAreKilled(t *testing.T) {
	needsSignals(t)
	server := servers.NewRedis(t, "--appendonly", "yes")
	assert.Regexp(t, disturbed, play(t, "-kill", "-for", "4s", "-redis", server.URL()))
	assert.Equal(t, "0", strings.TrimSpace(server.CLI(t, "DBSIZE")), "it leaves no queue behind")
}

func needsSignals(t *testing.T) {
	t.Helper()
	if !canFreeze {
		var complaints bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), []string{"-kill"}, nil, nil, &complaints))
		assert.Contains(t, complaints.String(), "not supported on this system")
		t.Skip("this system has no signals that stop a process for a while")
	}
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-nonsense"}, {"-for", "0s"}, {"-for", "soon"}, {"-role", "sleep"}} {
		var out, complaints bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), args, nil, &out, &complaints), args)
		assert.Equal(t, 1, strings.Count(complaints.String(), "\n"), complaints.String())
		assert.Empty(t, out.String())
	}
}

func TestServerThatIsNotThereIsOneLine(t *testing.T) {
	var out, complaints bytes.Buffer
	assert.Equal(t, exitProblem, run(t.Context(), []string{"-redis", "redis://127.0.0.1:1"}, nil, &out, &complaints))
	assert.Equal(t, 1, strings.Count(complaints.String(), "\n"), complaints.String())
}
