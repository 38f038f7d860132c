package sendertest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Rig is the rig of most tests, for documents of type Hotel.
type Rig = RigOf[Hotel]

// RigOf is an emulated service with an index, a sender to it, and a record of all events and requests. Each request and
// each snapshot of Stats is checked against the options. At the end of the test the rig closes the sender and checks
// that the accounts balance.
type RigOf[D any] struct {
	T       *testing.T
	Service *searchtest.Server
	Client  *search.Client
	Sender  *bufferedsender.BufferedSender[D]
	Metrics *sdkmetric.ManualReader // of the sender, unless the options have a MeterProvider
	Logs    *Buffer                 // from debug level on, unless the options have a Logger
	Ledger  *Ledger                 // all reports of the sender, except the end of Close

	// Abandoned declares that the test leaves something behind: the rig neither closes the sender nor checks the accounts.
	Abandoned bool

	began time.Time

	mu       sync.Mutex
	opts     bufferedsender.Options[D] // MaxInFlight is guarded by mu, the others are not written
	events   []Event[D]
	requests []*Request
	inFlight map[string]bool // keys in requests
	open     int             // requests under way
	answer   Answer
}

// New creates a rig of hotels. Its sender has no breaker unless opts have one, as those of [WithBreaker].
func New(t *testing.T, opts *Options) *Rig {
	t.Helper()
	return NewOnService(t, nil, opts)
}

// NewOnService is New with options of the emulated service.
func NewOnService(t *testing.T, service *searchtest.Options, opts *Options) *Rig {
	t.Helper()
	return NewOf(t, service, HotelIndex, opts)
}

// NewDocuments creates a rig of documents of any form. Their key field is "id".
func NewDocuments(t *testing.T, opts *DocumentOptions) *DocumentRig {
	t.Helper()
	o := *opts
	o.Documents.KeyField = "id"
	return NewOf(t, nil, DocumentIndex, &o)
}

// NewOf creates a rig of documents of type D with the definition of their index, which must have the name hotels and
// the key field id.
func NewOf[D any](t *testing.T, service *searchtest.Options, index string, opts *bufferedsender.Options[D]) *RigOf[D] {
	t.Helper()
	r := &RigOf[D]{
		T: t, Service: searchtest.NewServer(service), Metrics: sdkmetric.NewManualReader(), Logs: &Buffer{}, Ledger: &Ledger{},
		began: time.Now(), inFlight: map[string]bool{},
	}
	if opts != nil {
		r.opts = *opts
	}
	require.NoError(t, r.Service.CreateIndex(index))
	r.Service.Intercept(r.intercept)
	r.Client = NewClient(t, r.Service)
	reports := LedgerHandlers[D](r.Ledger)
	reports.Closed = nil // a second handler would change the error of Close
	r.opts.Handlers = events.Multi(r.recorder(), reports, r.opts.Handlers)
	if r.opts.Logger == nil {
		r.opts.Logger = slog.New(slog.NewTextHandler(r.Logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.Metrics))
	if r.opts.MeterProvider == nil {
		r.opts.MeterProvider = meters
	}
	if r.opts.Outage == nil {
		r.opts.Outage = bufferedsender.FailSoon{} // tests of the breaker set their own
	}
	var err error
	r.Sender, err = bufferedsender.New(r.Client, &r.opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		if !r.Abandoned {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_ = r.Sender.Close(ctx)
			r.CheckAccounts()
		}
		assert.NoError(t, r.Service.Close())
	})
	return r
}

// Now returns the time since the rig was created.
func (r *RigOf[D]) Now() time.Duration { return time.Since(r.began) }

// Upload adds documents that must be accepted.
func (r *RigOf[D]) Upload(docs ...D) {
	r.T.Helper()
	require.NoError(r.T, r.Sender.UploadDocuments(Within(r.T, time.Hour), docs...))
}

// Merge adds merges of documents that must be accepted.
func (r *RigOf[D]) Merge(docs ...D) {
	r.T.Helper()
	require.NoError(r.T, r.Sender.MergeDocuments(Within(r.T, time.Hour), docs...))
}

// Add adds actions that must be accepted.
func (r *RigOf[D]) Add(actions ...models.IndexDocumentsAction[D]) {
	r.T.Helper()
	require.NoError(r.T, r.Sender.IndexDocuments(Within(r.T, time.Hour), actions...))
}

// Flush flushes the sender, with a timeout of a day.
func (r *RigOf[D]) Flush() error { return r.Sender.Flush(Within(r.T, 24*time.Hour), nil) }

// Close closes the sender, with a timeout of a day.
func (r *RigOf[D]) Close() error { return r.Sender.Close(Within(r.T, 24*time.Hour)) }

// Respond makes a answer later requests; nil makes the emulator answer them.
func (r *RigOf[D]) Respond(a Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = a
}

// Faults sets the fault rules of the emulator, in order, for indexing requests.
func (r *RigOf[D]) Faults(rules ...searchtest.Fault) {
	for i := range rules {
		rules[i].Operation = searchtest.OpIndexDocuments
	}
	r.Service.SetFaults(&searchtest.Faults{Seed: 1, Rules: rules})
}

// Down makes the service answer every request with a status, including Ping.
func (r *RigOf[D]) Down(status int) {
	r.Service.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Status: status}}})
}

// AllowInFlight sets the number of concurrent requests that the rig accepts, for a test that changes the limit or has a
// second sender.
func (r *RigOf[D]) AllowInFlight(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opts.Limits.MaxInFlight = n
}

// OpenBreaker makes the service fail and adds the documents, which must fill a batch or be flushed. It returns when the
// breaker is open and all goroutines are blocked.
func (r *RigOf[D]) OpenBreaker(docs ...D) {
	r.T.Helper()
	r.OpenBreakerWith(Failing, docs...)
}

// OpenBreakerWith is OpenBreaker with another answer, which must be a failure for the breaker.
func (r *RigOf[D]) OpenBreakerWith(a Answer, docs ...D) {
	r.T.Helper()
	r.Respond(a)
	r.Upload(docs...)
	synctest.Wait()
	require.Equal(r.T, breaker.Open, r.Sender.Breaker().Status().State)
	require.Zero(r.T, r.Sender.Stats().InFlight)
}
