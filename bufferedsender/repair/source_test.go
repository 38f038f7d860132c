package repair

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func rowsOf(t *testing.T, rows iter.Seq2[models.Row, error]) (all []models.Row) {
	t.Helper()
	for row, err := range rows {
		require.NoError(t, err)
		all = append(all, row)
	}
	return all
}

func keysOf(rows []models.Row) (keys []string) {
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	return keys
}

// checkSource checks the contract of a source with the keys 0001 to 2500.
func checkSource(t *testing.T, s Source) {
	t.Helper()
	all := rowsOf(t, s.Scan(t.Context(), "", ""))
	require.Len(t, all, 2500)
	assert.Equal(t, []string{"0001", "2500"}, []string{all[0].Key, all[2499].Key})
	assert.Equal(t, []string{"1001", "1002"}, keysOf(rowsOf(t, s.Scan(t.Context(), "1000", "1002"))))
	assert.Equal(t, []string{"1001"}, keysOf(rowsOf(t, s.Scan(t.Context(), "1000x", "1001x"))))
	assert.Empty(t, rowsOf(t, s.Scan(t.Context(), "2500", "")))
	for _, err := range s.Scan(t.Context(), "", "") {
		require.NoError(t, err)
		break
	}
	some, err := s.Lookup(t.Context(), []string{"2400", "0003", "none", "1500", "0004", "9"})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"2400", "0003", "1500", "0004"}, keysOf(some))
	for _, r := range some {
		assert.EqualValues(t, 7, r.Version)
	}
	none, err := s.Lookup(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, none)
	documents, err := s.Read(t.Context(), []string{"2400", "0003", "none"})
	require.NoError(t, err)
	var read []string
	for _, d := range documents {
		read = append(read, d.Key)
		assert.Contains(t, string(d.Document), d.Key)
		assert.Equal(t, models.ActionTypeUpload, d.Type)
	}
	assert.ElementsMatch(t, []string{"2400", "0003"}, read)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Lookup(ctx, []string{"0003"})
	require.Error(t, err)
	failed := false
	for _, err := range s.Scan(ctx, "", "") {
		failed = err != nil
	}
	assert.True(t, failed, "a scan that was ended is not at its end")
}

type thing struct {
	ID      string `json:"id" search:"key"`
	Version int64  `json:"version"`
}

func TestATableIsASource(t *testing.T) {
	db := newTable(t)
	load := func(ctx context.Context, keys []string) (all []thing, err error) {
		for _, k := range keys {
			var d thing
			err := db.QueryRowContext(ctx, "SELECT id, version FROM things WHERE id = ?", k).Scan(&d.ID, &d.Version)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, d)
		}
		return all, nil
	}
	s := &SQLSource{DB: db, Table: "things", Key: "id", Version: "version", Digest: "hash", Hidden: "draft", Load: Uploads(load, func(d thing) string { return d.ID })}
	checkSource(t, s)
	s.PageRows = 2500 // the last page is full
	assert.Len(t, rowsOf(t, s.Scan(t.Context(), "", "")), 2500)
	s.Placeholder = Dollar // SQLite supports it, too
	checkSource(t, s)
	s.Placeholder = AtP
	_, err := s.Lookup(t.Context(), []string{"1"})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "WHERE id IN (@p1)")

	s = &SQLSource{DB: db, Table: "(SELECT * FROM things WHERE id < '0010') AS few", Key: "id", Version: "changed", Load: s.Load}
	few := rowsOf(t, s.Scan(t.Context(), "", ""))
	require.Len(t, few, 9)
	assert.Equal(t, time.Date(2026, 11, 26, 1, 2, 3, 500, time.UTC).UnixMilli(), few[0].Version)

	s = &SQLSource{DB: db, Table: "things", Key: "id", Digest: "hash", Hidden: "id = '0002'", Load: s.Load}
	few = rowsOf(t, s.Scan(t.Context(), "", "0002"))
	assert.Equal(t, []models.Row{{Key: "0001", Digest: "h0001"}, {Key: "0002", Digest: "h0002", Hidden: true}}, few)
}

// The table's collation differs from that of the index.
func TestATableInAnotherOrderIsRefused(t *testing.T) {
	db := newTable(t)
	for _, id := range []string{"a", "B", "c", "D"} {
		_, err := db.ExecContext(t.Context(), "INSERT INTO things (id, version) VALUES (?, 7)", id)
		require.NoError(t, err)
	}
	s := &SQLSource{DB: db, Table: "things", Key: "id COLLATE NOCASE", Version: "version", Load: func(context.Context, []string) ([]models.RawAction, error) { return nil, nil }}
	_, err := repairer(s, half{newWorld(t), "index"}, nil, &Options{DryRun: true, Logger: quiet}).Run(t.Context())
	var e *OrderError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, OrderError{Side: "source", After: "a", Key: "B"}, *e)
}

func TestWhatATableLacksIsSaid(t *testing.T) {
	for _, err := range (&SQLSource{PageRows: -1}).Scan(t.Context(), "", "") {
		for _, says := range []string{"DB is nil", "the Table and the Key are required", "Load is nil", "PageRows is -1"} {
			assert.ErrorContains(t, err, says)
		}
	}
	_, err := (&SQLSource{}).Read(t.Context(), nil)
	require.Error(t, err)
	db := newTable(t)
	bad := &SQLSource{DB: db, Table: "things", Key: "id", Version: "hash", Load: func(context.Context, []string) ([]models.RawAction, error) { return nil, nil }}
	rows, err := bad.Lookup(t.Context(), []string{"0001"})
	require.NoError(t, err)
	assert.Contains(t, rows[0].Problem, "neither a whole number nor a time")
	_, err = repairer(bad, half{newWorld(t), "index"}, nil, &Options{DryRun: true, Logger: quiet}).Run(t.Context())
	assert.ErrorContains(t, err, "none of 500 rows of the source can be compared: the key \"0001\": the column hash")
}

func newTable(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "t.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), "CREATE TABLE things (id TEXT PRIMARY KEY, version INTEGER, hash TEXT, draft INTEGER DEFAULT 0, changed TEXT DEFAULT '2026-11-26T01:02:03.0000005Z')")
	require.NoError(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	for i := range 2500 {
		id := fmt.Sprintf("%04d", i+1)
		_, err := tx.ExecContext(t.Context(), "INSERT INTO things (id, version, hash) VALUES (?, 7, ?)", id, "h"+id)
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit())
	return db
}

func TestAFileIsASource(t *testing.T) {
	var b strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&b, "{\"id\":\"%04d\",\"version\":7,\"n\":%d}\n", i+1, i)
	}
	path := filepath.Join(t.TempDir(), "things.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(b.String()+"\n"), 0o600))
	j, err := OpenJSONL(path, &JSONLOptions{Key: "id", Version: "version"})
	require.NoError(t, err)
	checkSource(t, j)
	require.NoError(t, j.Close())
	digests, err := OpenJSONL(path, &JSONLOptions{Key: "id", DigestOf: []string{"n"}})
	require.NoError(t, err)
	defer digests.Close()
	first := rowsOf(t, digests.Scan(t.Context(), "", "0002"))
	assert.NotEqual(t, first[0].Digest, first[1].Digest)
	assert.Len(t, first[0].Digest, 32)

	require.NoError(t, os.WriteFile(path, []byte("{}"), 0o600))
	for _, err := range digests.Scan(t.Context(), "", "") {
		require.ErrorContains(t, err, "has changed since it was opened")
	}
}

// The open file stays as it was.
func TestAFileRenamedIntoPlaceIsNoticed(t *testing.T) {
	t.Chdir(t.TempDir())
	const path = "things.jsonl"
	text := []byte(`{"id":"a"}`)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	j, err := OpenJSONL(path, &JSONLOptions{Key: "id"})
	require.NoError(t, err)
	defer j.Close()
	require.NoError(t, os.WriteFile(path+".new", text, 0o600))
	require.NoError(t, os.Rename(path+".new", path))
	t.Chdir(t.TempDir())
	const says = "has changed since it was opened: open it again"
	for _, err := range j.Scan(t.Context(), "", "") {
		require.ErrorContains(t, err, says)
	}
	_, err = j.Lookup(t.Context(), []string{"a"})
	require.ErrorContains(t, err, says)
	_, err = j.Read(t.Context(), []string{"a"})
	require.ErrorContains(t, err, says)
}

// Otherwise a lookup of keys that are far apart reads most of a large file, within its minute.
func TestLargeDocumentsHavePlacesByBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.jsonl")
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "{\"id\":\"%04d\",\"vector\":%q}\n", i, strings.Repeat("0", 100_000))
	}
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	j, err := OpenJSONL(path, &JSONLOptions{Key: "id"})
	require.NoError(t, err)
	defer j.Close()
	assert.Len(t, j.places, 4)
	rows, err := j.Lookup(t.Context(), []string{"0000", "0010", "0011", "0039", "x"})
	require.NoError(t, err)
	assert.Len(t, rows, 4)
}

func TestWhatIsWrongInAFileIsSaidWithItsLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "things.jsonl")
	for text, says := range map[string]string{
		`{"id":"b"}` + "\n" + `{"id":"a"}`:     `line 2 of ` + path + `: the key "a" comes behind "b": sort the lines`,
		`{"id":"b"}` + "\n\n" + `{"id":"b"}`:   `line 3 of ` + path + ` has the key "b" again`,
		"\n{bad":                               "line 2 of",
		`{"id":1}`:                             "must be a string that is not empty",
		`{"x":"b"}`:                            "must be a string that is not empty",
		`{"id":"b","version":1.5}`:             "neither a whole number nor a time",
		`{"id":"b"`:                            "line 1",
		`{"id":"a"}` + "\n" + `{"id":"b","ver`: "line 2",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := OpenJSONL(path, &JSONLOptions{Key: "id", Version: "version"})
		assert.ErrorContains(t, err, says)
	}
	_, err := OpenJSONL(path, nil)
	assert.ErrorContains(t, err, "name the field with the key")
	_, err = OpenJSONL(path, &JSONLOptions{Key: "id", Digest: "d", DigestOf: []string{"n"}})
	assert.ErrorContains(t, err, "use one of them")
	_, err = OpenJSONL(path+"x", &JSONLOptions{Key: "id"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFunctionsAreASource(t *testing.T) {
	db := newTable(t)
	table := &SQLSource{DB: db, Table: "things", Key: "id", Version: "version", Load: Uploads(func(_ context.Context, keys []string) (all []thing, _ error) {
		for _, k := range keys {
			if len(k) == 4 && k != "none" {
				all = append(all, thing{ID: k})
			}
		}
		return all, nil
	}, func(d thing) string { return d.ID })}
	checkSource(t, Functions{ScanRows: table.Scan, ReadKeys: table.Load})
	checkSource(t, Functions{ScanRows: table.Scan, LookupKeys: table.Lookup, ReadKeys: table.Load})
	for _, err := range (Functions{}).Scan(t.Context(), "", "") {
		require.ErrorContains(t, err, "ScanRows of the source is nil")
	}
	_, err := Functions{}.Read(t.Context(), nil)
	require.ErrorContains(t, err, "ReadKeys")
	for key, want := range map[string]string{"": "", "b": "a", "a\x00": "a", "ab": "aa"} {
		assert.Equal(t, want, before(key))
	}
}

// The test uses the client and the emulator, as an application does.
func TestATableAndAnIndexOfTheServiceAreMadeEqual(t *testing.T) {
	service := searchtest.NewServer(nil)
	defer service.Close()
	require.NoError(t, service.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
		{"name":"version","type":"Edm.Int64","filterable":true},{"name":"hash","type":"Edm.String"}]}`))
	client := sendertest.NewClient(t, service)
	sender, err := bufferedsender.New(client, &bufferedsender.Options[thing]{Logger: quiet})
	require.NoError(t, err)
	defer sender.Close(t.Context())
	for i := range 2400 {
		require.NoError(t, sender.UploadDocuments(t.Context(), thing{ID: fmt.Sprintf("%04d", i+10), Version: 7}))
	}
	require.NoError(t, sender.UploadDocuments(t.Context(), thing{ID: "0700", Version: 6}, thing{ID: "9999", Version: 1}))
	require.NoError(t, sender.Flush(t.Context(), nil))

	table := &SQLSource{DB: newTable(t), Table: "things", Key: "id", Version: "version", Load: Uploads(func(_ context.Context, keys []string) (all []thing, _ error) {
		for _, k := range keys {
			if k != "9999" {
				all = append(all, thing{ID: k, Version: 7})
			}
		}
		return all, nil
	}, func(d thing) string { return d.ID })}
	rows, err := search.NewRows(client, &search.RowsOptions{Version: "version"})
	require.NoError(t, err)
	opts := &Options{Pause: time.Millisecond, Splits: []string{"0500", "1700"}, Logger: quiet}
	report, err := repairer(table, rows, sender.Raw(), opts).Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []int64{100, 1, 1, 101, 1}, []int64{report.Missing, report.Different, report.Surplus, report.Repaired, report.Deleted})
	report, err = repairer(table, rows, sender.Raw(), opts).Run(t.Context())
	require.NoError(t, err)
	assert.True(t, report.Agrees())
	assert.Equal(t, []int64{2500, 2500}, []int64{report.SourceRows, report.IndexRows})
}

func TestVersionsOnOneSideAreRefused(t *testing.T) {
	client, err := search.NewClientWithKey("https://example.search.windows.net", "hotels", azcore.NewKeyCredential("key"), nil)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "things.jsonl")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for _, version := range []string{"", "version"} {
		rows, err := search.NewRows(client, &search.RowsOptions{Version: version})
		require.NoError(t, err)
		for _, other := range []string{"", "version"} {
			j, err := OpenJSONL(path, &JSONLOptions{Key: "id", Version: other})
			require.NoError(t, err)
			for _, source := range []Source{j, &SQLSource{Version: other}} {
				_, err = repairer(source, rows, nil, &Options{DryRun: true}).newPass()
				switch version {
				case other:
					require.NoError(t, err)
				case "":
					require.ErrorContains(t, err, "the source has versions and the index has none")
				default:
					require.ErrorContains(t, err, "the index has versions and the source has none")
				}
			}
			require.NoError(t, j.Close())
		}
	}
}
