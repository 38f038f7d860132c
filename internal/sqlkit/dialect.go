package sqlkit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Dialect is one kind of database. Nothing changes its fields but tests.
type Dialect struct {
	// Name is the first word of what the server says it is, in lower case.
	Name string
	// Version is the query for what the server says it is.
	Version string
	// Now is an expression: milliseconds since 1970, by the clock of the database.
	Now string
	// Dollar: arguments are $1, $2; otherwise they stay ?1, ?2.
	Dollar bool
	// Begin starts a transaction that writes.
	Begin string
	// Alone is run first in a transaction that changes tables: it waits for other processes that change the same ones,
	// and bounds the wait for {patience}. "" where Begin does that.
	Alone string
	// Server: connections are many and writers lock rows. Otherwise a writer locks all there is, so a connection that
	// is kept would starve others.
	Server bool
	// Schemas: the name of a table may have a schema before it.
	Schemas bool
	// Missing is the query for those of the names in a list, ?1, that are neither tables, indexes nor sequences.
	Missing string
	// MissingHint says why a table that was created may be missing.
	MissingHint string
	// In returns the condition that follows a column: its value is in a list of a type.
	In func(argument, kind string) string
	// Rows returns rows that are made of arguments, from number first on, as a table: its name, then for each column
	// its name and type. Its column n counts the rows.
	Rows func(first int, name string, columns ...[2]string) string
	// Values returns these arguments. A value is nil, an int64 or a string.
	Values func(columns ...[]any) []any
}

// All are the dialects that there are.
var All = []*Dialect{&PostgreSQL, &SQLite}

// Named returns a dialect by its name. The error names the constants of a package.
func Named(name, pkg string) (*Dialect, error) {
	for _, d := range All {
		if d.Name == name {
			return d, nil
		}
	}
	switch lower := strings.ToLower(name); {
	case name == "":
		return nil, fmt.Errorf("no Dialect: use %s.PostgreSQL or %[1]s.SQLite", pkg)
	case strings.Contains(lower, "mysql") || strings.Contains(lower, "maria"):
		return nil, fmt.Errorf("the dialect %q is not supported: under REPEATABLE READ, the default of MySQL and MariaDB, gap locks make deletes wait for inserts. Use PostgreSQL or SQLite", name)
	}
	return nil, fmt.Errorf("the dialect %q is not known: use %s.PostgreSQL or %[2]s.SQLite", name, pkg)
}

// onServer is a part of a statement for databases that are servers: locks of rows.
var onServer = regexp.MustCompile(`\{server: ([^}]*)\}`)

// Text returns a statement for a table, or for tables whose names begin with it.
func (d *Dialect) Text(statement, table string) string {
	if strings.Contains(statement, "{server: ") {
		part := ""
		if d.Server {
			part = "$1"
		}
		statement = onServer.ReplaceAllString(statement, part)
	}
	statement = strings.NewReplacer("{t}", table, "{now}", d.Now).Replace(statement)
	if d.Dollar {
		return strings.ReplaceAll(statement, "?", "$")
	}
	return statement
}

// ErrDialect says that a dialect is not that of the database.
var ErrDialect = errors.New("the Dialect is the wrong one")

// Recognize refuses a server of another kind.
func (d *Dialect) Recognize(ctx context.Context, db Queryer) error {
	var says string
	if err := One(ctx, db, &says, d.Version); err != nil {
		for _, other := range All {
			if other != d && One(ctx, db, &says, other.Version) == nil {
				return fmt.Errorf("%w: it is %s, and the server says that it is %q: use %s", ErrDialect, d.Name, says, other.Name)
			}
		}
		return fmt.Errorf("the database does not say what it is, as %s would: %w", d.Name, err)
	}
	if kind := strings.ToLower(strings.Fields(says + " ?")[0]); kind != d.Name {
		return fmt.Errorf("%w: it is %s, and the server says that it is %q: use PostgreSQL or SQLite", ErrDialect, d.Name, says)
	}
	return nil
}

// NotThere returns those of names that are neither tables, indexes nor sequences. It takes no lock on them.
func (d *Dialect) NotThere(ctx context.Context, db Queryer, names ...string) ([]string, error) {
	return Texts(ctx, db, d.Text(d.Missing, ""), d.Values(Anys(names))...)
}

// Anys returns values as arguments, or as a column of them.
func Anys[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

var plainName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,62}\.)?[A-Za-z_][A-Za-z0-9_]*$`)

// PlainName reports whether a name, perhaps behind a schema and a dot, has only letters, digits and underscores, and is
// not longer than longest without the schema. A plain name is written into statements as it is.
func PlainName(name string, longest int) bool {
	return plainName.MatchString(name) && len(name)-strings.IndexByte(name, '.')-1 <= longest
}
