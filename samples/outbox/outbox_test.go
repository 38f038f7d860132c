package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestMain(m *testing.M) {
	// The program starts itself, and in a test that is the test binary.
	for _, arg := range os.Args[1:] {
		if arg == "-role" {
			main()
		}
	}
	servers.Main(m)
}

// play runs the program, which must find the index equal to the table.
func play(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	// A file, which the processes inherit: each writes by itself, and several may at once.
	complaints, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer complaints.Close()
	code := run(ctx, args, strings.NewReader(""), &out, complaints)
	said, err := os.ReadFile(complaints.Name())
	require.NoError(t, err)
	require.Zero(t, code, "%s\n%s", said, &out)
	assert.Empty(t, string(said))
	assert.Contains(t, out.String(), "\nindex == table: yes. ")
	return out.String()
}

const bothKilled = `(?m)^killed    [1-9]\d* writers, [1-9]\d* relays$`

func TestIndexFollowsTheTable(t *testing.T) {
	out := play(t.Context(), t, "-for", "1s")
	assert.Contains(t, out, "in SQLite, ")
	assert.NotContains(t, out, "killed")
}

func TestIndexFollowsTheTableWhoeverIsKilled(t *testing.T) {
	assert.Regexp(t, bothKilled, play(t.Context(), t, "-kill", "-for", "3s"))
}

func TestIndexFollowsATableOfPostgreSQL(t *testing.T) {
	server := servers.Postgres(t)
	url := server.Database(t)
	out := play(t.Context(), t, "-for", "1s", "-dsn", url)
	assert.Contains(t, out, "in PostgreSQL, ")
	assert.Regexp(t, bothKilled, play(t.Context(), t, "-kill", "-for", "3s", "-dsn", url))

	s, err := place{dsn: url, schema: "public"}.open()
	require.NoError(t, err)
	defer s.db.Close()
	var left int
	require.NoError(t, s.db.QueryRow(`SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'outbox%'`).Scan(&left))
	assert.Zero(t, left, "it leaves no schema behind")
}

// Ctrl-C ends the writing; what was written is sent and compared.
func TestInterruptedRunIsComparedAsWell(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	play(ctx, t, "-for", "1h")
	assert.Less(t, time.Since(began), time.Minute)
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-nonsense"}, {"-for", "0s"}, {"-for", "-1s"}, {"-for", "soon"}, {"-role", "sleep"}, {"-dsn"}} {
		var out, complaints bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), args, nil, &out, &complaints), args)
		assert.Equal(t, 1, strings.Count(complaints.String(), "\n"), complaints.String())
		assert.Empty(t, out.String())
	}
	var out, complaints bytes.Buffer
	assert.Zero(t, run(t.Context(), []string{"-h"}, nil, &out, &complaints))
	assert.Contains(t, out.String(), "-kill")
	assert.Empty(t, complaints.String())
}

func TestWritingTakesLongerWithKills(t *testing.T) {
	for _, c := range []struct {
		args  []string
		lasts time.Duration
	}{{nil, 5 * time.Second}, {[]string{"-kill"}, 15 * time.Second}, {[]string{"-kill", "-for", "2s"}, 2 * time.Second}} {
		cfg, err := parseFlags(c.args, nil)
		require.NoError(t, err)
		assert.Equal(t, c.lasts, cfg.lasts, c.args)
	}
}

func TestServerThatIsNotThereIsOneLine(t *testing.T) {
	for _, dsn := range []string{"postgres://127.0.0.1:1/nowhere", "postgres://%", "nonsense"} {
		var out, complaints bytes.Buffer
		assert.Equal(t, exitProblem, run(t.Context(), []string{"-dsn", dsn}, nil, &out, &complaints), dsn)
		assert.Equal(t, 1, strings.Count(complaints.String(), "\n"), complaints.String())
		assert.Contains(t, complaints.String(), "outbox: ")
	}
}
