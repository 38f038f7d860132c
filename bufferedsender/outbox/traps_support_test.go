package outbox

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// stressFor is how long tests under load take: AZSEARCH_TEST_STRESS, three seconds without it, or one with -short.
func stressFor(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("AZSEARCH_TEST_STRESS")
	if text == "" && testing.Short() {
		return time.Second
	}
	if text == "" {
		return 3 * time.Second
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// copyDatabase dumps one database and restores it into an empty one.
func copyDatabase(t testing.TB, server *servers.PostgresServer, from, to string) {
	t.Helper()
	file := t.TempDir() + "/dump"
	for _, command := range [][]string{
		{server.Program("pg_dump"), "--format=custom", "--file", file, from},
		{server.Program("pg_restore"), "--dbname", to, file},
	} {
		out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// fewer is a tenth with -short, and under the race detector, with which all is ten times as slow: it looks for
// races, and the other run for what is large.
func fewer(n int) int {
	if raceEnabled || testing.Short() {
		return n / 10
	}
	return n
}
