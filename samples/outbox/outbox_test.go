package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) {
	// The program starts itself as a worker, so the test binary must act as the program.
	for _, arg := range os.Args[1:] {
		if arg == "-worker" {
			main()
		}
	}
	servers.Main(m)
}

// play runs the program, which must find index and table equal.
func play(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	o := stagetest.Run(ctx, t, program, args...)
	require.Zero(t, o.Code, "%s\n%s", o.Err, o.Out)
	assert.Empty(t, o.Err)
	assert.Contains(t, o.Out, "\nindex == table: yes. ")
	return o.Out
}

const bothKilled = `(?m)^killed    [1-9]\d* writers, [1-9]\d* relays$`

func TestIndexFollowsTheTable(t *testing.T) {
	t.Parallel()
	out := play(t.Context(), t, "-for", "1s")
	assert.Contains(t, out, "in sqlite, ")
	assert.NotContains(t, out, "killed")
}

func TestIndexFollowsTheTableWhoeverIsKilled(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	assert.Regexp(t, bothKilled, play(t.Context(), t, "-kill", "-for", "3s"))
}

func TestIndexFollowsATableOfPostgreSQL(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	server := servers.Postgres(t)
	url := server.Database(t)
	out := play(t.Context(), t, "-for", "1s", "-dsn", url)
	assert.Contains(t, out, "in postgres")
	assert.Regexp(t, bothKilled, play(t.Context(), t, "-kill", "-for", "3s", "-dsn", url))

	s, err := place{DSN: url, Schema: "public"}.open()
	require.NoError(t, err)
	defer s.db.Close()
	var left int
	require.NoError(t, s.db.QueryRow(`SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'outbox%'`).Scan(&left))
	assert.Zero(t, left, "the sample leaves no schema behind")
}

// After Ctrl-C the committed changes are still sent and compared.
func TestInterruptedRunIsComparedAsWell(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	play(ctx, t, "-for", "1h")
	assert.Less(t, time.Since(began), time.Minute)
}

func TestServerThatIsNotThereIsOneLine(t *testing.T) {
	for _, dsn := range []string{"postgres://127.0.0.1:1/nowhere", "postgres://%", "nonsense"} {
		o := stagetest.Run(t.Context(), t, program, "-dsn", dsn)
		assert.Equal(t, stage.ExitProblem, o.Code, dsn)
		assert.Equal(t, 1, strings.Count(o.Err, "\n"), o.Err)
	}
}

func TestGuestOfARollbackIsNoticedInAnyRequest(t *testing.T) {
	changes := []searchtest.Change{{Key: "a"}, {Key: "b", Document: []byte(`{"guest":"Macbeth"}`)}, {Key: "c", Document: []byte(`{"guest":"` + ghost + ` 7"}`)}}
	assert.Len(t, haunted(changes), 1)
	assert.Empty(t, haunted(changes[:2]))
}
