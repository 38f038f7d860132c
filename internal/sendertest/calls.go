package sendertest

import (
	"bytes"
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// CloseError returns the *CloseError that err must be.
func CloseError(t *testing.T, err error) bufferedsender.CloseError {
	t.Helper()
	var closed *bufferedsender.CloseError
	require.ErrorAs(t, err, &closed)
	return *closed
}

// FlushFailures returns the number of failures that the error of a Flush reports.
func FlushFailures(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var failed *bufferedsender.FlushError
	require.ErrorAs(t, err, &failed)
	require.Len(t, failed.Errors, min(failed.Count, 100))
	return failed.Count
}

// WaitError returns the *WaitError that an error of IndexDocumentsAndWait must be.
func WaitError(t *testing.T, err error) *bufferedsender.WaitError {
	t.Helper()
	var e *bufferedsender.WaitError
	require.ErrorAs(t, err, &e)
	return e
}

// RequireAccepted requires err to be an *AddError that has accepted n documents.
func RequireAccepted(t *testing.T, err error, n int) {
	t.Helper()
	var refusal *bufferedsender.AddError
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, n, refusal.Accepted, "accepted, of %v", err)
}

// Within returns a context that ends after d, so that a hanging test fails.
func Within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// RequireCircuitOpen requires err to be the error of a call that ended because the breaker is open.
func RequireCircuitOpen(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
	require.ErrorIs(t, err, breaker.ErrOpen)
}

// Later runs f on another goroutine and returns a channel for its result.
func Later[R any](f func() R) <-chan R {
	done := make(chan R, 1)
	go func() { done <- f() }()
	return done
}

// StillRunning checks that a call has not returned when all goroutines of the bubble are blocked.
func StillRunning[R any](t *testing.T, done <-chan R, what string) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-done:
		assert.Fail(t, what+" has returned", "%v", r)
	default:
	}
}

// CloseAtEnd closes a sender without a rig at the end of the test, even a failed one, because goroutines left in a
// bubble end all tests.
func CloseAtEnd(t *testing.T, s interface{ Close(context.Context) error }) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Close(ctx)
	})
}

// Buffer collects a log written by several goroutines.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// AddingCalls returns all calls that add a document.
func AddingCalls(r *Rig, doc Hotel) map[string]func(context.Context) error {
	s := r.Sender
	return map[string]func(context.Context) error{
		"UploadDocuments":        func(ctx context.Context) error { return s.UploadDocuments(ctx, doc) },
		"MergeDocuments":         func(ctx context.Context) error { return s.MergeDocuments(ctx, doc) },
		"MergeOrUploadDocuments": func(ctx context.Context) error { return s.MergeOrUploadDocuments(ctx, doc) },
		"DeleteDocuments":        func(ctx context.Context) error { return s.DeleteDocuments(ctx, doc) },
		"DeleteDocumentsByKey":   func(ctx context.Context) error { return s.DeleteDocumentsByKey(ctx, doc.ID) },
		"IndexDocuments":         func(ctx context.Context) error { return s.IndexDocuments(ctx, models.UploadAction(doc)) },
		"TryIndexDocuments":      func(context.Context) error { return s.TryIndexDocuments(models.UploadAction(doc)) },
		"IndexSeq": func(ctx context.Context) error {
			return s.IndexSeq(ctx, func(yield func(Action, error) bool) { yield(models.UploadAction(doc), nil) }, nil)
		},
	}
}

// HeapNow returns the bytes of the heap in use after a garbage collection.
func HeapNow() int64 {
	runtime.GC()
	runtime.GC() // finalizers and pools need two
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
