package bufferedsender_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The scenarios of TestG1; those of the metrics and of others use them too.
var faultScripts = map[string][]searchtest.Fault{
	"nothing goes wrong":               nil,
	"single documents meet 503":        {{Documents: []searchtest.DocumentFault{{Ratio: 0.3, Status: 503}}}},
	"single documents meet 409 or 422": {{Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 409}, {Ratio: 0.2, Status: 422}}}},
	"single documents are refused":     {{Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 400}, {Ratio: 0.1, Status: 429}, {Ratio: 0.1, Status: 404}}}},
	"every third request is throttled": {{Every: 3, Status: 429, RetryAfter: searchtest.Duration(2 * time.Second)}},
	"the service is always too busy":   {{Status: 503}},
	"requests are too large":           {{OverActions: 3}},
	"requests are refused":             {{Every: 2, Status: 400}},
	"the key is wrong":                 {{Status: 403}},
	"connections break before":         {{Every: 3, Cut: searchtest.CutBeforeCommit}},
	"connections break after":          {{Every: 3, Cut: searchtest.CutAfterCommit}},
	"replies are rubbish":              {{Every: 3, Body: searchtest.BodyMalformed}},
	"replies are cut off":              {{Every: 3, Body: searchtest.BodyTruncated}},
	"results are missing":              {{Every: 2, Results: searchtest.ResultsMissing}},
	"results name nobody":              {{Results: searchtest.ResultsUnknownKey}},
	"replies come late":                {{Every: 4, ReplyDelay: searchtest.Duration(2 * time.Minute)}},
}

func TestG1EveryAcceptedActionSettlesExactlyOnce(t *testing.T) {
	for name, script := range faultScripts {
		t.Run("when "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBufferedActions: 25, MaxInFlight: 2}})
				r.faults(script...)
				for round := range 3 { // the second and third replace documents
					r.upload(hotels("k", 60)...)
					require.NoError(t, r.sender.DeleteDocumentsByKey(within(t, time.Hour), "k-1", "k-2"))
					if round == 1 {
						r.flush() // its error is no subject here
						quiet := r.consistent()
						assert.EqualValues(t, 2*62, quiet.Accepted)
						assert.Equal(t, quiet.Accepted, quiet.Completed+quiet.Failed, "at a quiet moment")
						assert.Zero(t, quiet.Unsent, "only Close leaves anything unsent")
						assert.Zero(t, r.sender.PendingActionCount())
					}
				}
				r.close()
				s := r.consistent()
				assert.EqualValues(t, 3*62, s.Accepted)
				assert.Zero(t, s.Unsent, "a Close without a deadline leaves nothing unsent")
				ends := map[string]int{}
				for _, e := range r.seen("completed", "failed") {
					ends[e.key]++
				}
				for _, d := range hotels("k", 60) {
					want := 3
					if d.ID == "k-1" || d.ID == "k-2" {
						want = 6
					}
					assert.Equal(t, want, ends[d.ID], "outcomes of %s", d.ID)
				}
			})
		})
	}
	t.Run("also when Close gives up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 2}})
			r.respond(hang)
			r.upload(hotels("k", 35)...)
			require.Error(t, r.sender.Close(within(t, time.Second)))
			s := r.consistent()
			assert.EqualValues(t, 35, s.Unsent)
			assert.Zero(t, s.Failed, "what Close gave up is unsent, not failed")
		})
	})
}

func TestG1OutcomeIsWhatTheIndexSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-[0-4]"}, Status: 400}}})
		r.upload(hotels("k", 20)...)
		r.flush()
		for _, d := range hotels("k", 20) {
			_, stored := r.srv.Document("hotels", d.ID)
			assert.Equal(t, stored, r.outcome(d.ID).kind == "completed", "%s: 207 is no success of its documents", d.ID)
		}
	})
}

func TestG2NilMeansAccepted(t *testing.T) {
	// Each case adds good-0 … good-4 and then something that is not accepted,
	// then after-0.
	type attempt struct {
		opts hotelOptions
		bad  hotel
		is   func(t *testing.T, err error)
	}
	cases := map[string]attempt{
		"illegal key": {bad: hotel{ID: "_no"}, is: func(t *testing.T, err error) {
			var illegal *keys.InvalidKeyError
			assert.ErrorAs(t, err, &illegal)
		}},
		"document too large": {opts: hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 200}}, bad: hotel{ID: "x", Name: fmt.Sprintf("%0200d", 1)}, is: func(t *testing.T, err error) {
			assert.ErrorIs(t, err, bufferedsender.ErrDocumentTooLarge)
		}},
		"a handler refuses": {opts: hotelOptions{Handlers: hotelHandlers{ActionAdded: func(_ context.Context, e *events.ActionAdded[hotel]) error {
			if e.Key == "bad" {
				return errors.ErrUnsupported
			}
			return nil
		}}}, bad: hotel{ID: "bad"}, is: func(t *testing.T, err error) { assert.ErrorIs(t, err, errors.ErrUnsupported) }},
		"a handler panics": {opts: hotelOptions{Handlers: hotelHandlers{ActionAdded: func(_ context.Context, e *events.ActionAdded[hotel]) error {
			if e.Key == "bad" {
				panic("no")
			}
			return nil
		}}}, bad: hotel{ID: "bad"}, is: func(t *testing.T, err error) { assert.Error(t, err) }},
		"no room and no waiting": {opts: hotelOptions{DisableAutoFlush: true, Limits: bufferedsender.Limits{MaxBufferedActions: 5}}, bad: hotel{ID: "sixth"}, is: func(t *testing.T, err error) {
			assert.ErrorIs(t, err, bufferedsender.ErrBufferFull)
		}},
	}
	for name, c := range cases {
		t.Run("otherwise exactly the first are sent: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &c.opts)
				err := r.sender.UploadDocuments(within(t, time.Hour), append(hotels("good", 5), c.bad, hotel{ID: "after-0"})...)
				refused(t, err, 5)
				c.is(t, err)
				require.NoError(t, r.close())
				assert.Equal(t, ids(hotels("good", 5)), r.indexed())
			})
		})
	}
	t.Run("otherwise exactly the first are sent: ctx ends while waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 5}})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second), Count: 1})
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("my own cause"))
			defer cancel()
			err := r.sender.UploadDocuments(ctx, hotels("k", 20)...)
			refused(t, err, 5)
			assert.ErrorContains(t, err, "my own cause")
			assert.Equal(t, time.Second, r.now())
			require.NoError(t, r.close())
			assert.Equal(t, ids(hotels("k", 5)), r.indexed())
		})
	})
	t.Run("otherwise exactly the first are sent: closed while waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 5}})
			r.faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second), Count: 1})
			time.AfterFunc(time.Second, func() { assert.NoError(t, r.sender.Close(context.Background())) })
			err := r.sender.UploadDocuments(t.Context(), hotels("k", 20)...)
			refused(t, err, 5)
			assert.ErrorIs(t, err, bufferedsender.ErrClosed)
			assert.Equal(t, time.Second, r.now(), "it must not wait for Close to finish")
			require.NoError(t, r.close())
			assert.Equal(t, ids(hotels("k", 5)), r.indexed())
		})
	})
	t.Run("a document may be reused at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			require.NoError(t, srv.CreateIndex(hotelIndex))
			sender, err := bufferedsender.New[models.Document](newClient(t, srv), &bufferedsender.Options[models.Document]{Documents: bufferedsender.Documents[models.Document]{KeyField: "id"}})
			require.NoError(t, err)
			closeAtLast(t, sender)
			doc := models.Document{"id": "1", "name": "before"}
			require.NoError(t, sender.UploadDocuments(t.Context(), doc))
			doc["name"] = "after"
			require.NoError(t, sender.Close(t.Context()))
			raw, _ := srv.Document("hotels", "1")
			assert.Contains(t, string(raw), "before")
		})
	})
}

// refused requires an *AddError that has accepted n documents.
func refused(t *testing.T, err error, n int) {
	t.Helper()
	var refusal *bufferedsender.AddError
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, n, refusal.Accepted, "accepted, of %v", err)
}

// No order of Add and Close may make nil a lie. go-docappender's does.
func TestG2ClosingAndAcceptingAreDecidedUnderOneLockConcurrentSafe(t *testing.T) {
	for range 30 {
		r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 7, MaxBufferedActions: 20}})
		var accepted sync.Map
		var count atomic.Int64
		var callers sync.WaitGroup
		for caller := range 4 {
			callers.Go(func() {
				for i := 0; ; i++ {
					docs := hotels(fmt.Sprintf("c%d-%d", caller, i), 3)
					err := r.sender.UploadDocuments(context.Background(), docs...)
					n := len(docs)
					var refusal *bufferedsender.AddError
					if errors.As(err, &refusal) {
						n = refusal.Accepted
					}
					for _, d := range docs[:n] {
						accepted.Store(d.ID, true)
						count.Add(1)
					}
					if err != nil {
						assert.ErrorIs(t, err, bufferedsender.ErrClosed)
						return
					}
				}
			})
		}
		for count.Load() < 40 {
			runtime.Gosched()
		}
		require.NoError(t, r.sender.Close(context.Background()))
		callers.Wait()
		stored := r.srv.Documents("hotels")
		assert.Len(t, stored, int(count.Load()))
		for key := range stored {
			_, ok := accepted.Load(key)
			assert.True(t, ok, "%s was refused and is in the index", key)
		}
		assert.EqualValues(t, count.Load(), r.sender.Stats().Accepted)
	}
}
