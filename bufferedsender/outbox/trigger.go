package outbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// triggerParts are the parameters of a trigger.
type triggerParts struct {
	table, column, name, prefix, queue, notify string
	class                                      uint8
}

// sqlName matches a name in a statement, plain or in quotes. In quotes, $ and % are excluded because they would end or
// change the texts of PostgreSQL statements that contain the name, and line breaks because they would end the comment
// that identifies a trigger.
const sqlName = `([A-Za-z_][A-Za-z0-9_]*|"(?:[^"$%\\\x00-\x1f\x7f]|"")+")`

var (
	columnName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	anyColumn  = regexp.MustCompile(`^` + sqlName + `$`)
	anyTable   = regexp.MustCompile(`^(?:` + sqlName + `\.)?` + sqlName + `$`)
	smallName  = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
)

// unquoted returns a name as it is in the catalog of PostgreSQL.
func unquoted(name string) string {
	if strings.HasPrefix(name, `"`) {
		return strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
	}
	return strings.ToLower(name)
}

// spelled returns one text for all spellings of a name.
func (t *Table) spelled(name string) string {
	text := unquoted(name)
	if t.Dialect == SQLite {
		text = strings.ToLower(text)
	}
	if smallName.MatchString(text) {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// ErrTriggerDisabled reports that the trigger is disabled, so writes leave no rows. Enable it, then call Backfill or
// repair the index. EnsureTrigger does not enable it, because the rows of writes made meanwhile would still be missing.
var ErrTriggerDisabled = errors.New("trigger is disabled")

// EnsureTrigger makes the database write the key of each changed row of a table, whichever program changes it: after an
// insert, an update, a delete, a change of the key (both keys) and, on PostgreSQL, TRUNCATE (all keys). keyColumn is
// the column of the raw key, which is written as text. NULL is skipped. On PostgreSQL its type is a text, a whole or
// numeric number, uuid, boolean, an enumeration, a bit string or an address, or a domain of one. Others are refused,
// because their text may depend on settings of the session (timestamptz, arrays, bytea): have a generated column of
// text. Names are written as in SQL: `public."Hotel"`. The relay needs a Loader.
//
// Call it at each start, from any number of processes at once. If the trigger exists unchanged, it needs no rights and
// takes no lock. Otherwise it makes or replaces the trigger in one transaction, while other programs write; at no
// moment is the trigger missing. If the trigger is missing or was altered, EnsureTrigger waits for transactions that
// have written to the table, and later writers wait behind it. It waits two seconds, or the lock_timeout of the session
// (SQLite: its busy_timeout, at least five seconds). Then it returns an error and has changed nothing. For a program
// without the right to create triggers, see [Table.Trigger].
//
// On PostgreSQL the trigger misses rows that are applied by logical replication, or written by a session with
// session_replication_role = replica (unless the trigger is set to ENABLE ALWAYS); a TRUNCATE of one partition, and
// partitions that are attached, detached or dropped (call Backfill with their keys); and rows of an inheriting table.
// On SQLite it misses a row with another key that INSERT OR REPLACE deletes (unless PRAGMA recursive_triggers is on);
// use ON CONFLICT DO UPDATE.
func (t *Table) EnsureTrigger(ctx context.Context, db *sql.DB, table, keyColumn string) error {
	p, err := t.triggerParts(table, keyColumn)
	if err := cmp.Or(err, present(db)); err != nil {
		return err
	}
	return t.triggerError("not installed", table, t.data.ensureTrigger(ctx, db, p))
}

// DropTrigger removes the trigger made by EnsureTrigger with the same arguments, if it exists. Rows already written
// stay. It waits for locks like EnsureTrigger. A partition keeps the trigger of its table.
func (t *Table) DropTrigger(ctx context.Context, db *sql.DB, table, keyColumn string) error {
	p, err := t.triggerParts(table, keyColumn)
	if err := cmp.Or(err, present(db)); err != nil {
		return err
	}
	return t.triggerError("not dropped", table, t.data.dropTrigger(ctx, db, p))
}

// Trigger returns EnsureTrigger's statement on PostgreSQL, for a migration run by the owner of the table; it may be run
// repeatedly. EnsureTrigger then needs no rights, and returns an error if the migration has not run. On SQLite it
// returns an error.
func (t *Table) Trigger(table, keyColumn string) (string, error) {
	p, err := t.triggerParts(table, keyColumn)
	if err != nil {
		return "", err
	}
	if t.Dialect != PostgreSQL {
		return "", fmt.Errorf("outbox: Trigger: %s has no single statement that replaces a trigger; call EnsureTrigger", t.Dialect)
	}
	return p.text(postgresEnsure), nil
}

func (t *Table) triggerParts(table, keyColumn string) (p triggerParts, err error) {
	if err := t.ready(); err != nil {
		return p, err
	}
	const nameHelp = "use a plain name, or one in double quotes without $, % and \\"
	of := anyTable.FindStringSubmatch(table)
	if of == nil || len(of[1]) > maxName || len(unquoted(of[2])) > 40 {
		return p, fmt.Errorf("outbox: got table %q; %s, of at most 40 bytes, with an optional schema and dot in front", table, nameHelp)
	}
	if !anyColumn.MatchString(keyColumn) {
		return p, fmt.Errorf("outbox: got column %q; %s", keyColumn, nameHelp)
	}
	schema := of[1]
	if schema != "" {
		schema = t.spelled(schema) + "."
	}
	if t.Dialect == SQLite && schema == "main." {
		table = of[2]
	}
	p = triggerParts{table: table, column: keyColumn, name: t.triggerName(schema+t.spelled(of[2]), t.spelled(keyColumn)), prefix: t.prefix(), queue: t.Queue, class: t.Class}
	if t.Notify {
		p.notify = "\n\tPERFORM pg_catalog.pg_notify('" + t.Channel() + "', '" + t.Queue + "');"
	}
	return p, nil
}

// triggerName returns the prefix of the names of triggers and functions. It is short enough that the suffix for the
// kind is not cut off, and differs for each queue, table and column, in their form returned by spelled.
func (t *Table) triggerName(table, column string) string {
	name := t.prefix()[strings.IndexByte(t.prefix(), '.')+1:] + "_" + plain.ReplaceAllString(strings.ToLower(t.Queue+"_"+table), "_")
	sum := sha256.Sum256([]byte(t.prefix() + "\x00" + t.Queue + "\x00" + table + "\x00" + column))
	return fmt.Sprintf("%.40s_%x", name, sum[:4])
}

var plain = regexp.MustCompile(`[^a-z0-9_]`)

func (p triggerParts) text(statement string) string {
	literal := func(name string) string { return strings.ReplaceAll(name, "'", "''") }
	return strings.NewReplacer("{table}", p.table, "{relation}", literal(p.table), "{column}", p.column, "{attribute}", literal(unquoted(p.column)), "{name}", p.name, "{t}", p.prefix, "{queue}", p.queue,
		"{class}", fmt.Sprint(p.class), "{notify}", p.notify).Replace(statement)
}

// Additional SQLSTATEs used by the statements of triggers.
const (
	stateDisabled = "AZ001"
	stateNoOutbox = "AZ002"
)

// triggerError adds to an error what to do about it.
func (t *Table) triggerError(what, table string, err error) error {
	what = fmt.Sprintf("outbox: trigger on %s %s", table, what)
	switch state, class := sqlkit.State(err), sqlkit.Classify(err); {
	case err == nil:
		return nil
	case state == stateDisabled:
		return fmt.Errorf("%s: %w: %w", what, ErrTriggerDisabled, err)
	case state == stateNoOutbox || errors.Is(err, ErrSchema):
		if !errors.Is(err, ErrSchema) {
			err = fmt.Errorf("%w: %w", ErrSchema, err)
		}
		return fmt.Errorf("%s: %w", what, err)
	case class == sqlkit.LockTimeout:
		return fmt.Errorf("%s: got no lock within the lock_timeout, and changed nothing; end the transactions that have written to %s (pg_stat_activity lists them), then call it again: %w", what, table, err)
	case class == sqlkit.Denied && t.data.Server:
		return fmt.Errorf("%s: the role lacks rights; have the owner of %s run the statement of Table.Trigger once: %w", what, table, err)
	case class == sqlkit.Busy:
		return fmt.Errorf("%s: the file stayed locked, and nothing was changed; end the transaction that writes, then call it again: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
