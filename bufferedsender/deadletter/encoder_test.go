package deadletter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type hotel struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// encoders write a hotel as senders without an Encoder do not, but for the first.
func encoders() map[string]func(any) ([]byte, error) {
	var calls atomic.Int64
	return map[string]func(any) ([]byte, error){
		"none":              nil,
		"escapes HTML":      json.Marshal,
		"indents":           func(doc any) ([]byte, error) { return json.MarshalIndent(doc, " ", "  ") },
		"differs each time": func(doc any) ([]byte, error) { return json.MarshalIndent(doc, "", spaces(calls.Add(1))) },
	}
}

func spaces(n int64) string { return strings.Repeat(" ", int(n)) }

// However a sender writes documents, a letter that is refused again is the letter
// that was there, and is delivered once the fault is gone.
func TestALetterOfASenderWithAnEncoderStaysOnce(t *testing.T) {
	for name, encoder := range encoders() {
		for _, redact := range []bool{false, true} {
			t.Run(fmt.Sprintf("Encoder: %s, redacted: %t", name, redact), func(t *testing.T) {
				w := newWorld(t)
				if redact {
					w.redact(t)
				}
				w.refuseAll()
				sender := senderOf(w, bufferedsender.Options[hotel]{Documents: bufferedsender.Documents[hotel]{Encode: encoder}})
				source := map[string]hotel{}
				for _, id := range []string{"a", "b"} {
					source[id] = hotel{id, "<Hotel & " + id + ">"}
					require.NoError(t, sender.IndexDocuments(t.Context(),
						models.MergeOrUploadAction(source[id]), models.DeleteAction(hotel{ID: id + "-gone"})))
				}
				require.Error(t, sender.Flush(t.Context(), nil))
				before := w.letters()
				require.Len(t, before, 4)

				opts := &deadletter.ReplayOptions[hotel]{}
				if redact {
					opts.Document = func(_ context.Context, l deadletter.Letter) (hotel, error) { return source[l.Key], nil }
					source["a-gone"], source["b-gone"] = hotel{ID: "a-gone"}, hotel{ID: "b-gone"}
				}
				for round := range 3 {
					report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender, opts)
					require.NoError(t, err)
					require.Equal(t, deadletter.Report{Sent: 4, Failed: 4}, report)
					letters := w.letters()
					require.Len(t, letters, 4)
					for i, l := range letters {
						assert.Equal(t, before[i].Key, l.Key)
						assert.Equal(t, string(before[i].Document), string(l.Document))
						assert.Equal(t, (round+2)*before[i].Attempts, l.Attempts)
						assert.NotEqual(t, before[i].RequestID, l.RequestID, "it is the newer reason")
					}
				}
				require.EqualValues(t, 4, w.f.Stats().Written)

				w.srv.SetFaults(nil)
				report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender, opts)
				require.NoError(t, err)
				require.Equal(t, deadletter.Report{Sent: 4, Delivered: 4}, report)
				require.Empty(t, w.letters())
				require.EqualValues(t, 2, w.srv.DocumentCount("hotels"))
				require.NoError(t, sender.Close(t.Context()), "Flush and Replay have reported the failures before")
			})
		}
	}
}

// A letter under way again is folded with something new, written by an Encoder:
// neither is lost, and each is one letter however often they fail.
func TestALetterThatIsFoldedWithWhatAnEncoderWritesLosesNeither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.addField(models.SearchField{Name: "stars", Type: models.DataTypeInt32})
		w.refuseAll()
		sender := senderOf(w, bufferedsender.Options[models.Document]{Folding: &bufferedsender.Folding[models.Document]{}, Waiting: bufferedsender.Waiting{Interval: time.Minute}, Documents: bufferedsender.Documents[models.Document]{Encode: json.Marshal}})
		require.NoError(t, sender.MergeOrUploadDocuments(t.Context(), models.Document{"id": "a", "name": "<old>"}))
		require.Error(t, sender.Flush(t.Context(), nil))

		go func() {
			time.Sleep(time.Second) // the letter waits in the sender for others
			assert.NoError(t, sender.MergeOrUploadDocuments(t.Context(), models.Document{"id": "a", "stars": 3}))
		}()
		for range 3 {
			_, err := deadletter.Replay(t.Context(), w.f, "hotels", sender, nil)
			require.NoError(t, err)
			letters := w.letters()
			require.Len(t, letters, 2)
			assert.Equal(t, `{"id":"a","name":"\u003cold\u003e"}`, string(letters[0].Document))
			assert.JSONEq(t, `{"id":"a","name":"<old>","stars":3}`, string(letters[1].Document))
		}
		require.EqualValues(t, 1, sender.Stats().Folded)

		w.srv.SetFaults(nil)
		report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender, nil)
		require.NoError(t, err)
		require.Equal(t, deadletter.Report{Sent: 2, Delivered: 2}, report)
		document, ok := w.srv.Document("hotels", "a")
		require.True(t, ok)
		require.JSONEq(t, `{"id":"a","name":"<old>","stars":3}`, string(document))
		require.Error(t, sender.Close(t.Context()))
	})
}

// scored can be read from a search and not be written, but for the Encoder that
// leaves the score out.
type scored struct {
	ID    string  `json:"id"`
	Score float64 `json:"@search.score"`
}

func withoutScore(doc any) ([]byte, error) {
	if doc.(scored).Score < 0 {
		return nil, errors.New("no score is negative")
	}
	return json.Marshal(map[string]string{"id": doc.(scored).ID})
}

// What a sender can write, it can replay, even if nobody else can write it; and
// what it cannot write keeps no other letter back, however many there are.
func TestWhatOnlyTheEncoderCanWriteIsReplayed(t *testing.T) {
	w := newWorld(t)
	w.refuseAll()
	// With a breaker so many would wait: not they, but the index would be the cause.
	sender := senderOf(w, bufferedsender.Options[scored]{Documents: bufferedsender.Documents[scored]{Encode: withoutScore}, Outage: bufferedsender.FailSoon{}})
	for i := range 30 {
		require.NoError(t, sender.UploadDocuments(t.Context(), scored{ID: fmt.Sprint(i), Score: 1}))
	}
	require.Error(t, sender.Flush(t.Context(), nil))
	w.srv.SetFaults(nil)
	kept := map[string]error{}
	report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender, &deadletter.ReplayOptions[scored]{
		Document: func(_ context.Context, l deadletter.Letter) (scored, error) {
			doc := scored{ID: l.Key, Score: 1}
			if len(l.Key) == 2 && l.Key < "25" { // fifteen in a row
				doc.Score = -1
			}
			return doc, nil
		},
		Kept: func(l deadletter.Letter, why error) { kept[l.Key] = why },
	})
	require.NoError(t, err)
	require.Equal(t, deadletter.Report{Sent: 15, Delivered: 15, Skipped: 15}, report)
	require.Len(t, kept, 15)
	for key, why := range kept {
		require.ErrorAs(t, why, new(*models.EncodeError), key)
		require.ErrorContains(t, why, "no score is negative", key)
	}
	require.Len(t, w.letters(), 15)
	require.EqualValues(t, 15, w.srv.DocumentCount("hotels"))
	require.NoError(t, sender.Close(t.Context()))
}

// redact makes the File of the world one that keeps no documents.
func (w *world) redact(t *testing.T) {
	t.Helper()
	require.NoError(t, w.f.Close())
	f, err := deadletter.Open(w.dir, &deadletter.FileOptions{Redact: true})
	require.NoError(t, err)
	w.f = f
	t.Cleanup(func() { require.NoError(t, f.Close()) })
}
