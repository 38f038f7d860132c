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

// lentBody is a request body whose memory the caller reuses after the call. net/http may still read a body after it
// has returned a reply, and azcore does not pass Close on, so without lentBody two things can happen:
//
//   - The server replies 413 to the first bytes. The call returns, and the caller fills its buffer with the next
//     batch. The transport sends a piece of that batch.
//   - The server replies 503 to the first bytes. azcore rewinds the body for the next attempt. The transport of the
//     first attempt reads a piece, which is then missing from the second.
//
// Therefore each attempt reads through its own view, a Read holds the lock, and only the view of the latest attempt
// may read.
type lentBody struct {
	mu      sync.Mutex
	body    io.ReadSeekCloser // nil after takeBack
	attempt int               // the number of the latest view
	first   attemptBody       // avoids an allocation, since most requests have one attempt
}

var errTakenBack = errors.New("search: this attempt is over, its body was taken back")

// lend sets body, which is JSON, as the body of req, with one view per attempt.
func lend(req *policy.Request, body []byte) error {
	return (&lentBody{body: streaming.NopCloser(bytes.NewReader(body))}).setOn(req)
}

// setOn sets b as the body of req.
func (b *lentBody) setOn(req *policy.Request) error {
	req.SetOperationValue(b) // for attemptBodies
	return req.SetBody(b, "application/json")
}

// view returns the body for a new attempt, rewound to its beginning, and disables the previous view.
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

// Read serves policies that read the body before an attempt.
func (b *lentBody) Read(p []byte) (int, error) { return b.read(0, p) }

func (b *lentBody) read(attempt int, p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.body == nil || attempt != 0 && attempt != b.attempt {
		return 0, errTakenBack
	}
	return b.body.Read(p)
}

// Seek lets azcore determine the length of the body.
func (b *lentBody) Seek(offset int64, whence int) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.body == nil {
		return 0, errTakenBack
	}
	return b.body.Seek(offset, whence)
}

// Close does nothing, because azcore closes the body when it has a reply. takeBack closes it when no view can read
// it.
func (b *lentBody) Close() error { return nil }

// takeBack closes the body. It drops the error, as net/http does, because a failing close cannot change what was
// sent.
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

// attemptBodies is the pipeline policy that gives each attempt of a request with a lentBody its own view.
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
	req.Raw().GetBody = lent.view // net/http retries a request on a new connection with it
	return req.Next()
}
