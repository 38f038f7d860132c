package deadletter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Hotel is the document type of the examples.
type Hotel struct {
	ID     string `json:"id" search:"key"`
	Rating int    `json:"rating"`
}

// hotels returns an emulated service with an index of hotels, and its client.
func hotels() (*searchtest.Server, *search.Client) {
	srv := searchtest.NewServer(nil)
	must(srv.CreateIndex(`{"name":"hotels","fields":[
		{"name":"id","type":"Edm.String","key":true},
		{"name":"rating","type":"Edm.Int32"}]}`))
	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
	must(err)
	return srv, client
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// temporary returns a directory for an example. A program uses a fixed one, because the next run needs its dead
// letters.
func temporary() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "letters")
	must(err)
	return dir, func() { must(os.RemoveAll(dir)) }
}

// refuse makes the service refuse a hotel.
func refuse(srv *searchtest.Server, key, message string) {
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{
		Operation: searchtest.OpIndexDocuments,
		Documents: []searchtest.DocumentFault{{Keys: []string{key}, Status: 400, Message: message}},
	}}})
}

// someLetters returns a File with dead letters about the hotels 1, 2 and 3.
func someLetters(dir string, opts *deadletter.FileOptions) *deadletter.File {
	letters, err := deadletter.Open(dir, opts)
	must(err)
	for i := 1; i <= 3; i++ {
		must(letters.Write(context.Background(), []deadletter.Letter{{
			Index: "hotels", Key: fmt.Sprint(i), Action: models.ActionTypeUpload,
			Document: json.RawMessage(fmt.Sprintf(`{"id":"%d","rating":%d}`, i, i+3)),
			Status:   400, Message: "The rating is not allowed.", Attempts: 1,
			First: time.Now(), Last: time.Now(),
		}}))
	}
	return letters
}

// Refused documents are kept on disk.
func ExampleOpen() {
	srv, client := hotels()
	refuse(srv, "2", "The rating is not allowed.")
	ctx := context.Background()
	dir, remove := temporary()
	defer remove()

	letters, err := deadletter.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{
		DeadLetters: letters,
		Logger:      slog.New(slog.DiscardHandler), // it would warn of the refusal
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := sender.UploadDocuments(ctx, Hotel{"1", 4}, Hotel{"2", 11}, Hotel{"3", 5}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(closeSoon(sender))
	fmt.Println(letters.Close()) // after the sender

	for letter, err := range deadletter.Read(os.DirFS(dir)) {
		fmt.Println(letter.Index, letter.Action, letter.Key, string(letter.Document), letter.Status, letter.Message, err)
	}
	// Output:
	// closed with 1 action failed, 1 of them in the dead letters; first: upload of document "2" failed with status 400: The rating is not allowed.
	// <nil>
	// hotels upload 2 {"id":"2","rating":11} 400 The rating is not allowed. <nil>
}

func ExampleRead() {
	dir, remove := temporary()
	defer remove()
	defer someLetters(dir, nil).Close() // Read does not need the lock

	for letter, err := range deadletter.Read(os.DirFS(dir)) {
		if err != nil { // about one line or one file; Read continues
			fmt.Println(err)
			continue
		}
		fmt.Println(letter.Key, letter.Message)
	}
	// Output:
	// 1 The rating is not allowed.
	// 2 The rating is not allowed.
	// 3 The rating is not allowed.
}

// After the index was changed to accept the documents, their dead letters are sent again.
func ExampleReplay() {
	_, client := hotels()
	ctx := context.Background()
	dir, remove := temporary()
	defer remove()
	letters := someLetters(dir, nil)
	defer letters.Close()

	// Dead letters are sent unchanged, whatever the document type of the sender.
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{DeadLetters: letters})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = closeSoon(sender) }()
	report, err := deadletter.Replay(ctx, letters, "hotels", sender.Raw(), &deadletter.ReplayOptions{
		Kept: func(l deadletter.Letter, why error) { fmt.Println("stays:", l.Key, why) },
	})
	fmt.Printf("%+v %v\n", report, err)
	// Output:
	// {Sent:3 Delivered:3 Failed:0 Skipped:0 OtherIndexes:0 Outdated:0} <nil>
}

// Faulty documents are corrected during the replay. The function could also read them from their source, which is
// right if they have changed since, or were redacted.
func ExampleReplay_document() {
	srv, client := hotels()
	ctx := context.Background()
	dir, remove := temporary()
	defer remove()
	letters := someLetters(dir, nil)
	defer letters.Close()

	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{DeadLetters: letters})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = closeSoon(sender) }()
	report, err := deadletter.Replay(ctx, letters, "hotels", sender.Raw(), &deadletter.ReplayOptions{
		Document: func(_ context.Context, l deadletter.Letter) (json.RawMessage, error) {
			var hotel Hotel
			if err := json.Unmarshal(l.Document, &hotel); err != nil {
				return nil, err
			}
			hotel.Rating = min(hotel.Rating, 5)
			return json.Marshal(hotel)
		},
	})
	fmt.Printf("%+v %v\n", report, err)
	document, _ := srv.Document("hotels", "3")
	fmt.Println(string(document))
	// Output:
	// {Sent:3 Delivered:3 Failed:0 Skipped:0 OtherIndexes:0 Outdated:0} <nil>
	// {"id":"3","rating":5}
}

// A dead letter that is refused again stays once, with the newer reason.
func ExampleRefusedError() {
	srv, client := hotels()
	refuse(srv, "2", "There is no such hotel.")
	ctx := context.Background()
	dir, remove := temporary()
	defer remove()
	letters := someLetters(dir, nil)
	defer letters.Close()

	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{
		DeadLetters: letters,
		Logger:      slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = closeSoon(sender) }()
	report, err := deadletter.Replay(ctx, letters, "hotels", sender.Raw(), &deadletter.ReplayOptions{
		Kept: func(l deadletter.Letter, why error) {
			var refused *deadletter.RefusedError
			if errors.As(why, &refused) {
				fmt.Println("hotel", l.Key, "status", refused.Result.StatusCode)
			}
		},
	})
	fmt.Printf("%+v %v\n", report, err)
	for letter, err := range deadletter.Read(os.DirFS(dir)) {
		fmt.Println(letter.Key, letter.Attempts, letter.Message, err)
	}
	// Output:
	// hotel 2 status 400
	// {Sent:3 Delivered:2 Failed:1 Skipped:0 OtherIndexes:0 Outdated:0} <nil>
	// 2 2 There is no such hotel. <nil>
}

// Drop dead letters that should not be sent.
func ExampleFile_Discard() {
	dir, remove := temporary()
	defer remove()
	letters := someLetters(dir, nil)
	defer letters.Close()

	n, err := letters.Discard(context.Background(), func(l deadletter.Letter) bool {
		return l.Key == "1" || time.Since(l.Last) > 30*24*time.Hour
	})
	fmt.Println(n, err)
	for letter, err := range deadletter.Read(os.DirFS(dir)) {
		fmt.Println(letter.Key, err)
	}
	// Output:
	// 1 <nil>
	// 2 <nil>
	// 3 <nil>
}

// A program can write dead letters itself, for documents that a sender did not accept.
func ExampleFile_Write() {
	dir, remove := temporary()
	defer remove()
	letters, err := deadletter.Open(dir, &deadletter.FileOptions{Redact: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer letters.Close()
	now := time.Now()
	err = letters.Write(context.Background(), []deadletter.Letter{{
		Index: "hotels", Key: "7", Action: models.ActionTypeUpload, Document: json.RawMessage(`{"id":"7","guest":"J. Doe"}`),
		Error: "document too large", Unsent: true, First: now, Last: now,
	}})
	fmt.Println(err)
	for letter, err := range deadletter.Read(os.DirFS(dir)) {
		fmt.Printf("%s %s %q %v\n", letter.Action, letter.Key, letter.Document, err)
	}
	// Output:
	// <nil>
	// upload 7 "" <nil>
}

func ExampleFile_Stats() {
	dir, remove := temporary()
	defer remove()
	letters := someLetters(dir, nil)
	defer letters.Close()

	stats := letters.Stats()
	fmt.Println(stats.Files, stats.Written, stats.Bytes > 500)
	// Output:
	// 1 3 true
}

func ExampleFile_Close() {
	dir, remove := temporary()
	defer remove()
	letters := someLetters(dir, nil)

	_, err := deadletter.Open(dir, nil)
	fmt.Println(errors.Is(err, deadletter.ErrLocked))
	fmt.Println(letters.Close())
	letters, err = deadletter.Open(dir, nil)
	fmt.Println(err)
	fmt.Println(letters.Close())
	// Output:
	// true
	// <nil>
	// <nil>
	// <nil>
}

// closeSoon closes a sender with its own deadline, because the program's context may have ended.
func closeSoon[T any](sender *bufferedsender.BufferedSender[T]) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return sender.Close(ctx)
}
