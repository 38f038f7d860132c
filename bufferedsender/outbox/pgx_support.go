package outbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Insert is the statement that adds rows to a Table on PostgreSQL, for packages that use a driver outside of
// database/sql, such as outboxpgx. Programs call Write, or outboxpgx. The rows have passed all checks of Write. The
// zero value has no rows.
type Insert struct {
	// SQL has the parameters $1 to $5, and does not notify relays.
	SQL string
	// Args are the queue (string) and the class (int64). For one row there follow its key and operation (string) and
	// body (string, or nil for none); for several rows all keys, operations and bodies ([]string, []string, []*string),
	// which the driver passes as text[].
	Args []any

	table     *Table
	notifying string // SQL with a notification
}

// Len returns the number of rows.
func (s Insert) Len() int {
	if len(s.Args) == 0 {
		return 0
	}
	if keys, several := s.Args[2].([]string); several {
		return len(keys)
	}
	return 1
}

// Statement returns the statement to run with Args: SQL, or SQL with a notification if Table.Notify is set and this
// process has not notified relays for 50 ms. Call it just before the statement runs, and run the result: for 50 ms,
// other transactions rely on its notification.
func (s Insert) Statement() string {
	if s.table != nil && s.table.Notify && s.table.sent.due(time.Now()) {
		return s.notifying
	}
	return s.SQL
}

// BuildInsert returns the statement that Write runs, with arrays instead of the text that every driver accepts. Without
// actions it has no rows. The error is a *WriteError if an action cannot be sent; other errors concern the Table, such
// as a Dialect other than PostgreSQL.
func BuildInsert[T any](to *Table, actions ...models.IndexDocumentsAction[T]) (Insert, error) {
	return to.insertion(func() (*batch, error) { return rowsFor(to, actions) })
}

// BuildInsertKeys returns the statement that WriteKeys runs, with errors like BuildInsert. Without keys it only checks
// the Table.
func BuildInsertKeys(to *Table, changed ...string) (Insert, error) {
	return to.insertion(func() (*batch, error) { return keysOnly(to, changed) })
}

// insertion returns the statement that write runs, with arrays.
func (t *Table) insertion(made func() (*batch, error)) (Insert, error) {
	if err := t.ready(); err != nil {
		return Insert{}, err
	}
	if t.Dialect != PostgreSQL {
		return Insert{}, fmt.Errorf("outbox: table %q: the Dialect is %s, and pgx is for PostgreSQL", t.Queue, t.Dialect)
	}
	rows, err := made()
	if err != nil || len(rows.keys) == 0 {
		return Insert{}, err
	}
	n := len(rows.keys)
	if n == 1 {
		return Insert{
			SQL: t.sql.insert, notifying: t.sql.insertNotify, table: t,
			Args: []any{t.Queue, int64(t.Class), rows.keys[0], rows.ops[0], rows.bodies[0]},
		}, nil
	}
	texts := make([]string, 3*n)
	keys, ops, contents := texts[:n:n], texts[n:2*n:2*n], texts[2*n:]
	bodies := make([]*string, n)
	for i := range n {
		keys[i], _ = rows.keys[i].(string) // add ensures the type
		ops[i], _ = rows.ops[i].(string)   // as above
		if body, is := rows.bodies[i].(string); is {
			contents[i], bodies[i] = body, &contents[i]
		}
	}
	return Insert{
		SQL: t.sql.insertArrays, notifying: t.sql.insertArraysNotify, table: t,
		Args: []any{t.Queue, int64(t.Class), keys, ops, bodies},
	}, nil
}

// native makes a statement take arrays instead of their text.
func native(statement string) string {
	return strings.ReplaceAll(statement, "::text::text[]", "::text[]")
}
