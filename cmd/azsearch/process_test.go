package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// binDir holds the binary for the tests of the whole process.
var binDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "azsearch")
	if err != nil {
		panic(err)
	}
	binDir = dir
	code := testkit.Run(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// binary builds the command when a test first needs it.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binDir, "azsearch.exe") // the ending is needed on Windows and does no harm elsewhere
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(err.Error() + ": " + string(out))
	}
	return path, nil
})

// program returns the path of the command. Its tests are long: the build takes seconds, and the race detector does
// not cover the process.
func program(t testing.TB) string {
	t.Helper()
	testkit.Long(t)
	path, err := binary()
	require.NoError(t, err)
	return path
}

// ended is the result of a process.
type ended struct {
	code           int
	stdout, stderr string
}

// runToEnd runs the command until it ends.
func runToEnd(t *testing.T, args ...string) ended {
	t.Helper()
	path := program(t)
	// A command that wrongly starts would run forever.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// emulator is a running "azsearch emulator".
type emulator struct {
	url    string
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer // readable after stop
}

// startEmulator starts an emulator with args on a free port and returns when it has printed its endpoint.
func startEmulator(t *testing.T, args ...string) *emulator {
	t.Helper()
	path := program(t)
	e := &emulator{cmd: exec.Command(path, append([]string{"emulator", "-addr", "127.0.0.1:0"}, args...)...)}
	e.cmd.Stderr = &e.stderr
	stdout, err := e.cmd.StdoutPipe()
	require.NoError(t, err)
	e.stdout = bufio.NewReader(stdout)
	require.NoError(t, e.cmd.Start())
	t.Cleanup(func() {
		if e.cmd.ProcessState == nil {
			_ = e.cmd.Process.Kill()
			_ = e.cmd.Wait()
		}
	})
	line, err := e.stdout.ReadString('\n')
	require.NoError(t, err, "the emulator ended without an endpoint")
	e.url = strings.TrimSuffix(line, "\n")
	return e
}

// stop sends a signal and waits for the end.
func (e *emulator) stop(t *testing.T, s os.Signal) ended {
	t.Helper()
	require.NoError(t, e.cmd.Process.Signal(s))
	rest, err := io.ReadAll(e.stdout)
	require.NoError(t, err)
	_ = e.cmd.Wait() // the exit code has the result
	return ended{e.cmd.ProcessState.ExitCode(), string(rest), e.stderr.String()}
}

// call makes one request, with key unless it is empty, and returns status, header and body.
func (e *emulator) call(t *testing.T, client *http.Client, method, path, key, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, e.url+path+"?api-version=2026-04-01", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Api-Key", key)
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, string(content)
}
