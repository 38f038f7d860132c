package bufferedsender_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The rig itself checks that no two actions of a key are in flight, in all
// tests. What is left is order.
func TestG3OneActionPerKeyInFlightSettledInOrder(t *testing.T) {
	const keys, versions = 5, 20
	cut := func(after bool) answer {
		return func(n int, _ *exchange, _ *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if n%3 != 0 {
				return next()
			}
			if after {
				if _, err := next(); err != nil {
					return nil, err
				}
			}
			return nil, errors.New("connection reset by peer")
		}
	}
	for name, c := range map[string]struct {
		script []searchtest.Fault
		answer answer
	}{
		"without trouble":                   {},
		"across retries of one document":    {script: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Ratio: 0.3, Status: 409}}}}},
		"across throttled documents":        {script: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: 503}}}}},
		"across throttled requests":         {script: []searchtest.Fault{{Every: 3, Status: 503}}},
		"across splits":                     {script: []searchtest.Fault{{OverActions: 2}}},
		"across requests refused for good":  {script: []searchtest.Fault{{Every: 4, Status: 404}}},
		"across cuts before the commit":     {answer: cut(false)},
		"across cuts after the commit":      {answer: cut(true)},
		"across missing results":            {script: []searchtest.Fault{{Every: 2, Results: searchtest.ResultsMissing}}},
		"across slow replies":               {script: []searchtest.Fault{{Every: 2, ReplyDelay: searchtest.Duration(30 * time.Second)}}},
		"across timeouts after the commit":  {script: []searchtest.Fault{{Every: 4, ReplyDelay: searchtest.Duration(3 * time.Minute)}}},
		"across documents refused for good": {script: []searchtest.Fault{{Documents: []searchtest.DocumentFault{{Ratio: 0.3, Status: 400}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 8, MaxBatchActions: 4}, AutoFlushInterval: time.Millisecond})
				r.faults(c.script...)
				r.respond(c.answer)
				for v := range versions {
					for k := range keys {
						action := models.UploadAction(hotel{ID: fmt.Sprint("k", k), Rooms: v + 1}).WithTag(v)
						require.NoError(t, r.sender.IndexDocuments(within(t, time.Hour), action))
					}
				}
				r.flush()
				settled, last := map[string]int{}, map[string]int{}
				for _, e := range r.seen("completed", "failed") {
					assert.Equal(t, settled[e.key], e.action.Tag, "next outcome of %s", e.key)
					settled[e.key]++
					if e.kind == "completed" {
						last[e.key] = e.action.Document.Rooms
					}
				}
				for k := range keys {
					key := fmt.Sprint("k", k)
					assert.Equal(t, versions, settled[key])
					if r.outcomeUnknown(key) {
						continue
					}
					var stored hotel
					raw, _ := r.srv.Document("hotels", key)
					if raw != nil {
						require.NoError(t, json.Unmarshal(raw, &stored))
					}
					assert.Equal(t, last[key], stored.Rooms, "the index holds the last version of %s that completed", key)
				}
			})
		})
	}
	t.Run("keys are compared byte for byte", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.upload(hotel{ID: "a"}, hotel{ID: "A"}, hotel{ID: "b"})
			require.NoError(t, r.flush())
			assert.Equal(t, [][]string{{"a", "A", "b"}}, keysOf(r.requests()))
			assert.Equal(t, []string{"A", "a", "b"}, r.indexed())
		})
	})
	t.Run("a waiting action of a busy key does not hold back other keys", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 3, MaxInFlight: 1}})
			r.upload(hotel{ID: "a", Rooms: 1}, hotel{ID: "a", Rooms: 2}, hotel{ID: "a", Rooms: 3}, hotel{ID: "b"}, hotel{ID: "c"})
			require.NoError(t, r.flush())
			assert.Equal(t, [][]string{{"a", "b", "c"}, {"a"}, {"a"}}, keysOf(r.requests()))
		})
	})
	t.Run("different actions end as if applied one by one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Limits: bufferedsender.Limits{MaxInFlight: 4}, AutoFlushInterval: time.Millisecond})
			add := func(a hotelAction) { require.NoError(t, r.sender.IndexDocuments(within(t, time.Hour), a)) }
			r.faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Nth: 1, Status: 503}, {Nth: 4, Status: 409}}})
			add(models.MergeAction(hotel{ID: "k", Name: "too early"}))
			add(models.UploadAction(hotel{ID: "k", Name: "x", Rooms: 1}))
			add(models.DeleteAction(hotel{ID: "k"}))
			add(models.MergeOrUploadAction(hotel{ID: "k", Name: "y"}))
			add(models.MergeAction(hotel{ID: "k", Rooms: 7}))
			require.Error(t, r.flush())
			var kinds []string
			for _, e := range r.seen("completed", "failed") {
				kinds = append(kinds, string(e.action.Type)+" "+e.kind)
			}
			assert.Equal(t, []string{"merge failed", "upload completed", "delete completed", "mergeOrUpload completed", "merge completed"}, kinds)
			raw, _ := r.srv.Document("hotels", "k")
			assert.JSONEq(t, `{"id":"k","name":"y","rooms":7}`, string(raw))
		})
	})
}

// outcomeUnknown reports whether an action of the key failed and may have been
// applied all the same.
func (r *rig) outcomeUnknown(key string) bool {
	for _, e := range r.seen("failed") {
		if e.key == key && e.unknown {
			return true
		}
	}
	return false
}
