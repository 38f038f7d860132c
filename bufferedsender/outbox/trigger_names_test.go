package outbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

func keysIn(t *testing.T, db database) []string {
	all, err := sqlkit.Texts(t.Context(), db, `SELECT DISTINCT key FROM azsearch_outbox ORDER BY key`)
	require.NoError(t, err)
	db.exec(t, `DELETE FROM azsearch_outbox`)
	return all
}

func TestTriggersOfAQueueWithALongNameAreDifferent(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		to := &Table{Dialect: db.dialect, Queue: "a-name-that-says-what-is-in-the-index-v2"}
		db.exec(t, `CREATE TABLE hotel_rooms (id integer PRIMARY KEY, hotel_id integer)`)
		require.NoError(t, to.EnsureTrigger(t.Context(), db.DB, "hotel_rooms", "hotel_id"))
		db.exec(t, `INSERT INTO hotel_rooms VALUES (1, 7)`)
		assert.Equal(t, []string{"7"}, keysIn(t, db), "insert")
		db.exec(t, `UPDATE hotel_rooms SET hotel_id = 8`)
		assert.Equal(t, []string{"7", "8"}, keysIn(t, db), "update")
		db.exec(t, `DELETE FROM hotel_rooms`)
		assert.Equal(t, []string{"8"}, keysIn(t, db), "delete")
	})
}

func TestTwoColumnsOfATableHaveATriggerEach(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		to := &Table{Dialect: db.dialect, Queue: "accounts"}
		db.exec(t, `CREATE TABLE transfers (id integer PRIMARY KEY, payer integer, payee integer)`)
		for _, c := range []string{"payer", "payee"} {
			require.NoError(t, to.EnsureTrigger(t.Context(), db.DB, "transfers", c))
		}
		db.exec(t, `INSERT INTO transfers VALUES (1, 7, 8)`)
		assert.Equal(t, []string{"7", "8"}, keysIn(t, db))
	})
}

func TestTriggersAreForNamesInQuotes(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		schema := "main"
		if db.dialect == PostgreSQL {
			schema = `"The Shop"`
			db.exec(t, `CREATE SCHEMA "The Shop"`)
		}
		for _, c := range []struct{ table, column string }{
			{`"Hotel"`, `"hotelId"`}, {schema + `."Rooms"`, `"roomId"`}, {schema + `.plain`, `"Key"`}, {`"order"`, `"group"`}, {`"O'Hare ""North"""`, `"the ""key"", it's"`}, {`mixedCase`, `"id"`},
		} {
			t.Run(c.table, func(t *testing.T) {
				to := &Table{Dialect: db.dialect, Queue: "hotels", Notify: db.dialect == PostgreSQL}
				db.exec(t, `CREATE TABLE `+c.table+` (n integer, `+c.column+` text)`)
				ensure := func() { require.NoError(t, to.EnsureTrigger(t.Context(), db.DB, c.table, c.column)) }
				ensure()
				were := triggersIn(t, db)
				ensure()
				require.Equal(t, were, triggersIn(t, db), "the second call changes nothing")
				db.exec(t, `INSERT INTO `+c.table+` VALUES (1, 'a')`)
				assert.Equal(t, []string{"a"}, keysIn(t, db), "insert")
				db.exec(t, `UPDATE `+c.table+` SET `+c.column+` = 'b'`)
				assert.Equal(t, []string{"a", "b"}, keysIn(t, db), "update")
				if db.dialect == PostgreSQL {
					db.exec(t, `TRUNCATE `+c.table)
				} else {
					db.exec(t, `DELETE FROM `+c.table)
				}
				assert.Equal(t, []string{"b"}, keysIn(t, db), "removing all rows leaves only the row of b")
				require.NoError(t, to.DropTrigger(t.Context(), db.DB, c.table, c.column))
				assert.Empty(t, triggersIn(t, db))
				err := to.EnsureTrigger(t.Context(), db.DB, c.table, `"no ""such"" one's"`)
				require.ErrorContains(t, err, `no "such" one's`)
				require.Error(t, to.EnsureTrigger(t.Context(), db.DB, `"Nowhere's"`, c.column))
				assert.Empty(t, triggersIn(t, db))
			})
		}
	})
}

func triggersIn(t *testing.T, db database) []string {
	t.Helper()
	query := `SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid`
	if db.dialect == PostgreSQL {
		query = `SELECT oid || tgname FROM pg_trigger WHERE NOT tgisinternal ORDER BY oid`
	}
	all, err := sqlkit.Texts(t.Context(), db, query)
	require.NoError(t, err)
	return all
}

func TestTheCaseOfNamesInQuotesIsAsInTheDatabase(t *testing.T) {
	db := newPostgres(t)
	to := &Table{Dialect: db.dialect, Queue: "hotels"}
	db.exec(t, `CREATE TABLE hotel (id text, "Id" text)`, `CREATE TABLE "Hotel" (id text)`)
	for _, c := range [][2]string{{"hotel", "id"}, {`"hotel"`, "ID"}, {"Hotel", `"id"`}, {"hotel", `"Id"`}, {`"Hotel"`, "id"}} {
		require.NoError(t, to.EnsureTrigger(t.Context(), db.DB, c[0], c[1]))
	}
	assert.Len(t, triggersIn(t, db), 6, "two triggers for each of three columns")
	db.exec(t, `INSERT INTO hotel VALUES ('a', 'b')`, `INSERT INTO "Hotel" VALUES ('c')`)
	rows, err := sqlkit.Texts(t.Context(), db, `SELECT key FROM azsearch_outbox ORDER BY key`)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, rows)
}

func TestQueuesWithSimilarNamesHaveTriggersOfTheirOwn(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		db.exec(t, `CREATE TABLE hotels (id integer PRIMARY KEY)`)
		for _, q := range []string{"hotels-v2", "hotels_v2"} {
			require.NoError(t, (&Table{Dialect: db.dialect, Queue: q}).EnsureTrigger(t.Context(), db.DB, "hotels", "id"))
		}
		db.exec(t, `INSERT INTO hotels VALUES (1)`)
		all, err := sqlkit.Texts(t.Context(), db, `SELECT queue FROM azsearch_outbox ORDER BY 1`)
		require.NoError(t, err)
		assert.Len(t, all, 2, strings.Join(all, " "))
	})
}

func TestATriggerKnowsItsTableWhateverTheSearchPathIs(t *testing.T) {
	db := newPostgres(t)
	to := &Table{Dialect: db.dialect, Queue: "hotels"}
	db.exec(t, `CREATE TABLE rooms (id integer PRIMARY KEY, hotel_id integer)`)
	require.NoError(t, to.EnsureTrigger(t.Context(), db.DB, "rooms", "hotel_id"))
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer c.Close()
	_, err = c.ExecContext(t.Context(), `SET search_path = ''`)
	require.NoError(t, err)
	_, err = c.ExecContext(t.Context(), `INSERT INTO public.rooms VALUES (1, 7)`)
	assert.NoError(t, err)
}

// The function runs as its owner and is called with a search_path in which operators are redefined.
func TestATriggerCallsNothingThatItsCallerHasMade(t *testing.T) {
	db := newPostgres(t)
	applied := func(to *Table) {
		require.NoError(t, to.EnsureTrigger(t.Context(), db.DB, "rooms", "guest"))
	}
	db.exec(t, `CREATE TABLE rooms (id integer, guest text)`)
	applied(&Table{Dialect: db.dialect, Queue: "guests", Notify: true})
	_, stranger := db.as(t)
	db.exec(t, `CREATE FUNCTION public.enter(who text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO public.rooms VALUES (1, who); UPDATE public.rooms SET guest = 'b'; END $$`,
		`CREATE SCHEMA theirs`, `GRANT ALL ON SCHEMA theirs TO PUBLIC`)
	stranger.SetMaxOpenConns(1)
	body := `LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called as %', current_user; END $$`
	stranger.exec(t, `CREATE FUNCTION theirs.compare(a text, b text) RETURNS boolean `+body, `CREATE OPERATOR theirs.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = theirs.compare)`,
		`CREATE OPERATOR theirs.= (LEFTARG = text, RIGHTARG = text, FUNCTION = theirs.compare)`, `CREATE FUNCTION theirs.pg_notify(a text, b text) RETURNS void `+body,
		`CREATE DOMAIN theirs.text AS varchar(1) CHECK (theirs.compare(VALUE::pg_catalog.text, ''))`,
		`SET search_path = theirs, pg_catalog`, `SELECT public.enter('a')`)
	require.Equal(t, []string{"a", "b"}, keysIn(t, db))
}

func TestABusyTimeoutOfTheApplicationIsLeftAsItIs(t *testing.T) {
	db := openPool(t, SQLite, "file:"+t.TempDir()+"/db?_pragma=busy_timeout(10000)")
	db.SetMaxOpenConns(1)
	require.NoError(t, Migrate(t.Context(), db, SQLite, nil))
	var ms int
	require.NoError(t, db.QueryRow(`PRAGMA busy_timeout`).Scan(&ms))
	assert.Equal(t, 10000, ms)
}

// A foreign key fires the trigger for two rooms of a hotel.
func TestACascadeFiresTriggers(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		to := &Table{Dialect: db.dialect, Queue: "guests"}
		if db.dialect == SQLite {
			db.SetMaxOpenConns(1)
			db.exec(t, `PRAGMA foreign_keys = 1`)
		}
		db.exec(t, `CREATE TABLE hotels (id integer PRIMARY KEY)`, `CREATE TABLE rooms (id integer PRIMARY KEY, hotel_id integer REFERENCES hotels ON DELETE CASCADE, guest text)`)
		require.NoError(t, to.EnsureTrigger(t.Context(), db.DB, "rooms", "guest"))
		db.exec(t, `INSERT INTO hotels VALUES (1)`, `INSERT INTO rooms VALUES (1, 1, 'a'), (2, 1, 'b')`, `DELETE FROM azsearch_outbox`, `DELETE FROM hotels`)
		assert.Equal(t, []string{"a", "b"}, keysIn(t, db))
	})
}
