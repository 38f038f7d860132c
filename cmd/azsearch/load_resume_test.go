package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The folder has a rejects file of another load, which a load with a checkpoint neither reads nor writes.
func TestResumeContinuesWithTheFileOfRejectsOfItsState(t *testing.T) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, map[string]string{
		"rejects.jsonl": "of another load\n", "good.jsonl": hotelLines(2), "bad.jsonl": "{\"id\":\"8\",\"stars\":\"five\"}\n{\"id\":\"9\",\"stars\":5}\n",
	})
	load := func(state, file string) ended { return s.run("load", "-index", "hotels", "-resume", state, file) }

	got := load("good.state", "good.jsonl")
	assert.Zero(t, got.code, got.stderr)
	got = load("good.state", "good.jsonl")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "nothing to do: an earlier run with this -resume read everything to the end")
	assert.NotContains(t, got.stderr, "loaded 0")

	got = load("bad.state", "bad.jsonl")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "see rejects-2.jsonl")
	rejected := s.file("rejects-2.jsonl")
	require.NoError(t, os.Remove(filepath.Join(s.dir, "rejects.jsonl")), "the name is free now")
	got = load("bad.state", "bad.jsonl")
	assert.Equal(t, 1, got.code, "rejected records are still not in the index")
	assert.Contains(t, got.stderr, "nothing to do")
	assert.Contains(t, got.stderr, "see rejects-2.jsonl")
	assert.Equal(t, rejected, s.file("rejects-2.jsonl"))
	assert.NoFileExists(t, filepath.Join(s.dir, "rejects.jsonl"))
}

// A second load of a checkpoint would replace the file of rejects to which the first one writes.
func TestOneLoadAtATimeHasACheckpoint(t *testing.T) {
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, map[string]string{"a.jsonl": hotelLines(2)})
	unlock, err := disk.Lock(filepath.Join(s.dir, "state.lock"))
	require.NoError(t, err)
	got := s.run("load", "-index", "hotels", "-resume", "state", "a.jsonl")
	assert.NotZero(t, got.code)
	assert.Contains(t, got.stderr, fmt.Sprintf("-resume state: it is locked by process %d", os.Getpid()))
	assert.NoFileExists(t, filepath.Join(s.dir, "state"))
	require.NoError(t, unlock())
	for range 2 {
		got = s.run("load", "-index", "hotels", "-resume", "state", "a.jsonl")
		assert.Zero(t, got.code, got.stderr)
	}
}

// The first run leaves a checkpoint before the last keys, which a later one must not read again.
func TestFinishedLoadOfADatabaseReadsNothingAgain(t *testing.T) {
	url := databases["SQLite"](t)
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
	exec("CREATE TABLE hotels (id TEXT, name TEXT)")
	exec("INSERT INTO hotels WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT 'k' || i, 'x' FROM n")
	exec("INSERT INTO hotels VALUES (NULL, 'a'), (NULL, 'b'), (NULL, 'c'), (NULL, 'd'), (NULL, 'e')")
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	s := newSession(t, e.url, nil)
	args := []string{"load", "-index", "hotels", "-resume", "state", "-json", "-quiet", "-query", "SELECT * FROM hotels", url}
	got := s.run(args...)
	require.Equal(t, 1, got.code, got.stderr)
	require.EqualValues(t, 10, e.count(t))
	rejected := s.file("rejects.jsonl")
	require.Equal(t, 5, strings.Count(rejected, "\n"))

	exec("INSERT INTO hotels VALUES ('z1', 'new'), ('z2', 'new')")
	for range 2 {
		got = s.run(args...)
		assert.Equal(t, 1, got.code, "rejected records are still not in the index")
		assert.Contains(t, got.stdout, `"records":0,"completed":0,"rejected":5`)
		assert.Contains(t, got.stdout, `"done":true`)
		assert.Contains(t, got.stderr, "not in the index: 5 of 5 records")
		assert.EqualValues(t, 10, e.count(t))
		assert.Equal(t, rejected, s.file("rejects.jsonl"), "each reject is there once")
	}
	assert.Contains(t, s.run("load", "-index", "hotels", "-resume", "state", "-query", "SELECT * FROM hotels", url).stderr, "to load it again, or rows of a query added since, remove its file\n")
	require.NoError(t, os.Remove(filepath.Join(s.dir, "state")))
	require.Equal(t, 1, s.run(append([]string{"load", "-rejects", "more.jsonl"}, args[1:]...)...).code)
	assert.EqualValues(t, 12, e.count(t))
}

// TestLoadOfADatabaseThatIsKilledLeavesNoGap kills a load of rows that are in no order, with numbers as keys, some of
// them of two rows and some NULL.
func TestLoadOfADatabaseThatIsKilledLeavesNoGap(t *testing.T) {
	testkit.Long(t)
	const rows = 20_000
	for name, make := range databases {
		t.Run(name, func(t *testing.T) {
			url := make(t)
			place, err := database.Parse(url)
			require.NoError(t, err)
			db, err := place.Open(t.Context())
			require.NoError(t, err)
			defer func() { assert.NoError(t, db.Close()) }()
			for _, statement := range []string{
				"CREATE TABLE hotels (id BIGINT, name TEXT, stars TEXT)",
				fmt.Sprintf(`INSERT INTO hotels WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
					SELECT i * 7919 %% %[2]d, '%[3]s', CASE WHEN i %% 1000 = 7 THEN 'many' ELSE '5' END FROM n`, rows-1, rows, strings.Repeat("x", 400)),
				"INSERT INTO hotels SELECT id, 'twice', '5' FROM hotels WHERE stars = '5' AND id % 100 = 0",
				"INSERT INTO hotels VALUES (NULL, 'none', '5'), (NULL, 'none', '5')",
			} {
				_, err = db.Exec(statement)
				require.NoError(t, err)
			}
			e := startEmulator(t, "-quiet", "-latency", "20ms")
			e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
			s := newSession(t, e.url, nil)
			args := []string{"load", "-index", "hotels", "-resume", "state.json", "-in-flight", "1", "-quiet", "-query", "SELECT * FROM hotels;", url}
			count := func() int { return int(e.count(t)) }
			for range 3 {
				cmd, enough := s.command(args...), count()+1
				require.NoError(t, cmd.Start())
				testkit.Eventually(t, func() bool { return count() >= enough })
				require.NoError(t, cmd.Process.Kill())
				require.Error(t, cmd.Wait(), "it ended before it was killed")
			}
			got := s.run(args...)
			assert.Equal(t, 1, got.code, got.stderr)
			assert.Equal(t, rows-rows/1000, count())
			assert.Equal(t, rows/1000+2, strings.Count(s.file("rejects.jsonl"), "\n"), "each reject is there once")
			assert.NotContains(t, s.file("state.json")+s.file("rejects.jsonl"), "S3CRET")
			got = s.run(append(args[:len(args)-2:len(args)-2], "SELECT * FROM hotels WHERE id > 5", url)...)
			assert.Equal(t, 2, got.code)
			assert.Contains(t, got.stderr, "the checkpoint is of a query of")
			assert.Contains(t, s.run(args...).stderr, "records")
		})
	}
}

// Before the index exists, every mistake that shows without reading records is found: a definition that was wrong can
// be corrected only while there is no index.
func TestIndexIsCreatedWhenNothingIsWrongWithTheCommand(t *testing.T) {
	e := startEmulator(t, "-quiet")
	other := strings.Replace(hotelFields, `"Edm.Int32"`, `"Edm.Double"`, 1)
	require.NotEqual(t, hotelFields, other)
	s := newSession(t, e.url, map[string]string{
		"hotels.json": hotelFields, "other.json": other, "odd.csv": "id,Hotel Name\n1,x\n", "hotels.jsonl": hotelLines(2), "rejects.jsonl": "of another load\n",
	})
	for wrong, args := range map[string][]string{
		`odd.csv: column "Hotel Name": the index has no such field; -map 'Hotel Name=FIELD' renames it, -map 'Hotel Name=' leaves it out; index hotels was not created`: {"odd.csv"},
		`-map x=y`:                          {"-map", "x=y", "hotels.jsonl"},
		`the standard input cannot be read`: {"-resume", "state", "-"},
		`the file has rejects`:              {"-rejects", "rejects.jsonl", "hotels.jsonl"},
		`directory no does not exist`:       {"-resume", "no/state", "hotels.jsonl"},
		`-queue`:                            {"-queue", "redis://127.0.0.1:1/0?name=x", "hotels.jsonl"},
	} {
		got := s.run(append([]string{"load", "-create", "hotels.json"}, args...)...)
		assert.NotZero(t, got.code, wrong)
		assert.Contains(t, got.stderr, wrong)
		assert.NotContains(t, s.run("stats").stdout, "hotels", wrong)
	}

	got := s.run("load", "-create", "hotels.json", "-resume", "state", "hotels.jsonl")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "azsearch: created index hotels\n")
	got = s.run("load", "-create", "hotels.json", "-resume", "state", "hotels.jsonl")
	assert.Zero(t, got.code, got.stderr)
	assert.NotContains(t, got.stderr, "created")
	assert.NotContains(t, got.stderr, "differs")
	got = s.run("load", "-create", "other.json", "-resume", "state", "hotels.jsonl")
	assert.Contains(t, got.stderr, "index hotels exists, and -create does not change it: fields/")

	// The checkpoint says that all is loaded, which is no longer true.
	e.call(t, http.DefaultClient, http.MethodDelete, "/indexes/hotels", searchtest.AdminKey, "")
	got = s.run("load", "-create", "hotels.json", "-resume", "state", "hotels.jsonl")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "index hotels does not exist any more; remove the file to load everything again")
	assert.NotContains(t, s.run("stats").stdout, "hotels")

	// What the message on a changed index advises.
	require.NoError(t, os.Remove(filepath.Join(s.dir, "state")))
	require.Zero(t, s.run("load", "-create", "hotels.json", "-resume", "state", "hotels.jsonl").code)
	e.call(t, http.DefaultClient, http.MethodDelete, "/indexes/hotels", searchtest.AdminKey, "")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotelFields)
	got = s.run("load", "-index", "hotels", "-resume", "state", "hotels.jsonl")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, `if it kept its documents, remove "etag" from the file`)
	state := s.file("state")
	at := strings.Index(state, `  "etag"`)
	end := at + strings.Index(state[at:], "\n") + 1
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "state"), []byte(state[:at]+state[end:]), 0o600))
	got = s.run("load", "-index", "hotels", "-resume", "state", "hotels.jsonl")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "nothing to do")
}
