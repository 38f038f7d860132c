package store

import (
	"net/http"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Apply applies the actions in order and returns one result for each. If refused[i] has a
// status, it is the result of action i, which is not applied. refused may be nil.
//
// Since the actions were read, a PUT may have replaced the definition. Apply uses the current
// one, because a merge may meet documents written with it. It contains every field of the
// older definition with the same ordinal.
func (ix *Index) Apply(from *Origin, actions []batch.Action, refused []batch.Result) []batch.Result {
	results := make([]batch.Result, 0, len(actions))
	ix.mu.Lock()
	defer ix.mu.Unlock()
	sc, now := ix.schema.Load(), time.Now()
	from.decided = now
	for i := range actions {
		a := &actions[i]
		var r batch.Result
		if refused != nil && refused[i].Status != 0 {
			r = refused[i]
		} else {
			r.Status, r.Message = ix.applyOne(sc, a, now)
		}
		r.Key = a.Key
		results = append(results, r)
		ix.changes.add(a.Key, a.Type, r.Status, from, a.Data)
	}
	return results
}

// Restore stores a document that is visible at once, without the lag. It must be called
// before the index is shared.
func (ix *Index) Restore(a *batch.Action) (status int, message string) {
	return ix.applyOne(ix.schema.Load(), a, time.Time{})
}

// applyOne applies one action. ix.mu must be held.
func (ix *Index) applyOne(sc *schema.Index, a *batch.Action, now time.Time) (status int, message string) {
	if a.Type == models.ActionTypeDelete {
		ix.remove(a.Key, now)
		return http.StatusOK, ""
	}
	if a.ItemError != "" {
		return http.StatusBadRequest, a.ItemError
	}
	before, found := ix.live[a.Key]
	data := a.Data
	switch {
	case found && a.Type != models.ActionTypeUpload:
		ix.merged = stored.MergeObjects(ix.merged[:0], sc.Fields, before.data, data)
		if n := stored.CountElements(sc.Fields, ix.merged); n > batch.MaxComplexElements {
			return http.StatusBadRequest, batch.TooManyElements(a.Key, n)
		}
		data = slices.Clone(ix.merged)
		if cap(ix.merged) > batch.LargestPooledDocument {
			ix.merged = nil
		}
	case !found && a.Type == models.ActionTypeMerge:
		return http.StatusNotFound, batch.DocumentMessage(http.StatusNotFound)
	case !found && ix.quota > 0 && int64(len(ix.live)) >= ix.quota:
		return http.StatusTooManyRequests, batch.DocumentMessage(http.StatusTooManyRequests)
	case a.Type != models.ActionTypeUpload:
		data = slices.Clone(data) // data is memory of the parser
	}
	if ix.put(a.Key, data, now) {
		return http.StatusCreated, ""
	}
	return http.StatusOK, ""
}
