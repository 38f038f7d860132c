//go:build unix

package main

import (
	"bytes"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestBenchThatIsInterruptedDeletesItsIndex(t *testing.T) {
	_, s := withRooms(t, roomFields, nil)
	cmd := s.command("bench", "-yes")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	testkit.Eventually(t, func() bool { return strings.Contains(s.run("stats").stdout, "azsearch-bench-") })
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	_ = cmd.Wait() // the exit code has the result
	assert.Equal(t, 130, cmd.ProcessState.ExitCode(), stderr.String())
	assert.NotContains(t, s.run("stats").stdout, "azsearch-bench-")
}
