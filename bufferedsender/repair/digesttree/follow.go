package digesttree

import (
	"context"
	"reflect"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// notFound is the status of a merge whose document does not exist.
const notFound = 404

// Follow returns handlers that tell a tree what the service confirms to a sender, for its Options.Handlers;
// events.Multi joins them with others. version returns that of a document, as the source has it in models.Row; a
// merge is to have it too. A merge that bufferedsender.MergeMissingIgnore completes says that there is no document.
//
// What was not sent because something newer was on its way is left out: that is told when it is confirmed. So is what
// was added by Raw, by a Loader, or by MergePatch and MergeOrUploadPatch, whose events have no document, but for
// deletes; it shows as a difference until somebody has looked into the index, as a repair does. Do not give it to
// events.NewAsync, which may drop events.
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
