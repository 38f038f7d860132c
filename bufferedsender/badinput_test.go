package bufferedsender_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBadInputToNew(t *testing.T) {
	t.Run("a nil client", func(t *testing.T) {
		for name, indexer := range map[string]bufferedsender.Indexer{"nil": nil, "a nil *search.Client": (*search.Client)(nil)} {
			s, err := bufferedsender.New[hotel](indexer, nil)
			require.Error(t, err, name)
			assert.Nil(t, s)
		}
	})
	t.Run("every bad option at once, and nothing is started", func(t *testing.T) {
		_, err := bufferedsender.New(nil, &hotelOptions{
			Limits: bufferedsender.Limits{MaxBatchActions: -1, MaxBatchBytes: -2, MaxBufferedActions: -3, MaxBufferedBytes: -4, MaxInFlight: -5},

			Retry: retry.Options{Jitter: 7},
		})
		require.Error(t, err)
		for _, option := range []string{"MaxBatchActions", "MaxBatchBytes", "MaxBufferedActions", "MaxBufferedBytes", "MaxInFlight", "Jitter"} {
			assert.ErrorContains(t, err, option)
		}
		assert.ErrorContains(t, err, "nil")
	})
	t.Run("more actions than the service takes", func(t *testing.T) {
		_, err := bufferedsender.New(&fakeIndexer{agree}, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchActions: 32_001}})
		require.ErrorContains(t, err, "32000")
	})
	t.Run("a batch too small for any document", func(t *testing.T) {
		_, err := bufferedsender.New(&fakeIndexer{agree}, &hotelOptions{Limits: bufferedsender.Limits{MaxBatchBytes: 5}})
		require.ErrorContains(t, err, "MaxBatchBytes")
	})
}

func TestBadInputKeyField(t *testing.T) {
	t.Run("no key field", func(t *testing.T) {
		type keyless struct{ Name string }
		s, err := bufferedsender.New[keyless](&fakeIndexer{agree}, nil)
		if err == nil {
			err = s.UploadDocuments(t.Context(), keyless{"x"})
			assert.NoError(t, s.Close(t.Context()))
		}
		require.ErrorIs(t, err, bufferedsender.ErrNoKeyField)
		assert.ErrorContains(t, err, "keyless")
	})
	t.Run("two key fields", func(t *testing.T) {
		type twoKeys struct {
			First  string `json:"first" search:"key"`
			Second string `json:"second" search:"key"`
		}
		_, err := bufferedsender.New[twoKeys](&fakeIndexer{agree}, nil)
		for _, text := range []string{"twoKeys", "First", "Second"} {
			require.ErrorContains(t, err, text)
		}
	})
	t.Run("a key that is not a string", func(t *testing.T) {
		type numbered struct {
			Number int `json:"number" search:"key"`
		}
		_, err := bufferedsender.New[numbered](&fakeIndexer{agree}, nil)
		require.ErrorContains(t, err, "numbered")
		require.ErrorContains(t, err, "Number")
	})
	t.Run("the index names a field that the type does not have", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			type other struct {
				Code string `json:"code"`
			}
			srv := searchtest.NewServer(nil)
			require.NoError(t, srv.CreateIndex(hotelIndex))
			err := uploadOne(t, srv, other{"x"})
			require.ErrorContains(t, err, "other")
			require.ErrorContains(t, err, `"id"`)
		})
	})
	t.Run("a document without its key", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			require.NoError(t, srv.CreateIndex(hotelIndex))
			for _, doc := range []models.Document{{"name": "x"}, {"id": 5}, {"id": nil}, nil} {
				require.Error(t, uploadOne(t, srv, doc), "%v", doc)
			}
			var nothing *hotel
			require.Error(t, uploadOne(t, srv, nothing))
			assert.Zero(t, srv.DocumentCount("hotels"))
		})
	})
}

func TestBadInputIllegalKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for key, rule := range map[string]string{"": "empty", "a b": "letters", "_x": "underscore", strings.Repeat("k", 1025): "1024"} {
			err := r.sender.UploadDocuments(t.Context(), hotel{ID: "earlier-0"}, hotel{ID: "earlier-1"}, hotel{ID: key}, hotel{ID: "later"})
			var refusal *bufferedsender.AddError
			var illegal *keys.InvalidKeyError
			require.ErrorAs(t, err, &refusal)
			assert.Equal(t, 2, refusal.Accepted, "the position")
			assert.Equal(t, key, refusal.Key)
			require.ErrorAs(t, err, &illegal)
			assert.Contains(t, illegal.Rule, rule)
			assert.ErrorContains(t, err, "2")
		}
		require.NoError(t, r.close())
		assert.Equal(t, []string{"earlier-0", "earlier-1"}, r.indexed())
	})
}

func TestBadInputDocumentThatCannotBeEncoded(t *testing.T) {
	type scored struct {
		ID    string         `json:"id" search:"key"`
		Score float64        `json:"score"`
		Extra map[string]any `json:"extra,omitempty"`
	}
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		s, err := bufferedsender.New(newClient(t, srv), &bufferedsender.Options[scored]{Limits: bufferedsender.Limits{MaxBatchBytes: 1000}})
		require.NoError(t, err)
		closeAtLast(t, s)
		for field, bad := range map[string]scored{
			"score":      {ID: "1", Score: math.NaN()},
			"score ":     {ID: "1", Score: math.Inf(-1)},
			"extra.deep": {ID: "1", Extra: map[string]any{"deep": math.Inf(1)}},
			"extra.fn":   {ID: "1", Extra: map[string]any{"fn": func() {}}},
		} {
			err := s.UploadDocuments(t.Context(), bad)
			refused(t, err, 0)
			var encode *models.EncodeError
			require.ErrorAs(t, err, &encode, field)
			assert.Equal(t, strings.TrimSpace(field), encode.Field)
		}
		require.ErrorIs(t, s.UploadDocuments(t.Context(), scored{ID: "1", Extra: map[string]any{"x": strings.Repeat("x", 1000)}}), bufferedsender.ErrDocumentTooLarge)
		require.NoError(t, s.Close(t.Context()))
		assert.Empty(t, srv.Requests())
		assert.Zero(t, s.Stats().Accepted)
	})
	t.Run("an action of no type, and an unknown one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			for _, typ := range []models.ActionType{"", "upsert", "Upload"} {
				err := r.sender.IndexDocuments(t.Context(), hotelAction{Type: typ, Document: hotel{ID: "1"}})
				refused(t, err, 0)
			}
			require.NoError(t, r.close())
			assert.Empty(t, r.requests())
		})
	})
	t.Run("an error in a sequence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			trouble := errors.New("row 3 is damaged")
			err := r.sender.IndexSeq(t.Context(), func(yield func(hotelAction, error) bool) {
				for i := range 5 {
					var err error
					if i == 3 {
						err = trouble
					}
					if !yield(models.UploadAction(hotel{ID: fmt.Sprint(i)}), err) {
						return
					}
				}
				assert.Fail(t, "the sequence is stopped at the error")
			})
			refused(t, err, 3)
			require.ErrorIs(t, err, trouble)
			require.NoError(t, r.close())
			assert.Equal(t, []string{"0", "1", "2"}, r.indexed())
		})
	})
}

func TestBadInputAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.faults(refuseKeys("bad"))
		r.upload(hotel{ID: "bad"})
		closed := r.close()
		require.Equal(t, 1, closeError(t, closed).Failed)
		for name, add := range r.addingCalls(hotel{ID: "late"}) {
			assert.ErrorIs(t, add(t.Context()), bufferedsender.ErrClosed, name)
		}
		assert.Same(t, closed, r.sender.Flush(t.Context()), "the stored Close result")
	})
}

func TestBadInputCallbackThatBlocksForEver(t *testing.T) {
	for name := range fiveHandlers(nil) {
		if name == "ActionAdded" {
			continue // it gets the caller's ctx and holds nobody else up, see G12
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				handlers := fiveHandlers(func(context.Context) error { <-release; return nil })[name]
				sender, err := bufferedsender.New[hotel](&fakeIndexer{func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					r, err := agree(ctx, body)
					if err == nil && len(r.Results) > 1 {
						r.Results[1] = models.IndexingResult{Key: r.Results[1].Key, StatusCode: 400}
					}
					return r, err
				}}, &hotelOptions{Handlers: handlers, Logger: silent})
				require.NoError(t, err)
				closeAtLast(t, sender)
				require.NoError(t, sender.UploadDocuments(t.Context(), hotels("k", 2)...))
				began := time.Now()
				require.ErrorIs(t, sender.Flush(within(t, time.Second)), context.DeadlineExceeded)
				err = sender.Close(within(t, time.Second))
				assert.True(t, closeError(t, err).CallbackStuck)
				assert.LessOrEqual(t, time.Since(began), 5*time.Second)
				close(release)
			})
		})
	}
}

// That panics and calls to Flush in callbacks do no harm, see G11; for replies
// that are rubbish, G10.

func TestBadInputEndpoint(t *testing.T) {
	const attempts = 1 + 2
	quick := retry.Options{MaxRetries: 2, Delay: time.Millisecond}
	outcome := func(t *testing.T, client *search.Client, err error) (*bufferedsender.ActionError, bufferedsender.Stats) {
		t.Helper()
		require.NoError(t, err)
		var failed []*bufferedsender.ActionError
		s, err := bufferedsender.New(client, &hotelOptions{Outage: bufferedsender.FailSoon{}, Retry: quick, Logger: silent, Handlers: hotelHandlers{
			ActionFailed: func(_ context.Context, e *events.ActionFailed[hotel]) {
				var failure *bufferedsender.ActionError
				if assert.ErrorAs(t, e.Err, &failure) {
					failed = append(failed, failure)
				}
			},
		}})
		require.NoError(t, err)
		closeAtLast(t, s)
		require.NoError(t, s.UploadDocuments(context.Background(), hotel{ID: "1"}))
		require.Equal(t, 1, closeError(t, s.Close(within(t, time.Minute))).Failed)
		require.Len(t, failed, 1)
		return failed[0], s.Stats()
	}
	dial := func(url, index, key string, transport *http.Client) (*search.Client, error) {
		return search.NewClientWithKey(url, index, azcore.NewKeyCredential(key), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}})
	}
	plain := searchtest.NewServer(nil)
	require.NoError(t, plain.CreateIndex(hotelIndex))
	require.NoError(t, plain.Listen("127.0.0.1:0"))
	defer plain.Close()
	own := &http.Client{Transport: &http.Transport{}}
	defer own.CloseIdleConnections()
	t.Run("where nobody listens", func(t *testing.T) {
		gone := searchtest.NewServer(nil)
		require.NoError(t, gone.Listen("127.0.0.1:0"))
		url := gone.URL()
		require.NoError(t, gone.Close())
		client, err := dial(url, "hotels", searchtest.AdminKey, own)
		failure, s := outcome(t, client, err)
		assert.EqualValues(t, attempts, s.Requests)
		assert.ErrorContains(t, failure, "refused")
		assert.False(t, failure.Unknown, "nothing has left this machine")
	})
	t.Run("that is no service", func(t *testing.T) {
		client, err := dial(plain.URL()+"/nowhere", "hotels", searchtest.AdminKey, own)
		if err != nil {
			return // one clear error already here
		}
		failure, s := outcome(t, client, err)
		assert.LessOrEqual(t, s.Requests, int64(attempts))
		assert.NotEmpty(t, failure.Error())
	})
	t.Run("whose certificate nobody trusts", func(t *testing.T) {
		secure := searchtest.NewServer(nil)
		require.NoError(t, secure.ListenTLS("127.0.0.1:0"))
		defer secure.Close()
		transport := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
		defer transport.CloseIdleConnections()
		client, err := dial(secure.URL(), "hotels", searchtest.AdminKey, transport)
		failure, s := outcome(t, client, err)
		assert.LessOrEqual(t, s.Requests, int64(attempts))
		assert.ErrorContains(t, failure, "certificate")
		assert.Empty(t, secure.Requests())
	})
	t.Run("without the index", func(t *testing.T) {
		client, err := dial(plain.URL(), "motels", searchtest.AdminKey, own)
		failure, s := outcome(t, client, err)
		assert.EqualValues(t, 1, s.Requests)
		assert.Equal(t, 404, failure.Status)
		assert.ErrorContains(t, failure, "motels")
		assert.ErrorIs(t, failure, search.ErrIndexNotFound)
	})
	for key, status := range map[string]int{"wrong": 403, searchtest.QueryKey: 403} {
		t.Run("with the key "+key, func(t *testing.T) {
			client, err := dial(plain.URL(), "hotels", key, own)
			failure, s := outcome(t, client, err)
			assert.EqualValues(t, 1, s.Requests)
			assert.Contains(t, []int{401, status}, failure.Status)
			assert.ErrorContains(t, failure, "key")
			assert.NotContains(t, failure.Error(), "searchtest-query-key")
			var refused *search.Error
			require.ErrorAs(t, failure, &refused)
			assert.NotEmpty(t, refused.Hint)
		})
	}
}
