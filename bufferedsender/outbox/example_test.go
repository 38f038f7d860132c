package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/outbox"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

type Hotel struct {
	ID     string `json:"id" search:"key"`
	Name   string `json:"name" search:"searchable"`
	Rating int    `json:"rating"`
}

// world returns a table of hotels and its outbox in an SQLite file, and an emulated service with an index.
func world(ctx context.Context) (db *sql.DB, service *searchtest.Server, client *search.Client, end func()) {
	dir, err := os.MkdirTemp("", "outbox")
	if err != nil {
		log.Fatal(err)
	}
	db, err = sql.Open("sqlite", "file:"+filepath.Join(dir, "hotels.db")+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)")
	if err == nil {
		_, err = db.ExecContext(ctx, `CREATE TABLE hotels (id TEXT PRIMARY KEY, name TEXT, rating INTEGER)`)
	}
	if err == nil {
		err = outbox.Migrate(ctx, db, outbox.SQLite, nil)
	}
	if err != nil {
		log.Fatal(err)
	}
	service = searchtest.NewServer(nil)
	if err := service.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},
		{"name":"name","type":"Edm.String"},{"name":"rating","type":"Edm.Int32"}]}`); err != nil {
		log.Fatal(err)
	}
	client, err = search.NewClientWithKey(service.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}})
	if err != nil {
		log.Fatal(err)
	}
	return db, service, client, func() {
		if err := errors.Join(db.Close(), service.Close(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

// untilSent runs a relay until no row is left.
func untilSent(ctx context.Context, db *sql.DB, hotels *outbox.Table, client *search.Client, opts *outbox.RelayOptions) error {
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{AutoFlushInterval: 10 * time.Millisecond})
	if err != nil {
		return err
	}
	defer sender.Close(ctx)
	relay, err := outbox.NewRelay(db, hotels, sender.Raw(), opts)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- relay.Run(running) }() // a program runs it until the program ends
	for {
		lag, err := hotels.Lag(ctx, db)
		if err != nil || lag.Rows == 0 {
			stop()
			return errors.Join(err, <-ended)
		}
		time.Sleep(time.Millisecond)
	}
}

func ExampleWrite() {
	ctx := context.Background()
	db, service, client, end := world(ctx)
	defer end()
	hotels := &outbox.Table{Dialect: outbox.SQLite, Queue: "hotels"}

	for _, hotel := range []Hotel{{"1", "Ritz", 5}, {"2", "Nowhere", 0}} {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			log.Fatal(err)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO hotels VALUES (?, ?, ?)`, hotel.ID, hotel.Name, hotel.Rating)
		if err == nil {
			err = outbox.Write(ctx, tx, hotels, models.UploadAction(hotel))
		}
		if err == nil && hotel.Rating > 0 {
			err = tx.Commit()
		} else {
			err = errors.Join(err, tx.Rollback()) // never reaches the index
		}
		if err != nil {
			log.Fatal(err)
		}
	}

	if err := untilSent(ctx, db, hotels, client, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(service.DocumentKeys("hotels"))
	// Output: [1]
}

func ExampleTable_EnsureTrigger() {
	ctx := context.Background()
	db, service, client, end := world(ctx)
	defer end()
	hotels := &outbox.Table{Dialect: outbox.SQLite, Queue: "hotels"}
	if err := hotels.EnsureTrigger(ctx, db, "hotels", "id"); err != nil { // at each start; afterwards each change writes a row
		log.Fatal(err)
	}
	for _, s := range []string{`INSERT INTO hotels VALUES ('1', 'Ritz', 5), ('2', 'Closed', 3)`, `UPDATE hotels SET rating = 4`, `DELETE FROM hotels WHERE id = '2'`} {
		if _, err := db.ExecContext(ctx, s); err != nil {
			log.Fatal(err)
		}
	}

	err := untilSent(ctx, db, hotels, client, &outbox.RelayOptions{
		Loader: outbox.Load(func(ctx context.Context, ids []string) (found []models.IndexDocumentsAction[Hotel], err error) {
			for _, id := range ids { // a real program uses one query for all of them
				h := Hotel{ID: id}
				switch err := db.QueryRowContext(ctx, `SELECT name, rating FROM hotels WHERE id = ?`, id).Scan(&h.Name, &h.Rating); {
				case err == nil:
					found = append(found, models.UploadAction(h))
				case !errors.Is(err, sql.ErrNoRows): // there is none: it is deleted from the index
					return nil, err
				}
			}
			return found, nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	document, _ := service.Document("hotels", "1")
	fmt.Println(service.DocumentKeys("hotels"), string(document))
	// Output: [1] {"id":"1","name":"Ritz","rating":4}
}
