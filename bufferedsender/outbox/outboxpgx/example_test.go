package outboxpgx_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox/outboxpgx"
	"github.com/go-azsearch/azsearch/models"
)

// Entity and row are in one batch: one round trip and one transaction.
func ExampleQueue() {
	type Hotel struct {
		ID   string `json:"id" search:"key"`
		Name string `json:"name"`
	}
	hotels := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels"}
	h := Hotel{ID: "1", Name: "Ritz"}

	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO hotel (id, name) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET name = excluded.name`, h.ID, h.Name)
	if err := outboxpgx.Queue(batch, hotels, models.UploadAction(h)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(batch.Len(), "statements")
	// then: err := tx.SendBatch(ctx, batch).Close()

	// Output: 2 statements
}

// An invalid document is refused before anything is queued.
func ExampleQueue_refused() {
	type Hotel struct {
		ID string `json:"id" search:"key"`
	}
	hotels := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels"}

	batch := &pgx.Batch{}
	err := outboxpgx.Queue(batch, hotels, models.UploadAction(Hotel{"1"}), models.DeleteAction(Hotel{""}))
	var refused *outbox.WriteError
	if errors.As(err, &refused) {
		fmt.Printf("action %d: %v\n", refused.Index, refused.Err)
	}
	fmt.Println(batch.Len(), "statements")

	// Output:
	// action 1: the key is empty
	// 0 statements
}

func ExampleQueueKeys() {
	hotels := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels"}

	batch := &pgx.Batch{}
	batch.Queue(`UPDATE hotel SET stars = stars + 1 WHERE city = $1`, "Paris")
	if err := outboxpgx.QueueKeys(batch, hotels, "1", "7", "12"); err != nil { // one statement for any number of keys
		log.Fatal(err)
	}
	fmt.Println(batch.Len(), "statements")

	// Output: 2 statements
}

func ExampleWrite() {
	type Hotel struct {
		ID   string `json:"id" search:"key"`
		Name string `json:"name"`
	}
	hotels := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels"}
	rename := func(ctx context.Context, pool *pgxpool.Pool, h Hotel) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `UPDATE hotel SET name = $2 WHERE id = $1`, h.ID, h.Name); err != nil {
				return err
			}
			return outboxpgx.Write(ctx, tx, hotels, models.MergeAction(h)) // after the entity
		})
	}
	_ = rename
}

// A relay reads at each commit instead of four times a second.
func ExampleListen() {
	hotels := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels", Notify: true}
	follow := func(ctx context.Context, pool *pgxpool.Pool, to outbox.Sender) error {
		listener, err := outboxpgx.Listen(pool, nil, hotels)
		if err != nil {
			return err
		}
		db := stdlib.OpenDBFromPool(pool)
		defer db.Close()
		relay, err := outbox.NewRelay(db, hotels, to, &outbox.RelayOptions{Wake: listener.Wake(hotels)})
		if err != nil {
			return err
		}
		listening, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer stop()
		wg.Go(func() { _ = listener.Run(listening) }) // ends only with its context
		return relay.Run(ctx)
	}
	_ = follow
}

// A pool through PgBouncer in transaction mode cannot LISTEN, so the listener connects directly.
func ExampleListen_pgBouncer() {
	hotels := &outbox.Table{Dialect: outbox.PostgreSQL, Queue: "hotels", Notify: true}
	listener, err := outboxpgx.Listen(nil, &outboxpgx.ListenOptions{
		Connect: func(ctx context.Context) (*pgx.Conn, error) {
			return pgx.Connect(ctx, "postgres://app@db.internal:5432/shop") // not 6432
		},
	}, hotels)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Wake(hotels) != nil)

	// Output: true
}
