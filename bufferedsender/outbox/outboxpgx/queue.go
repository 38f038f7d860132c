package outboxpgx

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/models"
)

// Queue adds a statement to a batch that adds the actions to the outbox, in the transaction in which
// the batch is sent. They are sent to the index when it commits, and never if it does not. Without
// actions nothing is queued.
//
// Queue it behind the statements that write the entity: see outbox.Write about the order, and about what
// happens to tags. A batch that is sent on a connection or a pool is a transaction of its own, so
// that is as good as one on a pgx.Tx.
//
// It does no I/O. The error is an *outbox.WriteError if an action is not fit to be sent, or says what is wrong
// with the Table; nothing is queued then, and the batch may be sent without it. An error of the database is
// one of the batch. Like the batch it is not safe for concurrent use.
//
// Whether relays are notified (Table.Notify) is decided when the batch is sent.
func Queue[T any](batch *pgx.Batch, to *outbox.Table, actions ...models.IndexDocumentsAction[T]) error {
	insert, err := outbox.BuildInsert(to, actions...)
	if err != nil {
		return err
	}
	return enqueue(batch, insert)
}

// QueueKeys adds a statement to a batch that adds raw keys to the outbox of which only it is known that they
// have changed: see outbox.WriteKeys. It does not matter where in the batch it is. It reports like Queue.
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

// whenSent chooses the statement when the batch is sent. Chosen when it is queued, the notification
// on which others rely for 50 ms would be as late as the batch, or never come.
type whenSent func() string

// RewriteQuery implements pgx.QueryRewriter, the one option that a batch has for a statement.
func (statement whenSent) RewriteQuery(_ context.Context, _ *pgx.Conn, _ string, args []any) (string, []any, error) {
	return statement(), args, nil
}
