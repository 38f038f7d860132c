package database

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, p Place, query, column, from string) (*Rows, string) {
	t.Helper()
	r, err := p.Rows(t.Context(), query, column, from)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.Close()) })
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return r, string(text)
}

func sqlite(t *testing.T, statement string) Place {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	p, err := Parse("sqlite:" + path)
	require.NoError(t, err)
	db, err := p.Open(t.Context())
	require.NoError(t, err)
	_, err = db.Exec(statement)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return p
}

// TestOrderedQueryBeginsAtAnyKey has keys of several rows, keys that are NULL, and numbers that are no text.
func TestOrderedQueryBeginsAtAnyKey(t *testing.T) {
	p := sqlite(t, `CREATE TABLE a (id, name TEXT); INSERT INTO a VALUES (10, 'x'), ('b"
c', 'y'), (NULL, 'n'), (9, 'z'), (10, 'x'), (-3, ''), ('10', 'text'), (NULL, 'n'), ('b', 'w'), (10, 'x')`)
	for _, query := range []string{"SELECT id, name FROM a;\n", "SELECT CASE WHEN id > 0 THEN id + 0 END AS id, name FROM a -- computed", "SELECT name, CAST(id AS TEXT) AS id FROM a"} {
		r, whole := read(t, p, query, "id", "")
		require.GreaterOrEqual(t, strings.Count(whole, "\n"), 11)
		header := strings.IndexByte(whole, '\n') + 1
		all, kept := r.groups, 0
		for i, g := range all {
			var seen bytes.Buffer
			seen.WriteString(whole[:header])
			seen.WriteString(whole[g.offset:])
			_, rest := read(t, p, query, "id", g.key)
			assert.Equal(t, seen.String(), rest, "%s: from %s", query, g.key)
			if i > 0 {
				assert.Less(t, all[i-1].offset, g.offset)
			}
			kept++
		}
		assert.GreaterOrEqual(t, kept, 3)
		offset, key := r.Group(int64(len(whole)))
		assert.Equal(t, all[len(all)-1], group{offset, key})
		again, _ := r.Group(int64(len(whole)) + 1)
		assert.Equal(t, offset, again, "the last group is kept for the next block")
		_, none := r.Group(1)
		assert.Empty(t, none)
	}
}

func TestKeyThatCannotBeComparedIsRefused(t *testing.T) {
	p := sqlite(t, `CREATE TABLE a (id REAL, day TIMESTAMP, bytes BLOB); INSERT INTO a VALUES (1.5, '2026-11-30', x'00')`)
	for _, column := range []string{"id", "day", "bytes"} {
		r, err := p.Rows(t.Context(), "SELECT * FROM a", column, "")
		require.NoError(t, err)
		_, err = io.ReadAll(r)
		require.ErrorContains(t, err, "CAST("+column+" AS TEXT)")
		require.NoError(t, r.Close())
	}
	_, err := p.Rows(t.Context(), "SELECT id FROM a", "none", "")
	require.ErrorContains(t, err, `-resume orders the rows by column "none", which the query must have`)
}
