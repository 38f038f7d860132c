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

// The offsets of a Kafka partition are settled in any order and have gaps. The consumer may commit up to the mark.
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
			fmt.Println("settled", offset, "- commit", mark+1) // the next offset to read
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

// An action that was refused after Begin gets no event, so forget its position before adding it again.
func ExampleLowWatermark_Forget() {
	var partition events.LowWatermark[int64]
	_ = partition.Begin(7)
	_ = partition.Begin(8)
	fmt.Println("forgotten:", partition.Forget(8, 1)) // its adding call returned an AddError
	partition.Settle(7)
	fmt.Println(partition.Mark())
	fmt.Println(partition.Begin(8)) // once more
	// Output:
	// forgotten: 1
	// 7 true
	// <nil>
}

// A loop commits the newest mark, however often the mark moves.
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

// record is the Tag of a Kafka consumer's actions. Its pointer to the watermark replaces a table of partitions.
type record struct {
	partition *events.LowWatermark[int64]
	offset    int64
}

// A Kafka consumer sends rejected records to a dead-letter topic, and only then passes their offsets. A record that
// failed for another reason, such as a quota or a wrong API key, holds the mark and is read again after a restart.
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
			fmt.Println("dead letter:", e.Key) // also e.Action.Document, and the reason e.Err
			return true                        // it is stored safely
		},
	})
	// Writing dead letters uses the network, so it must not run on the sender's goroutine.
	async, err := events.NewAsync(handlers, nil)
	if err != nil {
		log.Fatal(err)
	}
	sender, err := bufferedsender.New(library("b-1"), &bufferedsender.Options[models.Document]{Handlers: async.Handlers()})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	partition := &events.LowWatermark[int64]{} // a new one for each assignment of the partition
	for offset := int64(40); offset < 44; offset++ {
		b := models.Document{"id": fmt.Sprintf("b-%d", offset-40), "title": "On Marks"}
		if offset == 42 {
			b["title"] = 42 // the index has a string here, so the service rejects the number
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

// A slow handler runs on its own goroutine. The overflow policy is fixed in advance, and drops are counted.
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

// The sender's Flush returns when the events are queued, the Async's Flush when they are handled.
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

// closeSoon closes a sender with its own deadline, because the program's context may have ended.
func closeSoon[T any](sender *bufferedsender.BufferedSender[T]) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return sender.Close(ctx)
}
