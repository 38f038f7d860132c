package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// quiet is the logger of examples that provoke warnings.
var quiet = slog.New(slog.DiscardHandler)

// Many request handlers share one sender. Each waits for its own documents, and they share requests.
func ExampleBufferedSender_IndexDocumentsAndWait() {
	_, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{Waiting: bufferedsender.Waiting{Interval: 100 * time.Millisecond}})
	must(err)
	var handlers sync.WaitGroup
	for i := range 100 {
		handlers.Go(func() {
			book := Book{ID: fmt.Sprint(i), Title: "Dune"}
			results, err := sender.IndexDocumentsAndWait(ctx, []models.IndexDocumentsAction[Book]{models.UploadAction(book)}, nil)
			must(err)
			if results[0].StatusCode != 201 {
				fmt.Println(results[0])
			}
		})
	}
	handlers.Wait()
	closeSoon(sender)
	fmt.Println(sender.Stats().Completed, "documents, fewer than 20 requests:", sender.Stats().Requests < 20)
	// Output: 100 documents, fewer than 20 requests: true
}

func ExampleBufferedSender_IndexDocumentsAndWait_failure() {
	_, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)
	defer closeSoon(sender)
	results, err := sender.IndexDocumentsAndWait(ctx, []models.IndexDocumentsAction[Book]{
		models.UploadAction(Book{ID: "1", Title: "Dune"}),
		models.MergeAction(Book{ID: "2", Pages: 7}),
	}, nil)
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

// Options for request handlers, whose callers wait: small concurrent requests, and a reply within the deadline, also
// while the service is down.
func ExampleOptions_requestHandlers() {
	_, client := library()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{
		// Four requests, so that a call does not wait for the request before its own. A buffer of as many documents
		// as the service indexes within the deadline.
		Limits:         bufferedsender.Limits{MaxInFlight: 4, MaxBufferedActions: 5000},
		RequestTimeout: 3 * time.Second,                        // well below the deadline of a handler
		Waiting:        bufferedsender.Waiting{FailFast: true}, // 503 at once while the service is down
	})
	must(err)
	defer closeSoon(sender)

	handle := func(ctx context.Context, book Book) int {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		var failure *bufferedsender.ActionError
		switch _, err := sender.IndexDocumentsAndWait(ctx, []models.IndexDocumentsAction[Book]{models.UploadAction(book)}, nil); {
		case err == nil:
			return http.StatusOK
		case errors.As(err, &failure) && failure.Rejected():
			return http.StatusUnprocessableEntity
		case errors.As(err, &failure) && failure.Unknown:
			return http.StatusGatewayTimeout // it may have been applied
		default:
			return http.StatusServiceUnavailable // it was certainly not applied
		}
	}
	fmt.Println(handle(context.Background(), Book{ID: "1", Title: "Dune"}))
	// Output: 200
}

// Options for a program that follows changes, for example from a log: batches as changes arrive, a position that also
// advances when changes are rare, and only the latest waiting change of each key.
func ExampleOptions_changes() {
	_, client := library()
	var position events.LowWatermark[int64]
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{
		Limits:            bufferedsender.Limits{MaxInFlight: 4},
		AutoFlushInterval: 200 * time.Millisecond, // latency of a change while changes are rare
		Folding:           &bufferedsender.Folding[Book]{},
		Handlers: events.Track[Book](func(tag any) (*events.LowWatermark[int64], int64, bool) {
			offset, ok := tag.(int64)
			return &position, offset, ok
		}, nil),
	})
	must(err)
	for offset := range int64(100) {
		book := Book{ID: fmt.Sprint(offset % 10), Pages: int(offset)}
		must(sender.IndexDocuments(context.Background(), models.UploadAction(book).WithTag(offset)))
	}
	closeSoon(sender)
	committed, _ := position.Mark()
	fmt.Println("everything up to", committed, "is in the index")
	// Output: everything up to 99 is in the index
}

// closeSoon closes a sender with its own deadline, because the program's context may have ended.
func closeSoon[T any](sender *bufferedsender.BufferedSender[T]) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	must(sender.Close(ctx))
}

// A service that is down opens the breaker. Nothing is sent or lost until it works again; a Flush whose context ends
// first returns the reason.
func ExampleBufferedSender_Breaker() {
	srv, client := library()
	ctx := context.Background()
	b, err := breaker.New(&breaker.Options{Failures: 1, OpenFor: 20 * time.Millisecond})
	must(err)
	opened, recovered := make(chan bool, 1), make(chan bool, 1)
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{
		Outage: bufferedsender.Hold{Breaker: b},
		Logger: quiet,
		Handlers: events.Handlers[Book]{HealthChanged: func(_ context.Context, e *events.HealthChange) {
			switch {
			case e.To == events.HealthStateCircuitOpen:
				opened <- true
			case e.From == events.HealthStateCircuitOpen && e.To == events.HealthStateHealthy:
				recovered <- true
			}
		}},
	})
	must(err)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Status: 500}}})
	must(sender.UploadDocuments(ctx, Book{ID: "1", Title: "Dune"}))
	flushed := make(chan error)
	short, cancel := context.WithCancel(ctx)
	go func() { flushed <- sender.Flush(short, nil) }()
	<-opened
	cancel() // stop waiting
	fmt.Println(errors.Is(<-flushed, bufferedsender.ErrCircuitOpen), sender.Health().State)

	srv.SetFaults(nil) // the service is back; the sender detects it without a call
	<-recovered
	closeSoon(sender)
	fmt.Println(srv.DocumentCount("books"), "in the index")
	// Output:
	// true circuit open
	// 1 in the index
}

func ExampleBufferedSender_Pause() {
	srv, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{Limits: bufferedsender.Limits{MaxBatchActions: 1}})
	must(err)
	sender.Pause() // for maintenance of the index
	must(sender.UploadDocuments(ctx, Book{ID: "1"}, Book{ID: "2"}))
	fmt.Println(sender.Stats().PendingActions, "waiting,", srv.DocumentCount("books"), "in the index")
	sender.Resume()
	closeSoon(sender)
	fmt.Println(srv.DocumentCount("books"), "in the index")
	// Output:
	// 2 waiting, 0 in the index
	// 2 in the index
}

// A job that runs from time to time sends what its queue has, and exits.
func ExampleFlushOptions() {
	service, client := library()
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "queue")
	must(err)
	defer os.RemoveAll(dir)
	open := func() (*filequeue.Queue, *bufferedsender.BufferedSender[Book]) {
		queue, err := filequeue.Open(dir, nil)
		must(err)
		sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{Queue: queue, Logger: quiet})
		must(err)
		return queue, sender
	}
	queue, sender := open()
	sender.Pause()
	must(sender.UploadDocuments(ctx, Book{ID: "1", Title: "Dune"}, Book{ID: "2", Title: "Emma"}))
	closeSoon(sender) // nothing was sent: the queue keeps it
	must(queue.Close())

	queue, sender = open()
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = sender.Flush(limited, &bufferedsender.FlushOptions{WholeQueue: true})
	var failed *bufferedsender.FlushError
	if errors.As(err, &failed) {
		fmt.Println(failed.Count, "failed,", failed.Parked, "parked")
	}
	closeSoon(sender)
	must(queue.Close())
	fmt.Println(err, service.DocumentCount("books"))
	// Output: <nil> 2
}

func ExampleBufferedSender_SetControl() {
	_, client := library()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)
	defer closeSoon(sender)
	old, err := sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxInFlight: 4}}) // the other settings stay
	must(err)
	now := sender.Control().Limits
	fmt.Println(old.Limits.MaxInFlight, now.MaxInFlight, now.MaxBatchActions)
	_, err = sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxInFlight: -1}})
	fmt.Println(err)
	// Output:
	// 1 4 1000
	// bufferedsender: MaxInFlight is -1: use a number from 1 to 1024
}

// A key that changes often is written once for many changes. Each change has its own event.
func ExampleOptions_fold() {
	srv, client := library()
	ctx := context.Background()
	folded := 0
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{
		Folding: &bufferedsender.Folding[Book]{},
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
	closeSoon(sender)
	doc, _ := srv.Document("books", "1")
	fmt.Println(string(doc), folded, "actions in", sender.Stats().Requests, "request")
	// Output: {"id":"1","title":"Dune","pages":1000} 1001 actions in 1 request
}

func ExampleOptions_tuning() {
	_, client := library()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{
		Limits: bufferedsender.Limits{MaxInFlight: 8}, // the maximum
		Tuning: tuning.Adaptive(nil),
	})
	must(err)
	fmt.Println(sender.Close(context.Background()))
	// Output: <nil>
}
