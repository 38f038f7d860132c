package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/rebuild"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// world is a service with the index hotels-1 and an alias, and the source: the number of the last change of each key.
type world struct {
	t      *testing.T
	srv    *searchtest.Server
	client *search.IndexClient

	mu        sync.Mutex
	truth     map[string]int64
	confirmed map[string]int64
	changes   int64
	swaps     int // how often the alias was moved to the new index
}

func definition(t *testing.T, name, analyzer string) (x models.SearchIndex) {
	t.Helper()
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"name":%q,"fields":[{"name":"id","type":"Edm.String","key":true},
		{"name":"name","type":"Edm.String","searchable":true,"analyzer":%q},{"name":"n","type":"Edm.Int64"}]}`, name, analyzer), &x))
	return x
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, srv: searchtest.NewServer(nil), truth: map[string]int64{}, confirmed: map[string]int64{}}
	t.Cleanup(func() { assert.NoError(t, w.srv.Close()) })
	var err error
	w.client, err = search.NewIndexClientWithKey(w.srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: w.srv}})
	require.NoError(t, err)
	_, err = w.client.CreateIndex(t.Context(), definition(t, "hotels-1", "standard.lucene"), nil)
	require.NoError(t, err)
	_, err = w.client.CreateAlias(t.Context(), models.Alias{Name: "hotels", Indexes: []string{"hotels-1"}}, nil)
	require.NoError(t, err)
	w.srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if req.Method != http.MethodPut || !strings.Contains(req.URL.Path, "alias") {
			return next(req)
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(strings.NewReader(string(body)))
		resp, err := next(req)
		if err == nil && resp.StatusCode < 300 && strings.Contains(string(body), "hotels-2") {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.swaps++
			has := w.indexed("hotels-2")
			for key, n := range w.confirmed {
				assert.GreaterOrEqual(t, has[key], n, "%s was confirmed, and is missing when the alias moves", key)
			}
		}
		return resp, err
	})
	return w
}

// indexed returns the change in each document of an index.
func (w *world) indexed(index string) map[string]int64 {
	all := map[string]int64{}
	for key, doc := range w.srv.Documents(index) {
		var d struct {
			N int64 `json:"n"`
		}
		assert.NoError(w.t, json.Unmarshal(doc, &d))
		all[key] = d.N
	}
	return all
}

// read returns the source's state of keys.
func (w *world) read(keys []string) (all []models.RawAction) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		if n, ok := w.truth[key]; ok {
			all = append(all, upload(key, n))
		}
	}
	return all
}

func upload(key string, n int64) models.RawAction {
	return models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: fmt.Appendf(nil, `{"id":%q,"name":"hotel %s","n":%d}`, key, key, n)}
}

func (w *world) fill() rebuild.Fill {
	return rebuild.Fill{
		All: func(context.Context, string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				w.mu.Lock()
				keys := slices.Sorted(maps.Keys(w.truth))
				w.mu.Unlock()
				for _, a := range w.read(keys) {
					if !yield(a, nil) {
						return
					}
				}
			}
		},
		Keys: func(_ context.Context, keys []string) ([]models.RawAction, error) { return w.read(keys), nil },
	}
}

func (w *world) tap(store rebuild.Store, name, index string) *rebuild.Tap {
	w.t.Helper()
	tap, err := rebuild.NewTap(w.t.Context(), store, rebuild.TapOptions{
		Writer: name, Index: index, IdleValid: time.Second,
		Connect: func(index string) (rebuild.Indexer, error) { return w.client.Client(index) },
	})
	require.NoError(w.t, err)
	return tap
}

func (w *world) sender(indexer bufferedsender.Indexer, tap *rebuild.Tap) *bufferedsender.BufferedSender[models.Document] {
	o := bufferedsender.Options[models.Document]{Limits: bufferedsender.Limits{MaxInFlight: 3, MaxBatchActions: 20}, AutoFlushInterval: 20 * time.Millisecond, Logger: quiet}
	o.Documents.KeyField = "id"
	if tap != nil {
		o.Tap = tap
	}
	s, err := bufferedsender.New(indexer, &o)
	require.NoError(w.t, err)
	return s
}

var quiet = slog.New(slog.DiscardHandler)

// write changes keys with a prefix until ctx ends.
func (w *world) write(ctx context.Context, tap *rebuild.Tap, prefix string) {
	s := w.sender(tap.Indexer(), tap)
	random := rand.New(rand.NewPCG(1, uint64(len(prefix))))
	for ctx.Err() == nil {
		key := fmt.Sprintf("%s-%d", prefix, random.IntN(40))
		w.mu.Lock()
		w.changes++
		n := w.changes
		w.truth[key] = n
		w.mu.Unlock()
		a := upload(key, n)
		a.OnOutcome = func(o models.Outcome) {
			if assert.True(w.t, o.Completed()) {
				w.mu.Lock()
				w.confirmed[key] = n
				w.mu.Unlock()
			}
		}
		if !assert.NoError(w.t, s.Raw().Add(context.Background(), a)) {
			break
		}
		time.Sleep(3 * time.Millisecond) // its pace
	}
	assert.NoError(w.t, s.Close(context.Background()))
}

func TestARebuildByAClusterMissesNothing(t *testing.T) {
	w := newWorld(t)
	client, opts := newCluster(t, servers.Cluster(t)), Options{Name: newName(), Replicas: 1, replicaTimeout: 20 * time.Second}
	open := func() *Store { return newStore(t, client, opts) }
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var writers sync.WaitGroup
	for _, name := range []string{"a", "bb"} {
		tap := w.tap(open(), name, "hotels-1")
		writers.Go(func() { w.write(ctx, tap, name) })
	}
	store := open()
	var made *bufferedsender.BufferedSender[models.Document]
	report, err := rebuild.Run(t.Context(), store, w.client, definition(t, "hotels-2", "en.lucene"), w.fill(), rebuild.Options{
		Alias: "hotels", Writers: []string{"a", "bb"}, Settle: time.Second, Logger: quiet,
		Sender: func(index string) (rebuild.Sender, error) {
			c, err := w.client.Client(index)
			if err != nil {
				return nil, err
			}
			made = w.sender(c, nil)
			return made.Raw(), nil
		},
	})
	require.NoError(t, err)
	require.NoError(t, made.Close(t.Context()))
	stop()
	writers.Wait()
	assert.Equal(t, 1, w.swaps)
	assert.Positive(t, report.Replayed)
	assert.Equal(t, "hotels-2", report.Index)
	assert.Equal(t, w.truth, w.indexed("hotels-2"))
	x, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, rebuild.PhaseIdle, x.Phase)
	left, err := store.Marked(t.Context(), x.Round, 10)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, rebuild.DropOld(t.Context(), store, w.client, &rebuild.DropOptions{Now: true}))
}

func TestATapOfBeforeALossGoesByTheRecordThatWasMadeAfterIt(t *testing.T) {
	w, client := newWorld(t), newClient(t, servers.Redis(t))
	s := newStore(t, client, Options{})
	tap := w.tap(s, "a", "hotels-1")
	tap.Indexer()
	x, err := s.Load(t.Context())
	require.NoError(t, err)
	x.Phase, x.Epoch, x.Round = rebuild.PhaseMarking, 1, 1
	for range 20 { // during a rebuild
		x, err = s.Swap(t.Context(), x)
		require.NoError(t, err)
	}
	before := func() error { return tap.Before(t.Context(), []string{"k"}) }
	// Outside a rebuild a tap reads the record again after a second.
	testkit.Eventually(t, func() bool {
		require.NoError(t, before())
		keys, err := s.Marked(t.Context(), 1, 10)
		require.NoError(t, err)
		return len(keys) == 1
	})
	require.NoError(t, client.Del(t.Context(), s.keys...).Err())
	require.ErrorContains(t, before(), "the record was deleted")
	w.tap(s, "b", "hotels-0")
	require.NoError(t, before())
	assert.Equal(t, "hotels-0", tap.Index())
}
