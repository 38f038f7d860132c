package rebuild_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers under test
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/search/rebuild"
	"github.com/go-azsearch/azsearch/search/rebuild/internal/storetest"
)

func onAll(t *testing.T, test func(t *testing.T, open func(t *testing.T) storetest.Place)) {
	t.Run("memory", func(t *testing.T) {
		test(t, func(*testing.T) storetest.Place {
			m := rebuild.NewMemory()
			return storetest.Place{Again: func() rebuild.Store { return m }, Other: func() rebuild.Store { return rebuild.NewMemory() }}
		})
	})
	for dialect, open := range map[rebuild.Dialect]func(t *testing.T) (driver, url string){
		rebuild.SQLite: func(t *testing.T) (string, string) {
			return "sqlite", "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)"
		},
		rebuild.PostgreSQL: func(t *testing.T) (string, string) { return "pgx", servers.Postgres(t).Database(t) },
	} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			test(t, func(t *testing.T) storetest.Place {
				db, err := sql.Open(open(t))
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, db.Close()) })
				store := func(name string) func() rebuild.Store {
					return func() rebuild.Store {
						s, err := rebuild.NewSQL(db, rebuild.SQLOptions{Dialect: dialect, Name: name})
						require.NoError(t, err)
						require.NoError(t, s.CreateTables(t.Context()))
						return s
					}
				}
				return storetest.Place{Again: store("hotels"), Other: store("rooms")}
			})
		})
	}
}

func TestStoresKeepTheirPromises(t *testing.T) { onAll(t, storetest.Run) }

func TestNoMarkComesBehindTheSwapThatEndsItsRoundConcurrentSafe(t *testing.T) {
	onAll(t, storetest.NoMarkComesBehindTheSwapThatEndsItsRound)
}
