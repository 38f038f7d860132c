package digesttree

import (
	"context"
	"reflect"
	"slices"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// watcher records which keys change while possibly older data is read. The mutex of the tree guards it.
type watcher struct {
	wants func(key string) bool
	told  map[string]bool
}

// watch adds a watcher. The caller has the lock.
func (t *Tree) watch(wants func(key string) bool) *watcher {
	w := &watcher{wants, make(map[string]bool)}
	t.watchers = append(t.watchers, w)
	return w
}

// unwatch removes a watcher. It may be called again. The caller has the lock.
func (t *Tree) unwatch(w *watcher) {
	t.watchers = slices.DeleteFunc(t.watchers, func(other *watcher) bool { return other == w })
}

// Look returns functions for a program that looks keys up in the index. Pass to the first the looked-up keys and their
// rows; a key without a row does not exist. A change recorded since Look counts more than the row; the first function
// returns how many keys it has updated. The rows must show everything that the service has confirmed before Look. Call
// end when done.
func (t *Tree) Look(keys ...string) (tell func(keys []string, rows []models.Row) (told int), end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	looked := make(map[string]bool, len(keys))
	for _, key := range keys {
		looked[key] = true
	}
	w := t.watch(func(key string) bool { return looked[key] })
	tell = func(keys []string, rows []models.Row) (told int) {
		there := make(map[string]int64, len(rows))
		for _, r := range rows {
			there[r.Key] = r.Version
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, key := range keys {
			if w.told[key] || !looked[key] {
				continue
			}
			version, ok := there[key]
			t.record(key, version, !ok)
			delete(w.told, key) // recorded here, not by a newer confirmation
			told++
		}
		return told
	}
	return tell, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.unwatch(w)
	}
}

// notFound is the status of a merge whose document does not exist.
const notFound = 404

// Follow returns handlers that record in a tree what the service confirms to a sender. Use them as Options.Handlers;
// events.Multi combines them with others. version returns the version of a document, as the source has it in
// models.Row; the document of a merge must have it too. A merge completed by bufferedsender.MergeMissingIgnore means
// that the document does not exist.
//
// Superseded actions are ignored, because the newer action will be confirmed. Events without a document are ignored
// too, except deletes: actions added by Raw, by a Loader, or by MergePatch and MergeOrUploadPatch. Their keys show as
// differences until they are looked up in the index. Do not pass the handlers to events.NewAsync, which may drop
// events.
func Follow[T any](tree *Tree, version func(document T) int64) events.Handlers[T] {
	if tree == nil || version == nil {
		panic("digesttree: Follow needs a tree, and a function that returns the version of a document")
	}
	return events.Handlers[T]{
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[T]) {
			switch {
			case e.Superseded:
			case e.Action.Type == models.ActionTypeDelete, e.Result.StatusCode == notFound: // a merge that MergeMissingIgnore completes
				tree.Deleted(e.Key)
			case !reflect.ValueOf(&e.Action.Document).Elem().IsZero(): // a document that is present has a key
				tree.Confirmed(e.Key, version(e.Action.Document))
			}
		},
	}
}
