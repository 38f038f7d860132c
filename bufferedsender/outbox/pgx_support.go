package outbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Insert is the statement that adds rows to a Table on PostgreSQL, for packages that run it with a driver
// which is not one of database/sql: outboxpgx. Programs call Write, or outboxpgx. The rows have
// passed all checks of Write. The zero value has none.
type Insert struct {
	// SQL has the parameters $1 to $5, and notifies nobody.
	SQL string
	// Args are the queue (string), the class (int64) and then, of one row, the key and the operation
	// (string) and the body (string, or nil if it has none); of several rows all keys, operations
	// and bodies ([]string, []string, []*string), which the driver writes as text[].
	Args []any

	table     *Table
	notifying string // SQL that notifies relays
}

// Len is how many rows there are.
func (s Insert) Len() int {
	if len(s.Args) == 0 {
		return 0
	}
	if keys, several := s.Args[2].([]string); several {
		return len(keys)
	}
	return 1
}

// Statement returns what to run with Args: SQL or, if Table.Notify is set and this process has not notified
// relays for 50 ms, SQL that does. Call it when the statement is about to run, and run what it
// returns: until 50 ms later other transactions rely on its notification.
func (s Insert) Statement() string {
	if s.table != nil && s.table.Notify && s.table.sent.due(time.Now()) {
		return s.notifying
	}
	return s.SQL
}

// BuildInsert returns the statement that Write runs, with arrays where Write has text that
// every driver takes. Without actions it has no rows. The error is a *WriteError if an action is not fit to be
// sent; others say what is wrong with the Table, such as a Dialect that is not PostgreSQL.
func BuildInsert[T any](to *Table, actions ...models.IndexDocumentsAction[T]) (Insert, error) {
	return to.insertion(func() (*batch, error) { return rowsFor(to, actions) })
}

// BuildInsertKeys returns the statement that WriteKeys runs, and reports like BuildInsert. Without keys it
// only checks the Table.
func BuildInsertKeys(to *Table, changed ...string) (Insert, error) {
	return to.insertion(func() (*batch, error) { return keysOnly(to, changed) })
}

// insertion is what write runs, but for the arrays.
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
		keys[i], _ = rows.keys[i].(string) // add makes sure of it
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

// native has a statement take arrays instead of their text.
func native(statement string) string {
	return strings.ReplaceAll(statement, "::text::text[]", "::text[]")
}
