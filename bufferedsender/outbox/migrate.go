package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// SchemaOptions says where the tables of outboxes are. nil is ready to use.
type SchemaOptions struct {
	// Prefix is that of Table. Defaults to DefaultPrefix.
	Prefix string
}

// plan is a dialect and a prefix that were checked.
type plan struct {
	data   *dialect
	prefix string
}

func (o *SchemaOptions) plan(d Dialect) (plan, error) {
	p := plan{prefix: DefaultPrefix}
	var err error
	if p.data, err = d.data(); err != nil {
		return p, fmt.Errorf("outbox: %w", err)
	}
	if o != nil && o.Prefix != "" {
		p.prefix = o.Prefix
	}
	if err := checkPrefix(d, p.prefix); err != nil {
		return p, fmt.Errorf("outbox: %w", err)
	}
	return p, nil
}

func (p plan) text(statement string) string {
	index := p.prefix[strings.IndexByte(p.prefix, '.')+1:]
	return p.data.text(strings.ReplaceAll(statement, "{i}", index), p.prefix)
}

// tables are the names of the tables.
func (p plan) tables() []any {
	var names []any
	for _, suffix := range []string{"", "_lease", "_queue", "_dead", "_tombstone", "_version"} {
		names = append(names, p.prefix+suffix)
	}
	return names
}

// Schema returns the statements that make the tables, for those who have migrations of their
// own. Migrate does the same.
func Schema(d Dialect, opts *SchemaOptions) (string, error) {
	p, err := opts.plan(d)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, version := range p.data.schema {
		fmt.Fprintf(&b, "-- version %d\n%s\n", i+1, strings.TrimSpace(p.text(version)))
	}
	fmt.Fprintf(&b, "\nDELETE FROM %s_version;\nINSERT INTO %[1]s_version (version) VALUES (%d);\n", p.prefix, len(p.data.schema))
	return b.String(), nil
}

// Migrate makes the tables, or brings those of an older version up to date, in one
// transaction. It changes nothing if all is as it should be, and may be called by many
// processes at once.
func Migrate(ctx context.Context, db *sql.DB, d Dialect, opts *SchemaOptions) error {
	p, err := opts.plan(d)
	if err != nil {
		return err
	}
	if err := p.ours(ctx, db); err != nil {
		return err
	}
	err = inTransaction(ctx, db, p.data, func(c *sql.Conn) error {
		if p.data.lock != "" {
			if _, err := c.ExecContext(ctx, p.text(p.data.lock)); err != nil {
				return err
			}
		}
		have, err := p.have(ctx, c)
		if err != nil {
			return err
		}
		if have > len(p.data.schema) {
			return fmt.Errorf("the tables %s… are of version %d, and this program knows %d: use a newer one", p.prefix, have, len(p.data.schema))
		}
		for _, version := range p.data.schema[have:] {
			for _, statement := range strings.Split(version, ";\n") {
				if statement = strings.TrimSpace(statement); statement == "" {
					continue
				}
				if _, err := c.ExecContext(ctx, p.text(statement)); err != nil {
					return err
				}
			}
		}
		if have == len(p.data.schema) {
			return nil
		}
		if _, err := c.ExecContext(ctx, p.text(`DELETE FROM {t}_version`)); err != nil {
			return err
		}
		_, err = c.ExecContext(ctx, p.text(`INSERT INTO {t}_version (version) VALUES (?1)`), len(p.data.schema))
		return err
	})
	if err != nil {
		return fmt.Errorf("outbox: migrating: %w", err)
	}
	return nil
}

// ours refuses a server of another kind.
func (p plan) ours(ctx context.Context, db Queryer) error {
	var says string
	if err := one(ctx, db, &says, p.data.version); err != nil {
		return fmt.Errorf("outbox: the database does not say what it is, as %s would: %w", p.data.name, err)
	}
	kind := strings.ToLower(strings.Fields(says + " ?")[0])
	if kind != string(p.data.name) {
		return fmt.Errorf("outbox: the Dialect is %s, but the server says that it is %q: use PostgreSQL or SQLite", p.data.name, says)
	}
	return nil
}

// have returns the version of the tables, 0 if there are none.
func (p plan) have(ctx context.Context, db Queryer) (int, error) {
	missing, err := p.missing(ctx, db)
	if err != nil || len(missing) > 0 {
		return 0, err
	}
	var version sql.NullInt64
	err = one(ctx, db, &version, p.text(`SELECT max(version) FROM {t}_version`))
	return int(version.Int64), err
}

func (p plan) missing(ctx context.Context, db Queryer) ([]string, error) {
	return texts(ctx, db, p.text(p.data.missing), p.data.lists.records(p.tables())...)
}

// Check returns nil if the tables are as Migrate makes them; otherwise an error that says in
// words everything that is missing, and what to do. It changes nothing.
func Check(ctx context.Context, db Queryer, d Dialect, opts *SchemaOptions) error {
	p, err := opts.plan(d)
	if err != nil {
		return err
	}
	if err := p.ours(ctx, db); err != nil {
		return err
	}
	missing, err := p.missing(ctx, db)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if len(missing) > 0 {
		return fmt.Errorf("outbox: %w: there is no %s. Call outbox.Migrate, or run what outbox.Schema returns", ErrSchema, strings.Join(missing, ", "))
	}
	have, err := p.have(ctx, db)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	if have != len(p.data.schema) {
		return fmt.Errorf("outbox: %w: the tables %s… are of version %d, and this program needs %d: call outbox.Migrate, or use a newer program", ErrSchema, p.prefix, have, len(p.data.schema))
	}
	if p.data.faults != "" {
		faults, err := texts(ctx, db, p.text(p.data.faults))
		if err != nil {
			return fmt.Errorf("outbox: %w", err)
		}
		if len(faults) > 0 {
			return fmt.Errorf("outbox: %w: %s", ErrSchema, strings.Join(faults, "; "))
		}
	}
	return nil
}

// ErrSchema says that the tables are not there, or not as they should be.
var ErrSchema = errors.New("the tables of the outbox are not as they should be")
