package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
)

// bare is a database without tables.
func bare(t testing.TB, d Dialect) database {
	t.Helper()
	url := "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_txlock=immediate"
	if d == PostgreSQL {
		url = servers.Postgres(t).Database(t)
	}
	return database{openPool(t, d, url), d, url}
}

// bareBoth runs a test on an empty database of each kind.
func bareBoth(t *testing.T, test func(t *testing.T, db database)) {
	for _, d := range []Dialect{SQLite, PostgreSQL} {
		t.Run(string(d), func(t *testing.T) { test(t, bare(t, d)) })
	}
}

// described returns the database's description of all its objects.
func described(t testing.TB, db database) (all []string) {
	t.Helper()
	queries := []string{`SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY 1`, `SELECT 'version ' || version FROM azsearch_outbox_version`}
	if db.dialect == PostgreSQL {
		queries = []string{
			`SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, generation_expression) FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1`,
			`SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`,
			`SELECT relname || ' ' || relkind::text || ' ' || coalesce(reloptions::text, '') FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`,
			`SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1`,
			`SELECT 'version ' || version FROM azsearch_outbox_version`,
		}
	}
	for _, q := range queries {
		rows, err := sqlkit.Texts(t.Context(), db, q)
		require.NoError(t, err)
		all = append(all, rows...)
	}
	return all
}

func TestMigrateMayBeCalledByManyAtOnceAndAgain(t *testing.T) {
	bareBoth(t, func(t *testing.T, db database) {
		var all sync.WaitGroup
		errs := make([]error, 12)
		for i := range 12 {
			pool := db.DB
			if i%4 == 0 {
				pool = openPool(t, db.dialect, db.url)
			}
			all.Go(func() { errs[i] = Migrate(context.Background(), pool, db.dialect, nil) })
		}
		all.Wait()
		require.NoError(t, errors.Join(errs...))
		require.NoError(t, Check(t.Context(), db, db.dialect, nil))
		table := &Table{Dialect: db.dialect, Queue: "q"}
		db.inTx(t, func(tx *sql.Tx) error { return WriteKeys(t.Context(), tx, table, "a") })
		was := described(t, db)
		require.NoError(t, Migrate(t.Context(), db.DB, db.dialect, nil))
		require.Equal(t, was, described(t, db))
		require.Len(t, rowsOf(t, db, "q"), 1)
	})
}

func TestSchemaRunByHandIsWhatMigrateMakes(t *testing.T) {
	for _, d := range []Dialect{SQLite, PostgreSQL} {
		t.Run(string(d), func(t *testing.T) {
			one, other := bare(t, d), bare(t, d)
			require.NoError(t, Migrate(t.Context(), one.DB, d, nil))
			text, err := Schema(d, nil)
			require.NoError(t, err)
			other.exec(t, text)
			require.NoError(t, Check(t.Context(), other, d, nil))
			require.Equal(t, described(t, one), described(t, other))
			require.Len(t, slices.DeleteFunc(described(t, one), func(s string) bool { return !strings.HasPrefix(s, "version ") }), 1)
			other.exec(t, text)
			require.Equal(t, described(t, one), described(t, other), "twice")
			require.NoError(t, Migrate(t.Context(), other.DB, d, nil))
			require.Equal(t, described(t, one), described(t, other))
		})
	}
}

func TestTablesOfANewerVersionAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		db.exec(t, `UPDATE azsearch_outbox_version SET version = 99`)
		err := Migrate(t.Context(), db.DB, db.dialect, nil)
		require.ErrorContains(t, err, "version 99")
		require.ErrorContains(t, err, "use a newer program")
		err = Check(t.Context(), db, db.dialect, nil)
		require.ErrorIs(t, err, ErrSchema)
		require.ErrorContains(t, err, "version 99")
		require.ErrorContains(t, err, "use a newer program")
		rows, err := sqlkit.Texts(t.Context(), db, `SELECT version FROM azsearch_outbox_version`)
		require.NoError(t, err)
		require.Equal(t, []string{"99"}, rows)
	})
}

func TestCheckSaysWhatIsMissingAndMigrateBringsItBack(t *testing.T) {
	testkit.Long(t)
	rows := map[string]struct {
		damage   string
		says     []string
		dialects string // only these; "" means both
		stays    bool   // Migrate cannot restore it
	}{
		"the rows":                   {`DROP TABLE azsearch_outbox`, []string{"missing azsearch_outbox;", "outbox.Migrate", "outbox.Schema"}, "", false},
		"the leases":                 {`DROP TABLE azsearch_outbox_lease`, []string{"missing azsearch_outbox_lease;"}, "", false},
		"the table of pauses":        {`DROP TABLE azsearch_outbox_queue`, []string{"missing azsearch_outbox_queue;"}, "", false},
		"the dead letters":           {`DROP TABLE azsearch_outbox_dead`, []string{"missing azsearch_outbox_dead;"}, "", false},
		"the tombstones":             {`DROP TABLE azsearch_outbox_tombstone`, []string{"missing azsearch_outbox_tombstone;"}, "", false},
		"the table of the version":   {`DROP TABLE azsearch_outbox_version`, []string{"missing azsearch_outbox_version;"}, "", false},
		"two tables":                 {`DROP TABLE azsearch_outbox_dead; DROP TABLE azsearch_outbox_lease`, []string{"azsearch_outbox_lease, azsearch_outbox_dead"}, "", false},
		"the version":                {`DELETE FROM azsearch_outbox_version`, []string{"version 0", "outbox.Migrate"}, "", false},
		"the index for reads":        {`DROP INDEX azsearch_outbox_order`, []string{"azsearch_outbox_order"}, "sqlite", false},
		"the index of other classes": {`DROP INDEX azsearch_outbox_later`, []string{"azsearch_outbox_later"}, "", false},
		"the index of dead letters":  {`DROP INDEX azsearch_outbox_dead_key`, []string{"azsearch_outbox_dead_key"}, "", false},
		"the primary key":            {`ALTER TABLE azsearch_outbox DROP CONSTRAINT azsearch_outbox_pkey`, []string{"azsearch_outbox"}, "postgresql", true},
		"a column":                   {`ALTER TABLE azsearch_outbox DROP COLUMN attempts`, []string{"attempts"}, "", true},
		"the sequence":               {`DROP SEQUENCE azsearch_outbox_seq CASCADE`, []string{"azsearch_outbox_seq"}, "postgresql", true},
		"a sequence without a cache": {`ALTER SEQUENCE azsearch_outbox_seq CACHE 20`, []string{"a cache of 20", "rows would be skipped", "ALTER SEQUENCE azsearch_outbox_seq CACHE 1"}, "postgresql", true},
		"the nonce":                  {`DROP TABLE azsearch_outbox_nonce`, []string{"azsearch_outbox_nonce", "outbox.Migrate"}, "postgresql", false},
		"a default of the number":    {`ALTER TABLE azsearch_outbox ALTER COLUMN seq DROP DEFAULT`, []string{"seq"}, "postgresql", true},
	}
	for _, d := range []Dialect{SQLite, PostgreSQL} {
		t.Run(string(d), func(t *testing.T) {
			db := bare(t, d)
			for name, row := range rows {
				if row.dialects != "" && row.dialects != string(d) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					if d == SQLite {
						db = bare(t, d)
					} else {
						db.exec(t, `DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`)
					}
					require.NoError(t, Migrate(t.Context(), db.DB, d, nil))
					db.exec(t, row.damage)
					err := Check(t.Context(), db, d, nil)
					require.ErrorIs(t, err, ErrSchema)
					for _, words := range row.says {
						require.ErrorContains(t, err, words)
					}
					if !row.stays {
						require.NoError(t, Migrate(t.Context(), db.DB, d, nil))
						require.NoError(t, Check(t.Context(), db, d, nil))
					}
				})
			}
		})
	}
}

func TestCheckOfAnEmptyDatabaseNamesAllTables(t *testing.T) {
	bareBoth(t, func(t *testing.T, db database) {
		err := Check(t.Context(), db, db.dialect, nil)
		require.ErrorIs(t, err, ErrSchema)
		for _, suffix := range []string{",", "_lease", "_queue", "_dead", "_tombstone", "_version"} {
			require.ErrorContains(t, err, "azsearch_outbox"+suffix)
		}
		db.inTx(t, func(tx *sql.Tx) error {
			require.ErrorIs(t, Check(t.Context(), tx, db.dialect, nil), ErrSchema)
			_, err := tx.ExecContext(t.Context(), `CREATE TABLE x (id text)`)
			return err
		})
	})
}

func TestADialectThatIsNotThatOfTheServerIsRefused(t *testing.T) {
	for _, d := range []Dialect{SQLite, PostgreSQL} {
		other := map[Dialect]Dialect{SQLite: PostgreSQL, PostgreSQL: SQLite}[d]
		db := bare(t, d)
		for _, err := range []error{Migrate(t.Context(), db.DB, other, nil), Check(t.Context(), db, other, nil)} {
			require.ErrorIs(t, err, ErrDialect)
			require.ErrorContains(t, err, "use "+string(d))
		}
		require.NoError(t, Migrate(t.Context(), db.DB, d, nil))
	}
	// CockroachDB and others accept PostgreSQL's drivers and report their own version.
	was := sqlkit.PostgreSQL.Version
	defer func() { sqlkit.PostgreSQL.Version = was }()
	sqlkit.PostgreSQL.Version = `SELECT 'CockroachDB CCL v25.1'`
	err := Migrate(t.Context(), bare(t, PostgreSQL).DB, PostgreSQL, nil)
	require.ErrorContains(t, err, `got postgresql, but the server is "CockroachDB CCL v25.1"; use PostgreSQL or SQLite`)
}

func TestMySQLAndMariaDBAreRefusedByName(t *testing.T) {
	for _, name := range []Dialect{"mysql", "MySQL", "mariadb", "MariaDB"} {
		_, err := Schema(name, nil)
		for _, err := range []error{err, Migrate(t.Context(), nil, name, nil), Check(t.Context(), nil, name, nil), (&Table{Dialect: name, Queue: "q"}).ready()} {
			require.ErrorContains(t, err, fmt.Sprintf("%q is not supported", name))
			require.ErrorContains(t, err, "gap locks")
			require.ErrorContains(t, err, "Use PostgreSQL or SQLite")
		}
	}
	for name, want := range map[Dialect]string{"": "no Dialect", "oracle": `unknown dialect "oracle"`} {
		_, err := Schema(name, nil)
		require.ErrorContains(t, err, want)
	}
}

func TestAPrefixMayHaveASchema(t *testing.T) {
	db := bare(t, PostgreSQL)
	o := &SchemaOptions{Prefix: "search.box"}
	require.ErrorContains(t, Migrate(t.Context(), db.DB, PostgreSQL, o), "search")
	db.exec(t, `CREATE SCHEMA search`)
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, o))
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, o))
	require.NoError(t, Check(t.Context(), db, PostgreSQL, o))
	require.ErrorIs(t, Check(t.Context(), db, PostgreSQL, nil), ErrSchema)
	outside, err := sqlkit.Texts(t.Context(), db, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`)
	require.NoError(t, err)
	require.Empty(t, outside)
	db.exec(t, `ALTER SEQUENCE search.box_seq CACHE 5`)
	require.ErrorContains(t, Check(t.Context(), db, PostgreSQL, o), "search.box_seq has a cache of 5")
	db.exec(t, `ALTER SEQUENCE search.box_seq CACHE 1`)
	for _, prefix := range []string{"a.b.c", "Box", "1box", "a b", ".box", "box.", strings.Repeat("b", 41)} {
		require.ErrorContains(t, Migrate(t.Context(), db.DB, PostgreSQL, &SchemaOptions{Prefix: prefix}), "want at most 40 small letters")
	}
	table := &Table{Dialect: PostgreSQL, Queue: "q", Prefix: "search.box"}
	to := newScripted()
	relay := tryRelay(t, db, table, to, RelayOptions{})
	db.inTx(t, func(tx *sql.Tx) error {
		return Write(t.Context(), tx, table, models.UploadAction(gadget{ID: "a"}), models.UploadAction(gadget{ID: "bad"}))
	})
	to.refuse("bad")
	emptied(t, db, table)
	require.Equal(t, Stats{Read: 2, Sent: 2, Deleted: 1, Dead: 1, Ranges: ranges}, relay.Stats())
}

func TestQueuesAndPrefixesInOneDatabaseDoNotMix(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		prefixes := []string{"azsearch_outbox", "other", "azsearch_outbox2"}
		ctx := t.Context()
		var tables []*Table
		for _, prefix := range prefixes {
			require.NoError(t, Migrate(ctx, db.DB, db.dialect, &SchemaOptions{Prefix: prefix}))
			for _, queue := range []string{"q", "q2", "Q"} {
				tables = append(tables, &Table{Dialect: db.dialect, Prefix: prefix, Queue: queue})
			}
		}
		for i, table := range tables {
			db.inTx(t, func(tx *sql.Tx) error {
				require.NoError(t, Write(ctx, tx, table, models.UploadAction(gadget{ID: "a", N: i})))
				return WriteKeys(ctx, tx, table, fmt.Sprint("k", i))
			})
		}
		require.NoError(t, tables[1].Pause(ctx, db))
		for i, table := range tables {
			lag, err := table.Lag(ctx, db)
			require.NoError(t, err)
			require.EqualValues(t, 2, lag.Rows)
			require.Equal(t, i == 1, lag.Paused)
			found, err := table.Contains(ctx, db, "a", fmt.Sprint("k", i), fmt.Sprint("k", i+1))
			require.NoError(t, err)
			require.Equal(t, []bool{true, true, false}, found)
		}
		n, err := tables[2].PurgeAll(ctx, db, "Q")
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		to := newScripted()
		tryRelay(t, db, tables[0], to, RelayOptions{Loader: deletesAll})
		emptied(t, db, tables[0])
		require.ElementsMatch(t, []string{"a", "k0"}, to.keys())
		for _, table := range append(tables[1:2], tables[3:]...) {
			lag, err := table.Lag(ctx, db)
			require.NoError(t, err)
			require.EqualValues(t, 2, lag.Rows)
		}
	})
}

// A prefix can equal the name of another outbox's table. That cannot work and must be an error.
func TestAPrefixThatIsATableOfAnotherOutboxIsRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		for _, suffix := range []string{"_dead", "_queue", "_lease", "_tombstone", "_version"} {
			o := &SchemaOptions{Prefix: defaultPrefix + suffix}
			require.Error(t, errors.Join(Migrate(t.Context(), db.DB, db.dialect, o), Check(t.Context(), db, db.dialect, o)), suffix)
		}
	})
}
