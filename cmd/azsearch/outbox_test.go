package main

import (
	"context"
	"database/sql"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// databases creates an empty database of each kind. Its URL has a password where possible.
var databases = map[string]func(t *testing.T) string{
	"SQLite": func(t *testing.T) string {
		path := filepath.Join(t.TempDir(), "a b.db")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return "sqlite:" + path
	},
	"PostgreSQL": func(t *testing.T) string {
		return strings.Replace(servers.NewPostgres(t).Database(t), "@", ":S3CRET@", 1)
	},
}

// The session inspects an outbox with two rows and three dead letters, pauses it, and retries one dead letter.
func TestOutboxSession(t *testing.T) {
	for name, make := range databases {
		t.Run(name, func(t *testing.T) {
			url := make(t)
			s := newSession(t, "emulator", nil)
			got := s.run("outbox", "check", url)
			assert.Equal(t, 1, got.code)
			assert.Contains(t, got.stderr, "outbox.Migrate")
			fillOutbox(t, url)

			got = s.run("outbox", "check", url)
			assert.Zero(t, got.code, got.stderr)
			assert.Regexp(t, `^the tables of .+ have the right schema\n$`, got.stdout)
			url += map[bool]string{true: "&", false: "?"}[strings.Contains(url, "?")] + "name=hotels"
			got = s.run("outbox", "lag", url)
			assert.Regexp(t, `^waiting: 2 rows, the oldest for \S+; 3 dead letters\n$`, got.stdout)
			got = s.run("outbox", "letters", url, "-limit", "2", "-bodies")
			assert.Zero(t, got.code, got.stderr)
			assert.Regexp(t, `^number +key +action +died +reason +status +message
3 +a +upload +1970-\S+ +document +400 +bad\\u001b
 +\{"id":"a"\}
4 +b +delete +1970-\S+ +document \(the key has newer rows\) +400 +bad\\u001b
… and more: -limit is 2
$`, got.stdout)
			got = s.run("outbox", "letters", url, "-limit", strconv.Itoa(math.MaxInt))
			assert.Zero(t, got.code, got.stderr)
			assert.Contains(t, got.stdout, "\n5 ")
			assert.Equal(t, ended{0, "{\"paused\":true}\n", ""}, s.run("outbox", "pause", url, "-json"))
			got = s.run("doctor", "-endpoint", "emulator", "-outbox", url)
			assert.Zero(t, got.code, got.stderr)
			assert.Contains(t, got.stdout, "warning  outbox       paused, waiting: 2 rows")
			assert.Contains(t, got.stdout, "warning  outbox       3 dead letters")
			assert.Contains(t, s.run("outbox", "lag", url, "-json").stdout, `"paused":true`)
			assert.Equal(t, 0, s.run("outbox", "resume", url).code)

			got = s.run("outbox", "retry", url, "3", "4", "7")
			assert.Equal(t, 1, got.code)
			assert.Equal(t, "waiting again: 1\n", got.stdout)
			assert.Contains(t, got.stderr, "left: 2; dead letter 7: ")
			assert.Equal(t, ended{0, "{\"discarded\":2}\n", ""}, s.run("outbox", "discard", "-all", "-yes", "-json", url))
			assert.Equal(t, 1, s.run("outbox", "discard", url, "5").code)
			got = s.run("outbox", "lag", url)
			assert.Regexp(t, `^waiting: 3 rows, .*; 0 dead letters\n$`, got.stdout)
			assert.Equal(t, ended{0, "no dead letters\n", ""}, s.run("outbox", "letters", url))
			assert.NotContains(t, got.stdout+got.stderr, "S3CRET")
		})
	}
}

// fillOutbox creates the outbox.
func fillOutbox(t *testing.T, url string) {
	ctx := t.Context()
	place, err := database.Parse(url)
	require.NoError(t, err)
	assert.NotContains(t, place.String(), "S3CRET")
	db, err := place.Open(ctx)
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, outbox.Migrate(ctx, db, place.Dialect, nil))
	to := &outbox.Table{Dialect: place.Dialect, Queue: "hotels", KeyField: "id"}
	inTransaction(ctx, t, db, func(tx *sql.Tx) {
		for _, key := range []string{"x", "y", "a", "b", "c"} { // numbers 1 to 5
			require.NoError(t, outbox.Write(ctx, tx, to, models.UploadAction(map[string]string{"id": key})))
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO azsearch_outbox_dead (queue, seq, class, key, op, body, written, attempts, status, reason, message, died, newer) VALUES
			('hotels', 3, 0, 'a', 'upload', '{"id":"a"}', 1, 1, 400, 'document', 'bad`+"\x1b"+`', 1, 0), ('hotels', 4, 0, 'b', 'delete', NULL, 1, 1, 400, 'document', 'bad`+"\x1b"+`', 1, 9),
			('hotels', 5, 0, 'c', 'delete', NULL, 1, 1, 400, 'document', 'bad', 1, 0)`)
		require.NoError(t, err)
		_, err = tx.ExecContext(ctx, `DELETE FROM azsearch_outbox WHERE key IN ('a', 'b', 'c')`)
		require.NoError(t, err)
	})
}

func inTransaction(ctx context.Context, t *testing.T, db *sql.DB, do func(tx *sql.Tx)) {
	tx, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	do(tx)
	require.NoError(t, tx.Commit())
}

func TestRetryOfAllKeepsTheLastStateOfAKey(t *testing.T) {
	url := databases["SQLite"](t)
	fillOutbox(t, url)
	place, err := database.Parse(url)
	require.NoError(t, err)
	db, err := place.Open(t.Context())
	require.NoError(t, err)
	defer db.Close()
	for _, statement := range []string{`DELETE FROM azsearch_outbox_dead`, `INSERT INTO azsearch_outbox_dead (queue, seq, class, key, op, body, written, attempts, status, reason, message, died, newer) VALUES
		('hotels', 3, 0, 'a', 'upload', '{"id":"a","n":1}', 1, 1, 400, 'document', 'bad', 1, 0), ('hotels', 5, 0, 'a', 'upload', '{"id":"a","n":2}', 1, 1, 400, 'document', 'bad', 1, 0)`} {
		_, err = db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	got := newSession(t, "emulator", nil).run("outbox", "retry", url+"?name=hotels", "-all", "-yes")
	assert.Equal(t, "waiting again: 1\n", got.stdout)
	assert.Contains(t, got.stderr, "left: 1; dead letter 3: ")
	var body string
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT body FROM azsearch_outbox WHERE key = 'a'`).Scan(&body))
	assert.JSONEq(t, `{"id":"a","n":2}`, body)
}

func TestOutboxCommandsRefuseWhatCannotWorkInOneLine(t *testing.T) {
	s := newSession(t, "emulator", map[string]string{"x.db": ""})
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"lag"}, "the database is missing"},
		{[]string{"lag", "mysql://u:S3CRET@h/d?name=x"}, "postgres://USER@HOST:5432/DATABASE or sqlite:FILE"},
		{[]string{"lag", "postgres://u:S3CRET%@h/d?name=x"}, "%XX"},
		{[]string{"lag", "postgres://u:S3CRET@h:1/d?name=x&sslmode=S3CRET"}, "check postgres://u@h:1/d"},
		{[]string{"lag", "postgres://u:S3CRET@127.0.0.1:1/d?name=x"}, "cannot be reached"},
		{[]string{"lag", "sqlite:x.db"}, "?name=QUEUE"},
		{[]string{"lag", "sqlite:none.db?name=x"}, "none.db"},
		{[]string{"lag", "sqlite:x.db?name=x", "-name", "y"}, "two names"},
		{[]string{"lag", "sqlite:x.db?name=x", "y"}, "unknown argument"},
		{[]string{"letters", "sqlite:x.db?name=x", "-limit", "0"}, "-limit 0"},
		{[]string{"retry", "sqlite:x.db?name=x"}, "or use -all"},
		{[]string{"retry", "sqlite:x.db?name=x", "-all"}, "-yes"},
		{[]string{"discard", "sqlite:x.db?name=x", "a"}, "not the number"},
	} {
		got := s.run(append([]string{"outbox"}, c.args...)...)
		assert.Equal(t, 2, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.says, "%v", c.args)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
		assert.NotContains(t, got.stdout+got.stderr, "S3CRET")
	}
}
