package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// quiet is for examples that make trouble on purpose.
var quiet = slog.New(slog.DiscardHandler)

// Many request handlers share one sender. Each waits for its own documents, and
// they share requests.
func ExampleBufferedSender_IndexDocumentsAndWait() {
	_, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{WaitInterval: 100 * time.Millisecond})
	must(err)
	var handlers sync.WaitGroup
	for i := range 100 {
		handlers.Go(func() {
			book := Book{ID: fmt.Sprint(i), Title: "Dune"}
			results, err := sender.IndexDocumentsAndWait(ctx, models.UploadAction(book))
			must(err)
			if results[0].StatusCode != 201 {
				fmt.Println(results[0])
			}
		})
	}
	handlers.Wait()
	must(sender.Close(ctx))
	fmt.Println(sender.Stats().Completed, "documents, fewer than 20 requests:", sender.Stats().Requests < 20)
	// Output: 100 documents, fewer than 20 requests: true
}

func ExampleBufferedSender_IndexDocumentsAndWait_failure() {
	_, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)
	defer sender.Close(ctx)
	results, err := sender.IndexDocumentsAndWait(ctx,
		models.UploadAction(Book{ID: "1", Title: "Dune"}), models.MergeAction(Book{ID: "2", Pages: 7}))
	for _, r := range results {
		fmt.Println(r.Key, r.StatusCode)
	}
	var incomplete *bufferedsender.WaitError
	if errors.As(err, &incomplete) {
		fmt.Println(incomplete.Failed, "failed:", incomplete.Errors[0].Key)
	}
	// Output:
	// 1 201
	// 2 404
	// 1 failed: 2
}

// A service that is down opens the breaker. Nothing is lost and nothing is sent
// until it works again; Flush says why it has waited in vain.
func ExampleBufferedSender_Breaker() {
	srv, client := library()
	ctx := context.Background()
	b, err := breaker.New(&breaker.Options{Failures: 1, OpenFor: 20 * time.Millisecond})
	must(err)
	opened, recovered := make(chan bool, 1), make(chan bool, 1)
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{
		Breaker: b, Logger: quiet,
		Handlers: events.Handlers[Book]{HealthChanged: func(_ context.Context, e *events.HealthChange) {
			switch {
			case e.To == events.CircuitOpen:
				opened <- true
			case e.From == events.CircuitOpen && e.To == events.Healthy:
				recovered <- true
			}
		}},
	})
	must(err)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Status: 500}}})
	must(sender.UploadDocuments(ctx, Book{ID: "1", Title: "Dune"}))
	flushed := make(chan error)
	short, cancel := context.WithCancel(ctx)
	go func() { flushed <- sender.Flush(short) }()
	<-opened
	cancel() // nobody waits any longer
	fmt.Println(errors.Is(<-flushed, bufferedsender.ErrCircuitOpen), sender.Health().State)

	srv.SetFaults(nil) // the service is back, and nobody does anything
	<-recovered
	must(sender.Close(ctx))
	fmt.Println(srv.DocumentCount("books"), "in the index")
	// Output:
	// true circuit open
	// 1 in the index
}

func ExampleBufferedSender_Pause() {
	srv, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{MaxBatchActions: 1})
	must(err)
	sender.Pause() // for maintenance of the index
	must(sender.UploadDocuments(ctx, Book{ID: "1"}, Book{ID: "2"}))
	fmt.Println(sender.PendingActionCount(), "waiting,", srv.DocumentCount("books"), "in the index")
	sender.Resume()
	must(sender.Close(ctx))
	fmt.Println(srv.DocumentCount("books"), "in the index")
	// Output:
	// 2 waiting, 0 in the index
	// 2 in the index
}

func ExampleBufferedSender_SetLimits() {
	_, client := library()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)
	defer sender.Close(context.Background())
	old, err := sender.SetLimits(bufferedsender.Limits{MaxInFlight: 4}) // the rest stays as it is
	must(err)
	fmt.Println(old.MaxInFlight, sender.Limits().MaxInFlight, sender.Limits().MaxBatchActions)
	_, err = sender.SetLimits(bufferedsender.Limits{MaxInFlight: -1})
	fmt.Println(err)
	// Output:
	// 1 4 1000
	// bufferedsender: MaxInFlight is -1: use a number from 1 to 1024
}

// A key that changes often is written once for many changes. Each of them has
// its own event.
func ExampleOptions_fold() {
	srv, client := library()
	ctx := context.Background()
	folded := 0
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{
		Fold: true,
		Handlers: events.Handlers[Book]{ActionCompleted: func(_ context.Context, e *events.ActionCompleted[Book]) {
			if e.Folded {
				folded++
			}
		}},
	})
	must(err)
	must(sender.UploadDocuments(ctx, Book{ID: "1", Title: "Dune"}))
	for pages := range 1000 {
		must(sender.MergeDocuments(ctx, Book{ID: "1", Pages: pages + 1}))
	}
	must(sender.Close(ctx))
	doc, _ := srv.Document("books", "1")
	fmt.Println(string(doc), folded, "actions in", sender.Stats().Requests, "request")
	// Output: {"id":"1","title":"Dune","pages":1000} 1001 actions in 1 request
}

func ExampleOptions_tuning() {
	_, client := library()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{
		MaxInFlight: 8, // at the most
		Tuning:      tuning.Adaptive(nil),
	})
	must(err)
	fmt.Println(sender.Close(context.Background()))
	// Output: <nil>
}
