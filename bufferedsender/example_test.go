package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Book is the document of the examples.
type Book struct {
	ID    string `json:"id" search:"key"`
	Title string `json:"title,omitempty"`
	Pages int    `json:"pages,omitempty"`
}

// library returns an emulated service with an index of books, and its client. The client of a real service is
//
//	search.NewClient("https://my-service.search.windows.net", "books", credential, nil)
func library() (*searchtest.Server, *search.Client) {
	srv := searchtest.NewServer(nil)
	must(srv.CreateIndex(`{"name":"books","fields":[
		{"name":"id","type":"Edm.String","key":true},
		{"name":"title","type":"Edm.String"},
		{"name":"pages","type":"Edm.Int32"}]}`))
	client, err := search.NewClientWithKey(srv.URL(), "books", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
	must(err)
	return srv, client
}

func ExampleNew() {
	srv, client := library()
	ctx := context.Background()

	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{
		Limits:            bufferedsender.Limits{MaxBatchActions: 500},
		AutoFlushInterval: 5 * time.Second,
		Handlers: events.Handlers[Book]{
			ActionFailed: func(_ context.Context, e *events.ActionFailed[Book]) { fmt.Println("failed:", e.Err) },
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 1200 {
		if err := sender.UploadDocuments(ctx, Book{ID: fmt.Sprint(i)}); err != nil {
			fmt.Println(err)
		}
	}
	closing, cancel := context.WithTimeout(context.Background(), 30*time.Second) // ctx may have ended
	defer cancel()
	if err := sender.Close(closing); err != nil {
		fmt.Println(err)
	}
	fmt.Println(srv.DocumentCount("books"), "books in", sender.Stats().Requests, "requests")
	// Output: 1200 books in 3 requests
}

func ExampleBufferedSender_UploadDocuments() {
	srv, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)
	defer closeSoon(sender)

	err = sender.UploadDocuments(ctx, Book{ID: "1", Title: "Dune"}, Book{ID: "no/slash"}, Book{ID: "2"})
	var refusal *bufferedsender.AddError
	if errors.As(err, &refusal) {
		fmt.Printf("%d accepted, then %q was refused\n", refusal.Accepted, refusal.Key)
	}
	must(sender.Flush(ctx, nil))
	fmt.Println(srv.DocumentCount("books"), "in the index")
	// Output:
	// 1 accepted, then "no/slash" was refused
	// 1 in the index
}

func ExampleBufferedSender_MergeDocuments() {
	srv, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)

	must(sender.UploadDocuments(ctx, Book{ID: "1", Title: "Dune"}))
	must(sender.MergeDocuments(ctx, Book{ID: "1", Pages: 412}))            // in order: it is the same key
	must(sender.MergeDocuments(ctx, Book{ID: "2", Pages: 7}))              // does not exist
	must(sender.MergeOrUploadDocuments(ctx, Book{ID: "3", Title: "Emma"})) // is created
	var failed *bufferedsender.FlushError
	if errors.As(sender.Flush(ctx, nil), &failed) {
		fmt.Println(failed.Errors[0].Key, failed.Errors[0].Status)
	}
	closeSoon(sender)
	doc, _ := srv.Document("books", "1")
	fmt.Println(string(doc))
	// Output:
	// 2 404
	// {"id":"1","title":"Dune","pages":412}
}

func ExampleBufferedSender_DeleteDocuments() {
	srv, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)
	must(sender.UploadDocuments(ctx, Book{ID: "1"}, Book{ID: "2"}, Book{ID: "3"}))
	must(sender.DeleteDocuments(ctx, Book{ID: "1"}))    // only the key matters
	must(sender.DeleteDocumentsByKey(ctx, "2", "none")) // deleting a missing document succeeds
	closeSoon(sender)
	fmt.Println(srv.DocumentCount("books"))
	// Output: 1
}

func ExampleBufferedSender_DeleteDocumentsByKey() {
	srv, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)
	must(sender.UploadDocuments(ctx, Book{ID: "1"}, Book{ID: "2"}))
	must(sender.DeleteDocumentsByKey(ctx, "1", "2"))
	closeSoon(sender)
	fmt.Println(srv.DocumentCount("books"))
	// Output: 0
}

// Every event of an action has its tag: here the offset of a message to acknowledge when the action is settled.
func ExampleBufferedSender_IndexDocuments() {
	_, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{Handlers: events.Handlers[Book]{
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[Book]) {
			fmt.Println("acknowledge", e.Action.Tag, "after", e.Action.Type, "of", e.Key)
		},
	}})
	must(err)
	must(sender.IndexDocuments(ctx,
		models.UploadAction(Book{ID: "1"}).WithTag(41),
		models.DeleteAction(Book{ID: "2"}).WithTag(42)))
	closeSoon(sender)
	// Output:
	// acknowledge 41 after upload of 1
	// acknowledge 42 after delete of 2
}

func ExampleBufferedSender_TryIndexDocuments() {
	_, client := library()
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{Limits: bufferedsender.Limits{MaxBufferedActions: 2}, DisableAutoFlush: true})
	must(err)
	for i := range 3 {
		err := sender.TryIndexDocuments(models.UploadAction(Book{ID: fmt.Sprint(i)}))
		fmt.Println(i, errors.Is(err, bufferedsender.ErrBufferFull))
	}
	closeSoon(sender)
	// Output:
	// 0 false
	// 1 false
	// 2 true
}

func ExampleBufferedSender_IndexSeq() {
	srv, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)

	rows := func(yield func(models.IndexDocumentsAction[Book], error) bool) {
		for i := range 3 { // for rows.Next() { … }
			if !yield(models.UploadAction(Book{ID: fmt.Sprint(i)}), nil) {
				return
			}
		}
		yield(models.IndexDocumentsAction[Book]{}, errors.New("the connection to the database is lost"))
	}
	err = sender.IndexSeq(ctx, iter.Seq2[models.IndexDocumentsAction[Book], error](rows), nil)
	fmt.Println(err)
	closeSoon(sender)
	fmt.Println(srv.DocumentCount("books"))
	// Output:
	// document 3 was not accepted: the connection to the database is lost
	// 3
}

func ExampleBufferedSender_IndexSeq_rejected() {
	srv, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)

	books := func(yield func(models.IndexDocumentsAction[Book], error) bool) {
		for _, id := range []string{"1", "not/a key", "2"} {
			if !yield(models.UploadAction(Book{ID: id}), nil) {
				return
			}
		}
	}
	must(sender.IndexSeq(ctx, books, &bufferedsender.IndexSeqOptions{
		OnRejected: func(err *bufferedsender.AddError) error {
			fmt.Printf("left out: %q\n", err.Key)
			return nil
		},
	}))
	closeSoon(sender)
	fmt.Println(srv.DocumentCount("books"))
	// Output:
	// left out: "not/a key"
	// 2
}

func ExampleBufferedSender_Flush() {
	srv, client := library()
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Keys: []string{"2"}, Status: 400, Message: "The term is too large."}}}}})
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)
	must(sender.UploadDocuments(ctx, Book{ID: "1"}, Book{ID: "2"}))

	err = sender.Flush(ctx, nil)
	var failed *bufferedsender.FlushError
	if errors.As(err, &failed) {
		for _, e := range failed.Errors {
			fmt.Println(e.Key, e.Status, e.Message)
		}
	}
	fmt.Println("the second Flush:", sender.Flush(ctx, nil))
	closeSoon(sender)
	// Output:
	// 2 400 The term is too large.
	// the second Flush: <nil>
}

// Close with a deadline reports what was not sent.
func ExampleBufferedSender_Close() {
	srv, client := library()
	received := make(chan struct{}, 1)
	srv.Intercept(func(req *http.Request, _ func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		received <- struct{}{}
		<-req.Context().Done() // a service that does not reply
		return nil, req.Context().Err()
	})
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Book]{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
	must(err)
	must(sender.UploadDocuments(context.Background(), Book{ID: "1"}, Book{ID: "2"}, Book{ID: "3"}))
	<-received

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	var closed *bufferedsender.CloseError
	if errors.As(sender.Close(ctx), &closed) {
		fmt.Println(closed.Unsent, "not sent,", closed.Unknown, "cut off")
	}
	fmt.Println(errors.Is(sender.UploadDocuments(context.Background(), Book{ID: "4"}), bufferedsender.ErrClosed))
	// Output:
	// 1 not sent, 2 cut off
	// true
}

func ExampleBufferedSender_Stats() {
	_, client := library()
	ctx := context.Background()
	sender, err := bufferedsender.New[Book](client, nil)
	must(err)
	must(sender.UploadDocuments(ctx, Book{ID: "1"}, Book{ID: "2"}))
	fmt.Println(sender.Stats().PendingActions, "pending")
	must(sender.Flush(ctx, nil))
	s := sender.Stats()
	fmt.Println(s.Accepted, "accepted =", s.Completed, "completed +", s.Failed, "failed +", s.PendingActions, "pending")
	closeSoon(sender)
	// Output:
	// 2 pending
	// 2 accepted = 2 completed + 0 failed + 0 pending
}

// must panics on an error, which an example does not expect.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
