package digesttree

import (
	"context"
	"reflect"
	"slices"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// watcher notes which keys are told while something is read that may be older. The mutex of the tree guards it.
type watcher struct {
	wants func(key string) bool
	told  map[string]bool
}

// watch begins to note. The caller has the lock.
func (t *Tree) watch(wants func(key string) bool) *watcher {
	w := &watcher{wants, make(map[string]bool)}
	t.watchers = append(t.watchers, w)
	return w
}

// unwatch ends a watcher, once or more often. The caller has the lock.
func (t *Tree) unwatch(w *watcher) {
	t.watchers = slices.DeleteFunc(t.watchers, func(other *watcher) bool { return other == w })
}

// Look is for a program that looks some keys up in the index. tell passes to the tree what the index has of some of
// them: those without a row are not there. What the tree is told of a key since Look counts more; tell returns of how
// many keys nothing was. What the service has confirmed before Look must be in what is read. Call end at the end.
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
			delete(w.told, key) // what it tells itself is nothing newer
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

// Follow returns handlers that tell a tree what the service confirms to a sender, for its Options.Handlers;
// events.Multi joins them with others. version returns that of a document, as the source has it in models.Row; a merge
// must have it too. A merge that bufferedsender.MergeMissingIgnore completes says that there is no document.
//
// What was not sent because something newer was on its way is left out: that is told when it is confirmed. So is what
// was added by Raw, by a Loader, or by MergePatch and MergeOrUploadPatch, whose events have no document, but for
// deletes; it shows as a difference until a look into the index. Do not pass it to events.NewAsync, which may drop
// events.
func Follow[T any](tree *Tree, version func(document T) int64) events.Handlers[T] {
	if tree == nil || version == nil {
		panic("digesttree: Follow needs a tree, and a function that returns the version of a document")
	}
	return events.Handlers[T]{
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[T]) {
			switch {
			case e.Superseded:
			case e.Action.Type == models.ActionTypeDelete, e.Result.StatusCode == notFound: // or a merge that MergeMissingIgnore completes
				tree.Deleted(e.Key)
			case !reflect.ValueOf(&e.Action.Document).Elem().IsZero(): // a document that there is has a key
				tree.Confirmed(e.Key, version(e.Action.Document))
			}
		},
	}
}
