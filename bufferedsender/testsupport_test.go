package bufferedsender_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// hotel is the document of these tests.
type hotel struct {
	ID    string `json:"id" search:"key"`
	Name  string `json:"name,omitempty"`
	Rooms int    `json:"rooms,omitempty"`
}

type (
	hotelOptions  = bufferedsender.Options[hotel]
	hotelHandlers = events.Handlers[hotel]
	hotelAction   = models.IndexDocumentsAction[hotel]
)

const hotelIndex = `{"name":"hotels","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"name","type":"Edm.String","filterable":false,"sortable":false,"facetable":false},
	{"name":"rooms","type":"Edm.Int32"}]}`

// hotels returns n documents with the keys prefix-0, prefix-1, …
func hotels(prefix string, n int) []hotel {
	docs := make([]hotel, n)
	for i := range docs {
		docs[i] = hotel{ID: fmt.Sprintf("%s-%d", prefix, i), Rooms: i + 1}
	}
	return docs
}

// event is one callback as a test saw it.
type event struct {
	at      time.Duration // since the rig began
	kind    string        // added, sent, completed, failed, batch
	key     string
	action  hotelAction
	attempt int
	err     error
	unknown bool
	batch   events.Batch
}

// exchange is one request to index documents as the service saw it.
type exchange struct {
	at, end time.Duration // since the rig began; end is 0 while it lasts
	keys    []string
	actions []string
	bytes   int
	status  int // 0 if there was no reply
	ctx     context.Context
}

// answer decides about a request in place of the emulator, and may ask it with
// next. n counts the requests from 1.
type answer func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error)

// rig is an emulated service with an index of hotels, a sender to it, and all
// that happens between the two. When the test ends it closes the sender and
// does the books, which must balance whatever the test was about.
type rig struct {
	t      *testing.T
	srv    *searchtest.Server
	client *search.Client
	sender *bufferedsender.BufferedSender[hotel]
	opts   hotelOptions
	began  time.Time
	reader *sdkmetric.ManualReader
	logs   *lockedBuffer // debug level

	mu        sync.Mutex
	events    []event
	wire      []*exchange
	inFlight  map[string]bool
	open      int // requests under way
	answer    answer
	unstopped bool // the test leaves something behind on purpose: no books
}

func newRig(t *testing.T, opts *hotelOptions) *rig {
	t.Helper()
	return newRigOn(t, nil, opts)
}

// newRigOn is newRig with options of the service.
func newRigOn(t *testing.T, service *searchtest.Options, opts *hotelOptions) *rig {
	t.Helper()
	r := &rig{t: t, srv: searchtest.NewServer(service), began: time.Now(), inFlight: map[string]bool{}, reader: sdkmetric.NewManualReader(), logs: &lockedBuffer{}}
	if opts != nil {
		r.opts = *opts
	}
	require.NoError(t, r.srv.CreateIndex(hotelIndex))
	r.srv.Intercept(r.intercept)
	r.client = newClient(t, r.srv)
	r.opts.Handlers = events.Multi(r.recorder(), r.opts.Handlers)
	if r.opts.Logger == nil {
		r.opts.Logger = slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	if r.opts.MeterProvider == nil {
		r.opts.MeterProvider = meters
	}
	if r.opts.Outage == nil {
		r.opts.Outage = bufferedsender.FailSoon{} // the tests of the breaker bring their own
	}
	var err error
	r.sender, err = bufferedsender.New(r.client, &r.opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		if !r.unstopped {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_ = r.sender.Close(ctx)
			r.books()
		}
		assert.NoError(t, r.srv.Close())
	})
	return r
}

func newClient(t testing.TB, srv *searchtest.Server) *search.Client {
	t.Helper()
	client, err := search.NewClientWithKey(srv.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}})
	require.NoError(t, err)
	return client
}

// now is the time since the rig began.
func (r *rig) now() time.Duration { return time.Since(r.began) }

// upload adds documents that must be accepted.
func (r *rig) upload(docs ...hotel) {
	r.t.Helper()
	require.NoError(r.t, r.sender.UploadDocuments(within(r.t, time.Hour), docs...))
}

// within returns a context that ends after d, so that a test which hangs fails.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func (r *rig) flush() error { return r.sender.Flush(within(r.t, 24*time.Hour)) }

func (r *rig) close() error { return r.sender.Close(within(r.t, 24*time.Hour)) }

// respond makes f answer from now on; nil gives the requests to the emulator.
func (r *rig) respond(f answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// faults puts rules in force, in order; each is for indexing requests.
func (r *rig) faults(rules ...searchtest.Fault) {
	for i := range rules {
		rules[i].Operation = searchtest.OpIndexDocuments
	}
	r.srv.SetFaults(&searchtest.Faults{Seed: 1, Rules: rules})
}

// requests returns the requests so far.
func (r *rig) requests() []*exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*exchange(nil), r.wire...)
}

// seen returns the events of the given kinds, all of them without any.
func (r *rig) seen(kinds ...string) []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []event
	for _, e := range r.events {
		for _, kind := range kinds {
			if e.kind == kind {
				found = append(found, e)
			}
		}
		if len(kinds) == 0 {
			found = append(found, e)
		}
	}
	return found
}

// outcome returns the terminal event of a key that has exactly one.
func (r *rig) outcome(key string) event {
	r.t.Helper()
	var ends []event
	for _, e := range r.seen("completed", "failed") {
		if e.key == key {
			ends = append(ends, e)
		}
	}
	require.Len(r.t, ends, 1, "terminal events of %s", key)
	return ends[0]
}

// failure returns the *ActionError of a key that failed.
func (r *rig) failure(key string) *bufferedsender.ActionError {
	r.t.Helper()
	e := r.outcome(key)
	require.Equal(r.t, "failed", e.kind, "outcome of %s", key)
	var failure *bufferedsender.ActionError
	require.ErrorAs(r.t, e.err, &failure)
	return failure
}

func (r *rig) recorder() hotelHandlers {
	note := func(e event) {
		e.at = r.now()
		r.consistent()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}
	return hotelHandlers{
		ActionAdded: func(_ context.Context, e *events.ActionAdded[hotel]) error {
			note(event{kind: "added", key: e.Key, action: e.Action})
			return nil
		},
		ActionSent: func(_ context.Context, e *events.ActionSent[hotel]) {
			note(event{kind: "sent", key: e.Key, action: e.Action, attempt: e.Attempt})
		},
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[hotel]) {
			note(event{kind: "completed", key: e.Key, action: e.Action, attempt: e.Attempts})
		},
		ActionFailed: func(_ context.Context, e *events.ActionFailed[hotel]) {
			note(event{kind: "failed", key: e.Key, action: e.Action, attempt: e.Attempts, err: e.Err, unknown: e.Unknown})
		},
		BatchCompleted: func(_ context.Context, b *events.Batch) {
			note(event{kind: "batch", batch: *b})
		},
	}
}

// consistent checks what must hold in every snapshot.
func (r *rig) consistent() bufferedsender.Stats {
	if r.sender == nil {
		return bufferedsender.Stats{}
	}
	s := r.sender.Stats()
	assert.Equal(r.t, s.Accepted, s.Completed+s.Failed+s.Unsent+int64(s.PendingActions), "G1: the books of %+v", s)
	maxActions, maxBytes := r.opts.Limits.MaxBufferedActions, r.opts.Limits.MaxBufferedBytes
	if maxActions == 0 {
		maxActions = max(bufferedsender.DefaultMaxBufferedActions, 4*r.opts.Limits.MaxBatchActions)
	}
	if maxBytes == 0 {
		maxBytes = max(bufferedsender.DefaultMaxBufferedBytes, 4*int64(r.opts.Limits.MaxBatchBytes))
	}
	assert.LessOrEqual(r.t, s.PendingActions, maxActions, "G5: high-water mark in actions")
	assert.LessOrEqual(r.t, s.PendingBytes, maxBytes, "G5: high-water mark in bytes")
	return s
}

// intercept watches every request: one action of a key in flight, no request
// over its limits.
func (r *rig) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/docs/search.index") {
		return next(req)
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(raw))
	var body struct{ Value []map[string]any }
	if !assert.NoError(r.t, json.Unmarshal(raw, &body), "a request is not JSON: %q", raw) {
		return nil, err
	}
	x := &exchange{at: r.now(), bytes: len(raw), ctx: req.Context()}
	for _, v := range body.Value {
		key, _ := v["id"].(string)
		action, _ := v["@search.action"].(string)
		x.keys = append(x.keys, key)
		x.actions = append(x.actions, action)
	}
	r.consistent()
	r.mu.Lock()
	r.wire = append(r.wire, x)
	r.open++
	assert.LessOrEqual(r.t, r.open, orDefault(r.opts.Limits.MaxInFlight, 1), "requests at once")
	n, decide := len(r.wire), r.answer
	for _, key := range x.keys {
		assert.False(r.t, r.inFlight[key], "G3: two actions of %s in flight", key)
		r.inFlight[key] = true
	}
	r.mu.Unlock()
	assert.LessOrEqual(r.t, len(x.keys), orDefault(r.opts.Limits.MaxBatchActions, bufferedsender.DefaultMaxBatchActions), "G4: actions of a request")
	assert.LessOrEqual(r.t, x.bytes, orDefault(r.opts.Limits.MaxBatchBytes, bufferedsender.DefaultMaxBatchBytes), "G4: bytes of a request")
	assert.NotEmpty(r.t, x.keys, "an empty request")

	var resp *http.Response
	if decide != nil {
		resp, err = decide(n, x, req, func() (*http.Response, error) { return next(req) })
	} else {
		resp, err = next(req)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
	x.end = r.now()
	if err == nil {
		x.status = resp.StatusCode
	}
	for _, key := range x.keys {
		delete(r.inFlight, key)
	}
	return resp, err
}

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}

// books checks, after Close, that every accepted action has one outcome and
// that Stats, events, metrics and the index agree.
func (r *rig) books() {
	s := r.consistent()
	assert.Zero(r.t, s.PendingActions, "pending after Close")
	assert.Zero(r.t, s.PendingBytes, "bytes pending after Close")
	assert.Zero(r.t, s.InFlight, "requests after Close")
	assert.Zero(r.t, s.BlockedAdders, "adders waiting after Close")
	var unsent, failed int64
	for _, e := range r.seen("failed") {
		if errors.Is(e.err, bufferedsender.ErrClosed) {
			unsent++
		} else {
			failed++
		}
	}
	assert.EqualValues(r.t, s.Completed, len(r.seen("completed")), "ActionCompleted events")
	assert.Equal(r.t, s.Failed, failed, "ActionFailed events")
	assert.Equal(r.t, s.Unsent, unsent, "ActionFailed events with ErrClosed")
	sent := 0
	for _, e := range r.seen("batch") {
		if !errors.Is(e.batch.Err, bufferedsender.ErrNotSent) {
			sent++
		}
	}
	assert.EqualValues(r.t, s.Requests, sent, "BatchCompleted events")
	added := map[string]int{}
	for _, e := range r.seen() {
		switch e.kind {
		case "added":
			added[e.key]++
		case "completed", "failed":
			if added[e.key]--; added[e.key] < 0 {
				assert.Fail(r.t, "more outcomes than actions", "of %s", e.key)
			}
		}
	}
	for _, e := range r.seen("completed") {
		changes := r.srv.History("hotels", e.key)
		if r.answer == nil && !assert.NotEmpty(r.t, changes, "%s is said to be completed and never reached the index", e.key) {
			break
		}
	}
	if sums := metricSums(r.t, r.reader); sums != nil {
		assert.Equal(r.t, s.Accepted, sums["added"], "metric of what was accepted")
		assert.Equal(r.t, s.Completed+s.Failed+s.Unsent, sums["settled"], "metric of what was settled")
	}
}
