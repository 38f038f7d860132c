package batching

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

func TestPurgeGivesUpWhatWaitsWhileTheBreakerIsOpen(t *testing.T) {
	for name, most := range map[string]int{"all": 0, "the oldest three": 3} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var purged []string
				r := sendertest.New(t, &sendertest.Options{
					Outage: bufferedsender.Hold{
						Breaker:  sendertest.SteadyBreaker(t, nil),
						OnPurged: func(_ context.Context, keys []string) { purged = append(purged, keys...) },
					},
				})
				r.Upload(sendertest.Hotels("early", 1)...)
				assert.Zero(t, r.Sender.Purge(t.Context(), 0), "nothing is purged while the breaker is closed")
				r.Respond(sendertest.Always(http.StatusForbidden, ""))
				require.Error(t, r.Sender.Flush(sendertest.Within(t, time.Second), nil))
				r.Upload(sendertest.Hotels("k", 5)...)
				n := r.Sender.Purge(t.Context(), most)
				if most == 0 {
					assert.Equal(t, 6, n)
					assert.ElementsMatch(t, []string{"early-0", "k-0", "k-1", "k-2", "k-3", "k-4"}, purged)
				} else {
					assert.Equal(t, 3, n)
					assert.Equal(t, []string{"early-0", "k-0", "k-1"}, purged)
				}
				assert.EqualValues(t, n, r.Sender.Stats().Purged)
				assert.Equal(t, 6-n, r.Sender.Stats().PendingActions)
				r.Respond(nil)
				r.Sender.Breaker().Reset()
				assert.Equal(t, n, sendertest.FlushFailures(t, r.Flush()))
			})
		})
	}
}

// An action in flight may be applied, and a later action of its key must not be applied before it.
func TestPurgeLeavesWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sendertest.SteadyBreaker(t, nil)
		r := sendertest.New(t, &sendertest.Options{
			Outage: bufferedsender.Hold{Breaker: b}, AutoFlushInterval: time.Second,
		})
		r.Respond(func(_ int, _ *sendertest.Request, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			time.Sleep(10 * time.Second)
			return next()
		})
		r.Upload(sendertest.Hotels("k", 1)...)
		time.Sleep(2 * time.Second)
		b.Disable()
		r.Upload(sendertest.Hotels("k", 2)...) // k-0 again, and k-1
		assert.Equal(t, 1, r.Sender.Purge(t.Context(), 0))
		b.Enable()
		assert.Equal(t, 1, sendertest.FlushFailures(t, r.Flush()))
		assert.EqualValues(t, 2, r.Sender.Stats().Completed)
	})
}

func TestFlushOfKeysSendsWhatIsAcceptedOfThemAndWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: time.Hour})
		r.Upload(sendertest.Hotels("k", 3)...)
		require.NoError(t, r.Sender.Flush(t.Context(), &bufferedsender.FlushOptions{Keys: []string{"k-1", "other"}}))
		assert.False(t, r.Sender.Contains("k-1")[0])
		require.NoError(t, r.Sender.Flush(t.Context(), &bufferedsender.FlushOptions{Keys: []string{}}))

		r.Upload(sendertest.Hotels("late", 1)...)
		r.Sender.Pause()
		require.ErrorIs(t, r.Sender.Flush(sendertest.Within(t, time.Second), &bufferedsender.FlushOptions{Keys: []string{"late-0"}}), bufferedsender.ErrPaused)
		r.Sender.Resume()
		require.NoError(t, r.Flush())
		require.NoError(t, r.Sender.Close(t.Context()))
		require.ErrorIs(t, r.Sender.Flush(t.Context(), &bufferedsender.FlushOptions{Keys: []string{"k-1"}}), bufferedsender.ErrClosed)
	})
}

func TestFlushOfKeysReportsWhatHasFailedOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{AutoFlushInterval: time.Hour})
		merges := func(keys ...string) (actions []models.IndexDocumentsAction[sendertest.Hotel]) {
			for _, key := range keys {
				actions = append(actions, models.MergeAction(sendertest.Hotel{ID: key})) // there is no such document
			}
			return actions
		}
		require.NoError(t, r.Sender.IndexDocuments(t.Context(), merges("a", "a", "b", "c")...))
		r.Upload(sendertest.Hotel{ID: "good"})
		keys := &bufferedsender.FlushOptions{Keys: []string{"a", "b", "good"}}
		err := r.Sender.Flush(t.Context(), keys)
		var failed *bufferedsender.FlushError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, 3, failed.Count)
		require.Len(t, failed.Errors, 3)
		for _, e := range failed.Errors {
			assert.Contains(t, []string{"a", "b"}, e.Key)
			assert.Equal(t, 404, e.Status)
		}
		require.NoError(t, r.Sender.Flush(t.Context(), keys), "the purged actions are settled")
		require.ErrorAs(t, r.Flush(), &failed)
		assert.Equal(t, 4, failed.Count, "a Flush of everything reports these, and those of other keys")
		require.NoError(t, r.Flush())
	})
}

// ofOneService returns two senders of different indexes that share the breaker of their service.
func ofOneService(t *testing.T, service *breaker.Breaker, index func(i int) error) (both [2]*bufferedsender.BufferedSender[sendertest.Hotel], requests [2]*sendertest.Indexer) {
	t.Helper()
	for i := range both {
		requests[i] = &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
			if err := index(i); err != nil {
				return models.IndexDocumentsResult{}, err
			}
			return sendertest.AcceptAll(ctx, body)
		}}
		s, err := bufferedsender.New(requests[i], &bufferedsender.Options[sendertest.Hotel]{
			Logger: sendertest.NoLog, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil), Service: service}, AutoFlushInterval: time.Second,
			Retry: sendertest.RetryAtOnce,
		})
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
		both[i] = s
	}
	return both, requests
}

// If the name of the service does not resolve, no request of another index is tried.
func TestAServiceThatCannotBeReachedHoldsTheSendersOfAllItsIndexes(t *testing.T) {
	for name, cause := range map[string]error{
		"name":       &net.DNSError{Err: "no such host", IsNotFound: true},
		"connection": &net.OpError{Op: "dial", Err: assert.AnError},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := sendertest.SteadyBreaker(t, &breaker.Options{OpenFor: 10 * time.Second})
				down := true
				both, requests := ofOneService(t, service, func(int) error {
					if down {
						return cause
					}
					return nil
				})
				require.NoError(t, both[0].UploadDocuments(t.Context(), sendertest.Hotels("k", 1)...))
				require.ErrorIs(t, both[0].Flush(sendertest.Within(t, 5*time.Second), nil), bufferedsender.ErrCircuitOpen)
				assert.Equal(t, breaker.Open, service.Status().State)

				require.NoError(t, both[1].UploadDocuments(t.Context(), sendertest.Hotels("k", 1)...))
				err := both[1].Flush(sendertest.Within(t, time.Second), nil)
				require.ErrorIs(t, err, bufferedsender.ErrCircuitOpen)
				require.ErrorContains(t, err, "the service as a whole")
				assert.Zero(t, requests[1].Requests())
				down = false
				require.NoError(t, both[1].Flush(sendertest.Within(t, 10*time.Second), nil), "the probe of the other sender closes the breaker of the service")
				assert.Equal(t, breaker.Closed, service.Status().State)
				require.NoError(t, both[0].Flush(sendertest.Within(t, time.Minute), nil))
			})
		})
	}
}

func TestWhatOneIndexAnswersDoesNotHoldTheOthers(t *testing.T) {
	for name, answer := range map[string]error{
		"503": sendertest.StatusError(503), "401": sendertest.StatusError(401), "404": sendertest.StatusError(404), "broken connection": io.ErrUnexpectedEOF,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := sendertest.SteadyBreaker(t, nil)
				var healthy atomic.Bool
				both, _ := ofOneService(t, service, func(i int) error {
					if i == 0 && !healthy.Load() {
						return answer
					}
					return nil
				})
				require.NoError(t, both[0].UploadDocuments(t.Context(), sendertest.Hotels("k", 1)...))
				require.Error(t, both[0].Flush(sendertest.Within(t, time.Minute), nil))
				assert.Equal(t, breaker.Closed, service.Status().State)
				require.NoError(t, both[1].UploadDocuments(t.Context(), sendertest.Hotels("k", 1)...))
				require.NoError(t, both[1].Flush(sendertest.Within(t, time.Millisecond), nil))
				healthy.Store(true)
				require.NoError(t, both[0].Flush(sendertest.Within(t, time.Hour), nil))
			})
		})
	}
}
