package repair

import (
	"context"
	"database/sql"
	"iter"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// lostOf has a table with the keys 0 to 59 in a column of a type, and a world whose index and tree have lost some of
// them.
func lostOf(t *testing.T, column string) (*treed, *SQLSource) {
	t.Helper()
	w := withTree(t, newWorld(t), digesttree.Options{Empty: true})
	db := newTable(t)
	_, err := db.ExecContext(t.Context(), "CREATE TABLE lost (id "+column+", version INTEGER)")
	require.NoError(t, err)
	for i := range 60 {
		var id any = strconv.Itoa(i)
		if column[0] == 'B' {
			id = []byte(strconv.Itoa(i))
		}
		_, err := db.ExecContext(t.Context(), "INSERT INTO lost VALUES (?, 2)", id)
		require.NoError(t, err)
		if i%10 != 3 {
			require.NoError(t, w.sender.UploadDocuments(t.Context(), hotel{ID: strconv.Itoa(i), Version: 2}))
		}
	}
	require.NoError(t, w.sender.Flush(t.Context(), nil))
	load := func(_ context.Context, keys []string) (all []hotel, err error) {
		for _, k := range keys {
			all = append(all, hotel{ID: k, Version: 2})
		}
		return all, nil
	}
	return w, &SQLSource{DB: db, Table: "lost", Key: "id", Version: "version", Load: Uploads(load, func(h hotel) string { return h.ID })}
}

// In SQLite no number is greater than ”, so a scan found none and a lookup found all. Every difference disappeared,
// and the pass reported agreement.
func TestKeysThatAreNumbersAreRefused(t *testing.T) {
	o := &Options{Pause: time.Millisecond, Logger: quiet}
	const says = `(int64): the column id is not text that sorts by bytes. Use Key: "CAST(id AS TEXT)"`
	w, s := lostOf(t, "INTEGER PRIMARY KEY")
	var scanned error
	for _, err := range s.Scan(t.Context(), "", "") {
		scanned = err
	}
	require.ErrorContains(t, scanned, says)
	report, err := repairer(s, half{w.world, "index"}, w.sender.Raw(), o).Run(t.Context())
	require.ErrorContains(t, err, says)
	assert.False(t, report.Agrees())
	_, err = repairer(s, half{w.world, "index"}, w.sender.Raw(), o).RunTree(t.Context(), w.tree)
	require.ErrorContains(t, err, says)
	_, err = repairer(s, half{w.world, "index"}, w.sender.Raw(), o).RunKeys(t.Context(), "3")
	require.ErrorContains(t, err, says)

	s.Key = "CAST(id AS TEXT)"
	report, err = repairer(s, half{w.world, "index"}, w.sender.Raw(), o).Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []int64{60, 54, 6, 6}, []int64{report.SourceRows, report.IndexRows, report.Missing, report.Repaired})
	s.Key = "CAST(id AS REAL)"
	_, err = s.Lookup(t.Context(), []string{"3"})
	require.ErrorContains(t, err, "the key 3 is not text (float64)")
}

// PostgreSQL cannot compare either type with an empty text, so it refuses the query for which SQLite returns rows.
func TestKeysOfPostgreSQLThatAreNotTextAreRefused(t *testing.T) {
	testkit.Long(t)
	db, err := sql.Open("pgx", servers.Postgres(t).Database(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for typ, key := range map[string]string{"bigint": "7", "uuid": "019a0000-0000-7000-8000-00000000000a"} {
		_, err := db.ExecContext(t.Context(), "CREATE TABLE "+typ+"s (id "+typ+" PRIMARY KEY)")
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), "INSERT INTO "+typ+"s VALUES ('"+key+"')")
		require.NoError(t, err)
		s := &SQLSource{DB: db, Table: typ + "s", Placeholder: Dollar, Load: func(context.Context, []string) ([]models.RawAction, error) { return nil, nil }}
		scan := func(after string) (all []string, err error) {
			for row, err := range s.Scan(t.Context(), after, "") {
				if err != nil {
					return all, err
				}
				all = append(all, row.Key)
			}
			return all, nil
		}
		for _, s.Key = range []string{"id", `id COLLATE "C"`} {
			for _, after := range []string{"", "a"} {
				_, err = scan(after)
				require.ErrorContains(t, err, `the column id is not text that sorts by bytes. Use Key: "CAST(id AS TEXT) COLLATE \"C\""`, "%s behind %q", typ, after)
			}
			_, err = s.Lookup(t.Context(), []string{"a"})
			require.ErrorContains(t, err, `the column id is not text that sorts by bytes.`, typ)
		}
		s.Key = `CAST(id AS TEXT) COLLATE "C"`
		all, err := scan("")
		require.NoError(t, err)
		assert.Equal(t, []string{key}, all)
	}
}

func TestRowsWithoutAKeyAreLeftOut(t *testing.T) {
	w, s := lostOf(t, "TEXT PRIMARY KEY")
	_, err := s.DB.(*sql.DB).ExecContext(t.Context(), "INSERT INTO lost VALUES (NULL, 1), ('', 1)")
	require.NoError(t, err)
	s.PageRows = 7
	assert.Len(t, rowsOf(t, s.Scan(t.Context(), "", "")), 60)
	assert.Equal(t, []string{"0", "1", "10"}, keysOf(rowsOf(t, s.Scan(t.Context(), "", "10"))))
	report, err := repairer(s, half{w.world, "index"}, w.sender.Raw(), &Options{Pause: time.Millisecond, Logger: quiet}).Run(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 6, report.Repaired)
}

// A scan reads the blobs, but no text equals a blob, so no difference could be confirmed.
func TestKeysThatOnlyAScanFindsEndAPass(t *testing.T) {
	o := &Options{Pause: time.Millisecond, Logger: quiet}
	w, s := lostOf(t, "BLOB PRIMARY KEY")
	report, err := repairer(s, half{w.world, "index"}, w.sender.Raw(), o).Run(t.Context())
	require.ErrorIs(t, err, ErrContradiction)
	require.ErrorContains(t, err, `Scan and Lookup of the source contradict each other: Scan returns "0", but Lookup finds neither it nor 59 other keys.`)
	assert.False(t, report.Agrees())
	_, err = repairer(s, half{w.world, "index"}, w.sender.Raw(), o).RunTree(t.Context(), w.tree)
	require.ErrorIs(t, err, ErrContradiction)

	s.PageRows = 10 // the second page repeats the rows of the first
	_, err = repairer(s, half{w.world, "index"}, w.sender.Raw(), o).Run(t.Context())
	require.ErrorContains(t, err, "there are keys that are not text")
}

// askedOf is the source of a world whose replies a test changes.
type askedOf struct {
	half
	scan   func() bool // whether it has rows
	lookup func() bool
	scans  *int
}

func (a askedOf) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	*a.scans++
	if !a.scan() {
		return func(func(models.Row, error) bool) {}
	}
	return a.half.Scan(ctx, after, through)
}

func (a askedOf) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	if !a.lookup() {
		return nil, nil
	}
	return a.half.Lookup(ctx, keys)
}

func TestAScanThatHasNothingOfWhatLookupFindsEndsAPass(t *testing.T) {
	always, never := func() bool { return true }, func() bool { return false }
	after := func(n int) func() bool { // false the first n times
		return func() bool { n--; return n < 0 }
	}
	for name, c := range map[string]struct {
		scan, lookup func() bool
		fails        bool
	}{
		"no scan has rows":                       {never, always, true},
		"no lookup has rows":                     {always, never, true},
		"rows come behind the scan":              {after(1), always, false},
		"rows come behind the sample":            {after(2), always, false},
		"rows come back behind the first lookup": {always, after(1), false},
		"neither side has rows":                  {never, never, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				w.fill(300)
				if name != "neither side has rows" {
					w.set("new", &hotel{ID: "new", Version: 1})
				}
				scans := 0
				s := askedOf{half{w, "source"}, c.scan, c.lookup, &scans}
				_, err := repairer(s, half{w, "index"}, nil, &Options{DryRun: true, Logger: quiet}).Run(t.Context())
				if c.fails {
					require.ErrorIs(t, err, ErrContradiction)
				} else {
					require.NotErrorIs(t, err, ErrContradiction)
				}
				tree := withTree(t, w, digesttree.Options{Empty: true})
				*s.scans = 0
				_, err = repairer(s, half{w, "index"}, nil, &Options{DryRun: true, Logger: quiet}).RunTree(t.Context(), tree.tree)
				if name == "no lookup has rows" {
					require.ErrorIs(t, err, ErrContradiction)
				} else {
					require.NoError(t, err)
				}
			})
		})
	}
}

// Rows that others write and delete between scan and lookup are not contradictions, and a pass checks only once.
func TestWhatOthersChangeMeanwhileIsNoContradiction(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.lag = 0
		w.fill(30_000)
		for i := range 30_000 {
			if i%100 == 0 {
				w.behind(key(i), nil)
			}
		}
		changed := false
		w.lookups = func(side string, keys []string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if side == "source" && !changed {
				changed = true
				for i := range 30_000 {
					if i%100 == 0 {
						delete(w.table, key(i))
					}
				}
			}
		}
		scans := 0
		yes := func() bool { return true }
		report, err := repairer(askedOf{half{w, "source"}, yes, yes, &scans}, half{w, "index"}, nil, &Options{DryRun: true, Logger: quiet}).Run(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 300, report.Passing)
		assert.Equal(t, 2, scans, "the sample has one row")
	})
}
