package adding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/keys"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestKeysAreCheckedPerDocumentAtUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		var legal []string
		for _, key := range []string{"a", "Z", "0", "=", "-", "-_", "a_b-c=d", "a_", "9", strings.Repeat("x", 1024)} {
			legal = append(legal, key)
			r.Upload(sendertest.Hotel{ID: key})
		}
		for _, key := range []string{"", "_", "_a", " ", "a b", "a/b", "a+b", "a.b", "a'b", `a"b`, "a\\b", "é", "a\x00", "a\n", "\xff", "a:b", "日本", strings.Repeat("x", 1025), "#", "a%20"} {
			for name, add := range sendertest.AddingCalls(r, sendertest.Hotel{ID: key}) {
				err := add(sendertest.Within(t, time.Hour))
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
		require.NoError(t, r.Flush())
		assert.ElementsMatch(t, legal, r.Indexed(), "the service accepts the same keys")
	})
}

// catalog returns a service with a key field from its definition, and counts the requests for it.
func catalog(asked *int, keyField func(context.Context) (string, error)) *sendertest.Catalog {
	var mu sync.Mutex
	return &sendertest.Catalog{KeyField: func(ctx context.Context) (string, error) {
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

func TestWhereTheKeyComesFrom(t *testing.T) {
	id := func(context.Context) (string, error) { return "id", nil }
	sent := func(keys *[]string) events.Handlers[*twoIDs] {
		return events.Handlers[*twoIDs]{ActionAdded: func(_ context.Context, e *events.ActionAdded[*twoIDs]) error {
			*keys = append(*keys, e.Key)
			return nil
		}}
	}
	t.Run("the accessor before the tag and the definition", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen []string
			asked := 0
			s, err := bufferedsender.New(catalog(&asked, id), &bufferedsender.Options[*twoIDs]{Handlers: sent(&seen),
				Documents: bufferedsender.Documents[*twoIDs]{Key: func(d *twoIDs) string { return d.ID }},
			})
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, s)
			require.NoError(t, s.UploadDocuments(t.Context(), &twoIDs{"tag", "accessor"}))
			require.NoError(t, s.Close(t.Context()))
			assert.Equal(t, []string{"accessor"}, seen)
			assert.Zero(t, asked)
		})
	})
	t.Run("the tag before the definition", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var seen []string
			asked := 0
			s, err := bufferedsender.New(catalog(&asked, id), &bufferedsender.Options[*twoIDs]{Handlers: sent(&seen), Logger: sendertest.NoLog})
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, s)
			require.NoError(t, s.UploadDocuments(t.Context(), &twoIDs{"tag", "other"}))
			require.NoError(t, s.DeleteDocumentsByKey(t.Context(), "by-key"))
			s.Close(t.Context()) // waits until agree has replied for id
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
					require.NoError(t, srv.CreateIndex(sendertest.HotelIndex))
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
	t.Run("KeyField in the options saves the request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, err := bufferedsender.New[models.Document](&sendertest.Indexer{}, &bufferedsender.Options[models.Document]{Documents: bufferedsender.Documents[models.Document]{KeyField: "id"}})
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, s)
			require.NoError(t, s.UploadDocuments(t.Context(), models.Document{"id": "1"}))
			require.NoError(t, s.DeleteDocumentsByKey(t.Context(), "2"))
			require.NoError(t, s.Close(t.Context()))
		})
	})
}

// uploadOne uploads a document through a sender without a configured key field.
func uploadOne[T any](t *testing.T, srv *searchtest.Server, doc T) error {
	s, err := bufferedsender.New[T](sendertest.NewClient(t, srv), nil)
	require.NoError(t, err)
	sendertest.CloseAtEnd(t, s)
	return errors.Join(s.UploadDocuments(t.Context(), doc), s.TryIndexDocuments(models.MergeAction(doc)), s.Close(t.Context()))
}

func TestTheIndexDefinitionIsFetchedOnceAndAFailureIsNeverCached(t *testing.T) {
	type sender = *bufferedsender.BufferedSender[models.Document]
	start := func(t *testing.T, asked *int, keyField func(context.Context) (string, error)) sender {
		s, err := bufferedsender.New[models.Document](catalog(asked, keyField), nil)
		require.NoError(t, err)
		sendertest.CloseAtEnd(t, s)
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
			sendertest.RequireAccepted(t, err, 0)
			require.ErrorIs(t, err, trouble)
			require.ErrorIs(t, s.TryIndexDocuments(models.UploadAction(doc(1))), trouble)
			require.NoError(t, s.UploadDocuments(t.Context(), doc(1)))
			require.NoError(t, s.Flush(t.Context(), nil))
			assert.Equal(t, 3, asked)
			assert.EqualValues(t, 1, s.Stats().Completed)
		})
	})
	t.Run("cancelling the first caller does not affect the others", func(t *testing.T) {
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
			go func() { first <- s.UploadDocuments(sendertest.Within(t, time.Second), doc(1)) }()
			synctest.Wait()
			var others sync.WaitGroup
			for i := range 5 {
				others.Go(func() { assert.NoError(t, s.UploadDocuments(sendertest.Within(t, time.Minute), doc(2+i))) })
			}
			require.ErrorIs(t, <-first, context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(began), "ctx limits the request for the definition")
			others.Wait()
			require.NoError(t, s.Flush(t.Context(), nil))
			assert.EqualValues(t, 5, s.Stats().Completed)
		})
	})
	t.Run("a caller that waits for another's request may give up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			s := start(t, &asked, func(context.Context) (string, error) { time.Sleep(time.Minute); return "id", nil })
			began := time.Now()
			var first sync.WaitGroup
			first.Go(func() { assert.NoError(t, s.UploadDocuments(t.Context(), doc(1))) })
			synctest.Wait()
			require.ErrorIs(t, s.UploadDocuments(sendertest.Within(t, time.Second), doc(2)), context.DeadlineExceeded)
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
			require.NoError(t, s.Close(sendertest.Within(t, time.Hour)))
			assert.Zero(t, time.Since(began))
			adding.Wait()
		})
	})
	t.Run("through the real client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			s, err := bufferedsender.New[models.Document](sendertest.NewClient(t, srv), nil)
			require.NoError(t, err)
			sendertest.CloseAtEnd(t, s)
			require.ErrorContains(t, s.UploadDocuments(t.Context(), doc(1)), "hotels", "the index does not exist yet")
			require.NoError(t, srv.CreateIndex(sendertest.HotelIndex))
			require.NoError(t, s.UploadDocuments(t.Context(), doc(1)))
			require.NoError(t, s.Close(t.Context()))
			assert.EqualValues(t, 1, srv.DocumentCount("hotels"))
		})
	})
}

func TestADocumentTypeNeedsOneKeyFieldOfStrings(t *testing.T) {
	t.Run("no key field", func(t *testing.T) {
		type keyless struct{ Name string }
		s, err := bufferedsender.New[*keyless](&sendertest.Indexer{}, nil)
		if err == nil {
			err = s.UploadDocuments(t.Context(), &keyless{"x"})
			assert.NoError(t, s.Close(t.Context()))
		}
		require.ErrorContains(t, err, "the key field is not known")
		assert.ErrorContains(t, err, "keyless")
	})
	t.Run("two key fields", func(t *testing.T) {
		type twoKeys struct {
			First  string `json:"first" search:"key"`
			Second string `json:"second" search:"key"`
		}
		_, err := bufferedsender.New[*twoKeys](&sendertest.Indexer{}, nil)
		for _, text := range []string{"twoKeys", "First", "Second"} {
			require.ErrorContains(t, err, text)
		}
	})
	t.Run("a key that is not a string", func(t *testing.T) {
		type numbered struct {
			Number int `json:"number" search:"key"`
		}
		_, err := bufferedsender.New[*numbered](&sendertest.Indexer{}, nil)
		require.ErrorContains(t, err, "numbered")
		require.ErrorContains(t, err, "Number")
	})
	t.Run("the index names a field that the type does not have", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			type other struct {
				Code string `json:"code"`
			}
			srv := searchtest.NewServer(nil)
			require.NoError(t, srv.CreateIndex(sendertest.HotelIndex))
			err := uploadOne(t, srv, &other{"x"})
			require.ErrorContains(t, err, "other")
			require.ErrorContains(t, err, `"id"`)
		})
	})
	t.Run("a document without its key", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := searchtest.NewServer(nil)
			require.NoError(t, srv.CreateIndex(sendertest.HotelIndex))
			for _, doc := range []models.Document{{"name": "x"}, {"id": 5}, {"id": nil}, nil} {
				require.Error(t, uploadOne(t, srv, doc), "%v", doc)
			}
			var nothing *sendertest.Hotel
			require.Error(t, uploadOne(t, srv, nothing))
			assert.Zero(t, srv.DocumentCount("hotels"))
		})
	})
}

func TestAnIllegalKeyIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sendertest.New(t, nil)
		for key, rule := range map[string]string{"": "empty", "a b": "letters", "_x": "underscore", strings.Repeat("k", 1025): "1024"} {
			err := r.Sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "earlier-0"}, sendertest.Hotel{ID: "earlier-1"}, sendertest.Hotel{ID: key}, sendertest.Hotel{ID: "later"})
			var refusal *bufferedsender.AddError
			var illegal *keys.InvalidKeyError
			require.ErrorAs(t, err, &refusal)
			assert.Equal(t, 2, refusal.Accepted, "the position")
			assert.Equal(t, key, refusal.Key)
			require.ErrorAs(t, err, &illegal)
			assert.Contains(t, illegal.Rule, rule)
			assert.ErrorContains(t, err, "2")
		}
		require.NoError(t, r.Close())
		assert.Equal(t, []string{"earlier-0", "earlier-1"}, r.Indexed())
	})
}

func TestAKeyOfTheAccessorThatTheDocumentContradictsIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := &sendertest.Options{Documents: bufferedsender.Documents[sendertest.Hotel]{KeyField: "id", Key: func(d sendertest.Hotel) string { return strings.TrimPrefix(d.ID, "wrong-") }}}
		sender, err := bufferedsender.New(&sendertest.Indexer{}, options)
		require.NoError(t, err)
		require.NoError(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "a"}))
		require.ErrorContains(t, sender.UploadDocuments(t.Context(), sendertest.Hotel{ID: "wrong-b"}), "Documents.Key")
		require.NoError(t, sender.DeleteDocuments(t.Context(), sendertest.Hotel{ID: "wrong-c"}), "the delete is sent with the accessor's key")
		require.NoError(t, sender.Close(t.Context()))
	})
}
