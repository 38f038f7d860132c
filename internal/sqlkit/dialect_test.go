package sqlkit

import (
	"context"
	"database/sql"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// databases open an empty database of each dialect.
var databases = map[string]func(t *testing.T) (driver, url string){
	"postgresql": func(t *testing.T) (string, string) { return "pgx", servers.Postgres(t).Database(t) },
	"sqlite": func(t *testing.T) (string, string) {
		return "sqlite", "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=synchronous(OFF)"
	},
}

// lacks has the parts that a dialect may lack, with the reason.
var lacks = map[string]map[string]string{
	"postgresql": {"MissingHint": "tables of a server do not go away"},
	"sqlite": {
		"Dollar": "arguments stay as they are", "Alone": "Begin locks the file", "Server": "a writer locks the file", "Schemas": "a file has no schemas",
	},
}

func onAll(t *testing.T, test func(t *testing.T, d *Dialect, open func() *sql.DB)) {
	for _, d := range All {
		t.Run(d.Name, func(t *testing.T) {
			require.NotNil(t, databases[d.Name], "these tests have no database of %s: add one", d.Name)
			driver, url := databases[d.Name](t)
			test(t, d, func() *sql.DB {
				db, err := sql.Open(driver, url)
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, db.Close()) })
				return db
			})
		})
	}
}

func TestADialectHasEachPartOrSaysWhyItDoesWithout(t *testing.T) {
	for _, d := range All {
		v := reflect.ValueOf(d).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			_, lacking := lacks[d.Name][name]
			assert.Equal(t, lacking, v.Field(i).IsZero(), "%s of %s is missing: add it, or add a reason to lacks", name, d.Name)
		}
		found, err := Named(d.Name, "outbox")
		require.NoError(t, err)
		assert.Same(t, d, found)
	}
}

func TestADialectDoesWhatTheStoresNeed(t *testing.T) {
	onAll(t, func(t *testing.T, d *Dialect, open func() *sql.DB) {
		ctx, db := t.Context(), open()
		require.NoError(t, d.Recognize(ctx, db))
		for _, other := range All {
			if other != d {
				require.ErrorIs(t, other.Recognize(ctx, db), ErrDialect)
			}
		}
		place := Place(ctx, db)
		require.Contains(t, place, d.Name+" ")
		require.Equal(t, place, Place(ctx, open()))
		_, elsewhere := databases[d.Name](t)
		other, err := sql.Open(map[string]string{"postgresql": "pgx", "sqlite": "sqlite"}[d.Name], elsewhere)
		require.NoError(t, err)
		defer other.Close()
		require.NotEqual(t, place, Place(ctx, other), "another database")
		var now int64
		require.NoError(t, One(ctx, db, &now, d.Text(`SELECT {now}`, "")))
		assert.WithinDuration(t, time.Now(), time.UnixMilli(now), time.Minute, "the clock of this machine")

		_, err = db.ExecContext(ctx, `CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT, n BIGINT)`)
		require.NoError(t, err)
		missing, err := d.NotThere(ctx, db, "things", "others", "THINGS")
		require.NoError(t, err)
		assert.Equal(t, []string{"others"}, missing)

		names := []any{"a", `"'\{}`, nil, "", "ß,NULL", "line\nbreak ?1 $1 {t}"}
		ids := []any{int64(6), int64(5), int64(4), int64(3), int64(2), int64(-1 << 62)}
		insert := d.Text(`INSERT INTO {t} (id, name, n) SELECT r.id, r.name, r.n FROM `+d.Rows(1, "r", [2]string{"id", "bigint"}, [2]string{"name", "text"}), "things")
		_, err = db.ExecContext(ctx, insert, d.Values(ids, names)...)
		require.NoError(t, err)
		var got []any
		require.NoError(t, Each(ctx, db, func(rows *sql.Rows) error {
			var id int64
			var name sql.NullString
			err := rows.Scan(&id, &name)
			value, _ := name.Value()
			assert.Equal(t, ids[len(got)], id)
			got = append(got, value)
			return err
		}, `SELECT id, name FROM things ORDER BY n`))
		assert.Equal(t, names, got)
		for kind, list := range map[string][]any{"text": {"ß,NULL", "line\nbreak ?1 $1 {t}", "no"}, "bigint": {int64(2), int64(-1 << 62), int64(7)}, "bigint ": {}} {
			column := map[string]string{"text": "name"}[kind]
			if column == "" {
				column = "id"
			}
			found, err := Texts(ctx, db, d.Text(`SELECT name FROM things WHERE `+column+` `+d.In("?1", strings.TrimSpace(kind)), ""), d.Values(list)...)
			require.NoError(t, err)
			assert.Len(t, found, max(0, len(list)-1), kind)
		}
	})
}

func TestErrorsOfADatabaseHaveTheirClass(t *testing.T) {
	onAll(t, func(t *testing.T, d *Dialect, open func() *sql.DB) {
		ctx, db := t.Context(), open()
		_, err := db.ExecContext(ctx, `CREATE TABLE things (id BIGINT PRIMARY KEY)`)
		require.NoError(t, err)
		for statement, want := range map[string]Class{
			`SELECT id FROM nowhere`:                  NoTable,
			`SELECT absent FROM things`:               OtherTable,
			`INSERT INTO things VALUES (1)`:           Other,
			`INSERT INTO things (id) VALUES (1), (1)`: Duplicate,
		} {
			_, err := db.ExecContext(ctx, statement)
			assert.Equal(t, want, Classify(err), "%s: %v", statement, err)
		}
	})
}

// In a new SQLite file the first process also switches to WAL.
func TestProcessesThatMigrateAtOnceChangeTheTablesOneByOne(t *testing.T) {
	onAll(t, func(t *testing.T, d *Dialect, open func() *sql.DB) {
		var all sync.WaitGroup
		for range 8 {
			db := open()
			all.Go(func() {
				if d.Name == SQLite.Name {
					assert.NoError(t, Retry(t.Context(), func() error { _, err := db.ExecContext(t.Context(), `PRAGMA journal_mode = WAL`); return err }))
				}
				assert.NoError(t, d.Migrate(t.Context(), db, Migration{
					Table: "things", Lock: 1, Patience: "2s",
					Settled: func(context.Context, Queryer) (bool, error) { return false, nil },
					Change: func(ctx context.Context, c *sql.Conn) error {
						return Run(ctx, c, `CREATE TABLE IF NOT EXISTS things (n BIGINT)`, `INSERT INTO things SELECT count(*) FROM things`)
					},
				}))
			})
		}
		all.Wait()
		var different int
		require.NoError(t, One(t.Context(), open(), &different, `SELECT count(DISTINCT n) FROM things`))
		assert.Equal(t, 8, different)
	})
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	onAll(t, func(t *testing.T, d *Dialect, open func() *sql.DB) {
		db := open()
		err := d.Migrate(t.Context(), db, Migration{
			Table: "things", Lock: 1, Patience: "2s",
			Settled: func(context.Context, Queryer) (bool, error) { return false, nil },
			Change: func(ctx context.Context, c *sql.Conn) error {
				return Run(ctx, c, `CREATE TABLE things (n BIGINT)`, `INSERT INTO nowhere VALUES (1)`)
			},
		})
		require.Equal(t, NoTable, Classify(err))
		missing, err := d.NotThere(t.Context(), db, "things")
		require.NoError(t, err)
		assert.Len(t, missing, 1)
	})
}

func TestPlainNames(t *testing.T) {
	for name, plain := range map[string]bool{
		"": false, "a": true, "a.b": true, "A_9": true, "_": true, "9": false, "a.b.c": false, "a b": false, "a;drop": false, "a.": false, ".a": false, "ä": false,
		"a\n": false, strings.Repeat("a", 40): true, strings.Repeat("a", 41): false, strings.Repeat("s", 63) + ".a": true, strings.Repeat("s", 64) + ".a": false,
	} {
		assert.Equal(t, plain, PlainName(name, 40), "%q", name)
	}
}
