package outcomes

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestANegativeVersionIsNotOlderThanNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}})
		r.Upload(sendertest.Hotel{ID: "k", Rooms: 0}) // has no version
		r.Upload(sendertest.Hotel{ID: "k", Rooms: -5})
		require.NoError(t, r.Flush())
		assert.Equal(t, -5, roomsOf(r, "k"))
	})
}

func TestAPanicOfVersionRefusesTheAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: func(h sendertest.Hotel) int64 {
			if h.Rooms == 13 {
				panic("unlucky")
			}
			return int64(h.Rooms)
		}}})
		err := r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a", Rooms: 12}, sendertest.Hotel{ID: "b", Rooms: 13}, sendertest.Hotel{ID: "c", Rooms: 14})
		var refusal *bufferedsender.AddError
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, 1, refusal.Accepted)
		assert.Equal(t, "b", refusal.Key)
		assert.ErrorContains(t, err, "unlucky")
		require.NoError(t, r.Flush())
		assert.Equal(t, []string{"a"}, r.Indexed())
	})
}

// It was never sent, so it cannot be unknown.
func TestASupersededActionIsNeverUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		cut        int // number of requests that are cut
		superseded bool
	}{
		"the newer one is applied in the end":   {1, true},
		"neither is applied, so both were sent": {2, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l sendertest.Ledger
				opts := &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}, Limits: bufferedsender.Limits{MaxBatchActions: 1}, Handlers: l.Handlers()}
				if !c.superseded {
					opts.Retry.MaxRetries = -1
				}
				r := sendertest.New(t, opts)
				r.Respond(sendertest.First(c.cut, func(int, *sendertest.Request, *http.Request, func() (*http.Response, error)) (*http.Response, error) {
					time.Sleep(time.Second)
					return nil, errors.New("connection reset")
				}))
				r.Upload(sendertest.Hotel{ID: "k", Rooms: 5})
				synctest.Wait() // in flight
				r.Upload(sendertest.Hotel{ID: "k", Rooms: 3})
				if err := r.Flush(); c.superseded {
					require.NoError(t, err)
				} else {
					require.Equal(t, 2, sendertest.FlushFailures(t, err))
				}
				ends := l.Endings("k")
				require.Len(t, ends, 2)
				assert.False(t, ends[0].Superseded)
				assert.Equal(t, !c.superseded, ends[0].Unknown)
				assert.Equal(t, c.superseded, ends[1].Superseded)
				assert.Equal(t, !c.superseded, ends[1].Unknown)
				assert.Len(t, r.Requests(), 2)
			})
		})
	}
}

// byRooms returns the number of rooms as the version of a hotel.
func byRooms(h sendertest.Hotel) int64 { return int64(h.Rooms) }

// roomsOf returns the rooms of a document in the index, -1 if it does not exist.
func roomsOf(r *sendertest.Rig, key string) int {
	raw, ok := r.Service.Document("hotels", key)
	if !ok {
		return -1
	}
	var stored sendertest.Hotel
	require.NoError(r.T, json.Unmarshal(raw, &stored))
	return stored.Rooms
}

func TestAnOlderVersionIsSuperseded(t *testing.T) {
	type step = sendertest.Action
	up := func(version int, tag string) step {
		return models.UploadAction(sendertest.Hotel{ID: "k", Rooms: version, Name: tag}).WithTag(tag)
	}
	mergeOf := func(version int, tag string) step {
		return models.MergeAction(sendertest.Hotel{ID: "k", Rooms: version, Name: tag}).WithTag(tag)
	}
	gone := func(tag string) step { return models.DeleteAction(sendertest.Hotel{ID: "k"}).WithTag(tag) }
	for name, c := range map[string]struct {
		flight, waiting []step // flight is in flight when the others are added
		marks           []string
		rooms           int // -1: no document
		writes          int
	}{
		"an older one is not sent": {
			waiting: []step{up(5, "new"), up(3, "old")},
			marks:   []string{"new completed", "old completed folded superseded"}, rooms: 5, writes: 1,
		},
		"a newer one replaces an older one": {
			waiting: []step{up(3, "old"), up(5, "new")},
			marks:   []string{"old completed folded", "new completed folded"}, rooms: 5, writes: 1,
		},
		"the same version again is as new": {
			waiting: []step{up(5, "one"), mergeOf(5, "two")},
			marks:   []string{"one completed folded", "two completed folded"}, rooms: 5, writes: 1,
		},
		"an older merge is not sent either": {
			waiting: []step{up(5, "new"), mergeOf(4, "old")},
			marks:   []string{"new completed", "old completed folded superseded"}, rooms: 5, writes: 1,
		},
		"an action without a version counts as equally new": {
			waiting: []step{up(5, "new"), up(0, "none")},
			marks:   []string{"new completed folded", "none completed folded"}, rooms: 0, writes: 1,
		},
		"an action without a version does not reset it": {
			waiting: []step{up(5, "new"), mergeOf(0, "none"), up(3, "old")},
			marks:   []string{"new completed folded", "none completed folded", "old completed folded superseded"}, rooms: 5, writes: 1,
		},
		"older than the one under way": {
			flight: []step{up(5, "new")}, waiting: []step{up(3, "old")},
			marks: []string{"new completed", "old completed folded superseded"}, rooms: 5, writes: 1,
		},
		"older than the one under way, newer than the next": {
			flight: []step{up(5, "new")}, waiting: []step{up(3, "old"), up(6, "newer"), up(4, "old again")},
			marks: []string{"new completed", "old completed folded superseded", "newer completed", "old again completed folded superseded"}, rooms: 6, writes: 2,
		},
		"newer than the one under way": {
			flight: []step{up(3, "old")}, waiting: []step{up(5, "new")},
			marks: []string{"old completed", "new completed"}, rooms: 5, writes: 2,
		},
		"a delete has no version": {
			waiting: []step{up(5, "new"), gone("delete")},
			marks:   []string{"new completed folded", "delete completed folded"}, rooms: -1, writes: 1,
		},
		"a deleted document does not come back with an older version": {
			waiting: []step{up(5, "new"), gone("delete"), up(3, "old")},
			marks:   []string{"new completed folded", "delete completed folded", "old completed folded superseded"}, rooms: -1, writes: 1,
		},
		"a deleted document does not come back during an upload": {
			flight: []step{up(5, "new")}, waiting: []step{gone("delete"), up(3, "old")},
			marks: []string{"new completed", "delete completed", "old completed folded superseded"}, rooms: -1, writes: 2,
		},
		"a newer version is sent": {
			waiting: []step{up(5, "new"), gone("delete"), up(6, "newer")},
			marks:   []string{"new completed folded", "delete completed folded", "newer completed folded"}, rooms: 6, writes: 1,
		},
		"a delete behind an outdated one has the newest version": {
			waiting: []step{up(5, "new"), up(3, "old"), gone("delete"), up(4, "late")},
			marks:   []string{"new completed", "old completed folded superseded", "delete completed", "late completed folded superseded"}, rooms: -1, writes: 2,
		},
		"a delete behind an outdated one of which another is under way": {
			flight: []step{up(5, "new")}, waiting: []step{up(3, "old"), gone("delete"), up(4, "late"), up(6, "newer")},
			marks: []string{"new completed", "old completed folded superseded", "delete completed", "late completed folded superseded", "newer completed"}, rooms: 6, writes: 3,
		},
		"after a delete alone any version is sent": {
			waiting: []step{gone("delete"), up(3, "new")},
			marks:   []string{"delete completed folded", "new completed folded"}, rooms: 3, writes: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l sendertest.Ledger
				r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}, Limits: bufferedsender.Limits{MaxBatchActions: 100, MaxInFlight: 2}, AutoFlushInterval: time.Second, Handlers: l.Handlers()})
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
				if c.flight != nil {
					r.Add(c.flight...)
					time.Sleep(2 * time.Second)
				}
				r.Add(c.waiting...)
				require.NoError(t, r.Flush())
				assert.Equal(t, c.marks, sendertest.Describe(l.Endings("k")))
				assert.Equal(t, c.rooms, roomsOf(r, "k"))
				assert.Len(t, r.Requests(), c.writes)
				superseded := int64(0)
				for _, e := range l.Endings("k") {
					if e.Superseded {
						superseded++
					}
				}
				assert.Equal(t, superseded, r.Sender.Stats().Superseded)
			})
		})
	}
	t.Run("versions of a settled key are dropped", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}})
			r.Add(up(5, "new"))
			require.NoError(t, r.Flush())
			r.Add(up(3, "old"))
			require.NoError(t, r.Flush())
			assert.Equal(t, 3, roomsOf(r, "k"))
		})
	})
	t.Run("an older one is sent after all if the newer one is refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l sendertest.Ledger
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}, AutoFlushInterval: time.Second, Handlers: l.Handlers(), Retry: retry.Options{Delay: 10 * time.Second, Jitter: -1}})
			r.Faults(searchtest.Fault{Count: 4, Documents: []searchtest.DocumentFault{{Status: 409}}})
			r.Add(up(5, "new"))
			time.Sleep(5 * time.Second) // its first attempt has failed
			r.Add(up(3, "old"))
			var failures *bufferedsender.FlushError
			require.ErrorAs(t, r.Flush(), &failures)
			assert.Equal(t, 1, failures.Count)
			assert.Equal(t, []string{"new failed", "old completed"}, sendertest.Describe(l.Endings("k")))
			assert.Len(t, r.Requests(), 4+1)
			assert.Equal(t, 3, roomsOf(r, "k"))
			assert.Zero(t, r.Sender.Stats().Superseded)
		})
	})
	t.Run("no ActionSent for an action that is not sent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}})
			r.Add(up(5, "new"), up(3, "old"))
			require.NoError(t, r.Flush())
			sent := r.Events("sent")
			require.Len(t, sent, 1)
			assert.Equal(t, "new", sent[0].Action.Tag)
		})
	})
}

func TestAnOlderVersionIsSentIfTheNewerOneIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		refuse bool
		rooms  int
	}{"refused": {true, 3}, "completed": {false, 7}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var o outcomes
				r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}})
				r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
				if c.refuse {
					fault := sendertest.RefuseKeys("a")
					fault.Documents[0].Nth = 1
					r.Faults(fault)
				}
				r.Add(models.UploadAction(sendertest.Hotel{ID: "a", Rooms: 7}).WithTag("newer").WithCallback(o.note))
				flushed := sendertest.Later(r.Flush)
				time.Sleep(time.Second)
				r.Add(models.UploadAction(sendertest.Hotel{ID: "a", Rooms: 3}).WithTag("older").WithCallback(o.note))
				synctest.Wait()
				o.mu.Lock()
				assert.Empty(t, o.all, "the action waits behind the newer one")
				o.mu.Unlock()
				assert.Equal(t, c.refuse, <-flushed != nil)
				require.NoError(t, r.Sender.Flush(sendertest.Within(t, time.Hour), nil))
				assert.Equal(t, c.refuse, o.one(t, "newer").Err != nil)
				assert.True(t, o.one(t, "older").Completed())
				assert.Equal(t, map[bool]models.Reason{true: models.ReasonNone, false: models.ReasonSuperseded}[c.refuse], o.one(t, "older").Reason)
				assert.Equal(t, c.rooms, roomsOf(r, "a"))
			})
		})
	}
}

// A patch has the version of what was before it, which may not be applied.
func TestAnInheritedVersionEndsWithTheActionItComesFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outcomes
		r := sendertest.New(t, &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: byRooms}})
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 10 }))
		fault := sendertest.RefuseKeys("a")
		fault.Documents[0].Nth = 1
		r.Faults(fault)
		r.Add(models.UploadAction(sendertest.Hotel{ID: "a", Rooms: 5}).WithTag("newest").WithCallback(o.note))
		flushed := sendertest.Later(r.Flush)
		time.Sleep(time.Second)
		r.Add(models.MergeOrUploadAction(sendertest.Hotel{ID: "a", Name: "patched"}).WithTag("patch").WithCallback(o.note),
			models.UploadAction(sendertest.Hotel{ID: "a", Rooms: 4}).WithTag("older").WithCallback(o.note))
		require.Error(t, <-flushed)
		require.NoError(t, r.Sender.Flush(sendertest.Within(t, time.Hour), nil))
		require.Error(t, o.one(t, "newest").Err)
		assert.Equal(t, models.ReasonNone, o.one(t, "older").Reason)
		assert.Equal(t, 4, roomsOf(r, "a"))
	})
}

// An ignored merge of a missing document supersedes nothing.
func TestAnOlderVersionIsSentAfterAMergeThatWasIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := &sendertest.Options{Folding: &bufferedsender.Folding[sendertest.Hotel]{Version: func(h sendertest.Hotel) int64 { return int64(h.Rooms) }}, OnMergeMissing: bufferedsender.MergeMissingIgnore}
		r := sendertest.New(t, opts)
		r.Respond(sendertest.Seconds(func(int, *sendertest.Request) float64 { return 1 }))
		r.Add(models.MergeAction(sendertest.Hotel{ID: "k", Rooms: 5}))
		flushed := sendertest.Later(r.Flush)
		time.Sleep(500 * time.Millisecond) // in flight
		r.Add(models.UploadAction(sendertest.Hotel{ID: "k", Name: "created", Rooms: 3}))
		require.NoError(t, <-flushed)
		require.NoError(t, r.Flush())
		assert.EqualValues(t, 2, r.Sender.Stats().Completed)
		assert.Len(t, r.Indexed(), 1, "Completed: 2, and there is no document")
		r.Abandoned = true
		require.NoError(t, r.Close())
	})
}
