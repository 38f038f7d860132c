package deadletter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

type hotel struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// A dead letter that is refused again stays, and is delivered once the fault is repaired.
func TestLettersThatAreRefusedAgainStayOnceUntilTheyAreDelivered(t *testing.T) {
	for _, redact := range []bool{false, true} {
		t.Run(fmt.Sprintf("redacted: %t", redact), func(t *testing.T) {
			w := newWorld(t)
			if redact {
				w.redact(t)
			}
			w.refuseAll()
			sender := senderOf(w, bufferedsender.Options[hotel]{OnMergeMissing: bufferedsender.MergeMissingUpload})
			source := map[string]hotel{}
			for _, id := range []string{"a", "b"} {
				source[id] = hotel{id, "<Hotel & " + id + ">"}
				require.NoError(t, sender.IndexDocuments(t.Context(),
					models.MergeAction(source[id]), models.DeleteAction(hotel{ID: id + "-gone"})))
			}
			require.Error(t, sender.Flush(t.Context(), nil))
			before := w.letters()
			require.Len(t, before, 4)

			opts := &deadletter.ReplayOptions{}
			if redact {
				opts.Document = func(_ context.Context, l deadletter.Letter) (json.RawMessage, error) {
					return json.MarshalIndent(source[l.Key], "", "  ")
				}
			}
			for round := range 3 {
				report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), opts)
				require.NoError(t, err)
				require.Equal(t, deadletter.Report{Sent: 4, Failed: 4}, report)
				letters := w.letters()
				require.Len(t, letters, 4)
				for i, l := range letters {
					assert.Equal(t, before[i].Key, l.Key)
					assert.Equal(t, before[i].Action, l.Action)
					assert.Equal(t, string(before[i].Document), string(l.Document))
					assert.Equal(t, (round+2)*before[i].Attempts, l.Attempts)
					assert.NotEqual(t, before[i].RequestID, l.RequestID, "the newer reason is kept")
				}
			}
			require.EqualValues(t, 4, w.f.Stats().Written)

			w.srv.SetFaults(nil)
			report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), opts)
			require.NoError(t, err)
			require.Equal(t, deadletter.Report{Sent: 4, Delivered: 4}, report)
			require.Empty(t, w.letters())
			require.EqualValues(t, 2, w.srv.DocumentCount("hotels"))
			require.NoError(t, sender.Close(t.Context()), "Flush and Replay have reported the failures before")
		})
	}
}

// Documents written by Documents.Encode are replayed unchanged, with and without that encoder.
func TestWhatAnEncoderHasWrittenIsReplayedByteForByte(t *testing.T) {
	const document = `{"name":"\u003cb\u003e \u0026 \/ \ud83c\udfe8","id":"\u0061","name@odata.type":"Edm.String"}`
	w := newWorld(t)
	w.refuseAll()
	encoded := 0
	own := senderOf(w, bufferedsender.Options[hotel]{Documents: bufferedsender.Documents[hotel]{Encode: func(any) ([]byte, error) {
		encoded++
		return []byte(document), nil
	}}})
	other := senderOf(w, bufferedsender.Options[models.Document]{})
	require.NoError(t, own.UploadDocuments(t.Context(), hotel{ID: "a"}))
	require.Error(t, own.Flush(t.Context(), nil))

	for i, to := range []deadletter.Sender{own.Raw(), other.Raw()} {
		report, err := deadletter.Replay(t.Context(), w.f, "hotels", to, nil)
		require.NoError(t, err)
		require.Equal(t, deadletter.Report{Sent: 1, Failed: 1}, report)
		letters := w.letters()
		require.Len(t, letters, 1)
		assert.Equal(t, document, string(letters[0].Document))
		assert.Equal(t, i+2, letters[0].Attempts)
	}
	require.Equal(t, 1, encoded)
	want := `{"value":[{"@search.action":"upload",` + document[1:] + `]}`
	require.Equal(t, []string{want, want, want}, w.bodies())
	require.NoError(t, own.Close(t.Context()))
	require.NoError(t, other.Close(t.Context()))
}

// Any number of documents that no request can carry delays no other dead letter.
func TestDocumentsThatCannotBeSentStayAndTheOthersAreReplayed(t *testing.T) {
	for name, c := range map[string]struct {
		limits bufferedsender.Limits
		spoil  func(document json.RawMessage) json.RawMessage
		why    func(why error) bool
		err    error
	}{
		"invalid": {
			spoil: func(document json.RawMessage) json.RawMessage { return document[1:] },
			why:   func(why error) bool { return errors.As(why, new(*models.EncodeError)) },
		},
		"too large": {
			limits: bufferedsender.Limits{MaxBatchBytes: 1000},
			spoil: func(document json.RawMessage) json.RawMessage {
				return json.RawMessage(fmt.Sprintf(`{"name":%q,%s`, strings.Repeat("x", 1000), document[1:]))
			},
			why: func(why error) bool { return errors.Is(why, bufferedsender.ErrDocumentTooLarge) },
			err: bufferedsender.ErrDocumentTooLarge,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for i := range 30 {
				require.NoError(t, w.f.Write(t.Context(), []deadletter.Letter{{
					Index: "hotels", Key: fmt.Sprint(i), Action: models.ActionTypeUpload, Document: json.RawMessage(fmt.Sprintf(`{"id":"%d"}`, i)),
				}}))
			}
			sender := senderOf(w, bufferedsender.Options[hotel]{Limits: c.limits})
			kept := map[string]error{}
			report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), &deadletter.ReplayOptions{
				Document: func(_ context.Context, l deadletter.Letter) (json.RawMessage, error) {
					if len(l.Key) == 2 && l.Key < "25" { // fifteen in a row
						return c.spoil(l.Document), nil
					}
					return l.Document, nil
				},
				Kept: func(l deadletter.Letter, why error) { kept[l.Key] = why },
			})
			require.ErrorIs(t, err, c.err)
			require.Equal(t, deadletter.Report{Sent: 15, Delivered: 15, Skipped: 15}, report)
			require.Len(t, kept, 15)
			for key, why := range kept {
				require.True(t, c.why(why), "%s: %v", key, why)
			}
			require.Len(t, w.letters(), 15)
			require.EqualValues(t, 15, w.srv.DocumentCount("hotels"))
			require.NoError(t, sender.Close(t.Context()))
		})
	}
}

// A corrected document with another key would break the order of both keys.
func TestADocumentWithAnotherKeyThanItsLetterIsNotSent(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.f.Write(t.Context(), []deadletter.Letter{{
		Index: "hotels", Key: "7", Action: models.ActionTypeUpload, Document: json.RawMessage(`{"id":"7"}`),
	}}))
	sender := senderOf(w, bufferedsender.Options[hotel]{})
	report, err := deadletter.Replay(t.Context(), w.f, "hotels", sender.Raw(), &deadletter.ReplayOptions{
		Document: func(context.Context, deadletter.Letter) (json.RawMessage, error) {
			return json.RawMessage(`{"id":"8"}`), nil
		},
	})
	require.ErrorContains(t, err, `the JSON has "8" in the field "id", but the key of the document is "7"`)
	require.Equal(t, deadletter.Report{Skipped: 1}, report)
	require.Len(t, w.letters(), 1)
	require.NoError(t, sender.Close(t.Context()))
}

// redact replaces the File of the world by one that keeps no documents.
func (w *world) redact(t *testing.T) {
	t.Helper()
	require.NoError(t, w.f.Close())
	f, err := deadletter.Open(w.dir, &deadletter.FileOptions{Redact: true})
	require.NoError(t, err)
	w.f = f
	t.Cleanup(func() { require.NoError(t, f.Close()) })
}

// wire is a transport that records requests.
type wire struct {
	srv *searchtest.Server

	mu   sync.Mutex // guards sent
	sent []string   // bodies of requests
}

// Do implements policy.Transporter.
func (w *wire) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		w.mu.Lock()
		w.sent = append(w.sent, string(body))
		w.mu.Unlock()
	}
	return w.srv.Do(req)
}

func (w *wire) bodies() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}
