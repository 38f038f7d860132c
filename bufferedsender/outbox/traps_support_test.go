package outbox

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// stressFor is the duration of tests under load: AZSEARCH_TEST_STRESS, which the soak sets, or one second.
func stressFor(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv("AZSEARCH_TEST_STRESS")
	if text == "" {
		return time.Second
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// copyDatabase dumps a database and restores it into an empty one.
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

// fewer is a tenth with -short, as under the race detector, which is ten times as slow.
func fewer(n int) int { return n / testkit.Cases(10, 1, 1) }
