package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
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
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// moved returns the differences of two snapshots, as "Accepted +3".
func moved(before, after bufferedsender.Stats) (all []string) {
	b, a := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range b.NumField() {
		if d := a.Field(i).Int() - b.Field(i).Int(); d != 0 {
			all = append(all, fmt.Sprintf("%s %+d", b.Type().Field(i).Name, d))
		}
	}
	slices.Sort(all)
	return all
}

// Each number changes exactly when its event happens. BytesSent changes with Requests and is checked separately.
func TestStatsMoveWhenAndOnlyWhenTheirThingHappens(t *testing.T) {
	for name, c := range map[string]struct {
		opts  sendertest.Options
		setup func(r *sendertest.Rig)
		what  func(r *sendertest.Rig)
		moved []string
	}{
		"nothing": {what: func(*sendertest.Rig) { time.Sleep(time.Hour) }},
		"actions are accepted": {
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 3)...) },
			moved: []string{"Accepted +3", "PendingActions +3", "PendingBytes"},
		},
		"actions wait": {
			setup: func(r *sendertest.Rig) { r.Sender.Pause(); r.Upload(sendertest.Hotels("k", 3)...) },
			what:  func(*sendertest.Rig) { time.Sleep(time.Second) },
			moved: []string{"OldestAge +1000000000"},
		},
		"actions are refused": {
			what: func(r *sendertest.Rig) {
				sendertest.RequireAccepted(r.T, r.Sender.UploadDocuments(r.T.Context(), sendertest.Hotel{ID: "not a key"}), 0)
			},
		},
		"actions are sent and applied": {
			opts:  sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}},
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 6)...) },
			moved: []string{"Accepted +6", "BytesSent", "Completed +6", "Requests +2"},
		},
		"Flush is called": {
			what:  func(r *sendertest.Rig) { _ = r.Flush() },
			moved: []string{"Flushes +1"},
		},
		"actions are taken back": {
			setup: func(r *sendertest.Rig) { r.Sender.Pause(); r.Upload(sendertest.Hotels("k", 3)...) },
			what: func(r *sendertest.Rig) {
				assert.Equal(r.T, 2, r.Sender.Withdraw(func(key string, _ any) bool { return key != "k-1" }))
			},
			moved: []string{"Failed +2", "PendingActions -2", "PendingBytes", "Withdrawn +2"},
		},
		"the interval is up": {
			opts:  sendertest.Options{AutoFlushInterval: time.Second},
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotel{ID: "k"}); time.Sleep(time.Minute) },
			moved: []string{"Accepted +1", "BytesSent", "Completed +1", "Flushes +1", "Requests +1"},
		},
		"a request is under way": {
			opts: sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}},
			setup: func(r *sendertest.Rig) {
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
			},
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...) },
			moved: []string{"Accepted +2", "BytesSent", "InFlight +2", "PendingActions +2", "PendingBytes", "Requests +2"},
		},
		"calls wait for room": {
			opts: sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 2}},
			setup: func(r *sendertest.Rig) {
				r.Sender.Pause()
				r.Upload(sendertest.Hotels("k", 2)...)
			},
			what: func(r *sendertest.Rig) {
				for i := range 3 {
					go func() {
						_ = r.Sender.UploadDocuments(sendertest.Within(r.T, time.Second), sendertest.Hotel{ID: fmt.Sprint("w-", i)})
					}()
				}
			},
			moved: []string{"BlockedProducers +3", "BlockedBytes"},
		},
		"calls no longer wait for room": {
			opts: sendertest.Options{Limits: bufferedsender.Limits{MaxBufferedActions: 2}},
			setup: func(r *sendertest.Rig) {
				r.Sender.Pause()
				r.Upload(sendertest.Hotels("k", 2)...)
			},
			what: func(r *sendertest.Rig) {
				_ = r.Sender.UploadDocuments(sendertest.Within(r.T, time.Second), sendertest.Hotel{ID: "w"})
			},
			moved: []string{"OldestAge +1000000000"}, // of the waiting ones
		},
		"a document is refused": {
			opts:  sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}},
			setup: func(r *sendertest.Rig) { r.Faults(sendertest.RefuseKeys("k-1")) },
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 3)...) },
			moved: []string{"Accepted +3", "BytesSent", "Completed +2", "Failed +1", "Requests +1"},
		},
		"a document is sent again": {
			opts: sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Retry: sendertest.RetryAtOnce},
			setup: func(r *sendertest.Rig) {
				r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: 409}}})
			},
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 3)...) },
			moved: []string{"Accepted +3", "BytesSent", "Completed +3", "Requests +2", "Retries +1"},
		},
		"a document is throttled": {
			opts: sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}},
			setup: func(r *sendertest.Rig) {
				r.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: 503}}})
			},
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 3)...); time.Sleep(time.Minute) },
			moved: []string{"Accepted +3", "BytesSent", "Completed +3", "Pauses +1", "Requests +2", "Retries +1", "Throttled +1"},
		},
		"a request is throttled": {
			opts:  sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 3}},
			setup: func(r *sendertest.Rig) { r.Faults(searchtest.Fault{Count: 1, Status: 429}) },
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 3)...); time.Sleep(time.Minute) },
			moved: []string{"Accepted +3", "BytesSent", "Completed +3", "Pauses +1", "Requests +2", "Retries +3"},
		},
		"a request is split": {
			opts:  sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 4}},
			setup: func(r *sendertest.Rig) { r.Faults(searchtest.Fault{OverActions: 2, Status: 400}) },
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 4)...) },
			moved: []string{"Accepted +4", "BytesSent", "Completed +4", "Requests +3", "Splits +1"},
		},
		"actions are folded": {
			opts:  sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{}},
			setup: func(r *sendertest.Rig) { r.Sender.Pause() },
			what: func(r *sendertest.Rig) {
				r.Add(sendertest.TaggedUpload("k", 1), sendertest.TaggedUpload("k", 2), sendertest.TaggedUpload("k", 3), sendertest.TaggedUpload("other", 1))
				r.Sender.Resume()
				_ = r.Flush()
			},
			moved: []string{"Accepted +4", "BytesSent", "Completed +4", "Flushes +1", "Folded +2", "Requests +1"},
		},
		"actions are superseded": {
			opts: sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: func(h sendertest.Hotel) int64 { return int64(h.Rooms) }}},
			what: func(r *sendertest.Rig) {
				r.Add(sendertest.TaggedUpload("k", 9), sendertest.TaggedUpload("k", 2), sendertest.TaggedUpload("k", 3))
				_ = r.Flush()
			},
			moved: []string{"Accepted +3", "BytesSent", "Completed +3", "Flushes +1", "Requests +1", "Superseded +2"},
		},
		"actions are purged": {
			opts: sendertest.Options{
				Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 2},
				Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(bufferedsender.AllowLoss)}, Retry: sendertest.RetryAtOnce,
			},
			setup: func(r *sendertest.Rig) { r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotels("k", 2)...) },
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotel{ID: "n-0", Rooms: 1}) },
			moved: []string{"Accepted +1", "Failed +1", "Purged +1"},
		},
		"a probe fails": {
			opts:  sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: sendertest.RetryAtOnce},
			setup: func(r *sendertest.Rig) { r.OpenBreakerWith(sendertest.Unauthorized, sendertest.Hotels("k", 2)...) },
			what:  func(*sendertest.Rig) { time.Sleep(31 * time.Second) },
			moved: []string{"BytesSent", "Requests +1"},
		},
		"the index lacks a property of many": {
			opts: sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 85}, Outage: bufferedsender.Hold{Breaker: sendertest.SteadyBreaker(t, nil)}, Retry: sendertest.RetryAtOnce},
			setup: func(r *sendertest.Rig) {
				r.Respond(func(_ int, x *sendertest.Request, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					for _, key := range x.Keys {
						if strings.HasPrefix(key, "named") {
							return sendertest.Reply(req, 400, sendertest.ErrorBody("The property 'name' does not exist on type 'search.documentFields'.")), nil
						}
					}
					return next()
				})
				r.Sender.Pause()
			},
			what: func(r *sendertest.Rig) {
				for i := range 25 {
					r.Upload(sendertest.Hotel{ID: fmt.Sprint("named-", i), Name: "x"})
				}
				r.Upload(sendertest.Hotels("k", 60)...)
				r.Sender.Resume()
			},
			// The first twenty fail, one by one between batches of the others; after that the index counts as the
			// cause.
			moved: []string{"Accepted +85", "BytesSent", "Completed +60", "Failed +20", "HeldApart +5", "PendingActions +5", "PendingBytes", "Requests +51", "Splits +1"},
		},
		"a dead letter is written": {
			opts:  sendertest.Options{DeadLetters: &sendertest.DeadLetters{}, Limits: bufferedsender.Limits{MaxBatchActions: 2}},
			setup: func(r *sendertest.Rig) { r.Faults(sendertest.RefuseKeys("*")) },
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...) },
			moved: []string{"Accepted +2", "BytesSent", "DeadLetters +2", "Failed +2", "Requests +1"},
		},
		"a dead letter is not written": {
			opts:  sendertest.Options{DeadLetters: &sendertest.DeadLetters{Fail: func() error { return errors.New("disk full") }}, Limits: bufferedsender.Limits{MaxBatchActions: 2}},
			setup: func(r *sendertest.Rig) { r.Faults(sendertest.RefuseKeys("*")) },
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...) },
			moved: []string{"Accepted +2", "BytesSent", "DeadLetterErrors +2", "Failed +2", "Requests +1"},
		},
		"a handler panics": {
			opts: sendertest.Options{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Handlers: sendertest.Handlers{
				ActionCompleted: func(context.Context, *events.ActionCompleted[sendertest.Hotel]) { panic("oops") },
			}},
			what:  func(r *sendertest.Rig) { r.Upload(sendertest.Hotels("k", 2)...) },
			moved: []string{"Accepted +2", "BytesSent", "CallbackPanics +2", "Completed +2", "Requests +1"},
		},
		"limits are changed": {
			what: func(r *sendertest.Rig) {
				_, err := r.Sender.SetControl(bufferedsender.Control{Limits: bufferedsender.Limits{MaxBatchActions: 990, MaxInFlight: 3, MaxBatchBytes: 15_999_999}})
				assert.NoError(r.T, err)
			},
			moved: []string{"BatchActionsLimit -10", "BatchBytesLimit -1", "InFlightLimit +2"},
		},
		"someone waits for documents": {
			what: func(r *sendertest.Rig) {
				_, err := r.Sender.IndexDocumentsAndWait(r.T.Context(), []sendertest.Action{models.UploadAction(sendertest.Hotel{ID: "k"})}, nil)
				assert.NoError(r.T, err)
			},
			moved: []string{"Accepted +1", "BytesSent", "Completed +1", "Requests +1"},
		},
		"Close gives up": {
			setup: func(r *sendertest.Rig) { r.Sender.Pause(); r.Upload(sendertest.Hotels("k", 3)...) },
			what:  func(r *sendertest.Rig) { _ = r.Sender.Close(sendertest.Within(r.T, time.Second)) },
			moved: []string{"PendingActions -3", "PendingBytes", "Unsent +3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if hold, ok := c.opts.Outage.(bufferedsender.Hold); ok { // its timers belong to the bubble
					hold.Breaker = sendertest.SteadyBreaker(t, &breaker.Options{Failures: 1})
					c.opts.Outage = hold
				}
				r := sendertest.New(t, &c.opts)
				if c.setup != nil {
					c.setup(r)
				}
				synctest.Wait()
				before := r.Sender.Stats()
				c.what(r)
				synctest.Wait()
				after := r.Sender.Stats()
				got := moved(before, after)
				for i := range got { // exact numbers of bytes are checked below
					for _, name := range []string{"BytesSent", "PendingBytes", "BlockedBytes"} {
						if strings.HasPrefix(got[i], name) {
							got[i] = name
						}
					}
				}
				want := slices.Clone(c.moved)
				slices.Sort(want)
				assert.Equal(t, want, got)
				sent := 0
				for _, x := range r.Requests() {
					sent += x.Bytes
				}
				assert.EqualValues(t, sent, after.BytesSent)
				r.Respond(nil)
				r.Sender.Resume()
				time.Sleep(2 * time.Second)
			})
		})
	}
	t.Run("every number is in the table", func(t *testing.T) {
		const ofAQueue = 3 // tested in package queue
		require.Equal(t, 29+ofAQueue, reflect.TypeFor[bufferedsender.Stats]().NumField(), "a new one needs a row above")
	})
}

func TestPendingBytesAreThoseOfWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		r.Sender.Pause()
		for i := range 10 {
			r.Upload(sendertest.HotelOfSize(fmt.Sprint("k-", i), 1000+i))
		}
		pending := r.Sender.Stats().PendingBytes
		r.Sender.Resume()
		require.NoError(t, r.Flush())
		s := r.Sender.Stats()
		const envelope, commas = int64(len(`{"value":[]}`)), 9
		assert.Equal(t, s.BytesSent, pending+envelope+commas, "the held bytes equal the sent bytes, except the envelope")
		assert.Zero(t, s.PendingBytes)
	})
}
