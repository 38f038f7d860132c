package outcomes

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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestEveryAcceptedActionSettlesExactlyOnce(t *testing.T) {
	for name, script := range sendertest.FaultScripts {
		t.Run("when "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxBufferedActions: 25, MaxInFlight: 2}})
				r.Faults(script...)
				for round := range 3 { // the second and third round replace documents
					r.Upload(sendertest.Hotels("k", 60)...)
					require.NoError(t, r.Sender.DeleteDocumentsByKey(sendertest.Within(t, time.Hour), "k-1", "k-2"))
					if round == 1 {
						r.Flush() // its error does not matter here
						quiet := r.CheckStats()
						assert.EqualValues(t, 2*62, quiet.Accepted)
						assert.Equal(t, quiet.Accepted, quiet.Completed+quiet.Failed, "all accepted actions have settled")
						assert.Zero(t, quiet.Unsent, "only Close leaves anything unsent")
						assert.Zero(t, r.Sender.Stats().PendingActions)
					}
				}
				r.Close()
				s := r.CheckStats()
				assert.EqualValues(t, 3*62, s.Accepted)
				assert.Zero(t, s.Unsent, "a Close without a deadline leaves nothing unsent")
				ends := map[string]int{}
				for _, e := range r.Events("completed", "failed") {
					ends[e.Key]++
				}
				for _, d := range sendertest.Hotels("k", 60) {
					want := 3
					if d.ID == "k-1" || d.ID == "k-2" {
						want = 6
					}
					assert.Equal(t, want, ends[d.ID], "outcomes of %s", d.ID)
				}
			})
		})
	}
	t.Run("the counts agree when Close gives up too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 10, MaxInFlight: 2}})
			r.Respond(sendertest.Hang)
			r.Upload(sendertest.Hotels("k", 35)...)
			require.Error(t, r.Sender.Close(sendertest.Within(t, time.Second)))
			s := r.CheckStats()
			assert.EqualValues(t, 35, s.Unsent)
			assert.Zero(t, s.Failed, "actions given up by Close are unsent, not failed")
		})
	})
}

func TestAnOutcomeIsWhatTheIndexSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-[0-4]"}, Status: 400}}})
		r.Upload(sendertest.Hotels("k", 20)...)
		r.Flush()
		for _, d := range sendertest.Hotels("k", 20) {
			_, stored := r.Service.Document("hotels", d.ID)
			assert.Equal(t, stored, r.Outcome(d.ID).Kind == "completed", "%s: 207 does not mean that its documents succeeded", d.ID)
		}
	})
}

func TestNilMeansAccepted(t *testing.T) {
	// Each case adds good-0 … good-4, then a document that is not accepted, then after-0.
	type attempt struct {
		opts sendertest.Options
		bad  sendertest.Hotel
		is   func(t *testing.T, err error)
	}
	cases := map[string]attempt{
		"illegal key": {bad: sendertest.Hotel{ID: "_no"}, is: func(t *testing.T, err error) {
			var illegal *keys.InvalidKeyError
			assert.ErrorAs(t, err, &illegal)
		}},
		"document too large": {opts: sendertest.Options{Limits: bufferedsender.Limits{MaxBatchBytes: 200}}, bad: sendertest.Hotel{ID: "x", Name: fmt.Sprintf("%0200d", 1)}, is: func(t *testing.T, err error) {
			assert.ErrorIs(t, err, bufferedsender.ErrDocumentTooLarge)
		}},
		"a handler refuses": {opts: sendertest.Options{Handlers: sendertest.Handlers{ActionAdded: func(_ context.Context, e *events.ActionAdded[sendertest.Hotel]) error {
			if e.Key == "bad" {
				return errors.ErrUnsupported
			}
			return nil
		}}}, bad: sendertest.Hotel{ID: "bad"}, is: func(t *testing.T, err error) { assert.ErrorIs(t, err, errors.ErrUnsupported) }},
		"a handler panics": {opts: sendertest.Options{Handlers: sendertest.Handlers{ActionAdded: func(_ context.Context, e *events.ActionAdded[sendertest.Hotel]) error {
			if e.Key == "bad" {
				panic("no")
			}
			return nil
		}}}, bad: sendertest.Hotel{ID: "bad"}, is: func(t *testing.T, err error) { assert.Error(t, err) }},
		"no room and no waiting": {opts: sendertest.Options{DisableAutoFlush: true, Limits: bufferedsender.Limits{MaxBufferedActions: 5}}, bad: sendertest.Hotel{ID: "sixth"}, is: func(t *testing.T, err error) {
			assert.ErrorIs(t, err, bufferedsender.ErrBufferFull)
		}},
	}
	for name, c := range cases {
		t.Run("otherwise exactly the first are sent: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := sendertest.New(t, &c.opts)
				err := r.Sender.UploadDocuments(sendertest.Within(t, time.Hour), append(sendertest.Hotels("good", 5), c.bad, sendertest.Hotel{ID: "after-0"})...)
				sendertest.RequireAccepted(t, err, 5)
				c.is(t, err)
				require.NoError(t, r.Close())
				assert.Equal(t, sendertest.IDs(sendertest.Hotels("good", 5)), r.Indexed())
			})
		})
	}
	t.Run("otherwise exactly the first are sent: ctx ends while waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 5}})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second), Count: 1})
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("my own cause"))
			defer cancel()
			err := r.Sender.UploadDocuments(ctx, sendertest.Hotels("k", 20)...)
			sendertest.RequireAccepted(t, err, 5)
			assert.ErrorContains(t, err, "my own cause")
			assert.Equal(t, time.Second, r.Now())
			require.NoError(t, r.Close())
			assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 5)), r.Indexed())
		})
	})
	t.Run("otherwise exactly the first are sent: closed while waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 5}})
			r.Faults(searchtest.Fault{Delay: searchtest.Duration(10 * time.Second), Count: 1})
			time.AfterFunc(time.Second, func() { assert.NoError(t, r.Sender.Close(context.Background())) })
			err := r.Sender.UploadDocuments(t.Context(), sendertest.Hotels("k", 20)...)
			sendertest.RequireAccepted(t, err, 5)
			assert.ErrorIs(t, err, bufferedsender.ErrClosed)
			assert.Equal(t, time.Second, r.Now(), "the call must not wait for Close to finish")
			require.NoError(t, r.Close())
			assert.Equal(t, sendertest.IDs(sendertest.Hotels("k", 5)), r.Indexed())
		})
	})
	t.Run("a document may be reused at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			require.NoError(t, srv.CreateIndex(sendertest.HotelIndex))
			sender, err := bufferedsender.New[models.Document](sendertest.NewClient(t, srv), &bufferedsender.Options[models.Document]{Documents: bufferedsender.Documents[models.Document]{KeyField: "id"}})
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, sender)
			doc := models.Document{"id": "1", "name": "before"}
			require.NoError(t, sender.UploadDocuments(t.Context(), doc))
			doc["name"] = "after"
			require.NoError(t, sender.Close(t.Context()))
			raw, _ := srv.Document("hotels", "1")
			assert.Contains(t, string(raw), "before")
		})
	})
}

// In any order of Add and Close, nil must mean accepted. In go-docappender it does not.
func TestClosingAndAcceptingAreDecidedUnderOneLockConcurrentSafe(t *testing.T) {
	for range 30 {
		r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 7, MaxBufferedActions: 20}})
		var accepted sync.Map
		var count atomic.Int64
		var callers sync.WaitGroup
		for caller := range 4 {
			callers.Go(func() {
				for i := 0; ; i++ {
					docs := sendertest.Hotels(fmt.Sprintf("c%d-%d", caller, i), 3)
					err := r.Sender.UploadDocuments(context.Background(), docs...)
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
		require.NoError(t, r.Sender.Close(context.Background()))
		callers.Wait()
		stored := r.Service.Documents("hotels")
		assert.Len(t, stored, int(count.Load()))
		for key := range stored {
			_, ok := accepted.Load(key)
			assert.True(t, ok, "%s was refused and is in the index", key)
		}
		assert.EqualValues(t, count.Load(), r.Sender.Stats().Accepted)
	}
}

// outcomes records the callbacks by tag.
type outcomes struct {
	mu  sync.Mutex
	all map[any][]models.Outcome
}

func (o *outcomes) note(got models.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[any][]models.Outcome{}
	}
	o.all[got.Tag] = append(o.all[got.Tag], got)
}

// one returns the only outcome of an action.
func (o *outcomes) one(t *testing.T, tag any) models.Outcome {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	require.Len(t, o.all[tag], 1, "outcomes of %v", tag)
	return o.all[tag][0]
}

func TestEveryAcceptedActionHasItsCallbackCalledOnceAndTruthfully(t *testing.T) {
	action := func(o *outcomes, tag, key string, rooms int) sendertest.Action {
		return models.UploadAction(sendertest.Hotel{ID: key, Rooms: rooms}).WithTag(tag).WithCallback(o.note)
	}
	t.Run("completed, failed, retried and exhausted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			r := sendertest.New(t, nil)
			r.Faults(sendertest.RefuseKeys("bad"))
			r.Add(action(&o, "1", "good", 1), action(&o, "2", "bad", 1), action(&o, "3", "good", 2), models.MergeAction(sendertest.Hotel{ID: "missing"}).WithTag("4").WithCallback(o.note))
			require.Equal(t, 2, sendertest.FlushFailures(t, r.Flush()))
			require.NoError(t, r.Close())
			assert.Len(t, o.all, 4)
			good := o.one(t, "1")
			assert.True(t, good.Completed())
			assert.Equal(t, models.Outcome{Key: "good", Tag: "1", Status: 201}, good)
			assert.Equal(t, 200, o.one(t, "3").Status)
			bad := o.one(t, "2")
			assert.Equal(t, models.ReasonDocument, bad.Reason)
			assert.True(t, bad.Rejected())
			assert.False(t, bad.Completed())
			assert.Equal(t, 400, bad.Status)
			var failed *bufferedsender.ActionError
			assert.ErrorAs(t, bad.Err, &failed)
			assert.Equal(t, models.ReasonMissingDocument, o.one(t, "4").Reason)
		})
	})
	t.Run("given up by Close, sent or not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			r := sendertest.New(t, &sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1}})
			r.Respond(sendertest.Hang)
			r.Add(action(&o, "1", "a", 1), action(&o, "2", "b", 1))
			sendertest.CloseError(t, r.Sender.Close(sendertest.Within(t, time.Second)))
			assert.Equal(t, models.ReasonClosed, o.one(t, "1").Reason)
			assert.True(t, o.one(t, "1").Unknown)
			assert.False(t, o.one(t, "2").Unknown)
		})
	})
	t.Run("folded and superseded", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}})
			r.Add(action(&o, "1", "a", 3), action(&o, "2", "a", 2), action(&o, "3", "a", 5))
			require.NoError(t, r.Flush())
			assert.Len(t, o.all, 3)
			assert.Equal(t, models.ReasonSuperseded, o.one(t, "2").Reason)
			assert.True(t, o.one(t, "2").Completed())
			assert.True(t, o.one(t, "3").Completed())
			assert.Equal(t, 5, roomsOf(r, "a"))
		})
	})
	t.Run("no event for an action that was not accepted, or whose handler panics twice", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			r := sendertest.New(t, nil)
			r.Add(models.UploadAction(sendertest.Hotel{ID: "p"}).WithTag("p").WithCallback(func(got models.Outcome) { o.note(got); panic("boom") }), action(&o, "1", "a", 1))
			require.Error(t, r.Sender.IndexDocuments(t.Context(), action(&o, "illegal", "no/slash", 1)))
			require.NoError(t, r.Flush())
			require.NoError(t, r.Close())
			require.ErrorIs(t, r.Sender.IndexDocuments(t.Context(), action(&o, "late", "a", 1)), bufferedsender.ErrClosed)
			assert.Len(t, o.all, 2)
			o.one(t, "p")
			assert.EqualValues(t, 1, r.Sender.Stats().CallbackPanics)
		})
	})
}
