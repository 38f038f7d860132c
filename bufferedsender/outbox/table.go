package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/models"
)

// defaultPrefix is the name of the table of rows, and the beginning of the names of all tables of an outbox.
const defaultPrefix = "azsearch_outbox"

// Table is an outbox: a queue in a database. Set the fields before the first use, and do not change or copy the Table
// afterwards; it is then safe for concurrent use.
type Table struct {
	// Dialect is the kind of database. Required.
	Dialect Dialect
	// Queue is the name of the queue, usually that of the index: letters, digits, "_", "-" and ".", at most 128.
	// Several may be in one database. Required.
	Queue string
	// Prefix is the beginning of the names of the tables, optionally with a schema: "search.outbox". Defaults to
	// "azsearch_outbox".
	Prefix string

	// KeyField is the name of the key field, for documents without a struct tag.
	KeyField string
	// Key converts the raw key of a row to the key of the document, for raw keys that are not legal in an index; for
	// example keys.Encode. Defaults to the raw key itself.
	Key func(raw string) string
	// RawKey returns the raw key of a document passed to Write. Required for Write if Key is set. Defaults to the key
	// of the document.
	RawKey func(doc any) (string, error)

	// Class is the urgency of the rows: 0 (most urgent) to 7, which Backfill uses. The rows of a key keep their order
	// in spite of it. Defaults to 0.
	Class uint8
	// Notify makes transactions that write rows wake listening relays (package outboxpgx) at their commit. A process
	// notifies at most every 50 ms, because PostgreSQL commits notifying transactions one after the other. A row whose
	// transaction did not notify waits some milliseconds in a busy queue, at most 15 s. PostgreSQL only. Defaults to
	// false.
	Notify bool

	once sync.Once
	err  error
	data *dialect
	sql  statements
	sent notified
}

// statements are the frequent statements for a table.
type statements struct {
	insert, insertMany, insertNotify, insertManyNotify string
	insertArrays, insertArraysNotify                   string // for drivers that take arrays, see pgx_support.go
}

var queueName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// plainPrefix reports whether a prefix is in lower case and leaves room for the suffixes of names. The names of
// triggers and channels contain it and are compared as text, so upper case would not match.
func plainPrefix(prefix string) bool {
	return sqlkit.PlainName(prefix, 40) && prefix == strings.ToLower(prefix)
}

// ready checks the fields, once.
func (t *Table) ready() error {
	if t == nil {
		return errors.New("outbox: the Table is nil")
	}
	t.once.Do(func() {
		var errs []error
		var err error
		if t.data, err = t.Dialect.data(); err != nil {
			errs = append(errs, err)
		}
		if !queueName.MatchString(t.Queue) {
			errs = append(errs, fmt.Errorf("got Queue %q, want 1 to 128 letters, digits, underscores, dashes and dots", t.Queue))
		}
		if err := checkPrefix(t.data, t.Prefix); err != nil {
			errs = append(errs, err)
		}
		if t.Class >= classes {
			errs = append(errs, fmt.Errorf("got Class %d, want 0 to %d", t.Class, classes-1))
		}
		if t.Notify && t.data != nil && t.data.notify == "" {
			errs = append(errs, fmt.Errorf("option Notify needs PostgreSQL; relays of %s poll", t.Dialect))
		}
		if t.Notify && len(t.Channel()) > maxName {
			errs = append(errs, fmt.Errorf("option Notify needs a Prefix of at most %d bytes, the limit for a channel name: %q has %d", maxName, t.Prefix, len(t.Channel())))
		}
		if t.err = errors.Join(errs...); t.err != nil {
			t.err = fmt.Errorf("outbox: table %q: %w", t.Queue, t.err)
			return
		}
		t.sql.insert, t.sql.insertMany = t.text(insertOne), t.text(t.data.insertMany())
		notify := strings.ReplaceAll(t.data.notify, "{channel}", t.Channel())
		t.sql.insertNotify, t.sql.insertManyNotify = t.sql.insert+notify, t.sql.insertMany+notify
		t.sql.insertArrays, t.sql.insertArraysNotify = native(t.sql.insertMany), native(t.sql.insertManyNotify)
	})
	return t.err
}

// usable checks the fields, and that there is a database.
func (t *Table) usable(db any) error {
	if err := t.ready(); err != nil {
		return err
	}
	return present(db)
}

// present refuses a database that is nil: usually that of an open that failed.
func present(db any) error {
	if nilcheck.IsNil(db) {
		return errors.New("outbox: the database is nil")
	}
	return nil
}

// explain adds to an error what to do if the tables do not exist.
func (t *Table) explain(err *error) {
	e := *err
	if e == nil || errors.Is(e, ErrSchema) || sqlkit.Classify(e) != sqlkit.NoTable {
		return
	}
	*err = fmt.Errorf("outbox: %w: call outbox.Migrate, or run what outbox.Schema returns%s: %w", ErrSchema, t.data.MissingHint, e)
}

// maxName is the maximum length of a name in PostgreSQL, in bytes; it ignores the rest.
const maxName = 63

func checkPrefix(d *dialect, prefix string) error {
	if prefix == "" {
		return nil
	}
	if !plainPrefix(prefix) {
		return fmt.Errorf("got Prefix %q, want at most 40 small letters, digits and _, with an optional schema and dot in front", prefix)
	}
	others := append(slices.Clone(suffixes), "_nonce")
	for n := range ringLeaves {
		if d == nil || d.ring != nil {
			others = append(others, fmt.Sprintf("_r%d", n))
		}
	}
	for _, suffix := range others {
		if suffix != "" && strings.HasSuffix(prefix, suffix) {
			return fmt.Errorf("got Prefix %q, which ends in %s like a table of another outbox; use another one", prefix, suffix)
		}
	}
	if d != nil && !d.Schemas && strings.Contains(prefix, ".") {
		return fmt.Errorf("got Prefix %q with a schema, which %s does not have", prefix, d.Name)
	}
	return nil
}

func (t *Table) prefix() string {
	if t.Prefix == "" {
		return defaultPrefix
	}
	return t.Prefix
}

// text returns a statement in the dialect and for the names of this table.
func (t *Table) text(statement string) string { return t.data.Text(statement, t.prefix()) }

// Channel returns the channel on which relays of PostgreSQL listen. It is the same for all queues with a prefix; the
// payload is the name of the queue.
func (t *Table) Channel() string { return strings.ReplaceAll(t.prefix(), ".", "_") }

// key returns the key of the document for a raw key.
func (t *Table) key(raw string) string {
	if t.Key == nil {
		return raw
	}
	return t.Key(raw)
}

// keyOrNone is key on a goroutine of ours, where a panic would end the process. After one it returns "", which cannot
// be the key of a document, so that the row becomes a dead letter.
func (t *Table) keyOrNone(raw string) (key string) {
	defer func() { _ = recover() }()
	return t.key(raw)
}

// Execer runs a statement in a transaction: a *sql.Tx, or a *sql.Conn on which a transaction was begun.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Queryer runs statements and queries: a *sql.DB, a *sql.Conn or a *sql.Tx.
type Queryer interface {
	Execer
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Row is a row of an outbox.
type Row struct {
	// Key is the raw key.
	Key string
	// Seq is the number of the row. Within a key it rises in the order of the transactions.
	Seq   int64
	Class uint8
	// Op is the operation; "" means that only the key is known to have changed.
	Op models.ActionType
	// Body is the JSON of the document, nil for a delete or if Op is "".
	Body json.RawMessage
	// Written is the time of writing, by the clock of the database.
	Written time.Time
	// Attempts is the number of failed attempts to send it.
	Attempts int
}
