package outbox

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keysSince returns the distinct keys of a queue's rows with numbers above after, and the highest number.
func keysSince(t testing.TB, db database, queue string, after int64) (all []string, last int64) {
	t.Helper()
	for _, w := range rowsOf(t, db, queue) {
		if last = max(last, w.seq); w.seq > after && !slices.Contains(all, w.key) {
			require.Empty(t, w.op)
			require.False(t, w.body.Valid)
			all = append(all, w.key)
		}
	}
	slices.Sort(all)
	return all, last
}

// applied installs a trigger on the table app, whose key is id.
func applied(t testing.TB, db database, table *Table) {
	t.Helper()
	require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "app", "id"))
}

func TestTheTriggerWritesTheKeysOfAllRowsThatChange(t *testing.T) {
	on := func(d ...Dialect) []Dialect { return d }
	rows := map[string]struct {
		column   string // the type of the key
		before   []string
		then     string
		keys     string // in order, with spaces
		dialects []Dialect
	}{
		"an insert":                                {"text", nil, `INSERT INTO app (id, v) VALUES ('a', 1)`, "a", nil},
		"many rows in one statement":               {"text", nil, `INSERT INTO app (id, v) VALUES ('a', 1), ('b', 2), ('c', 3)`, "a b c", nil},
		"a statement that changes no row":          {"text", nil, `UPDATE app SET v = 2 WHERE id = 'nobody'`, "", nil},
		"an update":                                {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1), ('b', 2)`}, `UPDATE app SET v = 9 WHERE id = 'b'`, "b", nil},
		"an update of all rows":                    {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1), ('b', 2)`}, `UPDATE app SET v = 9`, "a b", nil},
		"a changed key: the old and the new one":   {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1), ('b', 2)`}, `UPDATE app SET id = 'z' WHERE id = 'a'`, "a z", nil},
		"keys that are exchanged":                  {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1), ('b', 2)`}, `UPDATE app SET id = CASE id WHEN 'a' THEN 'c' ELSE 'd' END`, "a b c d", nil},
		"a key that becomes NULL":                  {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1)`}, `UPDATE app SET id = NULL`, "a", nil},
		"a key that was NULL":                      {"text", []string{`INSERT INTO app (id, v) VALUES (NULL, 1)`}, `UPDATE app SET id = 'a'`, "a", nil},
		"keys that are NULL or empty are left out": {"text", nil, `INSERT INTO app (id, v) VALUES (NULL, 1), ('', 2), ('a', 3)`, "a", nil},
		"a delete":                                 {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1), ('b', 2)`}, `DELETE FROM app WHERE id = 'a'`, "a", nil},
		"a delete of all rows":                     {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1), ('b', 2)`}, `DELETE FROM app`, "a b", nil},
		"TRUNCATE":                                 {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1), ('b', 2)`}, `TRUNCATE app`, "a b", on(PostgreSQL)},
		"an upsert that inserts":                   {"text", nil, `INSERT INTO app (id, v) VALUES ('a', 1) ON CONFLICT (id) DO UPDATE SET v = 2`, "a", nil},
		"an upsert that updates":                   {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1)`}, `INSERT INTO app (id, v) VALUES ('a', 1), ('b', 1) ON CONFLICT (id) DO UPDATE SET v = 2`, "a b", nil},
		"an upsert that does nothing":              {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1)`}, `INSERT INTO app (id, v) VALUES ('a', 1) ON CONFLICT (id) DO NOTHING`, "", nil},
		"REPLACE":                                  {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1)`}, `REPLACE INTO app (id, v) VALUES ('a', 2)`, "a", on(SQLite)},
		"integers":                                 {"bigint", nil, `INSERT INTO app (id, v) VALUES (9007199254740993, 1), (0, 2), (-1, 3)`, "-1 0 9007199254740993", nil},
		"an integer that changes":                  {"integer", []string{`INSERT INTO app (id, v) VALUES (1, 1)`}, `UPDATE app SET id = 2`, "1 2", nil},
		"UUIDs":                                    {"uuid", nil, `INSERT INTO app (id, v) VALUES ('019A0000-0000-7000-8000-00000000000a', 1)`, "019a0000-0000-7000-8000-00000000000a", on(PostgreSQL)},
		"keys that no index accepts":               {"text", nil, `INSERT INTO app (id, v) VALUES ('/é "b"/''1''\', 1)`, `/é_"b"/'1'\`, nil},
		"MERGE":                                    {"text", []string{`INSERT INTO app (id, v) VALUES ('a', 1), ('b', 2)`}, `MERGE INTO app USING (VALUES ('a'), ('c')) AS s(id) ON app.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 1)`, "a c", on(PostgreSQL)},
		"rows written by another trigger or by a cascade": {"text", []string{`CREATE TABLE other (id text)`, `INSERT INTO app (id, v) VALUES ('a', 1)`, `INSERT INTO other SELECT id FROM app`}, `DELETE FROM app WHERE id IN (SELECT id FROM other)`, "a", nil},
	}
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "my-queue.1", Class: 2}
		for name, row := range rows {
			if row.dialects != nil && !slices.Contains(row.dialects, db.dialect) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				if version := ""; name == "MERGE" && db.QueryRowContext(t.Context(), `SHOW server_version_num`).Scan(&version) == nil && version < "150000" {
					t.Skip("MERGE came with PostgreSQL 15")
				}
				db.exec(t, `DROP TABLE IF EXISTS other`, `DROP TABLE IF EXISTS app`, `CREATE TABLE app (id `+row.column+` UNIQUE, v integer)`)
				applied(t, db, table)
				db.exec(t, row.before...)
				_, last := keysSince(t, db, table.Queue, 0)
				db.exec(t, row.then)
				got, _ := keysSince(t, db, table.Queue, last)
				var want []string
				for _, k := range strings.Fields(row.keys) {
					want = append(want, strings.ReplaceAll(k, "_", " "))
				}
				require.Equal(t, want, got)
				for _, w := range rowsOf(t, db, table.Queue) {
					require.EqualValues(t, 2, w.class)
				}
			})
		}
	})
}

func TestAStatementThatIsRolledBackLeavesNoKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		db.exec(t, `CREATE TABLE app (id text, v integer)`)
		applied(t, db, &Table{Dialect: db.dialect, Queue: "q"})
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), `INSERT INTO app (id, v) VALUES ('a', 1)`)
		require.NoError(t, err)
		require.NoError(t, tx.Rollback())
		require.Empty(t, rowsOf(t, db, "q"))
		db.inTx(t, func(tx *sql.Tx) error {
			for _, s := range []string{`SAVEPOINT one`, `INSERT INTO app (id, v) VALUES ('b', 1)`, `ROLLBACK TO SAVEPOINT one`, `INSERT INTO app (id, v) VALUES ('c', 1)`} {
				if _, err := tx.ExecContext(t.Context(), s); err != nil {
					return err
				}
			}
			return nil
		})
		got, _ := keysSince(t, db, "q", 0)
		require.Equal(t, []string{"c"}, got)
	})
}

func TestATriggerThatIsMadeTwiceReplacesTheFirst(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		db.exec(t, `CREATE TABLE app (id text, other text)`)
		table := &Table{Dialect: db.dialect, Queue: "q"}
		applied(t, db, table)
		applied(t, db, table)
		db.exec(t, `INSERT INTO app VALUES ('a', 'x')`)
		require.Len(t, rowsOf(t, db, "q"), 1)
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "app", "other"))
		_, last := keysSince(t, db, "q", 0)
		db.exec(t, `INSERT INTO app VALUES ('b', 'y')`, `DELETE FROM app WHERE id = 'a'`)
		got, _ := keysSince(t, db, "q", last)
		require.Equal(t, []string{"a", "b", "x", "y"}, got, "a trigger on another column is a second trigger: both write their keys")
	})
}

// Each queue, table and prefix has its own triggers.
func TestTriggersOfDifferentQueuesDoNotReplaceOneAnother(t *testing.T) {
	long := strings.Repeat("q", 100)
	onBoth(t, func(t *testing.T, db database) {
		for name, queues := range map[string][]string{
			"two names":                                    {"hotels", "rooms"},
			"names that differ in a dash":                  {"my-index", "my_index"},
			"names that differ in capitals":                {"Index", "index"},
			"long names that end differently":              {long + "a", long + "b"},
			"a name that ends like a trigger of the other": {"books", "books_insert"},
		} {
			t.Run(name, func(t *testing.T) {
				db.exec(t, `DROP TABLE IF EXISTS app`, `CREATE TABLE app (id text, v integer)`)
				for _, queue := range queues {
					applied(t, db, &Table{Dialect: db.dialect, Queue: queue})
				}
				db.exec(t, `INSERT INTO app VALUES ('a', 1), ('b', 1)`, `DELETE FROM app WHERE id = 'a'`)
				for _, queue := range queues {
					rows := rowsOf(t, db, queue)
					require.Len(t, rows, 3, queue)
					require.Equal(t, "a", rows[2].key)
				}
			})
		}
	})
}

// PostgreSQL truncates names to 63 bytes.
func TestATriggerOfLongNamesSeesEachKindOfChangeOnItsOwn(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		db.exec(t, `CREATE TABLE products_of_all_the_shops (id text, v integer)`)
		table := &Table{Dialect: db.dialect, Queue: "products-of-all-the-shops-production"}
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "products_of_all_the_shops", "id"))
		db.exec(t, `INSERT INTO products_of_all_the_shops VALUES ('a', 1)`, `INSERT INTO products_of_all_the_shops VALUES ('b', 1)`,
			`UPDATE products_of_all_the_shops SET v = 2 WHERE id = 'b'`, `DELETE FROM products_of_all_the_shops WHERE id = 'a'`)
		var got []string
		for _, w := range rowsOf(t, db, table.Queue) {
			got = append(got, w.key)
		}
		require.Equal(t, []string{"a", "b", "b", "a"}, got)
	})
}

func TestTriggersOfOneQueueOnTwoTablesStayApart(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := &Table{Dialect: db.dialect, Queue: "q"}
		for _, name := range []string{"app", "App_2"} {
			db.exec(t, `CREATE TABLE `+name+` (id text, v integer)`)
			require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, name, "id"))
		}
		db.exec(t, `INSERT INTO app VALUES ('a', 1)`, `INSERT INTO app_2 VALUES ('b', 1)`)
		got, _ := keysSince(t, db, "q", 0)
		require.Equal(t, []string{"a", "b"}, got)
	})
}

func TestAColumnWhoseNameMeansSomethingInSQLIsStillTheColumn(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		for i, column := range []string{"user", "current_date"} {
			table := &Table{Dialect: db.dialect, Queue: column}
			app := fmt.Sprint("app", i)
			db.exec(t, `CREATE TABLE `+app+` ("`+column+`" text, v integer)`)
			require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, app, column))
			db.exec(t, `INSERT INTO `+app+` VALUES ('ann', 1)`)
			got, _ := keysSince(t, db, column, 0)
			require.Equal(t, []string{"ann"}, got, column)
		}
	})
}

func TestATriggerIsForATableInASchemaAndAPrefixInAnother(t *testing.T) {
	db := newPostgres(t)
	db.exec(t, `CREATE SCHEMA shop`, `CREATE SCHEMA search`, `CREATE TABLE shop.app (id text, v integer)`)
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, &SchemaOptions{Prefix: "search.box"}))
	table := &Table{Dialect: PostgreSQL, Queue: "q", Prefix: "search.box", Notify: true}
	require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "shop.app", "id"))
	db.exec(t, `SET search_path TO shop`, `INSERT INTO shop.app VALUES ('a', 1)`, `TRUNCATE shop.app`, `RESET search_path`)
	found, err := table.Contains(t.Context(), db, "a", "b")
	require.NoError(t, err)
	require.Equal(t, []bool{true, false}, found)
}

func TestANameThatIsNotPlainIsRefused(t *testing.T) {
	table := &Table{Dialect: SQLite, Queue: "q"}
	for _, name := range []string{"", "a b", `"app`, `app"`, `""`, `"a"b"`, `"a$b"`, `"a%b"`, `"a\b"`, "\"a\nb\"", "app;drop", "a.b.c", "1app", "app'", "é"} {
		err := table.EnsureTrigger(t.Context(), nil, name, "id")
		require.ErrorContains(t, err, "got table", name)
		require.ErrorContains(t, err, "use a plain name", name)
		if name != "é" {
			err = table.EnsureTrigger(t.Context(), nil, "app", name)
			require.ErrorContains(t, err, "got column", name)
		}
	}
	require.ErrorContains(t, (&Table{Queue: "q"}).EnsureTrigger(t.Context(), nil, "app", "id"), "no Dialect")
}

// An index distinguishes "A" and "a", whatever the column does.
func TestKeysThatDifferInCapitalsAreTwoInAColumnThatIgnoresThem(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		collation := "NOCASE"
		if db.dialect == PostgreSQL {
			collation = "ci"
			if icu := 0; db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_collation WHERE collname LIKE '%-x-icu'`).Scan(&icu) == nil && icu == 0 {
				t.Skip("this build of PostgreSQL has no ICU, so no column ignores capitals")
			}
			db.exec(t, `CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
		}
		db.exec(t, `CREATE TABLE app (id text COLLATE `+collation+`, v integer)`)
		applied(t, db, &Table{Dialect: db.dialect, Queue: "q"})
		db.exec(t, `INSERT INTO app VALUES ('A', 1)`)
		_, last := keysSince(t, db, "q", 0)
		db.exec(t, `UPDATE app SET id = 'a'`)
		got, _ := keysSince(t, db, "q", last)
		require.Equal(t, []string{"A", "a"}, got)
		db.exec(t, `INSERT INTO app VALUES ('A', 1)`)
		if _, last = keysSince(t, db, "q", 0); db.dialect == PostgreSQL {
			db.exec(t, `TRUNCATE app`)
			got, _ = keysSince(t, db, "q", last)
			require.Equal(t, []string{"A", "a"}, got)
		}
	})
}
