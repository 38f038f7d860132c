package events_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// message is a tag as a Kafka consumer would use it.
type message struct {
	partition *events.LowWatermark[int64]
	offset    int64
}

func offsetOf(tag any) (*events.LowWatermark[int64], int64, bool) {
	m, ok := tag.(message)
	return m.partition, m.offset, ok
}

func tagged(w *events.LowWatermark[int64], offset int64) models.IndexDocumentsAction[doc] {
	return models.UploadAction(doc{fmt.Sprint(offset)}).WithTag(message{w, offset})
}

func markOf(t *testing.T, w *events.LowWatermark[int64]) int64 {
	t.Helper()
	mark, ok := w.Mark()
	if !ok {
		return -1
	}
	return mark
}

func TestTrackSettlesWhatIsCompleted(t *testing.T) {
	var a, b events.LowWatermark[int64]
	h := events.Track[doc](offsetOf, nil)
	add := func(w *events.LowWatermark[int64], offset int64) {
		require.NoError(t, h.ActionAdded(t.Context(), &events.ActionAdded[doc]{Action: tagged(w, offset)}))
	}
	complete := func(w *events.LowWatermark[int64], offset int64) {
		h.ActionCompleted(t.Context(), &events.ActionCompleted[doc]{Action: tagged(w, offset)})
	}
	for offset := range int64(4) {
		add(&a, offset)
		add(&b, 10*offset)
	}
	complete(&a, 1)
	complete(&b, 0)
	require.EqualValues(t, -1, markOf(t, &a))
	require.EqualValues(t, 0, markOf(t, &b))
	complete(&a, 0)
	complete(&b, 20)
	require.EqualValues(t, 1, markOf(t, &a))
	require.EqualValues(t, 0, markOf(t, &b))

	require.Nil(t, h.ActionSent)
	require.Nil(t, h.BatchCompleted)
	require.Nil(t, h.Closed)
}

func TestTrackLeavesAloneWhatHasNoPosition(t *testing.T) {
	h := events.Track[doc](offsetOf, &events.TrackOptions[doc]{Skip: func(context.Context, *events.ActionFailed[doc]) bool { return true }})
	for _, tag := range []any{nil, 7} {
		action := models.UploadAction(doc{"x"}).WithTag(tag)
		require.NoError(t, h.ActionAdded(t.Context(), &events.ActionAdded[doc]{Action: action}))
		h.ActionCompleted(t.Context(), &events.ActionCompleted[doc]{Action: action})
		h.ActionFailed(t.Context(), &events.ActionFailed[doc]{Action: action})
	}
	require.ErrorContains(t, h.ActionAdded(t.Context(), &events.ActionAdded[doc]{Action: tagged(nil, 3)}), "position 3 has no LowWatermark")
}

// The mark must not pass a document that the service refused or that Close gave up.
func TestFailedActionHoldsTheMarkUntilSomebodyHasTakenCareOfIt(t *testing.T) {
	answer := func(skip bool) func(context.Context, *events.ActionFailed[doc]) bool {
		return func(context.Context, *events.ActionFailed[doc]) bool { return skip }
	}
	for name, c := range map[string]struct {
		skip   func(context.Context, *events.ActionFailed[doc]) bool
		unsent bool
		passes bool
	}{
		"no Skip":                        {nil, false, false},
		"Skip returns true":              {answer(true), false, true},
		"Skip returns false":             {answer(false), false, false},
		"Skip panics":                    {func(context.Context, *events.ActionFailed[doc]) bool { panic("disk full") }, false, false},
		"Skip ends its goroutine":        {func(context.Context, *events.ActionFailed[doc]) bool { runtime.Goexit(); return true }, false, false},
		"unsent, and Skip returns true":  {answer(true), true, false},
		"unsent, and there is no Skip":   {nil, true, false},
		"unsent, and Skip would not end": {func(context.Context, *events.ActionFailed[doc]) bool { select {} }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var w events.LowWatermark[int64]
			h := events.Track[doc](offsetOf, &events.TrackOptions[doc]{Skip: c.skip})
			require.NoError(t, h.ActionAdded(t.Context(), &events.ActionAdded[doc]{Action: tagged(&w, 5)}))
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { _ = recover() }() // as the sender does
				h.ActionFailed(t.Context(), &events.ActionFailed[doc]{Action: tagged(&w, 5), Unsent: c.unsent})
			}()
			<-ended
			_, passed := w.Mark()
			require.Equal(t, c.passes, passed)
		})
	}
}

// Handlers before Track run before the mark moves. If one of them fails, the action holds the mark.
func TestAHandlerBeforeTrackHoldsTheMark(t *testing.T) {
	for name, c := range map[string]struct {
		veto   func(veto *error)
		passes bool
	}{
		"the handler returns":            {func(*error) {}, true},
		"the handler sets Veto":          {func(veto *error) { *veto = errors.New("the audit log is full") }, false},
		"the handler panics":             {func(*error) { panic("the audit log is full") }, false},
		"the handler ends its goroutine": {func(*error) { runtime.Goexit() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var w events.LowWatermark[int64]
			before := events.Handlers[doc]{
				ActionCompleted: func(_ context.Context, e *events.ActionCompleted[doc]) { c.veto(&e.Veto) },
				ActionFailed:    func(_ context.Context, e *events.ActionFailed[doc]) { c.veto(&e.Veto) },
			}
			silent := events.Handlers[doc]{
				ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {},
				ActionFailed:    func(context.Context, *events.ActionFailed[doc]) {},
			}
			skip := func(context.Context, *events.ActionFailed[doc]) bool { return true }
			h := events.Multi(events.Multi(before, silent), silent, events.Track[doc](offsetOf, &events.TrackOptions[doc]{Skip: skip}))
			raise := func(f func()) {
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					defer func() { _ = recover() }() // as the sender does
					f()
				}()
				<-ended
			}
			for offset := range int64(2) {
				require.NoError(t, h.ActionAdded(t.Context(), &events.ActionAdded[doc]{Action: tagged(&w, offset)}))
			}
			raise(func() { h.ActionCompleted(t.Context(), &events.ActionCompleted[doc]{Action: tagged(&w, 0)}) })
			require.Equal(t, c.passes, markOf(t, &w) == 0)
			raise(func() { h.ActionFailed(t.Context(), &events.ActionFailed[doc]{Action: tagged(&w, 1)}) })
			require.Equal(t, c.passes, markOf(t, &w) == 1)
		})
	}
}

func TestPassIsGivenTheEvent(t *testing.T) {
	var w events.LowWatermark[int64]
	require.NoError(t, w.Begin(1))
	e := &events.ActionFailed[doc]{Action: tagged(&w, 1)}
	events.Track[doc](offsetOf, &events.TrackOptions[doc]{Skip: func(ctx context.Context, got *events.ActionFailed[doc]) bool {
		require.Equal(t, t.Context(), ctx)
		require.Same(t, e, got)
		_, passed := w.Mark()
		require.False(t, passed, "the watermark does not pass before the handler has returned")
		return true
	}}).ActionFailed(t.Context(), e)
	require.EqualValues(t, 1, markOf(t, &w))
}

func TestPositionOfSeveralActionsIsSettledByTheLast(t *testing.T) {
	var w events.LowWatermark[int64]
	h := events.Track[doc](offsetOf, &events.TrackOptions[doc]{Begun: true})
	require.Nil(t, h.ActionAdded, "the program begins")
	require.NoError(t, w.BeginN(1, 3))
	require.NoError(t, w.Begin(2))
	for range 3 {
		h.ActionCompleted(t.Context(), &events.ActionCompleted[doc]{Action: tagged(&w, 2)})
		require.EqualValues(t, -1, markOf(t, &w))
		h.ActionCompleted(t.Context(), &events.ActionCompleted[doc]{Action: tagged(&w, 1)})
	}
	require.EqualValues(t, 2, markOf(t, &w))
}

// newSender returns a sender to an emulated index.
func newSender(t *testing.T, srv *searchtest.Server, opts bufferedsender.Options[doc]) *bufferedsender.BufferedSender[doc] {
	t.Helper()
	require.NoError(t, srv.CreateIndex(models.SearchIndex{Name: "docs", Fields: []models.SearchField{{Name: "ID", Type: models.DataTypeString, Key: new(true)}}}))
	clientOptions := &search.ClientOptions{}
	clientOptions.Transport = srv
	client, err := search.NewClientWithKey(srv.URL(), "docs", azcore.NewKeyCredential(searchtest.AdminKey), clientOptions)
	require.NoError(t, err)
	opts.Documents.KeyField = "ID"
	opts.Documents.Key = func(d doc) string { return d.ID }
	opts.Logger = slog.New(slog.DiscardHandler)
	sender, err := bufferedsender.New(client, &opts)
	require.NoError(t, err)
	return sender
}

func TestRefusedActionIsAddedAgainAfterForget(t *testing.T) {
	var w events.LowWatermark[int64]
	sender := newSender(t, searchtest.NewServer(nil), bufferedsender.Options[doc]{
		DisableAutoFlush: true, Limits: bufferedsender.Limits{MaxBufferedActions: 3},
		Handlers: events.Track[doc](offsetOf, nil),
	})
	var actions []models.IndexDocumentsAction[doc]
	for offset := range int64(5) {
		actions = append(actions, tagged(&w, 100+offset))
	}
	err := sender.TryIndexDocuments(actions...)
	require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
	var refused *bufferedsender.AddError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 3, refused.Accepted)
	require.NoError(t, sender.Flush(t.Context(), nil))
	require.EqualValues(t, 102, markOf(t, &w))
	require.Equal(t, 2, w.Outstanding(), "no event will ever come")

	require.ErrorIs(t, sender.TryIndexDocuments(actions[3:]...), events.ErrPositionOrder, "the sender refuses actions that would leave a gap")
	require.Equal(t, 2, w.Forget(actions[3].Tag.(message).offset, 1))
	require.NoError(t, sender.TryIndexDocuments(actions[3:]...))
	require.EqualValues(t, 102, markOf(t, &w))
	require.NoError(t, sender.Close(t.Context()))
	require.EqualValues(t, 104, markOf(t, &w))
}

func TestMarkStaysBelowWhatCloseHasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpIndexDocuments, Delay: searchtest.Duration(40 * time.Second)}}})
		var w events.LowWatermark[int64]
		failed := 0
		sender := newSender(t, srv, bufferedsender.Options[doc]{
			Limits: bufferedsender.Limits{MaxBatchActions: 2},
			Handlers: events.Multi(
				events.Handlers[doc]{ActionFailed: func(context.Context, *events.ActionFailed[doc]) { failed++ }},
				events.Track[doc](offsetOf, &events.TrackOptions[doc]{Skip: func(context.Context, *events.ActionFailed[doc]) bool { return true }}),
			),
		})
		for offset := range int64(7) {
			require.NoError(t, sender.IndexDocuments(t.Context(), tagged(&w, offset)))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the first batch succeeds, the second is cut off
		defer cancel()
		var lost *bufferedsender.CloseError
		require.ErrorAs(t, sender.Close(ctx), &lost)
		require.EqualValues(t, 5, failed)
		require.EqualValues(t, 1, markOf(t, &w))
		require.Equal(t, 5, w.Outstanding())
	})
}

func TestCloseOfTheSenderWaitsForTheQueueOfItsAsync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w events.LowWatermark[int64]
		var handled atomic.Int64
		async := newAsync(t, events.Multi(
			events.Handlers[doc]{ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {
				time.Sleep(time.Second)
				handled.Add(1)
			}},
			events.Track[doc](offsetOf, nil),
		), nil)
		sender := newSender(t, searchtest.NewServer(nil), bufferedsender.Options[doc]{Handlers: async.Handlers()})
		for offset := range int64(50) {
			require.NoError(t, sender.IndexDocuments(t.Context(), tagged(&w, offset)))
		}
		require.NoError(t, sender.Flush(t.Context(), nil))
		require.Less(t, handled.Load(), int64(50), "Flush of the sender waits until the events are queued")
		require.NoError(t, sender.Close(t.Context()))
		require.EqualValues(t, 50, handled.Load())
		require.EqualValues(t, 49, markOf(t, &w))
	})
}

func TestCloseOfTheSenderSaysThatItsAsyncIsNotDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var handled atomic.Int64
		async := newAsync(t, events.Handlers[doc]{ActionCompleted: func(context.Context, *events.ActionCompleted[doc]) {
			time.Sleep(10 * time.Second)
			handled.Add(1)
		}}, nil)
		sender := newSender(t, searchtest.NewServer(nil), bufferedsender.Options[doc]{Handlers: async.Handlers()})
		require.NoError(t, sender.UploadDocuments(t.Context(), doc{"1"}, doc{"2"}, doc{"3"}))
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		began := time.Now()
		err := sender.Close(ctx)
		var unhandled *events.UnhandledError
		require.ErrorAs(t, err, &unhandled)
		require.Equal(t, events.UnhandledError{Queued: 1, Running: 1, Err: unhandled.Err}, *unhandled)
		require.Less(t, time.Since(began), 18*time.Second)
		require.EqualValues(t, 1, handled.Load())

		require.ErrorAs(t, async.Close(ended(t)), &unhandled)
		require.Equal(t, 1, unhandled.Discarded)
		time.Sleep(time.Minute)
		require.EqualValues(t, 2, handled.Load(), "the running handler ends, and no other begins")
	})
}

// The context of an event identifies a handler to the sender, on any goroutine.
func TestHandlersOfAnAsyncAreRecognisedByTheSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sender *bufferedsender.BufferedSender[doc]
		var flush, closing, add error
		async := newAsync(t, events.Handlers[doc]{ActionCompleted: func(ctx context.Context, e *events.ActionCompleted[doc]) {
			if e.Key != "1" {
				return
			}
			flush, closing = sender.Flush(ctx, nil), sender.Close(ctx)
			for i := 0; add == nil && i < 100; i++ { // until the buffer is full
				add = sender.UploadDocuments(ctx, doc{fmt.Sprint("more-", i)})
			}
		}}, &events.AsyncOptions{QueueSize: 1})
		sender = newSender(t, searchtest.NewServer(nil), bufferedsender.Options[doc]{Limits: bufferedsender.Limits{MaxBufferedActions: 10, MaxBatchActions: 5}, Handlers: async.Handlers()})
		require.NoError(t, sender.UploadDocuments(t.Context(), doc{"1"}, doc{"2"}, doc{"3"}, doc{"4"}, doc{"5"}))
		require.NoError(t, sender.Close(t.Context()))
		require.ErrorIs(t, flush, bufferedsender.ErrInCallback)
		require.ErrorIs(t, closing, bufferedsender.ErrInCallback)
		require.True(t, add == nil || errors.Is(add, bufferedsender.ErrBufferFull) || errors.Is(add, bufferedsender.ErrClosed), "%v", add)
	})
}
