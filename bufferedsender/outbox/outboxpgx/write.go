package outboxpgx

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/models"
)

// Execer runs a statement in a transaction: a pgx.Tx, or a *pgx.Conn or *pgxpool.Conn on which a transaction was begun.
type Execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Write is outbox.Write for pgx: it adds actions to the outbox in the transaction of the caller, with one statement.
// Write the entity first. Without actions it runs nothing.
//
// It waits for the statement; ctx bounds it. The error is an *outbox.WriteError if an action cannot be sent, or reports
// that tx is not a transaction, or concerns the Table; in these cases nothing was written, and the transaction can
// continue. Otherwise it has the error of the database in its chain.
func Write[T any](ctx context.Context, tx Execer, to *outbox.Table, actions ...models.IndexDocumentsAction[T]) error {
	insert, err := outbox.BuildInsert(to, actions...)
	if err != nil {
		return err
	}
	return write(ctx, tx, to, insert)
}

// WriteKeys is outbox.WriteKeys for pgx: it adds raw keys, whose documents the relay's Loader reads. It may be called
// at any point of the transaction. It returns errors like Write.
func WriteKeys(ctx context.Context, tx Execer, to *outbox.Table, changed ...string) error {
	insert, err := outbox.BuildInsertKeys(to, changed...)
	if err != nil {
		return err
	}
	return write(ctx, tx, to, insert)
}

func write(ctx context.Context, tx Execer, to *outbox.Table, insert outbox.Insert) error {
	if insert.Len() == 0 {
		return nil
	}
	if err := inside(tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, insert.Statement(), insert.Args...); err != nil {
		return fmt.Errorf("outboxpgx: writing to %q: %w", to.Queue, err)
	}
	return nil
}

// pool is a *pgxpool.Pool, or a type that embeds one.
type pool interface {
	Acquire(ctx context.Context) (*pgxpool.Conn, error)
}

// inside refuses anything that can be recognized as not being a transaction.
func inside(tx Execer) error {
	if nilcheck.IsNil(tx) {
		return errors.New("outboxpgx: the transaction is nil")
	}
	switch tx := tx.(type) {
	case pool:
		return errors.New("outboxpgx: got a pool, want the transaction (pgx.Tx) that writes the entity: a row written through a pool commits even if the entity is rolled back")
	case *pgx.Conn:
		return begun(tx)
	case *pgxpool.Conn:
		return begun(tx.Conn())
	}
	return nil
}

// idle is the status of a connection without a transaction.
const idle = 'I'

func begun(c *pgx.Conn) error {
	if c == nil {
		return errors.New("outboxpgx: the transaction is nil")
	}
	if c.PgConn().TxStatus() == idle {
		return errors.New("outboxpgx: got a connection without a transaction, want the pgx.Tx that writes the entity: the row commits even if the entity is rolled back")
	}
	return nil
}
