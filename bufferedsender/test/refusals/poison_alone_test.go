package refusals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
)

// pingless is an Indexer without other calls.
type pingless struct{ bufferedsender.Indexer }

// pinging is an Indexer with a Ping, which it counts.
type pinging struct {
	bufferedsender.Indexer
	err   error
	pings int
}

func (p *pinging) Ping(context.Context) error {
	p.pings++
	return p.err
}

// poisoned breaks the connection for every document.
func poisoned() bufferedsender.Indexer {
	return &sendertest.Indexer{Index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		return models.IndexDocumentsResult{}, sendertest.ErrReset
	}}
}

// aloneWith sends one document and returns the result of Flush and its duration.
func aloneWith(t *testing.T, indexer bufferedsender.Indexer) (*bufferedsender.FlushError, bufferedsender.Stats, time.Duration) {
	t.Helper()
	began := time.Now()
	s, err := bufferedsender.New[sendertest.Hotel](indexer, &sendertest.Options{Logger: sendertest.NoLog})
	require.NoError(t, err)
	sendertest.CloseAtEnd(t, s)
	require.NoError(t, s.UploadDocuments(t.Context(), sendertest.Hotel{ID: "poison"}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var failed *bufferedsender.FlushError
	if err := s.Flush(ctx, nil); !errors.As(err, &failed) {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	return failed, s.Stats(), time.Since(began)
}

func TestALoneDocumentThatCannotBeSentEndsTheFlush(t *testing.T) {
	t.Run("the document fails when the service answers a Ping", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			indexer := &pinging{Indexer: poisoned()}
			failed, stats, took := aloneWith(t, indexer)
			require.NotNil(t, failed)
			require.Equal(t, 1, failed.Count)
			assert.Equal(t, models.ReasonUnreachable, failed.Errors[0].Reason)
			assert.True(t, failed.Errors[0].Exhausted)
			assert.GreaterOrEqual(t, stats.Requests, int64(4), "MaxRetries and one")
			assert.GreaterOrEqual(t, took, time.Minute)
			assert.Less(t, took, 10*time.Minute)
			assert.Positive(t, indexer.pings)
			t.Log(stats.Requests, took)
		})
	})
	t.Run("the document fails after ten minutes when no other request is possible", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			failed, stats, took := aloneWith(t, pingless{poisoned()})
			require.NotNil(t, failed)
			require.Equal(t, 1, failed.Count)
			assert.Equal(t, models.ReasonUnreachable, failed.Errors[0].Reason)
			assert.GreaterOrEqual(t, took, 10*time.Minute)
			assert.LessOrEqual(t, took, 11*time.Minute)
			t.Log(stats.Requests, took)
		})
	})
	t.Run("the document does not fail while the service answers no request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			failed, stats, took := aloneWith(t, &pinging{Indexer: poisoned(), err: sendertest.ErrReset})
			assert.Nil(t, failed)
			assert.Equal(t, time.Hour, took)
			assert.Equal(t, 1, stats.PendingActions)
			assert.Less(t, stats.Requests, int64(400), "two requests a minute, and some at first")
		})
	})
}

// Its failures count against it if others pass in between.
func TestADocumentThatFailsAmongOthersThatPassIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := sendertest.WithBreaker(t)
		opts.AutoFlushInterval = time.Second
		r := sendertest.New(t, opts)
		r.Respond(sendertest.When(sendertest.Carrying("poison"), sendertest.BreakConnection))
		r.Upload(sendertest.Hotel{ID: "poison"})
		for i := 0; len(r.Events("failed")) == 0 && i < 600; i++ {
			r.Upload(sendertest.Hotel{ID: "k", Rooms: i})
			time.Sleep(1500 * time.Millisecond)
		}
		require.Len(t, r.Events("failed"), 1)
		failed := r.Outcome("poison")
		assert.GreaterOrEqual(t, failed.At, time.Minute)
		assert.Less(t, failed.At, 10*time.Minute)
		assert.Equal(t, models.ReasonUnreachable, r.Failure("poison").Reason)
		for _, e := range r.Events("completed") {
			assert.Equal(t, "k", e.Key)
		}
		t.Log(failed.At, failed.Attempt)
	})
}

// If every other request fails, one document in four thousand has twelve failures in a row by chance. Even that one
// must not fail.
func TestADocumentIsNotBlamedForWhatChanceExplains(t *testing.T) {
	const always = 1 << 30
	for name, c := range map[string]struct {
		halfFail bool // every other request of the others fails
		failures int  // consecutive failures of the one document, alone
		blamed   bool
	}{
		"twelve failures, as half of all requests fail": {true, 12, false},
		"twelve failures, and no other request fails":   {false, 12, true},
		"only failures, in half of all requests":        {true, always, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := sendertest.WithBreaker(t)
				opts.Limits.MaxBatchActions, opts.Retry = 1, retry.Options{Delay: 10 * time.Second, MaxDelay: 10 * time.Second, Jitter: -1}
				r := sendertest.New(t, opts)
				requests := map[string]int{} // per key, one in flight at a time
				r.Respond(func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					key := x.Keys[0]
					requests[key]++
					if key == "one" && requests[key] <= c.failures || c.halfFail && strings.HasPrefix(key, "bad") && requests[key] == 1 {
						return sendertest.Reply(req, 502, ""), nil
					}
					return next()
				})
				r.Upload(sendertest.Hotels("before", 20)...)
				require.NoError(t, r.Flush())
				r.Upload(sendertest.Hotel{ID: "one"})
				for i := range 600 {
					time.Sleep(time.Second)
					r.Upload(sendertest.Hotel{ID: fmt.Sprint([]string{"good-", "bad-"}[i%2], i)})
				}
				err := r.Flush()
				end := r.Outcome("one")
				t.Log(end.Kind, end.At, end.Attempt)
				if !c.blamed {
					require.NoError(t, err)
					assert.Equal(t, c.failures+1, requests["one"])
					return
				}
				require.Equal(t, 1, sendertest.FlushFailures(t, err))
				assert.Equal(t, models.ReasonUnreachable, r.Failure("one").Reason)
				assert.GreaterOrEqual(t, end.At, time.Minute)
			})
		})
	}
}
