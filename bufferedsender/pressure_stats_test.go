package bufferedsender_test

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

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moved returns what two snapshots differ in, as "Accepted +3".
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

// Each number moves when its thing happens, and no other does. BytesSent moves
// with Requests and is looked at apart.
func TestYZ12StatsMoveWhenAndOnlyWhenTheirThingHappens(t *testing.T) {
	for name, c := range map[string]struct {
		opts  hotelOptions
		setup func(r *rig)
		what  func(r *rig)
		moved []string
	}{
		"nothing": {what: func(*rig) { time.Sleep(time.Hour) }},
		"actions are accepted": {
			what:  func(r *rig) { r.upload(hotels("k", 3)...) },
			moved: []string{"Accepted +3", "PendingActions +3", "PendingBytes"},
		},
		"actions are refused": {
			what: func(r *rig) {
				refused(r.t, r.sender.UploadDocuments(r.t.Context(), hotel{ID: "not a key"}), 0)
			},
		},
		"actions are sent and applied": {
			opts:  hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}},
			what:  func(r *rig) { r.upload(hotels("k", 6)...) },
			moved: []string{"Accepted +6", "BytesSent", "Completed +6", "Requests +2"},
		},
		"Flush is called": {
			what:  func(r *rig) { _ = r.flush() },
			moved: []string{"Flushes +1"},
		},
		"actions are taken back": {
			setup: func(r *rig) { r.sender.Pause(); r.upload(hotels("k", 3)...) },
			what: func(r *rig) {
				assert.Equal(r.t, 2, r.sender.Withdraw(func(key string, _ any) bool { return key != "k-1" }))
			},
			moved: []string{"Failed +2", "PendingActions -2", "PendingBytes", "Withdrawn +2"},
		},
		"the interval is up": {
			opts:  hotelOptions{AutoFlushInterval: time.Second},
			what:  func(r *rig) { r.upload(hotel{ID: "k"}); time.Sleep(time.Minute) },
			moved: []string{"Accepted +1", "BytesSent", "Completed +1", "Flushes +1", "Requests +1"},
		},
		"a request is under way": {
			opts:  hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 1, MaxInFlight: 2}},
			setup: func(r *rig) { r.respond(seconds(func(int, *exchange) float64 { return 10 })) },
			what:  func(r *rig) { r.upload(hotels("k", 2)...) },
			moved: []string{"Accepted +2", "BytesSent", "InFlight +2", "PendingActions +2", "PendingBytes", "Requests +2"},
		},
		"calls wait for room": {
			opts: hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: 2}},
			setup: func(r *rig) {
				r.sender.Pause()
				r.upload(hotels("k", 2)...)
			},
			what: func(r *rig) {
				for i := range 3 {
					go func() { _ = r.sender.UploadDocuments(within(r.t, time.Second), hotel{ID: fmt.Sprint("w-", i)}) }()
				}
			},
			moved: []string{"BlockedAdders +3", "BlockedBytes"},
		},
		"and no longer": {
			opts: hotelOptions{Limits: bufferedsender.Limits{MaxBufferedActions: 2}},
			setup: func(r *rig) {
				r.sender.Pause()
				r.upload(hotels("k", 2)...)
			},
			what: func(r *rig) { _ = r.sender.UploadDocuments(within(r.t, time.Second), hotel{ID: "w"}) },
		},
		"a document is refused": {
			opts:  hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}},
			setup: func(r *rig) { r.faults(refuseKeys("k-1")) },
			what:  func(r *rig) { r.upload(hotels("k", 3)...) },
			moved: []string{"Accepted +3", "BytesSent", "Completed +2", "Failed +1", "Requests +1"},
		},
		"a document is sent again": {
			opts: hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}, Retry: atOnce},
			setup: func(r *rig) {
				r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: 409}}})
			},
			what:  func(r *rig) { r.upload(hotels("k", 3)...) },
			moved: []string{"Accepted +3", "BytesSent", "Completed +3", "Requests +2", "Retries +1"},
		},
		"a document is throttled": {
			opts: hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}},
			setup: func(r *rig) {
				r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Keys: []string{"k-1"}, Nth: 1, Status: 503}}})
			},
			what:  func(r *rig) { r.upload(hotels("k", 3)...); time.Sleep(time.Minute) },
			moved: []string{"Accepted +3", "BytesSent", "Completed +3", "Pauses +1", "Requests +2", "Retries +1", "Throttled +1"},
		},
		"a request is throttled": {
			opts:  hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3}},
			setup: func(r *rig) { r.faults(searchtest.Fault{Count: 1, Status: 429}) },
			what:  func(r *rig) { r.upload(hotels("k", 3)...); time.Sleep(time.Minute) },
			moved: []string{"Accepted +3", "BytesSent", "Completed +3", "Pauses +1", "Requests +2", "Retries +3"},
		},
		"a request is split": {
			opts:  hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 4}},
			setup: func(r *rig) { r.faults(searchtest.Fault{OverActions: 2, Status: 400}) },
			what:  func(r *rig) { r.upload(hotels("k", 4)...) },
			moved: []string{"Accepted +4", "BytesSent", "Completed +4", "Requests +3", "Splits +1"},
		},
		"actions are folded": {
			opts:  hotelOptions{Folding: &bufferedsender.Folding[hotel]{}},
			setup: func(r *rig) { r.sender.Pause() },
			what: func(r *rig) {
				r.add(uploadTagged("k", 1), uploadTagged("k", 2), uploadTagged("k", 3), uploadTagged("other", 1))
				r.sender.Resume()
				_ = r.flush()
			},
			moved: []string{"Accepted +4", "BytesSent", "Completed +4", "Flushes +1", "Folded +2", "Requests +1"},
		},
		"actions are superseded": {
			opts: hotelOptions{Folding: &bufferedsender.Folding[hotel]{Version: byRooms}},
			what: func(r *rig) {
				r.add(uploadTagged("k", 9), uploadTagged("k", 2), uploadTagged("k", 3))
				_ = r.flush()
			},
			moved: []string{"Accepted +3", "BytesSent", "Completed +3", "Flushes +1", "Requests +1", "Superseded +2"},
		},
		"actions are purged": {
			opts: hotelOptions{
				Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 2},
				Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1}), WhenFull: bufferedsender.PurgeOldest(bufferedsender.AllowLoss)}, Retry: atOnce,
			},
			setup: func(r *rig) { r.sickenWith(locked, hotels("k", 2)...) },
			what:  func(r *rig) { r.upload(hotel{ID: "n-0", Rooms: 1}) },
			moved: []string{"Accepted +1", "Failed +1", "Purged +1"},
		},
		"a probe is in vain": {
			opts:  hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, &breaker.Options{Failures: 1})}, Retry: atOnce},
			setup: func(r *rig) { r.sickenWith(locked, hotels("k", 2)...) },
			what:  func(*rig) { time.Sleep(31 * time.Second) },
			moved: []string{"BytesSent", "Requests +1"},
		},
		"the index lacks a property of many": {
			opts: hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2, MaxBufferedActions: 85}, Outage: bufferedsender.Hold{Breaker: steadyBreaker(t, nil)}, Retry: atOnce},
			setup: func(r *rig) {
				r.respond(func(_ int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					for _, key := range x.keys {
						if strings.HasPrefix(key, "named") {
							return reply(req, 400, refusal("The property 'name' does not exist on type 'search.documentFields'.")), nil
						}
					}
					return next()
				})
				r.sender.Pause()
			},
			what: func(r *rig) {
				for i := range 25 {
					r.upload(hotel{ID: fmt.Sprint("named-", i), Name: "x"})
				}
				r.upload(hotels("k", 60)...)
				r.sender.Resume()
			},
			// The first twenty fail, one by one between batches of the others, and then
			// the index is to blame and not they.
			moved: []string{"Accepted +85", "BytesSent", "Completed +60", "Failed +20", "HeldApart +5", "PendingActions +5", "PendingBytes", "Requests +51", "Splits +1"},
		},
		"a letter is written": {
			opts:  hotelOptions{DeadLetters: &letterbox{}, Limits: bufferedsender.Limits{MaxBatchActions: 2}},
			setup: func(r *rig) { r.faults(refuseKeys("*")) },
			what:  func(r *rig) { r.upload(hotels("k", 2)...) },
			moved: []string{"Accepted +2", "BytesSent", "DeadLetters +2", "Failed +2", "Requests +1"},
		},
		"a letter is not written": {
			opts:  hotelOptions{DeadLetters: &letterbox{fail: func() error { return errors.New("disk full") }}, Limits: bufferedsender.Limits{MaxBatchActions: 2}},
			setup: func(r *rig) { r.faults(refuseKeys("*")) },
			what:  func(r *rig) { r.upload(hotels("k", 2)...) },
			moved: []string{"Accepted +2", "BytesSent", "DeadLetterErrors +2", "Failed +2", "Requests +1"},
		},
		"a handler panics": {
			opts: hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 2}, Handlers: hotelHandlers{
				ActionCompleted: func(context.Context, *events.ActionCompleted[hotel]) { panic("oops") },
			}},
			what:  func(r *rig) { r.upload(hotels("k", 2)...) },
			moved: []string{"Accepted +2", "BytesSent", "CallbackPanics +2", "Completed +2", "Requests +1"},
		},
		"limits are changed": {
			what: func(r *rig) {
				_, err := r.sender.SetLimits(bufferedsender.Limits{MaxBatchActions: 990, MaxInFlight: 3, MaxBatchBytes: 15_999_999})
				assert.NoError(r.t, err)
			},
			moved: []string{"BatchActionsLimit -10", "BatchBytesLimit -1", "InFlightLimit +2"},
		},
		"someone waits for documents": {
			what: func(r *rig) {
				_, err := r.sender.IndexDocumentsAndWait(r.t.Context(), models.UploadAction(hotel{ID: "k"}))
				assert.NoError(r.t, err)
			},
			moved: []string{"Accepted +1", "BytesSent", "Completed +1", "Requests +1"},
		},
		"Close gives up": {
			setup: func(r *rig) { r.sender.Pause(); r.upload(hotels("k", 3)...) },
			what:  func(r *rig) { _ = r.sender.Close(within(r.t, time.Second)) },
			moved: []string{"PendingActions -3", "PendingBytes", "Unsent +3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if hold, ok := c.opts.Outage.(bufferedsender.Hold); ok { // whose timers belong to the bubble
					hold.Breaker = steadyBreaker(t, &breaker.Options{Failures: 1})
					c.opts.Outage = hold
				}
				r := newRig(t, &c.opts)
				if c.setup != nil {
					c.setup(r)
				}
				synctest.Wait()
				before := r.sender.Stats()
				c.what(r)
				synctest.Wait()
				after := r.sender.Stats()
				got := moved(before, after)
				for i := range got { // how many bytes exactly is looked at below
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
				for _, x := range r.requests() {
					sent += x.bytes
				}
				assert.EqualValues(t, sent, after.BytesSent)
				r.respond(nil)
				r.sender.Resume()
				time.Sleep(2 * time.Second)
			})
		})
	}
	t.Run("every number is in the table", func(t *testing.T) {
		require.Equal(t, 28, reflect.TypeFor[bufferedsender.Stats]().NumField(), "a new one needs a row above")
	})
}

func TestYZ12BytesPendingAreThoseOfWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.sender.Pause()
		for i := range 10 {
			r.upload(sized(fmt.Sprint("k-", i), 1000+i))
		}
		pending := r.sender.Stats().PendingBytes
		r.sender.Resume()
		require.NoError(t, r.flush())
		s := r.sender.Stats()
		const envelope, commas = int64(len(`{"value":[]}`)), 9
		assert.Equal(t, s.BytesSent, pending+envelope+commas, "what was held is what was sent, but for the envelope")
		assert.Zero(t, s.PendingBytes)
	})
}
