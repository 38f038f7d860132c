package search

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
)

// lentBody is the body of a request that its owner gets back. net/http may go
// on reading a body after it has returned a reply, and azcore hides from it
// that the body was closed, so without further care:
//
//   - The server answers 413 to the first bytes. The caller is notified and fills
//     its buffer with the next batch. The transport sends a piece of that.
//   - The server answers 503 to the first bytes. azcore rewinds the body for
//     the next attempt. The transport of the first one reads a piece of it,
//     which is then missing from the second.
//
// Therefore each attempt reads through a view of its own, a Read holds the lock,
// and only the view of the latest attempt is let through.
type lentBody struct {
	mu      sync.Mutex
	body    io.ReadSeekCloser // nil once taken back
	attempt int               // the number of the view that may read
	first   attemptBody       // most requests need no other
}

var errTakenBack = errors.New("search: this attempt is over, its body was taken back")

// lend makes body the body of req, an attempt at a time. It is JSON.
func lend(req *policy.Request, body []byte) error {
	return (&lentBody{body: streaming.NopCloser(bytes.NewReader(body))}).setOn(req)
}

// setOn makes b the body of req.
func (b *lentBody) setOn(req *policy.Request) error {
	req.SetOperationValue(b) // for attemptBodies
	return req.SetBody(b, "application/json")
}

// view returns the body for a new attempt, from its beginning, and ends the
// view of the attempt before it.
func (b *lentBody) view() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.body == nil {
		return nil, errTakenBack
	}
	if _, err := b.body.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	b.attempt++
	if b.attempt == 1 {
		b.first = attemptBody{lent: b, attempt: 1}
		return &b.first, nil
	}
	return &attemptBody{lent: b, attempt: b.attempt}, nil
}

// Read is for policies that look at the body before an attempt.
func (b *lentBody) Read(p []byte) (int, error) { return b.read(0, p) }

func (b *lentBody) read(attempt int, p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.body == nil || attempt != 0 && attempt != b.attempt {
		return 0, errTakenBack
	}
	return b.body.Read(p)
}

// Seek is how azcore finds out how long the body is.
func (b *lentBody) Seek(offset int64, whence int) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.body == nil {
		return 0, errTakenBack
	}
	return b.body.Seek(offset, whence)
}

// Close does nothing: azcore closes the body when it has a reply, takeBack when
// nobody can read it any more.
func (b *lentBody) Close() error { return nil }

// takeBack closes the body. Errors of a close after reading change nothing
// about what was sent, so they are dropped, as net/http does.
func (b *lentBody) takeBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.body.Close()
	b.body = nil
}

// attemptBody is the view of one attempt.
type attemptBody struct {
	lent    *lentBody
	attempt int
}

func (b *attemptBody) Read(p []byte) (int, error) { return b.lent.read(b.attempt, p) }
func (b *attemptBody) Close() error               { return nil }

// attemptBodies is the pipeline policy that gives each attempt of a request
// with a lentBody its own view.
type attemptBodies struct{}

func (attemptBodies) Do(req *policy.Request) (*http.Response, error) {
	var lent *lentBody
	if !req.OperationValue(&lent) {
		return req.Next()
	}
	body, err := lent.view()
	if err != nil {
		return nil, err
	}
	req.Raw().Body = body
	req.Raw().GetBody = lent.view // net/http itself repeats a request on a fresh connection
	return req.Next()
}
