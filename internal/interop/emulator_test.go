package interop

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// commandLimit limits one command; each needs a few seconds, or a minute with a cold cache.
const commandLimit = 4 * time.Minute

// wanted skips the test unless the environment allows fetching SDKs.
func wanted(t *testing.T) {
	t.Helper()
	if os.Getenv("AZSEARCH_INTEROP") == "" {
		t.Skip("fetches an SDK from its registry: set AZSEARCH_INTEROP to try, or to required")
	}
}

// missing skips the test. It fails the test if AZSEARCH_INTEROP=required, or if npm or pip installed something other
// than the locked versions.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	what := fmt.Sprintf(format, args...)
	if os.Getenv("AZSEARCH_INTEROP") == "required" || strings.Contains(what, "EINTEGRITY") || strings.Contains(what, "DO NOT MATCH THE HASHES") {
		t.Fatal(what)
	}
	t.Skip(what)
}

// copied returns a temporary folder with a copy of files' folder name.
func copied(t *testing.T, files fs.FS, name string) string {
	t.Helper()
	dir := t.TempDir()
	inside, err := fs.Sub(files, name)
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(dir, inside))
	return dir
}

// allPassed is the output of the scripts for scenarios, except those in without, for which a version of the SDK has
// no method.
func allPassed(scenarios, without []string) string {
	var lines strings.Builder
	for _, name := range scenarios {
		if !slices.Contains(without, name) {
			lines.WriteString("passed " + name + "\n")
		}
	}
	return lines.String()
}

// run runs a command in the folder dir and returns its standard output and standard error.
func run(t *testing.T, dir, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = 10 * time.Second // children of a killed command may hold the pipes
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err = cmd.Run()
	return out.String(), log.String(), err
}

// buildEmulator returns the path of the command.
func buildEmulator(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "azsearch.exe") // Windows needs the extension; elsewhere it does no harm
	_, log, err := run(t, ".", "go", "build", "-o", path, "../../cmd/azsearch")
	require.NoError(t, err, log)
	return path
}

// startEmulator runs the command with args on a free port until the test ends, and returns its endpoint. If the test
// fails, its requests are logged.
func startEmulator(t *testing.T, path string, args ...string) string {
	t.Helper()
	cmd := exec.Command(path, append([]string{"emulator", "-addr", "127.0.0.1:0"}, args...)...)
	var requests bytes.Buffer // readable after Wait
	cmd.Stderr = &requests
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // reports the kill
		if t.Failed() {
			t.Logf("the requests to the emulator:\n%s", &requests)
		}
	})
	endpoint, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "the emulator ended without an endpoint")
	return strings.TrimSpace(endpoint)
}
