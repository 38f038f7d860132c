package outbox

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
)

// triggerParts is what a trigger is made of.
type triggerParts struct {
	table, column, name, prefix, queue, notify string
	class                                      uint8
}

var columnName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Trigger returns the statements that have a table of the application write the keys of its rows
// that change, whoever changes them: after an insert, an update, a delete, a change of the key (both keys) and, on
// PostgreSQL, TRUNCATE (all keys; SQLite has none, but for a DELETE without WHERE, which its triggers see). keyColumn is the
// column of the raw key, which is written as text; rows in which it is NULL are left out. Run
// them once, or put them into a migration; run again they replace what is there for this column. DropTrigger
// takes them away. The relay needs a Loader.
//
// Each row that changes writes its key, or both. On PostgreSQL names without a schema are looked for when the
// statements here are run, not when the trigger runs, and rows of a table that inherits from this one are not its own, unless
// it is a partition: such a table needs a trigger too. On SQLite INSERT OR REPLACE
// deletes without telling triggers (unless PRAGMA recursive_triggers is on): if it takes the place of
// a row with another key, that key is not written. Use ON CONFLICT DO UPDATE.
func (t *Table) Trigger(table, keyColumn string) ([]string, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	if !prefixName.MatchString(strings.ToLower(table)) {
		return nil, fmt.Errorf("outbox: the table %q: use a plain name, perhaps behind a schema and a dot", table)
	}
	if !columnName.MatchString(keyColumn) {
		return nil, fmt.Errorf("outbox: the column %q: use a plain name", keyColumn)
	}
	p := triggerParts{table: table, column: keyColumn, name: t.triggerName(table, keyColumn), prefix: t.prefix(), queue: t.Queue, class: t.Class}
	if t.Notify {
		p.notify = "\n\tPERFORM pg_catalog.pg_notify('" + t.Channel() + "', '" + t.Queue + "');"
	}
	return t.data.trigger(p), nil
}

// DropTrigger returns the statements that take away what those of Trigger, with the same arguments, have made. Rows
// that were written stay.
func (t *Table) DropTrigger(table, keyColumn string) ([]string, error) {
	made, err := t.Trigger(table, keyColumn)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, s := range made {
		if strings.HasPrefix(s, "DROP TRIGGER") {
			all = append(all, s)
		}
	}
	if t.Dialect == PostgreSQL {
		name := t.triggerName(table, keyColumn)
		all = append(all, "DROP FUNCTION IF EXISTS "+name+"_row()", "DROP FUNCTION IF EXISTS "+name+"_truncate()")
	}
	return all, nil
}

// triggerName is what the names of triggers and functions begin with: short enough that the
// kind behind it is not cut off, and another one for each queue, table and column.
func (t *Table) triggerName(table, column string) string {
	name := t.prefix()[strings.IndexByte(t.prefix(), '.')+1:] + "_" + plain.ReplaceAllString(strings.ToLower(t.Queue+"_"+table), "_")
	sum := sha256.Sum256([]byte(t.prefix() + "\x00" + t.Queue + "\x00" + strings.ToLower(table+"\x00"+column)))
	return fmt.Sprintf("%.40s_%x", name, sum[:4])
}

var plain = regexp.MustCompile(`[^a-z0-9_]`)

func (p triggerParts) text(statement string) string {
	return strings.NewReplacer("{table}", p.table, "{column}", p.column, "{name}", p.name, "{t}", p.prefix, "{queue}", p.queue,
		"{class}", fmt.Sprint(p.class), "{notify}", p.notify).Replace(statement)
}

// postgresTrigger has a trigger for each row: most statements change one, and for that the tables of changes that
// a trigger for each statement reads cost as much again as the row. Its function names tables with the schemas in which
// they are found now: other sessions may look for them elsewhere, and SET search_path would cost a tenth of it all. So it
// names types and operators with theirs too: who calls a function of another owner chooses where these are looked for.
func postgresTrigger(p triggerParts) []string {
	insert := `INSERT INTO %1$s (queue, class, key)`
	found := func(table string) string {
		return `(SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = '` + table + `'::regclass)`
	}
	function := func(kind, body string) string {
		return p.text(`DO $make$ BEGIN PERFORM checked.{column}::text FROM {table} AS checked LIMIT 0; EXECUTE format($text$CREATE OR REPLACE FUNCTION {name}_` + kind + `() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
` + body + `
	RETURN NULL;
END $$$text$, ` + found("{t}") + `, ` + found("{table}") + `); END $make$`)
	}
	trigger := func(kind, when string) []string {
		return []string{p.text(`DROP TRIGGER IF EXISTS {name}_` + kind + ` ON {table}`), p.text(`CREATE TRIGGER {name}_` + kind + ` ` + when + ` EXECUTE FUNCTION {name}_` + kind + `()`)}
	}
	all := []string{function("row", `	IF NEW.{column}::pg_catalog.text OPERATOR(pg_catalog.<>) '' THEN
		`+insert+` VALUES ('{queue}', {class}, NEW.{column}::pg_catalog.text);
	END IF;
	IF OLD.{column}::pg_catalog.text OPERATOR(pg_catalog.<>) '' AND (NEW.{column} IS NULL OR OLD.{column}::pg_catalog.text COLLATE pg_catalog."C" OPERATOR(pg_catalog.<>) NEW.{column}::pg_catalog.text) THEN
		`+insert+` VALUES ('{queue}', {class}, OLD.{column}::pg_catalog.text);
	END IF;{notify}`)}
	all = append(all, trigger("row", `AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW`)...)
	// TRUNCATE has no rows to show: the keys are read before.
	all = append(all, function("truncate", `	`+insert+` SELECT '{queue}', {class}, k FROM (SELECT DISTINCT truncated.{column}::pg_catalog.text COLLATE pg_catalog."C" AS k FROM %2$s AS truncated) r WHERE k OPERATOR(pg_catalog.<>) '';{notify}`))
	return append(all, trigger("truncate", `BEFORE TRUNCATE ON {table} FOR EACH STATEMENT`)...)
}

// sqliteTrigger has one trigger for each kind of change: SQLite has no triggers for statements.
func sqliteTrigger(p triggerParts) []string {
	insert := func(row string) string {
		return `INSERT INTO {t} (queue, class, key) SELECT '{queue}', {class}, CAST(` + row + `.{column} AS TEXT) WHERE ` + row + `.{column} <> '';`
	}
	all := []string{p.text(`SELECT {column} FROM {table} LIMIT 0`)} // it fails if there is no such column: the triggers would, at each change
	for _, k := range []struct{ kind, event, do string }{
		{"insert", "INSERT", insert("NEW")},
		{"update", "UPDATE", insert("NEW") + ` INSERT INTO {t} (queue, class, key) SELECT '{queue}', {class}, CAST(OLD.{column} AS TEXT) WHERE OLD.{column} <> '' AND OLD.{column} IS NOT NEW.{column} COLLATE BINARY;`},
		{"delete", "DELETE", insert("OLD")},
	} {
		name := `{name}_` + k.kind
		all = append(all, p.text(`DROP TRIGGER IF EXISTS `+name), p.text(`CREATE TRIGGER `+name+` AFTER `+k.event+` ON {table} FOR EACH ROW BEGIN `+k.do+` END`))
	}
	return all
}
