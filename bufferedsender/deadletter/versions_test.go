package deadletter_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/models"
)

// versioned returns a sender that knows the versions of documents.
func versioned(w *world) *bufferedsender.BufferedSender[models.Document] {
	version := func(d models.Document) int64 { return int64(d["v"].(int)) }
	return senderOf(w, bufferedsender.Options[models.Document]{Folding: &bufferedsender.Folding[models.Document]{Version: version}})
}

func newVersionedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.addField(models.SearchField{Name: "v", Type: models.DataTypeInt64})
	return w
}

// upload uploads version v of a document through a sender, refused or not.
func (w *world) upload(sender *bufferedsender.BufferedSender[models.Document], id string, v int, refused bool) {
	w.t.Helper()
	if refused {
		w.refuseAll()
		defer w.srv.SetFaults(nil)
	}
	require.NoError(w.t, sender.UploadDocuments(w.t.Context(), models.Document{"id": id, "v": v}))
	require.Equal(w.t, refused, sender.Flush(w.t.Context(), nil) != nil)
}

// killed goes on with a copy of the files as they are now, as after a kill.
func (w *world) killed() {
	w.t.Helper()
	was := w.dir
	w.dir = filepath.Join(w.t.TempDir(), "dead")
	require.NoError(w.t, os.CopyFS(w.dir, os.DirFS(was)))
	f, err := deadletter.Open(w.dir, nil)
	require.NoError(w.t, err)
	w.f = f
	w.t.Cleanup(func() { require.NoError(w.t, f.Close()) })
}

// Whoever replays a dead letter, it is not put over a newer version that a sender has applied since.
func TestALetterIsNotPutOverANewerVersionByAnotherSender(t *testing.T) {
	for name, between := range map[string]func(w *world){
		"in the same process":        func(*world) {},
		"written by another process": (*world).killed,
	} {
		t.Run(name, func(t *testing.T) {
			w := newVersionedWorld(t)
			first := versioned(w)
			w.upload(first, "a", 5, true)
			w.upload(first, "b", 5, true)
			_ = first.Close(t.Context())
			between(w)
			second := versioned(w)
			w.upload(second, "a", 9, false)
			w.killed()
			other := senderOf(w, bufferedsender.Options[hotel]{})
			report, err := deadletter.Replay(t.Context(), w.f, "hotels", other.Raw(), nil)
			require.NoError(t, err)
			require.Equal(t, deadletter.Report{Sent: 1, Delivered: 1, Outdated: 1}, report)
			document, _ := w.srv.Document("hotels", "a")
			require.JSONEq(t, `{"id":"a","name":null,"v":9}`, string(document))
			require.Empty(t, w.letters())
			require.NoError(t, other.Close(t.Context()))
			require.NoError(t, second.Close(t.Context()))
		})
	}
}

// A merge that was ignored has left no newer version in the index.
func TestALetterIsNotOutdatedByAMergeThatWasIgnored(t *testing.T) {
	w := newVersionedWorld(t)
	version := func(d models.Document) int64 { return int64(d["v"].(int)) }
	sender := senderOf(w, bufferedsender.Options[models.Document]{
		Folding: &bufferedsender.Folding[models.Document]{Version: version}, OnMergeMissing: bufferedsender.MergeMissingIgnore,
	})
	w.upload(sender, "a", 5, true)
	require.NoError(t, sender.MergeDocuments(t.Context(), models.Document{"id": "a", "v": 9}))
	require.NoError(t, sender.Flush(t.Context(), nil))
	report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), nil)
	require.NoError(t, err)
	require.Equal(t, deadletter.Report{Sent: 1, Delivered: 1}, report)
	require.NoError(t, sender.Close(t.Context()))
}
