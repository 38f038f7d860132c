package sqlkit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Dialect describes one kind of database. Its fields are constant except in tests.
type Dialect struct {
	// Name is the first word of the server's version text, in lower case.
	Name string
	// Version is the query for the server's version text.
	Version string
	// Database is the query for a text that differs for different databases. The database has to answer it only if the
	// user may ask.
	Database string
	// Now is an expression for milliseconds since 1970, by the clock of the database.
	Now string
	// Dollar: arguments are written $1, $2; otherwise ?1, ?2.
	Dollar bool
	// Begin starts a transaction that writes.
	Begin string
	// Alone runs first in a transaction that changes tables: it waits for other processes that change the same tables,
	// and limits the later wait for a table to {patience}. "" if Begin does that.
	Alone string
	// Server: there are many connections, and writers lock rows. Otherwise a writer locks the whole database, so a
	// connection that is kept would starve others.
	Server bool
	// Schemas: a table name may have a schema in front.
	Schemas bool
	// Missing is the query for those of the names in the list ?1 that are not tables, indexes or sequences.
	Missing string
	// MissingHint explains why a table that was created may be missing.
	MissingHint string
	// In returns a condition for the column in front of it: its value is in the list argument, of type kind.
	In func(argument, kind string) string
	// Rows returns a table expression made of arguments, starting with the argument number first. Its parameters are
	// the name of the table, then the name and type of each column. The column n counts the rows.
	Rows func(first int, name string, columns ...[2]string) string
	// Values returns the arguments for Rows. A value is nil, an int64 or a string.
	Values func(columns ...[]any) []any
}

// All are the supported dialects.
var All = []*Dialect{&PostgreSQL, &SQLite}

// Named returns a dialect by its name. Its error names the constants of the package pkg.
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
	return nil, fmt.Errorf("unknown dialect %q; use %s.PostgreSQL or %[2]s.SQLite", name, pkg)
}

// onServer matches a part of a statement that only servers have, such as locks of rows.
var onServer = regexp.MustCompile(`\{server: ([^}]*)\}`)

// Text returns a statement for a table, or for tables with that prefix.
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

// ErrDialect reports that the dialect is not that of the database.
var ErrDialect = errors.New("wrong Dialect")

// Recognize returns an error if the server is of another kind.
func (d *Dialect) Recognize(ctx context.Context, db Queryer) error {
	var says string
	if err := One(ctx, db, &says, d.Version); err != nil {
		for _, other := range All {
			if other != d && One(ctx, db, &says, other.Version) == nil {
				return fmt.Errorf("%w: got %s, but the server is %q; use %s", ErrDialect, d.Name, says, other.Name)
			}
		}
		return fmt.Errorf("database did not return its version as %s does: %w", d.Name, err)
	}
	if kind := strings.ToLower(strings.Fields(says + " ?")[0]); kind != d.Name {
		return fmt.Errorf("%w: got %s, but the server is %q; use PostgreSQL or SQLite", ErrDialect, d.Name, says)
	}
	return nil
}

// Place identifies the database of any dialect that db reads, "" if that is unknown.
func Place(ctx context.Context, db Reader) string {
	for _, d := range All {
		var says string
		if err := One(ctx, db, &says, d.Database); err == nil && says != "" {
			return d.Name + " " + says
		}
	}
	return ""
}

// NotThere returns those of names that are not tables, indexes or sequences. It takes no lock on them.
func (d *Dialect) NotThere(ctx context.Context, db Queryer, names ...string) ([]string, error) {
	return Texts(ctx, db, d.Text(d.Missing, ""), d.Values(Anys(names))...)
}

// Anys converts values to arguments, or to a column of them.
func Anys[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

var plainName = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,62}\.)?[A-Za-z_][A-Za-z0-9_]*$`)

// PlainName reports whether a name, with an optional schema and dot, has only letters, digits and underscores, and is
// at most longest bytes long without the schema. A plain name is written into statements without quotes.
func PlainName(name string, longest int) bool {
	return plainName.MatchString(name) && len(name)-strings.IndexByte(name, '.')-1 <= longest
}
