// Package database opens the SQL database that a URL names, and keeps passwords out of all messages.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
)

// Forms are the supported URLs, for help texts and errors.
const Forms = "postgres://USER@HOST:5432/DATABASE or sqlite:FILE"

// Place names a database. Its String has no password.
type Place struct {
	Dialect outbox.Dialect
	// Name and Prefix are the URL parameters name and prefix, for an outbox.
	Name, Prefix string

	dsn, shown string
}

// Parse parses a URL. Its error does not contain the URL, which may have a password.
func Parse(where string) (Place, error) {
	scheme, rest, _ := strings.Cut(where, ":")
	switch scheme {
	case "postgres", "postgresql":
		u, err := url.Parse(where)
		if err != nil || u.Host == "" {
			break
		}
		query := u.Query()
		p := Place{Dialect: outbox.PostgreSQL, Name: query.Get("name"), Prefix: query.Get("prefix")}
		query.Del("name")
		query.Del("prefix")
		u.RawQuery = query.Encode()
		p.dsn = u.String()
		u.RawQuery = ""
		if u.User != nil {
			u.User = url.User(u.User.Username())
		}
		p.shown = u.String()
		return p, nil
	case "sqlite":
		path, parameters, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "?")
		query, err := url.ParseQuery(parameters)
		if err != nil || path == "" {
			break
		}
		return Place{Dialect: outbox.SQLite, Name: query.Get("name"), Prefix: query.Get("prefix"), dsn: path, shown: "sqlite:" + path}, nil
	}
	return Place{}, errors.New("the URL of the database cannot be read: use " + Forms + ", with special characters of a password as %XX; PGPASSWORD and ~/.pgpass keep it out of the process list")
}

func (p Place) String() string {
	query := url.Values{}
	for name, value := range map[string]string{"name": p.Name, "prefix": p.Prefix} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return p.shown
	}
	return p.shown + "?" + query.Encode()
}

// patience is the time limit for connecting.
const patience = 15 * time.Second

// Open opens an existing database, and checks the connection.
func (p Place) Open(ctx context.Context) (*sql.DB, error) {
	db, err := p.open()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be reached: %w", p.shown, err), db.Close())
	}
	return db, nil
}

func (p Place) open() (*sql.DB, error) {
	if p.Dialect == outbox.PostgreSQL {
		config, err := pgx.ParseConfig(p.dsn)
		if err != nil { // err has the parameters of the URL
			return nil, fmt.Errorf("the URL of the database has a parameter, port or file that PostgreSQL does not accept: check %s", p.shown)
		}
		return stdlib.OpenDB(*config), nil
	}
	if _, err := os.Stat(p.dsn); err != nil { // sql.Open would create the file
		return nil, err
	}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(p.dsn)}).EscapedPath(), RawQuery: "mode=rw&_txlock=immediate&_pragma=busy_timeout(5000)"}).String())
}
