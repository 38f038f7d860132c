package rebuild

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
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const (
	oldIndex, newIndex, aliasName = "hotels-1", "hotels-2", "hotels"

	fields = `"fields":[{"name":"id","type":"Edm.String","key":true},{"name":"name","type":"Edm.String","searchable":true,"analyzer":%q},{"name":"n","type":"Edm.Int64","filterable":true}]`
)

func definition(t testing.TB, name, analyzer string) (x models.SearchIndex) {
	t.Helper()
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"name":%q,`+fields+`}`, name, analyzer), &x))
	return x
}

// next returns a definition that needs a new index, because of another analyzer.
func next(t testing.TB) models.SearchIndex { return definition(t, newIndex, "en.lucene") }

// world is a service with an index and an alias, and the source: the number of the last change of each key. Tests
// compare the index with it.
type world struct {
	t      testing.TB
	srv    *searchtest.Server
	client *search.IndexClient // never dead
	store  Store
	pace   int // average milliseconds between two writes of a writer

	mu        sync.Mutex
	truth     map[string]int64 // existing documents
	changes   int64
	deleted   map[string]int64 // last deletion of a key
	confirmed map[string]int64 // last confirmed change of a key, negative for a deletion
	failed    []models.Outcome
	swaps     int  // how often the alias was moved to the new index
	step      Step // last step of Run
	stirredAt time.Time
	stirred   chan struct{} // closed by the next stir
}

func newWorld(t testing.TB, documents int) *world {
	t.Helper()
	w := &world{t: t, srv: searchtest.NewServer(nil), store: NewMemory(), pace: 30, truth: map[string]int64{}, confirmed: map[string]int64{}, deleted: map[string]int64{}, stirredAt: time.Now(), stirred: make(chan struct{})}
	t.Cleanup(func() { assert.NoError(t, w.srv.Close()) })
	w.client = w.newClient(w.srv)
	_, err := w.client.CreateIndex(t.Context(), definition(t, oldIndex, "standard.lucene"), nil)
	require.NoError(t, err)
	_, err = w.client.CreateAlias(t.Context(), models.Alias{Name: aliasName, Indexes: []string{oldIndex}}, nil)
	require.NoError(t, err)
	docs, err := w.client.Client(oldIndex)
	require.NoError(t, err)
	var batch []models.Document
	for i := range documents {
		key := fmt.Sprintf("k%03d", i)
		w.changes++
		w.truth[key] = w.changes
		batch = append(batch, models.Document{"id": key, "name": "hotel " + key, "n": w.changes})
	}
	if len(batch) > 0 {
		_, err = search.UploadDocuments(t.Context(), docs, batch, nil)
		require.NoError(t, err)
	}
	w.srv.Intercept(w.intercept)
	return w
}

func (w *world) newClient(transport interface {
	Do(*http.Request) (*http.Response, error)
}) *search.IndexClient {
	c, err := search.NewIndexClientWithKey(w.srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: transport}})
	require.NoError(w.t, err)
	return c
}

func document(key string, n int64) json.RawMessage {
	return fmt.Appendf(nil, `{"id":%q,"name":"hotel %s","n":%d}`, key, key, n)
}

// aliasIn returns the alias that a request writes; ok is false for other requests. The request can still be sent.
func aliasIn(req *http.Request) (alias models.Alias, ok bool, err error) {
	if req.Method != http.MethodPut || !strings.Contains(req.URL.Path, "alias") {
		return alias, false, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return alias, false, err
	}
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	return alias, true, json.Unmarshal(body, &alias)
}

// intercept sees each request to the service.
func (w *world) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	alias, ok, err := aliasIn(req)
	if err != nil {
		return nil, err
	}
	if ok {
		resp, err := next(req)
		if err == nil && resp.StatusCode < 300 && slices.Contains(alias.Indexes, newIndex) {
			w.checkConfirmed()
		}
		return resp, err
	}
	return next(req)
}

// indexed returns the change in each document of an index.
func (w *world) indexed(index string) map[string]int64 {
	all := map[string]int64{}
	for key, doc := range w.srv.Documents(index) {
		all[key] = w.number(doc)
	}
	return all
}

// number returns the change in a document, 0 if it has none.
func (w *world) number(doc json.RawMessage) int64 {
	var d struct {
		N int64 `json:"n"`
	}
	if len(doc) > 0 {
		w.noError(json.Unmarshal(doc, &d))
	}
	return d.N
}

func (w *world) noError(err error) { assert.NoError(w.t, err) }

// checkConfirmed checks the promise: the new index has every confirmed change, or a newer one.
func (w *world) checkConfirmed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.swaps++
	has := w.indexed(newIndex)
	for key, n := range w.confirmed {
		got, there := has[key]
		if n > 0 {
			assert.True(w.t, there && got >= n || !there && w.deleted[key] > n, "%s was written as %d, the new index has %d (%v)", key, n, got, there)
		} else {
			assert.True(w.t, !there || got > -n, "%s was deleted by %d, the new index has %d", key, -n, got)
		}
	}
}

// fill is the source as seen by Run.
func (w *world) fill() Fill {
	return Fill{
		All: func(_ context.Context, after string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				w.mu.Lock()
				keys := slices.Sorted(maps.Keys(w.truth))
				w.mu.Unlock()
				for _, key := range keys {
					if key <= after {
						continue
					}
					for _, a := range w.read(key) {
						if !yield(a, nil) {
							return
						}
					}
				}
			}
		},
		Keys: func(_ context.Context, keys []string) ([]models.RawAction, error) { return w.read(keys...), nil },
	}
}

func (w *world) read(keys ...string) (all []models.RawAction) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		if n, ok := w.truth[key]; ok {
			all = append(all, models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document(key, n)})
		}
	}
	return all
}

// change changes a key in the source by an action of any type and returns the action.
func (w *world) change(key string, kind models.ActionType) models.RawAction {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes++
	n := w.changes
	a := models.RawAction{Key: key, Type: kind, Document: fmt.Appendf(nil, `{"id":%q,"n":%d}`, key, n)}
	if _, there := w.truth[key]; !there && kind == models.ActionTypeMerge || kind == models.ActionTypeUpload {
		a.Type, a.Document = models.ActionTypeUpload, document(key, n)
	}
	w.truth[key] = n
	if kind == models.ActionTypeDelete {
		a.Document = nil
		delete(w.truth, key)
		w.deleted[key] = n
		n = -n
	}
	a.OnOutcome = func(o models.Outcome) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if o.Completed() {
			w.confirmed[key] = n
		} else {
			w.failed = append(w.failed, o)
		}
	}
	return a
}

// writer is a program that writes through a tapped sender.
type writer struct {
	w      *world
	tap    *Tap
	sender *bufferedsender.BufferedSender[models.Document]
	stop   atomic.Bool
	done   chan struct{}
}

func (w *world) tap(store Store, name string, connect func(string) (Indexer, error)) *Tap {
	if connect == nil {
		connect = func(index string) (Indexer, error) { return w.client.Client(index) }
	}
	tap, err := NewTap(w.t.Context(), store, TapOptions{Writer: name, Index: oldIndex, Connect: connect})
	require.NoError(w.t, err)
	return tap
}

func (w *world) sender(indexer bufferedsender.Indexer, tap *Tap) *bufferedsender.BufferedSender[models.Document] {
	o := bufferedsender.Options[models.Document]{Limits: bufferedsender.Limits{MaxInFlight: 3, MaxBatchActions: 20, MinBatchActions: 1}, AutoFlushInterval: 50 * time.Millisecond, Logger: quiet}
	o.Documents.KeyField = "id"
	o.OnMergeMissing = bufferedsender.MergeMissingIgnore // the new index can be ahead of the writers
	if tap != nil {
		o.Tap = tap
	}
	s, err := bufferedsender.New(indexer, &o)
	require.NoError(w.t, err)
	return s
}

var quiet = slog.New(slog.DiscardHandler)

// write starts a writer of keys with a prefix. Around each step of Run it writes about thirty times a second, with
// all types of action. The last character of a key identifies its writer.
func (w *world) write(name string, seed uint64) *writer { return w.writeBy(w.store, name, seed) }

// stir makes the writers write at once, and at full pace for some seconds, if the step is new.
func (w *world) stir(step Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if step != w.step {
		close(w.stirred)
		w.step, w.stirredAt, w.stirred = step, time.Now(), make(chan struct{})
	}
}

// rest pauses a writer. Writers are slower during the minutes in which Run waits.
func (w *world) rest(pause time.Duration) {
	w.mu.Lock()
	at, stirred := w.stirredAt, w.stirred
	w.mu.Unlock()
	if time.Since(at) < 5*time.Second {
		time.Sleep(pause)
		return
	}
	select {
	case <-stirred:
	case <-time.After(max(pause, min(5*pause, 300*time.Millisecond))): // so that a second without a write means something
	}
}

// writeBy starts a writer with its own view of the store.
func (w *world) writeBy(store Store, name string, seed uint64) *writer {
	tap := w.tap(store, name, nil)
	x := &writer{w: w, tap: tap, sender: w.sender(tap.Indexer(), tap), done: make(chan struct{})}
	random := rand.New(rand.NewPCG(seed, 1))
	kinds := []models.ActionType{models.ActionTypeUpload, models.ActionTypeMerge, models.ActionTypeMergeOrUpload, models.ActionTypeDelete}
	go func() {
		defer close(x.done)
		for !x.stop.Load() {
			a := w.change(fmt.Sprintf("%s-%02d", name, random.IntN(40)), kinds[random.IntN(len(kinds))])
			if a.Type == models.ActionTypeMergeOrUpload {
				a.Document = fmt.Appendf(nil, `{"id":%q,"name":"hotel %s","n":%d}`, a.Key, a.Key, w.numberOf(a))
			}
			if !assert.NoError(w.t, x.sender.Raw().Add(context.Background(), a)) {
				return
			}
			w.rest(time.Duration(1+random.IntN(2*w.pace)) * time.Millisecond)
		}
	}()
	return x
}

// numberOf returns the change that an action makes.
func (w *world) numberOf(a models.RawAction) int64 { return w.number(a.Document) }

// end stops the writer after everything written is confirmed.
func (x *writer) end() {
	x.stop.Store(true)
	<-x.done
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	require.NoError(x.w.t, x.sender.Close(ctx))
}

// mortal is a process that runs rebuilds and can be killed: after that its calls are neither executed nor answered.
type mortal struct {
	w    *world
	dead atomic.Bool
	r    *runner
	made *bufferedsender.BufferedSender[models.Document]
}

var errDead = fmt.Errorf("%w: the process is dead", errStopped)

func (m *mortal) Do(req *http.Request) (*http.Response, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	return m.w.srv.Do(req)
}

// runner returns a runner with test defaults for missing options.
func (w *world) runner(opts Options) *mortal {
	m := &mortal{w: w}
	m.r = newRunner(mortalStore{w.store, m}, w.newClient(m))
	m.r.next, m.r.fill = next(w.t), w.fill()
	opts.Alias, opts.Logger = aliasName, quiet
	opts.Sender = func(index string) (Sender, error) {
		c, err := m.r.client.Client(index)
		if err != nil {
			return nil, err
		}
		m.made = w.sender(c, nil)
		return mortalSender{m.made.Raw(), m}, nil
	}
	if len(opts.Writers) == 0 {
		opts.Alone = true
	}
	require.NoError(w.t, opts.check(w.store, w.client, m.r.next, m.r.fill))
	m.r.opts = opts
	return m
}

// run runs the rebuild and closes the sender.
func (m *mortal) run(ctx context.Context) error {
	err := m.r.run(ctx)
	if m.made != nil {
		ended, cancel := context.WithCancel(context.Background())
		if cancel(); err == nil {
			ended = context.Background()
		}
		_ = m.made.Close(ended)
		m.made = nil
	}
	return err
}

// dieAt kills the process at line n, counted from 0. It returns the name of the line. Before the taps close the
// process is slowed down, so that there are changes to transfer.
func (m *mortal) dieAt(n int) *string {
	name := new(string)
	m.r.line = func(line string) error {
		if strings.HasPrefix(line, "close") {
			time.Sleep(300 * time.Millisecond)
		}
		if n--; n >= 0 {
			return nil
		}
		*name = line
		m.dead.Store(true)
		return errStopped
	}
	return name
}

type mortalSender struct {
	Sender
	m *mortal
}

func (s mortalSender) Offer(ctx context.Context, actions []models.RawAction) (int, error) {
	if s.m.dead.Load() {
		return 0, errDead
	}
	return s.Sender.Offer(ctx, actions)
}

func (s mortalSender) AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
	if s.m.dead.Load() {
		return nil, errDead
	}
	return s.Sender.AddAndWait(ctx, actions)
}

type mortalStore struct {
	Store
	m *mortal
}

func (s mortalStore) alive() error {
	if s.m.dead.Load() {
		return errDead
	}
	return nil
}

func (s mortalStore) Load(ctx context.Context) (Record, error) {
	if err := s.alive(); err != nil {
		return Record{}, err
	}
	return s.Store.Load(ctx)
}

func (s mortalStore) Swap(ctx context.Context, next Record) (Record, error) {
	if err := s.alive(); err != nil {
		return Record{}, err
	}
	s.m.w.stir(next.Step)
	return s.Store.Swap(ctx, next)
}

func (s mortalStore) Mark(ctx context.Context, epoch int64, keys []string) (int64, error) {
	if err := s.alive(); err != nil {
		return 0, err
	}
	return s.Store.Mark(ctx, epoch, keys)
}

func (s mortalStore) Marked(ctx context.Context, last int64, limit int) ([]string, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	return s.Store.Marked(ctx, last, limit)
}

func (s mortalStore) Unmark(ctx context.Context, last int64, keys []string) error {
	if err := s.alive(); err != nil {
		return err
	}
	return s.Store.Unmark(ctx, last, keys)
}

func (s mortalStore) Register(ctx context.Context, writer string, seen time.Time) error {
	if err := s.alive(); err != nil {
		return err
	}
	return s.Store.Register(ctx, writer, seen)
}

func (s mortalStore) Writers(ctx context.Context) ([]Writer, error) {
	if err := s.alive(); err != nil {
		return nil, err
	}
	return s.Store.Writers(ctx)
}

// alias returns the index of the alias.
func (w *world) alias() string {
	a, err := w.client.GetAlias(context.Background(), aliasName, nil)
	require.NoError(w.t, err)
	return a.Indexes[0]
}

// moveAliasTo moves the alias as an operator would.
func (w *world) moveAliasTo(index string) {
	_, err := w.client.CreateOrUpdateAlias(context.Background(), models.Alias{Name: aliasName, Indexes: []string{index}}, nil)
	w.noError(err)
}

func (w *world) record() Record {
	r, err := w.store.Load(context.Background())
	require.NoError(w.t, err)
	return r
}

// checkTruth compares an index with the source after all writers have ended.
func (w *world) checkTruth(index string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	assert.Equal(w.t, w.truth, w.indexed(index))
	assert.Empty(w.t, w.failed)
}
