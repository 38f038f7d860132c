package outbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMigrateOfTablesThatAreAsTheyShouldBeWaitsForNoProcessAndNeedsNoRights(t *testing.T) {
	for name, opts := range map[string]*SchemaOptions{"one table": nil, "partitions": rotating} {
		t.Run(name, func(t *testing.T) {
			bareBoth(t, func(t *testing.T, db database) {
				if db.dialect == SQLite {
					opts = nil
				}
				require.NoError(t, Migrate(t.Context(), db.DB, db.dialect, opts))
				other := db.opened(t, "")
				tx, err := db.BeginTx(t.Context(), nil)
				require.NoError(t, err)
				defer func() { require.NoError(t, tx.Rollback()) }()
				require.NoError(t, WriteKeys(t.Context(), tx, &Table{Dialect: db.dialect, Queue: "q"}, "a"))
				if db.dialect == PostgreSQL {
					_, other = db.as(t, `GRANT SELECT ON azsearch_outbox_version`)
					for _, s := range []string{`LOCK TABLE azsearch_outbox, azsearch_outbox_lease IN ACCESS EXCLUSIVE MODE`, alone(t)} {
						_, err := tx.ExecContext(t.Context(), s)
						require.NoError(t, err)
					}
				}
				soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				require.NoError(t, Migrate(soon, other.DB, db.dialect, opts))
			})
		})
	}
}

// alone is the statement by which a migrating process blocks others.
func alone(t *testing.T) string {
	p, err := (*SchemaOptions)(nil).plan(PostgreSQL)
	require.NoError(t, err)
	return p.data.AloneText(p.migration())
}

func TestMigrateThatGetsNoLockSaysSoAndChangesNothing(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	for name, row := range map[string]struct {
		lack     string
		opts     *SchemaOptions
		held     func(table *Table) string
		settings string
	}{
		"a writer":                    {`DROP INDEX azsearch_outbox_later`, nil, func(*Table) string { return `INSERT INTO azsearch_outbox (queue, key) VALUES ('q', 'a')` }, ""}, // two seconds
		"a writer, before partitions": {`SELECT 1`, rotating, func(*Table) string { return `INSERT INTO azsearch_outbox (queue, key) VALUES ('q', 'a')` }, "&lock_timeout=50ms"},
		"another migrating process":   {`DROP INDEX azsearch_outbox_later`, nil, func(*Table) string { return alone(t) }, "&lock_timeout=50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			db := newPostgres(t)
			db.exec(t, row.lack)
			was := described(t, db)
			table := &Table{Dialect: PostgreSQL, Queue: "q"}
			require.NoError(t, table.ready())
			tx, err := db.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = tx.ExecContext(t.Context(), row.held(table))
			require.NoError(t, err)
			quick := db.opened(t, row.settings)
			soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			err = Migrate(soon, quick.DB, PostgreSQL, row.opts)
			for _, w := range []string{"migrating: got no lock within the lock_timeout, and changed nothing", "end the transactions", "pg_stat_activity", "55P03"} {
				require.ErrorContains(t, err, w)
			}
			require.Equal(t, was, described(t, db))
			require.NoError(t, tx.Commit())
			require.NoError(t, Migrate(t.Context(), quick.DB, PostgreSQL, row.opts))
			require.NoError(t, Check(t.Context(), db, PostgreSQL, row.opts))
		})
	}
}

// A relay that starts while the version is missing ends with ErrSchema.
func TestStatementsOfTheSchemaThatRunAgainOneByOneLeaveTheTablesAsTheyShouldBe(t *testing.T) {
	onBoth(t, func(t *testing.T, db database) {
		text, err := Schema(db.dialect, nil)
		require.NoError(t, err)
		for _, s := range strings.Split(text, ";\n") {
			db.exec(t, s)
			require.NoError(t, Check(t.Context(), db, db.dialect, nil), s)
		}
	})
}
