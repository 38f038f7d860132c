package rebuild

import (
	"context"
	"database/sql"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// sqlDialect has the statements of a store that depend on the database; sqlkit has the rest.
type sqlDialect struct {
	*sqlkit.Dialect
	key  string // type of a key column that sorts by bytes
	swap string // Swap of an existing record
	read string // Marked
	none string // Unmark
	// mark returns sql.ErrNoRows if keys are not marked now.
	mark func(ctx context.Context, s *SQL, epoch int64, keys []any) (round int64, err error)
}

// sqlDialects are all supported dialects.
var sqlDialects = map[Dialect]*sqlDialect{
	PostgreSQL: {&sqlkit.PostgreSQL, `TEXT COLLATE "C" NOT NULL`, postgresSwap, postgresRead, postgresNone, markPostgres},
	SQLite:     {&sqlkit.SQLite, `TEXT NOT NULL`, sqlSwap, sqliteRead, sqliteNone, markSQLite},
}

// PostgreSQL does each of these in one statement, so that a writer that is stopped or cut off holds no lock on the
// record: the statement has ended, or has not begun.
//
// FOR SHARE makes marks correct: a mark and Swap wait for each other, marks do not, and after the wait a mark sees the
// current record. Alone it is not fair: Swap could wait until no process marks. So both first take an advisory lock in
// turn. Correctness does not depend on that lock.
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

	// PostgreSQL looks up an array returned by a subquery in the index. It knows the size of an argument, and would then
	// read all marks for each chunk.
	postgresNone = `DELETE FROM {t}_mark WHERE name = ?1 AND round <= ?2 AND key = ANY (ARRAY(SELECT unnest(?3::text::text[])))`
	sqliteNone   = `DELETE FROM {t}_mark WHERE name = ?1 AND round <= ?2 AND key IN (SELECT value ->> 0 FROM json_each(?3))`

	// The primary key has this order, so the scan ends after enough rows. If PostgreSQL does not know the number of rows,
	// it prefers to read and sort all of them, except for LIMIT 1; hence the recursion.
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

// markSQLite is a transaction, but none of its statements leaves the process. The file stays locked only if the whole
// process is stopped within it, as with a single statement. That is a limit of SQLite, for all users of a file.
func markSQLite(ctx context.Context, s *SQL, epoch int64, keys []any) (round int64, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	// The first statement writes: a transaction that begins with a read may see the state before a Swap, and then fails.
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
