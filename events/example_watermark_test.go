package events_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Offsets of a Kafka partition are settled in any order, and some do not exist.
// The consumer may commit up to the mark, and no further.
func ExampleLowWatermark() {
	var partition events.LowWatermark[int64]
	for _, offset := range []int64{100, 101, 103, 104} { // 102 was a control record
		if err := partition.Begin(offset); err != nil {
			log.Fatal(err)
		}
	}
	for _, offset := range []int64{103, 100, 101, 104} {
		partition.Settle(offset)
		if mark, ok := partition.Mark(); ok {
			fmt.Println("settled", offset, "- commit", mark+1) // the next one to read
		} else {
			fmt.Println("settled", offset, "- nothing to commit")
		}
	}
	// Output:
	// settled 103 - nothing to commit
	// settled 100 - commit 101
	// settled 101 - commit 104
	// settled 104 - commit 105
}

// An action that was refused after its position was begun gets no event. Forget
// its position before it is added again.
func ExampleLowWatermark_Forget() {
	var partition events.LowWatermark[int64]
	_ = partition.Begin(7)
	_ = partition.Begin(8)
	fmt.Println("forgotten:", partition.Forget(8, 1)) // its adding call has returned an AddError
	partition.Settle(7)
	fmt.Println(partition.Mark())
	fmt.Println(partition.Begin(8)) // once more
	// Output:
	// forgotten: 1
	// 7 true
	// <nil>
}

// A loop that commits the newest mark, however often that moves.
func ExampleLowWatermark_Advanced() {
	var slot events.LowWatermark[uint64]
	committed := make(chan uint64)
	go func() {
		defer close(committed)
		for range slot.Advanced() {
			mark, _ := slot.Mark()
			committed <- mark
			if mark == 0x2000 {
				return
			}
		}
	}()
	_ = slot.Begin(0x1000)
	slot.Settle(0x1000)
	fmt.Printf("%#x\n", <-committed)
	_ = slot.Begin(0x1800)
	_ = slot.Begin(0x2000)
	slot.Settle(0x2000) // moves nothing
	slot.Settle(0x1800)
	fmt.Printf("%#x\n", <-committed)
	<-committed
	// Output:
	// 0x1000
	// 0x2000
}

type book struct {
	ID    string `json:"id" search:"key"`
	Title string `json:"title" search:"searchable"`
}

// record is what a consumer of Kafka puts into Tag. The pointer to the watermark
// makes a table of partitions unnecessary.
type record struct {
	partition *events.LowWatermark[int64]
	offset    int64
}

// A consumer of Kafka. A record that the service rejects goes to a topic of dead
// letters, and only then may its offset be passed. One that failed for a reason that
// is not its own, such as a quota or a wrong API key, holds the mark: it is read again
// when the consumer starts the next time.
func ExampleTrack() {
	of := func(tag any) (*events.LowWatermark[int64], int64, bool) {
		r, ok := tag.(record)
		return r.partition, r.offset, ok
	}
	handlers := events.Track(of, &events.TrackOptions[models.Document]{
		Skip: func(_ context.Context, e *events.ActionFailed[models.Document]) bool {
			if !e.Rejected() {
				return false
			}
			fmt.Println("dead letter:", e.Key) // and e.Action.Document, and e.Err, which says why
			return true                        // it is safe there
		},
	})
	// The dead letters go over the network, too: not on the sender's goroutine.
	async, err := events.NewAsync(handlers, nil)
	if err != nil {
		log.Fatal(err)
	}
	sender, err := bufferedsender.New(library("b-1"), &bufferedsender.Options[models.Document]{Handlers: async.Handlers()})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	partition := &events.LowWatermark[int64]{} // a new one whenever the partition is assigned
	for offset := int64(40); offset < 44; offset++ {
		b := models.Document{"id": fmt.Sprintf("b-%d", offset-40), "title": "On Marks"}
		if offset == 42 {
			b["title"] = 42 // the service rejects a number where the index has a string
		}
		if err := sender.IndexDocuments(ctx, models.UploadAction(b).WithTag(record{partition, offset})); err != nil {
			log.Fatal(err)
		}
	}
	err = closeSoon(sender) // waits for the Async, too
	fmt.Println("closed:", err != nil)
	mark, _ := partition.Mark()
	fmt.Println("commit", mark+1)
	// Unordered output:
	// dead letter: b-1
	// dead letter: b-2
	// closed: true
	// commit 44
}

// A handler that is slow runs on a goroutine of its own. What may be lost when
// it cannot keep up is said beforehand, and counted.
func ExampleAsync() {
	async, err := events.NewAsync(events.Handlers[book]{
		ActionSent:      func(context.Context, *events.ActionSent[book]) {},
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[book]) { fmt.Println("in the index:", e.Key) },
	}, &events.AsyncOptions{QueueSize: 100, Drop: events.KindActionSent})
	if err != nil {
		log.Fatal(err)
	}
	sender, err := bufferedsender.New(library(), &bufferedsender.Options[book]{Handlers: async.Handlers()})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := sender.UploadDocuments(ctx, book{ID: "1"}, book{ID: "2"}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("closed:", closeSoon(sender))
	stats := async.Stats()
	fmt.Println(stats.ActionCompleted.Handled, "handled,", stats.Total().Dropped, "dropped")
	// Output:
	// in the index: 1
	// in the index: 2
	// closed: <nil>
	// 2 handled, 0 dropped
}

// Flush of the sender returns when the events are queued, Flush of the Async
// when they are handled.
func ExampleAsync_Flush() {
	inIndex := 0
	async, err := events.NewAsync(events.Handlers[book]{
		ActionCompleted: func(context.Context, *events.ActionCompleted[book]) { inIndex++ },
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	sender, err := bufferedsender.New(library(), &bufferedsender.Options[book]{Handlers: async.Handlers()})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	defer func() { _ = closeSoon(sender) }()
	if err := sender.UploadDocuments(ctx, book{ID: "1"}, book{ID: "2"}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sender.Flush(ctx, nil), async.Flush(ctx))
	fmt.Println(inIndex)
	// Output:
	// <nil> <nil>
	// 2
}

// library returns a client of an emulated index that refuses the given keys.
func library(refused ...string) *search.Client {
	srv := searchtest.NewServer(nil)
	if len(refused) > 0 {
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
			Documents: []searchtest.DocumentFault{{Keys: refused, Status: 400}},
		}}})
	}
	fields, err := models.FieldsOf[book]()
	if err != nil {
		log.Fatal(err)
	}
	if err := srv.CreateIndex(models.SearchIndex{Name: "library", Fields: fields}); err != nil {
		log.Fatal(err)
	}
	opts := &search.ClientOptions{}
	opts.Transport = srv
	client, err := search.NewClientWithKey(srv.URL(), "library", azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// closeSoon closes a sender with a deadline of its own: the context of the program
// may have ended.
func closeSoon[T any](sender *bufferedsender.BufferedSender[T]) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return sender.Close(ctx)
}
