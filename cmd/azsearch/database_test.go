package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// The session infers an index from a table, loads it, changes both sides, compares and repairs them.
func TestDatabaseSession(t *testing.T) {
	testkit.Long(t)
	lists := map[string]string{"SQLite": "tags", "PostgreSQL": "to_json(tags) AS tags"}
	types := map[string]string{"SQLite": "TEXT", "PostgreSQL": "TEXT[]"}
	wifi := map[string]string{"SQLite": `'["wifi","a ""pool"""]'`, "PostgreSQL": `ARRAY['wifi','a "pool"']`}
	wifi["SQLite"] = strings.ReplaceAll(wifi["SQLite"], `""`, `\"`)
	for name, make := range databases {
		t.Run(name, func(t *testing.T) {
			url := make(t)
			place, err := database.Parse(url)
			require.NoError(t, err)
			db, err := place.Open(t.Context())
			require.NoError(t, err)
			defer func() { assert.NoError(t, db.Close()) }()
			exec := func(statement string) {
				t.Helper()
				_, err := db.Exec(statement)
				require.NoError(t, err)
			}
			exec("CREATE TABLE hotels (id TEXT PRIMARY KEY, name TEXT, stars INTEGER, rating DOUBLE PRECISION, open BOOLEAN, built TIMESTAMP, tags " + types[name] + ")")
			exec("INSERT INTO hotels VALUES ('1', 'The \"Ritz\",\n2nd', 5, 4.5, true, '2026-11-30 12:00:00', " + wifi[name] + ")")
			exec("INSERT INTO hotels VALUES ('2', '', NULL, NULL, NULL, NULL, NULL)")
			exec("INSERT INTO hotels (id, name, stars) VALUES ('3', 'Grüner Baum', 3)")
			query := "SELECT id, name, stars, rating, open, built, " + lists[name] + " FROM hotels"
			s := newSession(t, "", nil)
			e := startEmulator(t, "-quiet")
			s.url = e.url

			got := s.run("infer", "-index", "hotels", "-query", query, url)
			require.Zero(t, got.code, got.stderr)
			var index models.SearchIndex
			require.NoError(t, json.Unmarshal([]byte(got.stdout), &index))
			types := map[string]models.DataType{}
			for i, f := range index.Fields {
				types[f.Name] = f.Type
				if f.Name == "tags" { // the text holds JSON lists, which only a person can know
					index.Fields[i].Type = "Collection(Edm.String)"
				}
			}
			assert.Equal(t, map[string]models.DataType{"id": "Edm.String", "name": "Edm.String", "stars": "Edm.Int32", "rating": "Edm.Double", "open": "Edm.Boolean", "built": "Edm.DateTimeOffset", "tags": "Edm.String"}, types)
			definition, err := json.Marshal(index)
			require.NoError(t, err)
			s.write("hotels.json", string(definition))
			got = s.run("load", "-index", "hotels", "-create", "hotels.json", "-query", query, url)
			require.Zero(t, got.code, got.stderr)
			assert.Equal(t, "{\"id\":\"1\",\"name\":\"The \\\"Ritz\\\",\\n2nd\",\"stars\":5,\"rating\":4.5,\"open\":true,\"built\":\"2026-11-30T12:00:00Z\",\"tags\":[\"wifi\",\"a \\\"pool\\\"\"]}\n",
				s.run("search", "hotels", "-o", "jsonl", "-filter", "id eq '1'", "-select", "id,name,stars,rating,open,built,tags").stdout)
			got = s.run("verify", "-query", query, url, "hotels")
			require.Zero(t, got.code, got.stderr+got.stdout)
			assert.Equal(t, 2, strings.Count(got.stdout, "\t3 documents\t"))
			assert.NotContains(t, got.stdout+got.stderr, "S3CRET")

			exec("UPDATE hotels SET name = 'Ritz' WHERE id = '1'")
			exec("INSERT INTO hotels (id, name) VALUES ('4', 'New')")
			got = s.run("verify", "-query", query, "hotels", url)
			assert.Equal(t, 1, got.code)
			assert.Contains(t, got.stdout, "\"1\": differs\n\"4\": only in the second\n")
			got = s.run("repair", "-index", "hotels", "-pause", "1ms", "-yes", "-query", query, url)
			require.Zero(t, got.code, got.stderr)
			assert.Equal(t, "compared 4 documents with 3 of the index\n  1 missing: 4\n  1 different: 1\nwrote 2, deleted 0\n", got.stdout)
			require.Zero(t, s.run("verify", "-query", query, "hotels", url).code)

			exec("INSERT INTO hotels (id, name) VALUES ('not a key', 'x')")
			got = s.run("load", "-index", "hotels", "-action", "merge", "-query", "SELECT id, name FROM hotels", url)
			assert.Equal(t, 1, got.code)
			assert.Contains(t, s.file("rejects.jsonl"), "not a key")
			assert.NotContains(t, s.file("rejects.jsonl")+got.stderr, "S3CRET")
			refusedQueries(t, s, url)
			got = s.run("verify", "-query", query, url, url)
			assert.Equal(t, 2, got.code)
			assert.Contains(t, got.stderr, "two databases cannot be compared")
			assert.NotContains(t, got.stderr, "S3CRET")
			assert.Equal(t, 0, s.run("verify", "-query", query+" WHERE id <> 'not a key'", "hotels", url).code, "no query has changed a row")
		})
	}
}

// refusedQueries runs invalid queries. Each error is one line without a password.
func refusedQueries(t *testing.T, s *session, url string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "a.jsonl"), []byte(`{"id":"1"}`), 0o600))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-query", "SELECT id FROM none", url}, 1, "the query: "},
		{[]string{"-query", "DELETE FROM hotels RETURNING id", url}, 1, "the query: "},
		{[]string{"-query", "SELECT id, town FROM (SELECT id, name AS town FROM hotels) t", url}, 2, `column "town"`},
		{[]string{"-query", "SELECT id, id FROM hotels", url}, 1, "both named"},
		{[]string{url}, 2, "add -query"},
		{[]string{url, "a.jsonl"}, 2, "name only the database"},
		{[]string{"-query", "SELECT 1", "a.jsonl", url}, 2, "name only the database"},
		{[]string{"-query", "SELECT 1", "a.jsonl"}, 2, "-query reads one database"},
		{[]string{"-query", "SELECT 1", "-format", "csv", url}, 2, "-format is for files"},
		{[]string{"-query", "SELECT name FROM hotels", "-resume", "state", url}, 1, `-resume orders the rows by column "id", which the query must have`},
		{[]string{"-query", "SELECT 1", "sqlite:none.db"}, 1, "none.db"},
	} {
		got := s.run(append([]string{"load", "-index", "hotels", "-quiet", "-rejects", "more.jsonl"}, c.args...)...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.says, "%v", c.args)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
		assert.NotContains(t, got.stderr, "S3CRET")
	}
}
