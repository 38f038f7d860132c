package digesttree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

type followed struct {
	ID      string
	Version int64
}

func TestAFollowedSenderTellsWhatWasConfirmedAndNothingElse(t *testing.T) {
	tree := newTree(t)
	h := Follow(tree, func(d followed) int64 { return d.Version })
	tell := func(key string, a models.IndexDocumentsAction[followed], superseded bool) {
		h.ActionCompleted(t.Context(), &events.ActionCompleted[followed]{Key: key, Action: a, Superseded: superseded})
	}
	tell("a", models.UploadAction(followed{"a", 1}), false)
	tell("b", models.UploadAction(followed{"b", 1}), false)
	tell("c", models.UploadAction(followed{"c", 1}), false)
	tell("b", models.MergeAction(followed{"b", 2}), false)
	tell("b", models.UploadAction(followed{"b", 3}), true)
	tell("c", models.DeleteAction(followed{ID: "c"}), false)
	tell("a", models.IndexDocumentsAction[followed]{Type: models.ActionTypeUpload}, false) // from Raw: its version is unknown
	require.Equal(t, map[string]int64{"a": 1, "b": 2}, content(t, tree))
	h.ActionCompleted(t.Context(), &events.ActionCompleted[followed]{
		Key: "d", Action: models.MergeAction(followed{"d", 1}), Result: models.IndexingResult{StatusCode: 404}, // ignored: there is no document
	})
	tell("a", models.IndexDocumentsAction[followed]{Type: models.ActionTypeDelete}, false)
	require.Equal(t, map[string]int64{"b": 2}, content(t, tree))
}

func TestAFollowedSenderMayHaveDocumentsOfAnyKind(t *testing.T) {
	tree := newTree(t)
	pointers := Follow(tree, func(d *followed) int64 { return d.Version })
	pointers.ActionCompleted(t.Context(), &events.ActionCompleted[*followed]{Key: "a", Action: models.UploadAction(&followed{"a", 1})})
	pointers.ActionCompleted(t.Context(), &events.ActionCompleted[*followed]{Key: "b", Action: models.IndexDocumentsAction[*followed]{Type: models.ActionTypeUpload}})
	anything := Follow(tree, func(any) int64 { return 7 })
	anything.ActionCompleted(t.Context(), &events.ActionCompleted[any]{Key: "c", Action: models.UploadAction[any](map[string]any{"id": "c"})})
	anything.ActionCompleted(t.Context(), &events.ActionCompleted[any]{Key: "d", Action: models.IndexDocumentsAction[any]{Type: models.ActionTypeUpload}})
	require.Equal(t, map[string]int64{"a": 1, "c": 7}, content(t, tree))
}

func TestWhatIsToldSinceALookCountsMoreThanWhatItHasSeen(t *testing.T) {
	tree := newTree(t)
	tell(tree, map[string]int64{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1})
	l, end := tree.Look("a", "b", "c", "d")
	other, endOther := tree.Look("d")
	tree.Confirmed("a", 2)
	tree.Deleted("b")
	seen := []models.Row{{Key: "a", Version: 1}, {Key: "b", Version: 1}, {Key: "c", Version: 5}, {Key: "e", Version: 5}}
	require.Equal(t, 2, l([]string{"a", "b", "c", "d", "e"}, seen), "c, and d, which is not there")
	require.Equal(t, map[string]int64{"a": 2, "c": 5, "e": 1}, content(t, tree))
	require.Equal(t, 1, l([]string{"c"}, []models.Row{{Key: "c", Version: 6}}), "its own confirmations are not newer changes")
	require.Zero(t, other([]string{"d"}, []models.Row{{Key: "d", Version: 1}}), "the change is newer than that of another writer")
	end()
	end()
	endOther()
	require.Empty(t, tree.watchers)
	require.Equal(t, map[string]int64{"a": 2, "c": 6, "e": 1}, content(t, tree))
}
