package repair

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestATableThatIsThereIsCreatedWithoutALock(t *testing.T) {
	onTables(t, func(t *testing.T, db *sql.DB, open func() *SQLStore) {
		s := open()
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback()) }()
		_, err = tx.ExecContext(t.Context(), `INSERT INTO repairs (name, owner, beat, state) VALUES ('a', '', 0, '')`)
		require.NoError(t, err)
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		require.NoError(t, s.CreateTable(soon))
	})
}

func TestATableThatManyProcessesCreateAtOnceIsThere(t *testing.T) {
	onTables(t, func(t *testing.T, db *sql.DB, open func() *SQLStore) {
		s := open()
		db.SetMaxIdleConns(12)
		for range 5 {
			_, err := db.ExecContext(t.Context(), `DROP TABLE repairs`)
			require.NoError(t, err)
			var all sync.WaitGroup
			for range 12 {
				all.Go(func() { assert.NoError(t, s.CreateTable(t.Context())) })
			}
			all.Wait()
		}
	})
}

func TestATableWithOtherColumnsIsRefused(t *testing.T) {
	onTables(t, func(t *testing.T, db *sql.DB, open func() *SQLStore) {
		s := open()
		for _, statement := range []string{`DROP TABLE repairs`, `CREATE TABLE repairs (name VARCHAR(250) PRIMARY KEY)`} {
			_, err := db.ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		require.ErrorContains(t, s.CreateTable(t.Context()), "the table repairs")
	})
}
