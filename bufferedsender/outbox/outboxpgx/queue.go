package outboxpgx

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/models"
)

// Queue adds a statement to a batch that adds actions to the outbox, in the transaction of the batch. A relay sends
// them after the commit, and never after a rollback. Without actions nothing is queued.
//
// Queue it behind the statements that write the entity: see outbox.Write for the order, and for tags. A batch sent on a
// connection or a pool is its own transaction, so it works like one sent on a pgx.Tx.
//
// It does no I/O. The error is an *outbox.WriteError if an action cannot be sent, or concerns the Table; then nothing
// is queued, and the batch may be sent without it. Errors of the database are returned by the batch. Like the batch it
// is not safe for concurrent use.
//
// The decision to notify relays (Table.Notify) is made when the batch is sent.
func Queue[T any](batch *pgx.Batch, to *outbox.Table, actions ...models.IndexDocumentsAction[T]) error {
	insert, err := outbox.BuildInsert(to, actions...)
	if err != nil {
		return err
	}
	return enqueue(batch, insert)
}

// QueueKeys adds a statement to a batch that adds raw keys to the outbox, whose documents the relay's Loader reads: see
// outbox.WriteKeys. It may be anywhere in the batch. It returns errors like Queue.
func QueueKeys(batch *pgx.Batch, to *outbox.Table, changed ...string) error {
	insert, err := outbox.BuildInsertKeys(to, changed...)
	if err != nil {
		return err
	}
	return enqueue(batch, insert)
}

func enqueue(batch *pgx.Batch, insert outbox.Insert) error {
	switch {
	case batch == nil:
		return errors.New("outboxpgx: the batch is nil")
	case insert.Len() == 0:
		return nil
	}
	batch.Queue(insert.SQL, append([]any{whenSent(insert.Statement)}, insert.Args...)...)
	return nil
}

// whenSent chooses the statement when the batch is sent. If it were chosen when queued, the notification on which
// others rely for 50 ms could be as late as the batch, or never come.
type whenSent func() string

// RewriteQuery implements pgx.QueryRewriter, the only option that a batch supports for a statement.
func (statement whenSent) RewriteQuery(_ context.Context, _ *pgx.Conn, _ string, args []any) (string, []any, error) {
	return statement(), args, nil
}
