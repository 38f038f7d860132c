package outbox

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
)

// maxBody is the maximum size of a document in bytes: the 16 MB that a request may have.
const maxBody = 16_000_000

// WriteError reports which action, or key, was refused. Nothing of the call was written, except by Backfill; then Error
// says how much.
type WriteError struct {
	// Index is its position in the call; Key is its raw key if it has one.
	Index int
	Key   string
	Err   error

	written int // by Backfill, before the error
}

func (e *WriteError) Error() string {
	done := "nothing was written"
	if e.written > 0 {
		done = fmt.Sprintf("%d before it were", e.written)
	}
	if e.Key == "" {
		return fmt.Sprintf("outbox: action %d: %v; %s", e.Index, e.Err, done)
	}
	return fmt.Sprintf("outbox: action %d (key %q): %v; %s", e.Index, e.Key, e.Err, done)
}

// Unwrap returns Err.
func (e *WriteError) Unwrap() error { return e.Err }

// Write adds actions to the outbox in the transaction of the caller, with one statement. A relay sends them after the
// commit.
//
// Write the entity first, then call Write: the transaction must hold the lock on the entity when the row is written, so
// that the actions of a key are applied in the order of the transactions. In the opposite order the index can keep
// the older state forever. A statement that changed nothing, such as an INSERT … ON CONFLICT DO NOTHING, holds no
// lock: do not call Write then. WriteKeys has no such condition.
//
// ctx bounds the statement. The error is a *WriteError if an action cannot be sent; then nothing was written and the
// transaction can continue. Otherwise it is that of the database. Tags are not kept, and an action with OnOutcome is
// refused.
func Write[T any](ctx context.Context, tx Execer, to *Table, actions ...models.IndexDocumentsAction[T]) error {
	return to.add(ctx, tx, len(actions), func() (*batch, error) { return rowsFor(to, actions) })
}

// add writes rows, if there are any.
func (t *Table) add(ctx context.Context, tx Execer, n int, rows func() (*batch, error)) error {
	if err := t.ready(); err != nil || n == 0 {
		return err
	}
	if err := t.inside(ctx, tx); err != nil {
		return err
	}
	b, err := rows()
	if err != nil {
		return err
	}
	return t.write(ctx, tx, t.Class, b)
}

// rowsFor converts actions to rows.
func rowsFor[T any](to *Table, actions []models.IndexDocumentsAction[T]) (*batch, error) {
	if len(actions) > 0 && to.Key != nil && to.RawKey == nil {
		return nil, fmt.Errorf("outbox: table %q has Key but no RawKey, which Write needs; set Table.RawKey, or use WriteKeys", to.Queue)
	}
	b := newBatch(len(actions))
	for i := range actions {
		if key, err := appendAction(to, b, &actions[i]); err != nil {
			return nil, &WriteError{Index: i, Key: key, Err: err}
		}
	}
	return b, nil
}

// WriteKeys adds raw keys, whose documents the relay's Loader reads when they are sent. So it may be called at any
// point of the transaction. It returns errors like Write.
func WriteKeys(ctx context.Context, tx Execer, to *Table, changed ...string) error {
	return to.add(ctx, tx, len(changed), func() (*batch, error) { return keysOnly(to, changed) })
}

// keysOnly converts keys to rows.
func keysOnly(to *Table, changed []string) (*batch, error) {
	b := newBatch(len(changed))
	for i, key := range changed {
		if err := to.checkKey(key); err != nil {
			return nil, &WriteError{Index: i, Key: key, Err: err}
		}
		b.add(key, "", nil)
	}
	return b, nil
}

var errNoTransaction = errors.New("outbox: the transaction is nil")

// inside refuses anything that is not a transaction: a pool, also one embedded in another type (sqlx, bun, GORM), and a
// connection without a transaction.
func (t *Table) inside(ctx context.Context, tx Execer) error {
	if nilcheck.IsNil(tx) {
		return errNoTransaction
	}
	if _, is := tx.(*sql.Tx); is {
		return nil
	}
	if embedsPool(reflect.ValueOf(tx), 5) {
		return fmt.Errorf("outbox: got a %T, want the *sql.Tx that writes the entity: the row commits even if the entity is rolled back", tx)
	}
	c, is := tx.(*sql.Conn)
	if !is {
		return nil
	}
	begun, err := begunOn(ctx, c, t.data.Server)
	if err == nil && !begun {
		err = errors.New("got a *sql.Conn without a transaction, want the *sql.Tx that writes the entity, or BEGIN first: the row commits even if the entity is rolled back")
	}
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

// begunOn reports whether a connection has a transaction: PostgreSQL refuses a savepoint outside of one, SQLite a BEGIN
// inside one.
func begunOn(ctx context.Context, c *sql.Conn, server bool) (begun bool, err error) {
	if !server {
		if _, err := c.ExecContext(ctx, `BEGIN`); err != nil {
			return true, ctx.Err()
		}
		_, err = c.ExecContext(ctx, `ROLLBACK`)
		return false, err
	}
	if _, err = c.ExecContext(ctx, `SAVEPOINT azsearch_outbox`); sqlkit.State(err) == "25P01" {
		return false, nil
	}
	if err == nil {
		_, err = c.ExecContext(ctx, `RELEASE SAVEPOINT azsearch_outbox`)
	}
	return true, err
}

// embedsPool reports whether a value is a *sql.DB or embeds one, at most depth levels deep.
func embedsPool(v reflect.Value, depth int) bool {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer && v.Type() != reflect.TypeFor[*sql.DB]() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return v.Kind() == reflect.Pointer // to a sql.DB
	}
	for i := range v.NumField() * min(depth, 1) {
		if v.Type().Field(i).Anonymous && embedsPool(v.Field(i), depth-1) {
			return true
		}
	}
	return false
}

// checkKey refuses a raw key that cannot be the key of a document.
func (t *Table) checkKey(raw string) error {
	switch {
	case raw == "":
		return errors.New("the key is empty")
	case !utf8.ValidString(raw):
		return errors.New("key is not UTF-8, so a database cannot store it as text")
	case strings.IndexByte(raw, 0) >= 0:
		return errors.New("key has a zero byte, which a database cannot store in text")
	}
	key := t.keyOrNone(raw)
	err := keys.Validate(key)
	switch {
	case err != nil && t.Key == nil:
		return fmt.Errorf("%w; to allow any raw key, set Table.Key to keys.Encode", err)
	case err != nil:
		return fmt.Errorf("Table.Key returned %q: %w", key, err)
	}
	return nil
}

// batch holds the values of one insert.
type batch struct {
	keys, ops, bodies []any
}

func newBatch(n int) *batch {
	all := make([]any, 0, 3*n)
	return &batch{all[0:0:n], all[n : n : 2*n], all[2*n : 2*n : 3*n]}
}

func (b *batch) add(key string, op models.ActionType, body any) {
	b.keys, b.ops, b.bodies = append(b.keys, key), append(b.ops, string(op)), append(b.bodies, body)
}

// appendAction adds an action and returns its raw key.
func appendAction[T any](to *Table, b *batch, action *models.IndexDocumentsAction[T]) (string, error) {
	if !action.Type.Valid() {
		return "", fmt.Errorf("unknown action type %q: use models.UploadAction, MergeAction, MergeOrUploadAction or DeleteAction", action.Type)
	}
	if action.OnOutcome != nil {
		return "", errors.New("got OnOutcome, want none: the relay that sends the action may be another process")
	}
	written, err := keyIn(to, &action.Document)
	if err != nil {
		return "", err
	}
	raw := written
	if to.RawKey != nil {
		if raw, err = rawKey(to, action.Document); err != nil {
			return "", err
		}
	}
	if err := to.checkKey(raw); err != nil {
		return raw, err
	}
	if key := to.key(raw); key != written {
		return raw, fmt.Errorf("got document key %q, want %q, which Table.Key returns for its raw key %q; RawKey must be the inverse of Key", written, key, raw)
	}
	if action.Type == models.ActionTypeDelete {
		b.add(raw, action.Type, nil)
		return raw, nil
	}
	body, err := encode(action)
	if err != nil {
		return raw, err
	}
	b.add(raw, action.Type, body)
	return raw, nil
}

func rawKey(to *Table, doc any) (raw string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("Table.RawKey panicked: %v", v)
		}
	}()
	return to.RawKey(doc)
}

// keyFields caches the models.KeyField of each document type, by the table's KeyField.
var keyFields sync.Map

type keyOf struct {
	of   reflect.Type
	name string
}

// keyIn returns the key in a document.
func keyIn[T any](to *Table, doc *T) (string, error) {
	known := keyOf{reflect.TypeFor[T](), to.KeyField}
	field, ok := keyFields.Load(known)
	if !ok {
		found, err := models.KeyFieldOf[T]()
		if err == nil && found.Name == "" {
			if to.KeyField == "" {
				return "", fmt.Errorf("no field of %T is known as the key; tag it with `search:\"key\"`, or set Table.KeyField", *doc)
			}
			found, err = models.KeyFieldByName[T](to.KeyField)
		}
		if err != nil {
			return "", err
		}
		field = found
		keyFields.Store(known, field)
	}
	key := field.(models.KeyField[T]) //nolint:forcetypeassert // by its type
	return key.GetFrom(doc)
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// encode returns the JSON of the document of an action.
func encode[T any](action *models.IndexDocumentsAction[T]) (string, error) {
	buffer := scratch.Get().(*[]byte) //nolint:forcetypeassert // by New
	defer scratch.Put(buffer)
	text, err := models.AppendActionFrom((*buffer)[:0], action.Type, &action.Document)
	if err != nil {
		return "", err
	}
	*buffer = text
	if len(text) > maxBody {
		*buffer = nil
		return "", fmt.Errorf("got JSON of %d bytes, want at most %d", len(text), maxBody)
	}
	if !utf8.Valid(text) {
		return "", errors.New("JSON is not UTF-8")
	}
	return document(text), nil
}

// document returns the JSON of the document in an encoded action: everything behind the member that names the action.
func document(action []byte) string {
	at := bytes.IndexByte(action, ',')
	if at < 0 {
		return "{}"
	}
	return "{" + string(action[at+1:])
}

// maxInsertRows is the maximum number of rows in one insert with an argument for each value: SQLite accepts 32,766
// arguments.
const maxInsertRows = 1000

// The parameters of an insert are the queue and the class, then the key, the operation and the body.
const insertOne = `INSERT INTO {t} (queue, class, key, op, body) VALUES (?1, ?2, ?3, ?4, ?5)`

func (d *dialect) insertMany() string {
	return `INSERT INTO {t} (queue, class, key, op, body) SELECT CAST(?1 AS text), CAST(?2 AS integer), r.key, r.op, r.body
		FROM ` + d.Rows(3, "r", [2]string{"key", "text"}, [2]string{"op", "text"}, [2]string{"body", "text"}) + ` ORDER BY r.n`
}

// write inserts a batch.
func (t *Table) write(ctx context.Context, tx Execer, class uint8, b *batch) error {
	notify := t.Notify && t.sent.due(time.Now())
	var query string
	args := []any{t.Queue, int64(class)}
	switch n := len(b.keys); {
	case n == 1 || n <= maxInsertRows && t.data.insertRow != "":
		if query = t.sql.insert; notify {
			query = t.sql.insertNotify
		}
		query += strings.Repeat(t.data.insertRow, n-1)
		args = slices.Grow(args, 3*n)
		for i := range n {
			args = append(args, b.keys[i], b.ops[i], b.bodies[i])
		}
	default:
		if query = t.sql.insertMany; notify {
			query = t.sql.insertManyNotify
		}
		args = append(args, t.data.Values(b.keys, b.ops, b.bodies)...)
	}
	_, err := tx.ExecContext(ctx, query, args...)
	if t.explain(&err); err != nil {
		return fmt.Errorf("outbox: writing to %q: %w", t.Queue, err)
	}
	return nil
}

// notifyEvery is the interval at which a process notifies relays at most. A relay that was woken keeps reading for rows
// committed without a notification in between, see pollAfter.
const notifyEvery = 50 * time.Millisecond

// notified is the time of this process's last notification.
type notified struct{ at atomic.Int64 }

// due reports whether to notify now, and if so records it.
func (n *notified) due(now time.Time) bool {
	last, at := n.at.Load(), now.UnixNano()
	return (at-last >= int64(notifyEvery) || at < last) && n.at.CompareAndSwap(last, at)
}
