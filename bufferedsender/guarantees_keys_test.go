package bufferedsender_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestG15KeysAreCheckedPerDocumentAtUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		var legal []string
		for _, key := range []string{"a", "Z", "0", "=", "-", "-_", "a_b-c=d", "a_", "9", strings.Repeat("x", 1024)} {
			legal = append(legal, key)
			r.upload(hotel{ID: key})
		}
		for _, key := range []string{"", "_", "_a", " ", "a b", "a/b", "a+b", "a.b", "a'b", `a"b`, "a\\b", "é", "a\x00", "a\n", "\xff", "a:b", "日本", strings.Repeat("x", 1025), "#", "a%20"} {
			for name, add := range r.addingCalls(hotel{ID: key}) {
				err := add(within(t, time.Hour))
				var refusal *bufferedsender.AddError
				var illegal *keys.InvalidKeyError
				require.ErrorAs(t, err, &refusal, "%s of %q", name, key)
				require.ErrorAs(t, err, &illegal, "%s of %q", name, key)
				assert.Equal(t, key, refusal.Key)
				assert.Equal(t, key, illegal.Key)
				assert.NotEmpty(t, illegal.Rule)
				assert.ErrorContains(t, err, illegal.Rule)
			}
		}
		require.NoError(t, r.flush())
		assert.ElementsMatch(t, legal, r.indexed(), "and the service agrees")
	})
}

// catalog is a service whose index definition says keyField. It counts how
// often it is asked.
func catalog(asked *int, keyField func(context.Context) (string, error)) *fakeCatalog {
	var mu sync.Mutex
	return &fakeCatalog{fakeIndexer{agree}, func(ctx context.Context) (string, error) {
		mu.Lock()
		*asked++
		mu.Unlock()
		return keyField(ctx)
	}}
}

type twoIDs struct {
	Tagged string `json:"tagged" search:"key"`
	ID     string `json:"id"`
}

func TestG15WhereTheKeyComesFrom(t *testing.T) {
	id := func(context.Context) (string, error) { return "id", nil }
	sent := func(keys *[]string) events.Handlers[twoIDs] {
		return events.Handlers[twoIDs]{ActionAdded: func(_ context.Context, e *events.ActionAdded[twoIDs]) error {
			*keys = append(*keys, e.Key)
			return nil
		}}
	}
	t.Run("the accessor before the tag and the definition", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen []string
			asked := 0
			s, err := bufferedsender.New(catalog(&asked, id), &bufferedsender.Options[twoIDs]{Handlers: sent(&seen),
				Documents: bufferedsender.Documents[twoIDs]{Key: func(d twoIDs) string { return d.ID }},
			})
			require.NoError(t, err)
			closeAtLast(t, s)
			require.NoError(t, s.UploadDocuments(t.Context(), twoIDs{"tag", "accessor"}))
			require.NoError(t, s.Close(t.Context()))
			assert.Equal(t, []string{"accessor"}, seen)
			assert.Zero(t, asked)
		})
	})
	t.Run("the tag before the definition", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen []string
			asked := 0
			s, err := bufferedsender.New(catalog(&asked, id), &bufferedsender.Options[twoIDs]{Handlers: sent(&seen), Logger: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			closeAtLast(t, s)
			require.NoError(t, s.UploadDocuments(t.Context(), twoIDs{"tag", "other"}))
			require.NoError(t, s.DeleteDocumentsByKey(t.Context(), "by-key"))
			s.Close(t.Context()) // agree answers about id
			assert.Equal(t, []string{"tag", "by-key"}, seen)
			assert.Zero(t, asked)
		})
	})
	t.Run("the definition, for documents without a tag", func(t *testing.T) {
		for name, upload := range map[string]func(*testing.T, *searchtest.Server) error{
			"structs": func(t *testing.T, srv *searchtest.Server) error {
				type untagged struct {
					ID string `json:"id"`
				}
				return uploadOne(t, srv, untagged{"1"})
			},
			"pointers": func(t *testing.T, srv *searchtest.Server) error {
				type untagged struct {
					ID string `json:"id"`
				}
				return uploadOne(t, srv, &untagged{"1"})
			},
			"maps":      func(t *testing.T, srv *searchtest.Server) error { return uploadOne(t, srv, map[string]any{"id": "1"}) },
			"Documents": func(t *testing.T, srv *searchtest.Server) error { return uploadOne(t, srv, models.Document{"id": "1"}) },
			"raw JSON": func(t *testing.T, srv *searchtest.Server) error {
				return uploadOne(t, srv, json.RawMessage(`{"name":"x","id":"1"}`))
			},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := searchtest.NewServer(nil)
					require.NoError(t, srv.CreateIndex(hotelIndex))
					require.NoError(t, upload(t, srv))
					assert.EqualValues(t, 1, srv.DocumentCount("hotels"))
					asked := 0
					for _, x := range srv.Requests() {
						if x.Operation == searchtest.OpGetIndex {
							asked++
						}
					}
					assert.Equal(t, 1, asked)
				})
			})
		}
	})
	t.Run("the name in the options spares the question", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, err := bufferedsender.New[models.Document](&fakeIndexer{agree}, &bufferedsender.Options[models.Document]{Documents: bufferedsender.Documents[models.Document]{KeyField: "id"}})
			require.NoError(t, err)
			closeAtLast(t, s)
			require.NoError(t, s.UploadDocuments(t.Context(), models.Document{"id": "1"}))
			require.NoError(t, s.DeleteDocumentsByKey(t.Context(), "2"))
			require.NoError(t, s.Close(t.Context()))
		})
	})
}

// uploadOne uploads a document through a sender that knows no key field.
func uploadOne[T any](t *testing.T, srv *searchtest.Server, doc T) error {
	s, err := bufferedsender.New[T](newClient(t, srv), nil)
	require.NoError(t, err)
	closeAtLast(t, s)
	return errors.Join(s.UploadDocuments(t.Context(), doc), s.TryIndexDocuments(models.MergeAction(doc)), s.Close(t.Context()))
}

func TestG15DefinitionIsFetchedOnceAndFailureIsNeverCached(t *testing.T) {
	type sender = *bufferedsender.BufferedSender[models.Document]
	start := func(t *testing.T, asked *int, keyField func(context.Context) (string, error)) sender {
		s, err := bufferedsender.New[models.Document](catalog(asked, keyField), nil)
		require.NoError(t, err)
		closeAtLast(t, s)
		t.Cleanup(func() { assert.NoError(t, s.Close(context.Background())) })
		return s
	}
	doc := func(i int) models.Document { return models.Document{"id": fmt.Sprint(i)} }
	t.Run("once for any number of callers at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			s := start(t, &asked, func(context.Context) (string, error) { time.Sleep(time.Second); return "id", nil })
			assert.Zero(t, asked, "New makes no request")
			var callers sync.WaitGroup
			for i := range 50 {
				callers.Go(func() { assert.NoError(t, s.UploadDocuments(t.Context(), doc(i))) })
			}
			callers.Wait()
			require.NoError(t, s.UploadDocuments(t.Context(), doc(0)))
			assert.Equal(t, 1, asked)
		})
	})
	t.Run("a failure is returned to the caller and tried again by the next", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			asked, trouble := 0, errors.New("no such host")
			s := start(t, &asked, func(context.Context) (string, error) {
				if asked < 3 {
					return "", trouble
				}
				return "id", nil
			})
			err := s.UploadDocuments(t.Context(), doc(1))
			refused(t, err, 0)
			require.ErrorIs(t, err, trouble)
			require.ErrorIs(t, s.TryIndexDocuments(models.UploadAction(doc(1))), trouble)
			require.NoError(t, s.UploadDocuments(t.Context(), doc(1)))
			require.NoError(t, s.Flush(t.Context()))
			assert.Equal(t, 3, asked)
			assert.EqualValues(t, 1, s.Stats().Completed)
		})
	})
	t.Run("a first caller who is cancelled does not poison the others", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			s := start(t, &asked, func(ctx context.Context) (string, error) {
				select {
				case <-time.After(10 * time.Second):
					return "id", nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			})
			began := time.Now()
			first := make(chan error, 1)
			go func() { first <- s.UploadDocuments(within(t, time.Second), doc(1)) }()
			synctest.Wait()
			var others sync.WaitGroup
			for i := range 5 {
				others.Go(func() { assert.NoError(t, s.UploadDocuments(within(t, time.Minute), doc(2+i))) })
			}
			require.ErrorIs(t, <-first, context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(began), "ctx bounds the question")
			others.Wait()
			require.NoError(t, s.Flush(t.Context()))
			assert.EqualValues(t, 5, s.Stats().Completed)
		})
	})
	t.Run("one who waits for another's question may give up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			s := start(t, &asked, func(context.Context) (string, error) { time.Sleep(time.Minute); return "id", nil })
			began := time.Now()
			var first sync.WaitGroup
			first.Go(func() { assert.NoError(t, s.UploadDocuments(t.Context(), doc(1))) })
			synctest.Wait()
			require.ErrorIs(t, s.UploadDocuments(within(t, time.Second), doc(2)), context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(began))
			first.Wait()
		})
	})
	t.Run("Close does not wait for it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			s := start(t, &asked, func(context.Context) (string, error) { time.Sleep(time.Minute); return "id", nil })
			began := time.Now()
			var adding sync.WaitGroup
			adding.Go(func() { assert.ErrorIs(t, s.UploadDocuments(t.Context(), doc(1)), bufferedsender.ErrClosed) })
			synctest.Wait()
			require.NoError(t, s.Close(within(t, time.Hour)))
			assert.Zero(t, time.Since(began))
			adding.Wait()
		})
	})
	t.Run("through the real client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			s, err := bufferedsender.New[models.Document](newClient(t, srv), nil)
			require.NoError(t, err)
			closeAtLast(t, s)
			require.ErrorContains(t, s.UploadDocuments(t.Context(), doc(1)), "hotels", "there is no such index yet")
			require.NoError(t, srv.CreateIndex(hotelIndex))
			require.NoError(t, s.UploadDocuments(t.Context(), doc(1)))
			require.NoError(t, s.Close(t.Context()))
			assert.EqualValues(t, 1, srv.DocumentCount("hotels"))
		})
	})
}
