package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// sqliteTrigger is an existing or wanted trigger. SQLite has one for each kind of change, and none for statements.
type sqliteTrigger struct {
	name, table string
	event       string // "" if not made by this package
	body        string
}

func (s sqliteTrigger) create() string {
	return fmt.Sprintf(`CREATE TRIGGER %s AFTER %s ON %s FOR EACH ROW %s`, s.name, s.event, s.table, s.body)
}

// sqliteText parses the CREATE statement of a trigger. SQLite keeps its text, except for the name of a renamed table.
var sqliteText = regexp.MustCompile(`(?s)^CREATE TRIGGER \S+ AFTER (INSERT|UPDATE|DELETE) ON (?:main\.)?(?:"(?:[^"]|"")*"|[^\s"]+) FOR EACH ROW (BEGIN .* END)$`)

// sqliteTriggers returns the wanted triggers of a class.
func (p triggerParts) sqliteTriggers(class uint8) []sqliteTrigger {
	p.class = class
	insert := func(row string) string {
		return `INSERT INTO {t} (queue, class, key) SELECT '{queue}', {class}, CAST(` + row + `.{column} AS TEXT) WHERE ` + row + `.{column} <> '';`
	}
	var all []sqliteTrigger
	for _, k := range []struct{ event, do string }{
		{"INSERT", insert("NEW")},
		{"UPDATE", insert("NEW") + ` INSERT INTO {t} (queue, class, key) SELECT '{queue}', {class}, CAST(OLD.{column} AS TEXT) WHERE OLD.{column} <> '' AND OLD.{column} IS NOT NEW.{column} COLLATE BINARY;`},
		{"DELETE", insert("OLD")},
	} {
		all = append(all, sqliteTrigger{p.name + "_" + strings.ToLower(k.event), p.table, k.event, p.text(`BEGIN ` + k.do + ` END`)})
	}
	return all
}

// sqliteThere returns the triggers of the table, and triggers of other tables with wanted names.
func (p triggerParts) sqliteThere(ctx context.Context, db Queryer) (ours, foreign []sqliteTrigger, err error) {
	known := make(map[[2]string]bool)
	for class := range uint8(classes) {
		for _, s := range p.sqliteTriggers(class) {
			known[[2]string{s.event, s.body}] = true
		}
	}
	table := strings.ToLower(unquoted(p.table))
	err = sqlkit.Each(ctx, db, func(rows *sql.Rows) error {
		var s sqliteTrigger
		var text string
		if err := rows.Scan(&s.name, &s.table, &text); err != nil {
			return err
		}
		if m := sqliteText.FindStringSubmatch(text); m != nil {
			s.event, s.body = m[1], m[2]
		}
		named := strings.HasPrefix(s.name, p.name+"_")
		switch {
		case strings.ToLower(s.table) != table && named:
			foreign = append(foreign, s)
		case strings.ToLower(s.table) == table && (named || known[[2]string{s.event, s.body}]):
			ours = append(ours, s)
		}
		return nil
	}, `SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'`)
	return ours, foreign, err
}

// sqliteChanges returns the statements that make the triggers right, none if they are. A trigger is recognized by its
// body: the table may have been renamed, or the trigger made under another name of it.
func (p triggerParts) sqliteChanges(ctx context.Context, db Queryer) (all []string, err error) {
	if _, err := sqlkit.Texts(ctx, db, p.text(`SELECT '' FROM {t} LIMIT 0`)); err != nil { // otherwise the triggers would fail at each change
		return nil, fmt.Errorf("%w: call outbox.Migrate, or run what outbox.Schema returns: %w", ErrSchema, err)
	}
	if _, err := sqlkit.Texts(ctx, db, p.text(`SELECT t.{column} FROM {table} AS t LIMIT 0`)); err != nil { // a quoted name alone would be a string
		return nil, err
	}
	ours, foreign, err := p.sqliteThere(ctx, db)
	if err != nil {
		return nil, err
	}
	var made []string
	for _, want := range p.sqliteTriggers(p.class) {
		kept := false
		for i := range ours {
			if s := &ours[i]; !kept && s.event == want.event && s.body == want.body {
				kept, s.name = true, ""
			}
		}
		if kept {
			continue
		}
		for _, s := range foreign {
			if s.name == want.name {
				return nil, fmt.Errorf("name %s is taken by a trigger on %s, formerly %s; drop that trigger first", s.name, s.table, p.table)
			}
		}
		made = append(made, want.create())
	}
	return append(dropAll(ours), made...), nil
}

// dropAll returns the statements that drop triggers, without those that have no name.
func dropAll(triggers []sqliteTrigger) (all []string) {
	for _, s := range triggers {
		if s.name != "" {
			all = append(all, `DROP TRIGGER "`+strings.ReplaceAll(s.name, `"`, `""`)+`"`)
		}
	}
	return all
}

func ensureSQLiteTrigger(ctx context.Context, db *sql.DB, p triggerParts) error {
	return change(ctx, db, p.sqliteChanges)
}

func dropSQLiteTrigger(ctx context.Context, db *sql.DB, p triggerParts) error {
	return change(ctx, db, func(ctx context.Context, db Queryer) ([]string, error) {
		ours, _, err := p.sqliteThere(ctx, db)
		return dropAll(ours), err
	})
}

// change runs the statements that plan returns, in one transaction; it begins none if there are no statements.
func change(ctx context.Context, db *sql.DB, plan func(ctx context.Context, db Queryer) ([]string, error)) error {
	return sqlkit.SQLite.Migrate(ctx, db, sqlkit.Migration{
		Settled: func(ctx context.Context, db sqlkit.Queryer) (bool, error) {
			statements, err := plan(ctx, db)
			return len(statements) == 0, err
		},
		Change: func(ctx context.Context, c *sql.Conn) error {
			statements, err := plan(ctx, c) // another process may have made the change
			if err != nil {
				return err
			}
			return sqlkit.Run(ctx, c, statements...)
		},
	})
}
