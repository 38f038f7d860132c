package bufferedsender_test

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

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pingless is an Indexer that cannot be asked for anything else.
type pingless struct{ bufferedsender.Indexer }

// pinging is one that can, and counts how often it is.
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
	return &fakeIndexer{index: func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		return models.IndexDocumentsResult{}, errReset
	}}
}

// aloneWith sends one document and returns what Flush says, and how long it took.
func aloneWith(t *testing.T, indexer bufferedsender.Indexer) (*bufferedsender.FlushError, bufferedsender.Stats, time.Duration) {
	t.Helper()
	began := time.Now()
	s, err := bufferedsender.New[hotel](indexer, &hotelOptions{Logger: mute})
	require.NoError(t, err)
	closeAtLast(t, s)
	require.NoError(t, s.UploadDocuments(t.Context(), hotel{ID: "poison"}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var failed *bufferedsender.FlushError
	if err := s.Flush(ctx); !errors.As(err, &failed) {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	return failed, s.Stats(), time.Since(began)
}

func TestALoneDocumentThatCannotBeSentEndsTheFlush(t *testing.T) {
	t.Run("when the service answers a Ping meanwhile", func(t *testing.T) {
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
	t.Run("after ten minutes when nothing else can be asked for", func(t *testing.T) {
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
	t.Run("but not while the service answers nothing at all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			failed, stats, took := aloneWith(t, &pinging{Indexer: poisoned(), err: errReset})
			assert.Nil(t, failed)
			assert.Equal(t, time.Hour, took)
			assert.Equal(t, 1, stats.PendingActions)
			assert.Less(t, stats.Requests, int64(400), "two a minute, and some at first")
		})
	})
}

// Its failures are its own when others pass in between.
func TestADocumentThatFailsAmongOthersThatPassIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := guarded(t)
		opts.AutoFlushInterval = time.Second
		r := newRig(t, opts)
		r.respond(when(carrying("poison"), reset))
		r.upload(hotel{ID: "poison"})
		for i := 0; len(r.seen("failed")) == 0 && i < 600; i++ {
			r.upload(hotel{ID: "k", Rooms: i})
			time.Sleep(1500 * time.Millisecond)
		}
		require.Len(t, r.seen("failed"), 1)
		failed := r.outcome("poison")
		assert.GreaterOrEqual(t, failed.at, time.Minute)
		assert.Less(t, failed.at, 10*time.Minute)
		assert.Equal(t, models.ReasonUnreachable, r.failure("poison").Reason)
		for _, e := range r.seen("completed") {
			assert.Equal(t, "k", e.key)
		}
		t.Log(failed.at, failed.attempt)
	})
}

// Where every other request fails, twelve failures in a row befall one document in
// four thousand, and nobody may lose that one.
func TestADocumentIsNotBlamedForWhatChanceExplains(t *testing.T) {
	const always = 1 << 30
	for name, c := range map[string]struct {
		halfFail bool // every other request of the others does
		failures int  // of the one, in a row and alone
		blamed   bool
	}{
		"twelve failures, as half of all requests fail":    {true, 12, false},
		"twelve failures, and no other request fails":      {false, 12, true},
		"nothing but failures, as half of all requests do": {true, always, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := guarded(t)
				opts.Limits.MaxBatchActions, opts.Retry = 1, retry.Options{Delay: 10 * time.Second, MaxDelay: 10 * time.Second, Jitter: -1}
				r := newRig(t, opts)
				requests := map[string]int{} // of one in flight at a time
				r.respond(func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					key := x.keys[0]
					requests[key]++
					if key == "one" && requests[key] <= c.failures || c.halfFail && strings.HasPrefix(key, "bad") && requests[key] == 1 {
						return reply(req, 502, ""), nil
					}
					return next()
				})
				r.upload(hotels("before", 20)...)
				require.NoError(t, r.flush())
				r.upload(hotel{ID: "one"})
				for i := range 600 {
					time.Sleep(time.Second)
					r.upload(hotel{ID: fmt.Sprint([]string{"good-", "bad-"}[i%2], i)})
				}
				err := r.flush()
				end := r.outcome("one")
				t.Log(end.kind, end.at, end.attempt)
				if !c.blamed {
					require.NoError(t, err)
					assert.Equal(t, c.failures+1, requests["one"])
					return
				}
				require.Equal(t, 1, flushFailures(t, err))
				assert.Equal(t, models.ReasonUnreachable, r.failure("one").Reason)
				assert.GreaterOrEqual(t, end.at, time.Minute)
			})
		})
	}
}
