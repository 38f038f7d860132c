package outbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// These tests start with a trigger left by an operator or by an older version of this package.

func TestADisabledTriggerIsAnErrorAndStaysDisabled(t *testing.T) {
	testkit.Long(t)
	db := newPostgres(t)
	table := db.withApp(t)
	applied(t, db, table)
	name := table.triggerName("app", "id")
	for how, disabled := range map[string]bool{"DISABLE TRIGGER ALL": true, "DISABLE TRIGGER " + name + "_truncate": true, "ENABLE REPLICA TRIGGER " + name + "_row": true, "ENABLE ALWAYS TRIGGER " + name + "_row": false} {
		db.exec(t, `ALTER TABLE app `+how)
		for class := range uint8(2) {
			err := (&Table{Dialect: db.dialect, Queue: "q", Class: class}).EnsureTrigger(t.Context(), db.DB, "app", "id")
			if !disabled {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, ErrTriggerDisabled, how)
			require.ErrorContains(t, err, "run ALTER TABLE app ENABLE TRIGGER "+name)
			require.ErrorContains(t, err, "Backfill")
		}
		modes, err := sqlkit.Texts(t.Context(), db, `SELECT tgenabled::text FROM pg_trigger WHERE NOT tgisinternal`)
		require.NoError(t, err)
		require.NotEqual(t, []string{"O", "O"}, modes, "%s is left as it is", how)
		db.exec(t, `ALTER TABLE app ENABLE TRIGGER ALL`)
	}
}

func TestATableWithPartitionsHasOneTriggerThatAllOfThemHave(t *testing.T) {
	db := newPostgres(t)
	db.exec(t, `CREATE TABLE app (id text, v integer) PARTITION BY LIST (v)`, `CREATE TABLE app_1 PARTITION OF app FOR VALUES IN (1)`)
	table := &Table{Dialect: db.dialect, Queue: "q"}
	applied(t, db, table)
	db.exec(t, `CREATE TABLE app_2 PARTITION OF app FOR VALUES IN (2)`)
	for _, name := range []string{"app", "app_1", "app"} {
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, name, "id"))
		require.Equal(t, 1, rowsPerInsert(t, db, "app", "q"), name)
		require.Equal(t, 1, rowsPerInsert(t, db, "app_1", "q"), name)
	}
	db.exec(t, `INSERT INTO app VALUES ('two', 2)`, `DELETE FROM azsearch_outbox`, `TRUNCATE app`)
	keys, _ := keysSince(t, db, "q", 0)
	require.Contains(t, keys, "two")
	name := table.triggerName("app", "id") + "_row"
	db.exec(t, `ALTER TABLE app_2 DISABLE TRIGGER `+name)
	err := table.EnsureTrigger(t.Context(), db.DB, "app", "id")
	require.ErrorIs(t, err, ErrTriggerDisabled)
	require.ErrorContains(t, err, "if a partition has it disabled")
	db.exec(t, `ALTER TABLE app_2 ENABLE TRIGGER `+name)
	require.NoError(t, table.DropTrigger(t.Context(), db.DB, "app", "id"))
	db.exec(t, `DELETE FROM azsearch_outbox`, `INSERT INTO app VALUES ('three', 2)`)
	require.Empty(t, rowsOf(t, db, "q"))
}

func TestATableThatIsRenamedKeepsItsTriggerAndGetsNoSecondOne(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := db.withApp(t)
		applied(t, db, table)
		db.exec(t, `ALTER TABLE app RENAME TO lodging`)
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "lodging", "id"))
		require.Equal(t, 1, rowsPerInsert(t, db, "lodging", "q"))
		if db.dialect == PostgreSQL {
			_, last := keysSince(t, db, "q", 0)
			db.exec(t, `TRUNCATE lodging`)
			keys, _ := keysSince(t, db, "q", last)
			require.Len(t, keys, 1)
		}
		// Another table has the name now.
		db.exec(t, `CREATE TABLE app (id text PRIMARY KEY, v integer)`)
		err := table.EnsureTrigger(t.Context(), db.DB, "app", "id")
		if db.dialect == SQLite { // where trigger names belong to the database
			require.ErrorContains(t, err, "is taken by a trigger on lodging")
			require.ErrorContains(t, err, "drop that trigger first")
			require.NoError(t, table.DropTrigger(t.Context(), db.DB, "lodging", "id"))
			err = table.EnsureTrigger(t.Context(), db.DB, "app", "id")
		}
		require.NoError(t, err)
		require.Equal(t, 1, rowsPerInsert(t, db, "app", "q"))
		if db.dialect == PostgreSQL {
			require.NoError(t, table.DropTrigger(t.Context(), db.DB, "app", "id"))
			require.Equal(t, 1, rowsPerInsert(t, db, "lodging", "q"), "the renamed table still has the function")
		}
	})
}

func TestASecondTriggerThatWritesTheSameIsTakenAway(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := db.withApp(t)
		applied(t, db, table)
		name := table.triggerName("app", "id")
		if db.dialect == PostgreSQL {
			db.exec(t, `CREATE TRIGGER copied AFTER INSERT ON app FOR EACH ROW EXECUTE FUNCTION `+name+`_row()`)
		} else {
			text, err := sqlkit.Texts(t.Context(), db, `SELECT sql FROM sqlite_master WHERE name = '`+name+`_insert'`)
			require.NoError(t, err)
			db.exec(t, strings.Replace(text[0], name+"_insert", "copied", 1))
		}
		require.Equal(t, 2, rowsPerInsert(t, db, "app", "q"))
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "app", "id"))
		require.Equal(t, 1, rowsPerInsert(t, db, "app", "q"))
	})
}

// The triggers of this package's first version, with a function in the schema of the session.
func TestATriggerOfAnOlderVersionIsReplacedWithoutWaitingForWriters(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		table := db.withApp(t)
		name := table.triggerName("app", "id")
		if db.dialect == PostgreSQL {
			db.exec(t, `CREATE SCHEMA elsewhere`,
				`CREATE FUNCTION elsewhere.`+name+`_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO public.azsearch_outbox (queue, class, key) VALUES ('q', 0, NEW.id); RETURN NULL; END $$`,
				`CREATE FUNCTION elsewhere.`+name+`_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.azsearch_outbox (queue, class, key) SELECT 'q', 0, id FROM public.app; RETURN NULL; END $$`,
				`CREATE TRIGGER `+name+`_row AFTER INSERT OR UPDATE OR DELETE ON app FOR EACH ROW EXECUTE FUNCTION elsewhere.`+name+`_row()`,
				`CREATE TRIGGER `+name+`_truncate BEFORE TRUNCATE ON app FOR EACH STATEMENT EXECUTE FUNCTION elsewhere.`+name+`_truncate()`)
		} else {
			for _, s := range table.sqliteLegacy() {
				db.exec(t, s)
			}
		}
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), `INSERT INTO app (id, v) VALUES ('open', 1)`)
		require.NoError(t, err)
		require.NoError(t, table.EnsureTrigger(t.Context(), db.DB, "app", "id"))
		require.NoError(t, tx.Commit())
		require.Equal(t, 1, rowsPerInsert(t, db, "app", "q"))
		if db.dialect == PostgreSQL {
			there, err := sqlkit.Texts(t.Context(), db, `SELECT pronamespace::regnamespace || ' ' || prosecdef FROM pg_proc WHERE proname LIKE 'azsearch%' ORDER BY 1`)
			require.NoError(t, err)
			require.Equal(t, []string{"elsewhere false", "elsewhere true"}, there, "the owner has set it")
		}
		require.NoError(t, table.DropTrigger(t.Context(), db.DB, "app", "id"))
		require.Zero(t, rowsPerInsert(t, db, "app", "q"))
	})
}

func (t *Table) sqliteLegacy() (all []string) {
	name := t.triggerName("app", "id")
	for event, row := range map[string]string{"INSERT": "NEW", "DELETE": "OLD"} {
		all = append(all, fmt.Sprintf(`CREATE TRIGGER %s_%s AFTER %s ON app FOR EACH ROW BEGIN INSERT INTO azsearch_outbox (queue, class, key) SELECT 'q', 0, CAST(%[4]s.id AS TEXT) WHERE %[4]s.id <> ''; END`,
			name, strings.ToLower(event), event, row))
	}
	return append(all, `CREATE TRIGGER `+name+`_update AFTER UPDATE ON app FOR EACH ROW BEGIN INSERT INTO azsearch_outbox (queue, class, key) SELECT 'q', 0, CAST(NEW.id AS TEXT) WHERE NEW.id <> ''; INSERT INTO azsearch_outbox (queue, class, key) SELECT 'q', 0, CAST(OLD.id AS TEXT) WHERE OLD.id <> '' AND OLD.id IS NOT NEW.id COLLATE BINARY; END`)
}

// Two programs with different search_paths each have an outbox of the same name. The second trigger would divert the
// rows of the first.
func TestATriggerThatWritesToAnotherOutboxIsNotReplaced(t *testing.T) {
	db := newPostgres(t)
	table := db.withApp(t)
	applied(t, db, table)
	db.exec(t, `CREATE SCHEMA theirs`)
	theirs := db.opened(t, "&search_path=theirs,public")
	require.NoError(t, Migrate(t.Context(), db.DB, PostgreSQL, &SchemaOptions{Prefix: "theirs.azsearch_outbox"}))
	err := table.EnsureTrigger(t.Context(), theirs.DB, "app", "id")
	require.ErrorContains(t, err, "writes to the outbox public.azsearch_outbox, not to theirs.azsearch_outbox")
	require.ErrorContains(t, err, "name the schema in Table.Prefix")
	require.NoError(t, (&Table{Dialect: PostgreSQL, Queue: "q", Prefix: "theirs.azsearch_outbox"}).EnsureTrigger(t.Context(), theirs.DB, "app", "id"))
	require.Equal(t, 1, rowsPerInsert(t, db, "app", "q"))

	// A trigger whose outbox has moved makes each write fail until it is replaced.
	require.NoError(t, (&Table{Dialect: PostgreSQL, Queue: "q", Prefix: "theirs.azsearch_outbox"}).DropTrigger(t.Context(), theirs.DB, "app", "id"))
	db.exec(t, `DROP SCHEMA theirs CASCADE`, `CREATE SCHEMA theirs`, `ALTER TABLE azsearch_outbox SET SCHEMA theirs`)
	_, err = db.ExecContext(t.Context(), `INSERT INTO app (id, v) VALUES ('a', 1)`)
	require.ErrorContains(t, err, "azsearch_outbox")
	require.NoError(t, table.EnsureTrigger(t.Context(), theirs.DB, "app", "id"))
	db.exec(t, `INSERT INTO app (id, v) VALUES ('a', 1)`)
}
