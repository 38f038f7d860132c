package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

var sqliteDialect = dialect{
	Dialect: &sqlkit.SQLite,
	advice:  settings,
	tidy:    checkpoint, tidyEvery: time.Second,
	exactly: jsonOfPlaces,
	others:  []string{"_order", "_later", "_dead_key"},

	// The bucket is computed from the first eight characters, the last eight and the length: SQLite has no hash
	// function, and a trigger cannot call one in Go.
	schema: []string{`
CREATE TABLE IF NOT EXISTS {t} (
	seq      INTEGER PRIMARY KEY AUTOINCREMENT,
	queue    TEXT    NOT NULL,
	class    INTEGER NOT NULL DEFAULT 0 CHECK (class BETWEEN 0 AND 7),
	key      TEXT    NOT NULL CHECK (key <> ''),
	bucket   INTEGER GENERATED ALWAYS AS ((coalesce(unicode(substr(key, -1, 1)), 0) * 1 + coalesce(unicode(substr(key, -2, 1)), 0) * 31 + coalesce(unicode(substr(key, -3, 1)), 0) * 961 + coalesce(unicode(substr(key, -4, 1)), 0) * 95
		+ coalesce(unicode(substr(key, -5, 1)), 0) * 897 + coalesce(unicode(substr(key, -6, 1)), 0) * 159 + coalesce(unicode(substr(key, -7, 1)), 0) * 833 + coalesce(unicode(substr(key, -8, 1)), 0) * 223
		+ coalesce(unicode(substr(key, 1, 1)), 0) * 37 + coalesce(unicode(substr(key, 2, 1)), 0) * 345 + coalesce(unicode(substr(key, 3, 1)), 0) * 477 + coalesce(unicode(substr(key, 4, 1)), 0) * 241
		+ coalesce(unicode(substr(key, 5, 1)), 0) * 725 + coalesce(unicode(substr(key, 6, 1)), 0) * 201 + coalesce(unicode(substr(key, 7, 1)), 0) * 269 + coalesce(unicode(substr(key, 8, 1)), 0) * 737 + length(key) * 613) & 1023) STORED,
	op       TEXT    NOT NULL DEFAULT '' CHECK (op IN ('', 'upload', 'merge', 'mergeOrUpload', 'delete')),
	body     TEXT,
	written  INTEGER NOT NULL DEFAULT ({now}),
	attempts INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX IF NOT EXISTS {t}_order ON {t} (queue, class);

CREATE INDEX IF NOT EXISTS {t}_later ON {t} (queue, key) WHERE class > 0;

CREATE TABLE IF NOT EXISTS {t}_lease (
	queue   TEXT    NOT NULL,
	slot    INTEGER NOT NULL,
	owner   TEXT    NOT NULL,
	epoch   INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	PRIMARY KEY (queue, slot)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS {t}_queue (
	queue  TEXT PRIMARY KEY,
	paused INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS {t}_dead (
	queue    TEXT    NOT NULL,
	seq      INTEGER NOT NULL,
	class    INTEGER NOT NULL,
	key      TEXT    NOT NULL,
	op       TEXT    NOT NULL,
	body     TEXT,
	written  INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	status   INTEGER NOT NULL,
	reason   TEXT    NOT NULL,
	message  TEXT    NOT NULL,
	died     INTEGER NOT NULL,
	newer    INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (queue, seq)
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS {t}_dead_key ON {t}_dead (queue, key);

CREATE TABLE IF NOT EXISTS {t}_tombstone (
	queue TEXT    NOT NULL,
	key   TEXT    NOT NULL,
	seq   INTEGER NOT NULL,
	died  INTEGER NOT NULL,
	PRIMARY KEY (queue, key)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS {t}_version (version INTEGER NOT NULL);
`},

	insertRow: `, (?1, ?2, ?, ?, ?)`,

	// If its columns are equal, the entries of an index are in the order of seq, the row id.
	arm: `SELECT class, seq, bucket, key, op, CASE WHEN seq > {seen} THEN body END AS body, attempts, written FROM {t} INDEXED BY {t}_order WHERE queue = ?1 AND class = {class} AND seq > {after}{also} AND (?2 >> (bucket / 16)) & 1 = 1 ORDER BY seq LIMIT ?3`,
	// CROSS JOIN keeps the tables in the order in which they are named.
	earlier: `SELECT o.class, o.seq, o.bucket, o.key, o.op, NULL AS body, o.attempts, o.written, 0
		FROM json_each(?2) k CROSS JOIN {t} o INDEXED BY {t}_later WHERE o.queue = ?1 AND o.class > 0 AND o.key = k.value ->> 0 AND o.seq < k.value ->> 1`,
	earlierFirst: `WITH k (key, seq) AS MATERIALIZED (SELECT value ->> 0, value ->> 1 FROM json_each(?2))
		SELECT o.class, o.seq, o.bucket, o.key, o.op, NULL AS body, o.attempts, o.written, 0 FROM {t} o CROSS JOIN k ON o.key = k.key AND o.seq < k.seq
		WHERE o.queue = ?1 AND o.class = 0 AND o.key IN (SELECT key FROM k)`,

	// +queue prevents the use of an index for it, which would read the whole queue. Members of an object cost a third
	// less than arrays in an array.
	remove: `DELETE FROM {t} WHERE seq IN (SELECT o.seq FROM json_each(?4) d CROSS JOIN {t} o ON o.seq = CAST(d.key AS INTEGER) AND o.written = d.value
		WHERE +o.queue = ?1 AND o.bucket / 16 IN (SELECT slot FROM held))`,
	bury: `INSERT OR REPLACE INTO {t}_dead (queue, seq, class, key, op, body, written, attempts, status, reason, message, died)
		SELECT o.queue, o.seq, o.class, o.key, o.op, o.body, o.written, o.attempts + 1, d.value ->> 3, d.value ->> 4, d.value ->> 5, {now}
		FROM json_each(?4) d JOIN {t} o ON o.seq = d.value ->> 1 AND o.written = d.value ->> 2 WHERE +o.queue = ?1 AND o.bucket / 16 IN (SELECT slot FROM held) RETURNING seq`,
	tried: `UPDATE {t} SET attempts = attempts + 1 WHERE +queue = ?1 AND seq IN (SELECT value ->> 1 FROM json_each(?4)) AND bucket / 16 IN (SELECT slot FROM held)`,

	// A missing renewal of a lease shows that the file is an older copy. AUTOINCREMENT never falls below an existing row.
	server:            recognized{identity: `''`, path: mainFile},
	last:              `SELECT '', coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{t}'), 0)`,
	oldestTransaction: `SELECT 0`,
	estimate:          `SELECT coalesce((SELECT max(seq) FROM {t}) - (SELECT min(seq) FROM {t}) + 1, 0)`,

	ensureTrigger: ensureSQLiteTrigger, dropTrigger: dropSQLiteTrigger,
}

// checkpoint truncates the WAL of the database: as long as some reader uses it at each moment, it keeps growing. If
// there is a reader now, a later call truncates it. The connection is that of the application, and gets its settings
// back.
func checkpoint(ctx context.Context, c *sql.Conn, _ func(string) string) error {
	var patience int64
	if err := sqlkit.One(ctx, c, &patience, `PRAGMA busy_timeout`); err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, `PRAGMA busy_timeout = 50`); err != nil {
		return err // and the connection is dropped
	}
	var busy, pages, done int64
	err := sqlkit.Each(ctx, c, func(rows *sql.Rows) error { return rows.Scan(&busy, &pages, &done) }, `PRAGMA wal_checkpoint(TRUNCATE)`)
	if _, again := c.ExecContext(ctx, fmt.Sprintf(`PRAGMA busy_timeout = %d`, patience)); err == nil {
		err = again
	}
	if err == nil && busy != 0 {
		err = errReaders
	}
	return err
}

const mainFile = `SELECT file FROM pragma_database_list WHERE name = 'main'`

// settings returns the settings that make an SQLite database fail as soon as two processes use it, and what a relay
// cannot detect.
func settings(ctx context.Context, db Queryer, _ func(string) string) (string, error) {
	var journal string
	var patience int64
	if err := sqlkit.One(ctx, db, &journal, `PRAGMA journal_mode`); err != nil {
		return "", err
	}
	if err := sqlkit.One(ctx, db, &patience, `PRAGMA busy_timeout`); err != nil {
		return "", err
	}
	var all []string
	if journal != "wal" && journal != "memory" {
		all = append(all, fmt.Sprintf("journal_mode is %s: readers block writers; use WAL", journal))
	}
	if patience == 0 {
		all = append(all, "busy_timeout is 0: of two transactions that write at once one fails; set it to some seconds")
	}
	if fileAt(ctx, db, mainFile) == nil {
		all = append(all, "the database has no file that can be examined: it goes unnoticed if it is replaced; use a file of the operating system")
	}
	return strings.Join(all, "; "), nil
}

// errReaders: a reader uses the WAL.
var errReaders = errors.New("a reader holds the log")

// jsonOfPlaces returns an object with numbers as names and times as values; numbers are unique over all classes.
func jsonOfPlaces(rows []row) []any {
	b := append(make([]byte, 0, 2+len(rows)*28), '{')
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '"'), rows[i].seq, 10)
		b = strconv.AppendInt(append(b, '"', ':'), rows[i].written, 10)
	}
	return []any{string(append(b, '}'))}
}
