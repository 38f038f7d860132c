package refusals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

type fatHotel struct {
	ID    string `json:"id" search:"key"`
	Rooms int    `json:"rooms,omitempty"`
	Text  []byte `json:"text"`
}

type saying struct {
	status int
	text   string
}

func (e saying) Error() string { return e.text }

func (e saying) HTTPStatus() int { return e.status }

// keepsNoNeighbours adds documents in calls of sixteen and changes one of each. It checks that after the others have
// settled, little more memory is kept than that of the waiting documents.
func keepsNoNeighbours(t *testing.T, index *sendertest.Indexer, change func(*fatHotel), settled func(completed, others int64) bool) {
	t.Helper()
	s, err := bufferedsender.New(index, &bufferedsender.Options[*fatHotel]{Limits: bufferedsender.Limits{MaxBufferedBytes: 16 << 20, MaxBatchActions: 200}, Handlers: events.Handlers[*fatHotel]{
		ActionFailed: func(context.Context, *events.ActionFailed[*fatHotel]) {},
	}})
	require.NoError(t, err)
	sendertest.CloseAtEnd(t, s)
	before := sendertest.HeapNow()
	const n = 16 * 500
	for i := 0; i < n; i += 16 {
		docs := make([]*fatHotel, 16)
		for j := range docs {
			docs[j] = &fatHotel{ID: fmt.Sprint("k-", i+j), Text: make([]byte, 3000)}
		}
		change(docs[7])
		require.NoError(t, s.UploadDocuments(t.Context(), docs...))
	}
	testkit.Eventually(t, func() bool { return settled(s.Stats().Completed, n/16*15) })
	st := s.Stats()
	kept := sendertest.HeapNow() - before
	t.Logf("pending %d actions, %d kB by its own account (held apart %d), heap %d kB", st.PendingActions, st.PendingBytes>>10, st.HeldApart, kept>>10)
	assert.Less(t, kept, 4*st.PendingBytes+4<<20)
	runtime.KeepAlive(s)
}

// Actions of one call share memory. A document that is set apart must not keep the memory of fifteen settled ones.
func TestHeldApartDocumentsKeepNoNeighbours(t *testing.T) {
	testkit.Long(t)
	index := &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		raw, err := io.ReadAll(body)
		if err != nil {
			return models.IndexDocumentsResult{}, err
		}
		if strings.Contains(string(raw), `"rooms":`) {
			return models.IndexDocumentsResult{}, saying{400, "The request is invalid. Details: actions : 0: The property 'rooms' does not exist on type 'search.documentFields'. Make sure to only use property names that are defined by the type."}
		}
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return models.IndexDocumentsResult{}, err
		}
		return sendertest.AcceptAll(ctx, body)
	}}
	keepsNoNeighbours(t, index, func(h *fatHotel) { h.Rooms = 1 }, func(completed, others int64) bool { return completed == others })
}

// The same holds for actions that wait behind an action of their key.
func TestActionsBehindAnotherOfTheirKeyKeepNoNeighbours(t *testing.T) {
	testkit.Long(t)
	index := &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		res, err := sendertest.AcceptAll(ctx, body)
		for i := range res.Results {
			if res.Results[i].Key == "hot" {
				res.Results[i].Succeeded, res.Results[i].StatusCode = false, 503
			}
		}
		return res, err
	}}
	keepsNoNeighbours(t, index, func(h *fatHotel) { h.ID = "hot" }, func(completed, others int64) bool { return completed >= others })
}

// The keys of a cut request are kept for UnknownWait, and no longer.
func TestAnIdleSenderForgetsTheKeysOfAnOutage(t *testing.T) {
	testkit.Long(t)
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		index := &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			if calls.Add(1) == 1 {
				return models.IndexDocumentsResult{}, errors.New("connection reset")
			}
			return sendertest.AcceptAll(ctx, body)
		}}
		s, err := bufferedsender.New(index, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 32000}, AutoFlushInterval: time.Hour, UnknownWait: 3 * time.Second})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		before := sendertest.HeapNow()
		for i := range 32000 {
			require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: fmt.Sprintf("some-ordinary-key-%040d", i)}))
		}
		require.NoError(t, s.Flush(t.Context(), nil))
		time.Sleep(4 * time.Second) // longer than UnknownWait
		kept := sendertest.HeapNow() - before
		t.Logf("idle for longer than UnknownWait, heap %d kB", kept>>10)
		assert.Less(t, kept, int64(100<<10))
		runtime.KeepAlive(s)
	})
}

func TestAskingAClosedSenderKeepsNothing(t *testing.T) {
	testkit.Long(t)
	s, err := bufferedsender.New(&sendertest.Indexer{}, &sendertest.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))
	before := sendertest.HeapNow()
	for range 100_000 {
		s.Contains("a")
		s.Withdraw(func(string, any) bool { return true })
	}
	kept := sendertest.HeapNow() - before
	t.Logf("%d kB", kept>>10)
	assert.Less(t, kept, int64(1<<20))
	runtime.KeepAlive(s)
}
