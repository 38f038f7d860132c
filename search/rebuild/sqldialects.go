package rebuild

import (
	"context"
	"database/sql"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// sqlDialect is what a store has of its own for a kind of database; sqlkit has the rest.
type sqlDialect struct {
	*sqlkit.Dialect
	key  string // the type of a column of keys that sort by bytes
	swap string // the statement of Swap, where there is a record
	read string // the statement of Marked
	none string // the statement of Unmark
	// mark returns sql.ErrNoRows if nothing is marked now.
	mark func(ctx context.Context, s *SQL, epoch int64, keys []any) (round int64, err error)
}

// sqlDialects are all there are.
var sqlDialects = map[Dialect]*sqlDialect{
	PostgreSQL: {&sqlkit.PostgreSQL, `TEXT COLLATE "C" NOT NULL`, postgresSwap, postgresRead, postgresNone, markPostgres},
	SQLite:     {&sqlkit.SQLite, `TEXT NOT NULL`, sqlSwap, sqliteRead, sqliteNone, markSQLite},
}

// What PostgreSQL does in one statement, so that a writer that is stopped, or whose line is cut, holds no lock
// on the record: the statement has ended, or it has not begun.
//
// FOR SHARE is what a mark stands on: it and Swap wait for each other, marks do not, and who has waited looks at the
// record as it is then. It alone is not fair: Swap would wait until for one moment nobody marks. So both queue
// at an advisory lock before. On that one nothing stands.
const (
	queue = `hashtextextended('{t} ' || CAST(?1 AS text), 0)`

	postgresMark = `WITH r AS MATERIALIZED (
	SELECT CAST(CAST(body AS json) ->> 'round' AS bigint) AS round FROM {t}
	WHERE name = ?1 AND CAST(CAST(body AS json) ->> 'epoch' AS bigint) = ?2 AND CAST(body AS json) ->> 'phase' IN ('marking', 'swapped')
		AND (SELECT pg_advisory_xact_lock_shared(` + queue + `)) IS NOT NULL
	FOR SHARE
), i AS (
	INSERT INTO {t}_mark (name, key, round) SELECT ?1, k, r.round FROM r, unnest(?3::text::text[]) AS k
	ON CONFLICT DO NOTHING
) SELECT round FROM r`

	postgresSwap = sqlSwap + ` AND (SELECT pg_advisory_xact_lock(` + queue + `)) IS NOT NULL`
	sqlSwap      = `UPDATE {t} SET version = version + 1, body = ?2 WHERE name = ?1 AND version = ?3`

	// An array that is the result of a query is looked up in the index whatever the planner thinks of the sizes. Of an
	// argument it knows the size, and it reads all marks for each chunk.
	postgresNone = `DELETE FROM {t}_mark WHERE name = ?1 AND round <= ?2 AND key = ANY (ARRAY(SELECT unnest(?3::text::text[])))`
	sqliteNone   = `DELETE FROM {t}_mark WHERE name = ?1 AND round <= ?2 AND key IN (SELECT value ->> 0 FROM json_each(?3))`

	// The index of the primary key has them in this order: it is read until there are enough. PostgreSQL would rather
	// read and sort all of them where it does not know how many there are, but not for one.
	sqliteRead   = `SELECT DISTINCT key FROM {t}_mark WHERE name = ?1 AND round <= ?2 AND key > ?3 ORDER BY key LIMIT ?4`
	postgresRead = `WITH RECURSIVE k (key, n) AS (
	SELECT CAST(?3 AS text) COLLATE "C", 0
	UNION ALL
	SELECT (SELECT m.key FROM {t}_mark AS m WHERE m.name = ?1 AND m.round <= ?2 AND m.key > k.key ORDER BY m.key LIMIT 1), n + 1
	FROM k WHERE k.key IS NOT NULL AND n < ?4
) SELECT key FROM k WHERE n > 0 AND key IS NOT NULL`
)

func markPostgres(ctx context.Context, s *SQL, epoch int64, keys []any) (round int64, err error) {
	err = s.db.QueryRowContext(ctx, s.text(postgresMark), s.opts.Name, epoch, s.Values(keys)[0]).Scan(&round)
	return round, err
}

// markSQLite is a transaction of statements of which none leaves the process: only a process that is stopped as a whole
// in it keeps the file locked, as it would in a single one. That is SQLite's own limit, for all who share a file.
func markSQLite(ctx context.Context, s *SQL, epoch int64, keys []any) (round int64, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	// It begins with a write: one that begins with reading may see what was before Swap, and then fails.
	var body string
	if err := tx.QueryRowContext(ctx, s.text(`UPDATE {t} SET name = name WHERE name = ?1 RETURNING body`), s.opts.Name).Scan(&body); err != nil {
		return 0, err
	}
	r, err := decodeRecord(0, body)
	if err != nil {
		return 0, err
	}
	if r.Epoch != epoch || !r.Phase.marks() {
		return 0, sql.ErrNoRows
	}
	if _, err := tx.ExecContext(ctx, s.text(`INSERT INTO {t}_mark (name, key, round) SELECT ?1, value ->> 0, ?2 FROM json_each(?3) WHERE TRUE ON CONFLICT DO NOTHING`),
		s.opts.Name, r.Round, s.Values(keys)[0]); err != nil {
		return 0, err
	}
	return r.Round, tx.Commit()
}
