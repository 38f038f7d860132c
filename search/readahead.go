package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/tracing"

	"github.com/go-azsearch/azsearch/models"
)

// scanPage is a page of a scan, with undecoded documents.
type scanPage = models.SearchDocumentsResult[json.RawMessage]

// fitsToRise is the number of pages that must fit before a scan with a reduced read-ahead requests one more page at
// once.
const fitsToRise = 16

var (
	// errDropped is the cause of the cancelled context of a dropped page.
	errDropped = fmt.Errorf("search: the page is not needed: %w", context.Canceled)
	// errNotCome is the error of a page until its request returns.
	errNotCome = errors.New("search: the request ended without an outcome")
)

// readAhead holds the pages of a scan that were requested before their predecessors arrived.
//
// The first key of such a page is unknown, so it is requested by its distance from the last key, chosen so that its
// first document should equal the last document of its predecessor. If it does, no document was added or removed
// between them, and the page equals the result of a query from that document on. If it does not, all requested pages
// are dropped, and the next page is requested by its key.
//
// These requests are not retried. If one fails, its page is requested again by its key, with retries, when its turn
// comes. After a failure fewer pages are requested at once, because on a busy service the waits between retries would
// cost more time than reading ahead saves.
type readAhead struct {
	most   int         // current limit of pages, at most ReadAhead
	fit    int         // pages that fit since the limit changed
	room   int         // current number of pages; grows since the last drop
	pages  []*askedFor // in order
	asking sync.WaitGroup
}

// askedFor is a requested page. Its result is valid after done is closed.
type askedFor struct {
	done     chan struct{}
	cancel   context.CancelCauseFunc
	page     *scanPage
	err      error
	panicked any
}

// failed reports whether the request has failed.
func (p *askedFor) failed() bool {
	select {
	case <-p.done:
		return p.err != nil
	default:
		return false
	}
}

// askAhead requests further pages after the last page, which was full: one page at first, then more with each page
// that fits.
func (s *scan) askAhead(ctx context.Context) {
	a, top := &s.ahead, min(s.options.PageSize+1, maxPageSize)
	if i := slices.IndexFunc(a.pages, (*askedFor).failed); i >= 0 {
		a.drop(i + 1) // they begin after the failed page
		return
	}
	a.room = min(2*a.room+1, a.most)
	for len(a.pages) < a.room {
		query := s.query(Ge, top, len(a.pages)*(top-1))
		ctx, cancel := context.WithCancelCause(ctx)
		p := &askedFor{done: make(chan struct{}), cancel: cancel, err: errNotCome}
		a.pages = append(a.pages, p)
		a.asking.Go(func() { s.ask(ctx, p, query) })
	}
}

// ask requests a page. It keeps a panic of the transport for the goroutine that uses the page, because a panic in
// this goroutine could not be recovered by the caller.
func (s *scan) ask(ctx context.Context, p *askedFor, query *SearchOptions) {
	defer close(p.done)
	defer p.cancel(nil)
	defer func() { p.panicked = recover() }()
	conn := s.client.conn
	ctx = policy.WithRetryOptions(ctx, conn.noRetries)
	ctx = policy.WithCaptureResponse(ctx, new(*http.Response)) // the caller's target is for one request at a time
	ctx, end := runtime.StartSpan(ctx, "Client.Scan", forgiving(ctx, conn.azcore.Tracer()), nil)
	defer func() { end(p.err) }()
	p.page, p.err = s.search(ctx, query)
}

// fromAhead returns the page that begins with the last key, if it was requested and has arrived. It waits for its
// request. If the request failed, it returns nil, and the caller requests the page again.
func (s *scan) fromAhead(ctx context.Context) *scanPage {
	a := &s.ahead
	if len(a.pages) == 0 {
		return nil
	}
	p := a.pages[0]
	<-p.done
	switch {
	case ctx.Err() != nil: // the caller's next request returns the error
	case p.panicked != nil:
		panic(p.panicked) // as without reading ahead
	case p.err != nil:
		a.most, a.fit = max(a.most/2, 1), 0
	case len(p.page.Results) > 0:
		if key, err := s.key.Get(p.page.Results[0].Document); err == nil && key == s.last {
			a.pages = slices.Delete(a.pages, 0, 1) // Delete also clears the pointer
			if a.fit++; a.fit == fitsToRise {
				a.most, a.fit = min(a.most+1, s.options.ReadAhead), 0
			}
			return p.page
		}
	}
	a.drop(0)
	return nil
}

// drop cancels the requests of the pages from index i on and waits for their end, so that they do not run in parallel
// with the next requests.
func (a *readAhead) drop(i int) {
	for _, p := range a.pages[i:] {
		p.cancel(errDropped)
	}
	for _, p := range a.pages[i:] {
		<-p.done
	}
	a.pages, a.room = slices.Delete(a.pages, i, len(a.pages)), 0
}

// wait waits for all requests. The caller has cancelled their context.
func (a *readAhead) wait() {
	a.asking.Wait()
}

// dropped reports whether ctx is that of a dropped page, whose request does not count as failed.
func dropped(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), errDropped)
}

// forgiving returns a tracer for the request of a page. Its spans do not fail if the page is dropped. ctx is that of
// the page.
func forgiving(ctx context.Context, tracer tracing.Tracer) tracing.Tracer {
	if !tracer.Enabled() {
		return tracer
	}
	return tracing.NewTracer(func(parent context.Context, name string, options *tracing.SpanOptions) (context.Context, tracing.Span) {
		child, span := tracer.Start(parent, name, options)
		return child, tracing.NewSpan(tracing.SpanImpl{
			End: span.End, SetAttributes: span.SetAttributes, AddEvent: span.AddEvent,
			SetStatus: func(status tracing.SpanStatus, description string) {
				if !dropped(ctx) {
					span.SetStatus(status, description)
				}
			},
		})
	}, &tracing.TracerOptions{SpanFromContext: tracer.SpanFromContext})
}
