package adding

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestNothingIsAcceptedAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(sendertest.RefuseKeys("bad"))
		r.Upload(sendertest.Hotel{ID: "bad"})
		closed := r.Close()
		require.Equal(t, 1, sendertest.CloseError(t, closed).Failed)
		for name, add := range sendertest.AddingCalls(r, sendertest.Hotel{ID: "late"}) {
			assert.ErrorIs(t, add(t.Context()), bufferedsender.ErrClosed, name)
		}
		assert.Same(t, closed, r.Sender.Flush(t.Context(), nil), "the stored Close result")
	})
}

func TestAProducerThatGivesUpWakesTheSenderForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{Delay: time.Hour}
		sender, err := bufferedsender.New(index, &sendertest.Options{
			Limits:            bufferedsender.Limits{MaxBatchBytes: 1000, MaxBufferedBytes: 4000, MaxInFlight: 5},
			AutoFlushInterval: time.Second, RequestTimeout: -1,
		})
		require.NoError(t, err)
		for i := range 4 { // one request each
			require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: strconv.Itoa(i), Name: strings.Repeat("x", 800)}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		// There is no room for the large document. It is smaller than a quarter of the buffer: a larger one would
		// keep the small one even from being encoded.
		go func() { _ = sender.UploadDocuments(ctx, sendertest.Hotel{ID: "large", Name: strings.Repeat("x", 880)}) }()
		synctest.Wait()
		small := make(chan error, 1)
		go func() { small <- sender.UploadDocuments(context.Background(), sendertest.Hotel{ID: "small"}) }()
		time.Sleep(5 * time.Second)
		require.Equal(t, 2, sender.Stats().BlockedProducers)
		require.Positive(t, sender.Stats().BlockedBytes-900, "the small one waits behind the large one")
		require.EqualValues(t, 4, index.Requests())
		require.NoError(t, <-small)
		time.Sleep(2 * time.Second)
		assert.EqualValues(t, 5, index.Requests(), "the small one did not wait for the first requests")
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestCallersThatNeverWaitDoNotFillTheBufferForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := &sendertest.Indexer{}
		sender, err := bufferedsender.New(index, &sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 5}, AutoFlushInterval: -1})
		require.NoError(t, err)
		accepted := 0
		for i := range 20 {
			err := sender.TryIndexDocuments(models.UploadAction(sendertest.Hotel{ID: strconv.Itoa(i)}))
			if err == nil {
				accepted++
				continue
			}
			require.ErrorIs(t, err, bufferedsender.ErrBufferFull)
			synctest.Wait()
		}
		assert.Greater(t, accepted, 15)
		require.NoError(t, sender.Close(t.Context()))
	})
}

func TestAContextEndsTheWaitingNeverTheWork(t *testing.T) {
	cause := errors.New("my own cause")
	t.Run("a ctx that ends after the call returned changes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			require.NoError(t, r.Sender.UploadDocuments(ctx, sendertest.Hotels("k", 3)...))
			cancel()
			require.NoError(t, r.Flush())
			assert.Len(t, r.Indexed(), 3)
		})
	})
	t.Run("the context of an adding call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxBufferedActions: 3}})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(30 * time.Second)})
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			defer cancel()
			r.Upload(sendertest.Hotels("k", 3)...)
			for name, add := range sendertest.AddingCalls(r, sendertest.Hotel{ID: "waits"}) {
				if name == "TryIndexDocuments" {
					continue
				}
				err := add(ctx)
				sendertest.RequireAccepted(t, err, 0)
				assert.ErrorIs(t, err, cause, name)
			}
			assert.Equal(t, time.Second, r.Now())
			require.NoError(t, r.Flush())
			assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 3)), r.Indexed())
			assert.Len(t, r.Requests(), 1)
		})
	})
	t.Run("of Flush", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(30 * time.Second)})
			r.Upload(sendertest.Hotels("k", 5)...)
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			defer cancel()
			require.ErrorIs(t, r.Sender.Flush(ctx, nil), cause)
			assert.Equal(t, time.Second, r.Now())
			time.Sleep(90 * time.Second)
			assert.Len(t, r.Indexed(), 5, "the flushed actions are sent without it")
			assert.Len(t, r.Requests(), 3)
			assert.Equal(t, []time.Duration{0, 30 * time.Second, time.Minute}, []time.Duration{r.Requests()[0].At, r.Requests()[1].At, r.Requests()[2].At})
		})
	})
	t.Run("the context of a Flush that ended before it began", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(time.Second)}) // otherwise all may be settled before Flush looks
			r.Upload(sendertest.Hotels("k", 5)...)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, r.Sender.Flush(ctx, nil), context.Canceled)
			require.NoError(t, r.Flush())
		})
	})
	t.Run("no waiter's deadline or cancellation reaches a request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, RequestTimeout: -1})
			r.Respond(func(_ int, x *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				_, limited := x.Context.Deadline()
				assert.False(t, limited)
				time.Sleep(10 * time.Second)
				assert.NoError(t, x.Context.Err())
				return next()
			})
			adding, cancelAdding := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancelAdding()
			flushing, cancelFlushing := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancelFlushing()
			require.NoError(t, r.Sender.UploadDocuments(adding, sendertest.Hotels("k", 3)...))
			require.Error(t, r.Sender.Flush(flushing, nil))
			require.NoError(t, r.Flush())
		})
	})
	t.Run("Close's does cancel them", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, nil)
			r.Respond(sendertest.Hang)
			r.Upload(sendertest.Hotels("k", 3)...)
			require.Error(t, r.Sender.Close(sendertest.Within(t, 7*time.Second)))
			assert.Equal(t, 7*time.Second, r.Requests()[0].End)
		})
	})
}

func TestAContextThatHasEndedAddsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for name, add := range sendertest.AddingCalls(r, sendertest.Hotel{ID: "a"}) {
			if name == "TryIndexDocuments" {
				continue // takes no time
			}
			err := add(ended)
			require.ErrorIs(t, err, context.Canceled, name)
			sendertest.RequireAccepted(t, err, 0)
		}
		_, err := r.Sender.IndexDocumentsAndWait(ended, []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "a"})}, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, r.Sender.MergePatch(ended, models.NewPatch("id", "a")), context.Canceled)
		require.ErrorIs(t, r.Sender.MergeOrUploadPatch(ended, models.NewPatch("id", "a")), context.Canceled)
		assert.Zero(t, r.Sender.Stats().Accepted)
		assert.Empty(t, r.Events("added"))
	})
}

func TestAContextThatEndsInTheMiddleOfACallEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		r := sendertest.New(t, &sendertest.Options{Handlers: sendertest.Handlers{ActionAdded: func(context.Context, *events.ActionAdded[sendertest.Hotel]) error {
			if n++; n == 20 {
				cancel()
			}
			return nil
		}}})
		err := r.Sender.UploadDocuments(ctx, sendertest.Hotels("k", 5000)...)
		t.Log(err, r.Sender.Stats().Accepted)
		assert.Error(t, err)
	})
}

// The error of an adding call shows whether the document caused it.
func TestAnAddingCallDistinguishesABadDocumentFromABadMoment(t *testing.T) {
	type number struct {
		ID string `json:"id" search:"key"`
		N  float64
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	synctest.Test(t, func(t *testing.T) {
		opts := &bufferedsender.Options[*number]{Limits: bufferedsender.Limits{MaxBatchBytes: 1000, MaxBatchActions: 1, MaxBufferedActions: 1}, Logger: sendertest.NoLog}
		s, err := bufferedsender.New(&sendertest.Indexer{}, opts)
		require.NoError(t, err)
		s.Pause()
		add := func(n number) error { return s.UploadDocuments(t.Context(), &n) }
		for name, c := range map[string]struct {
			err      error
			rejected bool
		}{
			"no key":           {add(number{}), true},
			"an illegal key":   {add(number{ID: "a b"}), true},
			"not a number":     {add(number{ID: "1", N: math.NaN()}), true},
			"too large":        {add(number{ID: strings.Repeat("k", 990)}), true},
			"no such action":   {s.IndexDocuments(t.Context(), models.IndexDocumentsAction[*number]{Type: "insert"}), true},
			"a patch of none":  {s.MergePatch(t.Context(), nil), true},
			"an ended context": {s.UploadDocuments(ended, &number{ID: "1"}), false},
			"accepted":         {add(number{ID: "1"}), false},
			"no room":          {s.TryIndexDocuments(models.UploadAction(&number{ID: "2"})), false},
		} {
			var refused *bufferedsender.AddError
			if errors.As(c.err, &refused) {
				assert.Equal(t, c.rejected, refused.Rejected(), "%s: %v", name, c.err)
			} else {
				assert.Equal(t, "accepted", name, "%v", c.err)
			}
		}
		_ = s.Close(sendertest.Within(t, time.Millisecond))
		var refused *bufferedsender.AddError
		require.ErrorAs(t, add(number{ID: "3"}), &refused)
		assert.False(t, refused.Rejected(), "closed")
	})
}
