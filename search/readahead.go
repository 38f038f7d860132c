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

// scanPage is a page of a scan, as it came.
type scanPage = models.SearchDocumentsResult[json.RawMessage]

// fitsToRise is how many pages have to fit before a scan that had to ask for fewer
// pages at once asks for one more.
const fitsToRise = 16

var (
	// errDropped is why the context of a page has ended that nobody wants.
	errDropped = fmt.Errorf("search: the page is not needed: %w", context.Canceled)
	// errNotCome is what has become of a page unless something else is known.
	errNotCome = errors.New("search: the request ended without an outcome")
)

// readAhead are the pages of a scan that are asked for before the ones in front of
// them have come.
//
// Where such a page begins is not known yet, so it is asked for by its distance from
// the last key, such that its first document has to be the last one of the page in
// front of it. If it is, nothing has come or gone between the two when the page was
// read: it is what a query from that document on would have found. If it is not, all
// pages that were asked for are dropped, and the next one is asked for by its key.
//
// They are asked for once, without retries: one that fails is asked for by its key,
// with retries, when its turn comes. A service that is busy is then asked for fewer
// pages at once: waits between retries would cost more than is won.
type readAhead struct {
	most   int         // how many pages there may be for now, ReadAhead or less
	fit    int         // how many have fit since that changed
	room   int         // how many there may be by what has fit since pages were dropped
	pages  []*askedFor // in their order
	asking sync.WaitGroup
}

// askedFor is a page that has come when done is closed.
type askedFor struct {
	done     chan struct{}
	cancel   context.CancelCauseFunc
	page     *scanPage
	err      error
	panicked any
}

// failed reports whether it is known that the page does not come.
func (p *askedFor) failed() bool {
	select {
	case <-p.done:
		return p.err != nil
	default:
		return false
	}
}

// askAhead asks for as many pages behind the last one, which was full, as there is
// room for: at first one, then more with each page that fits.
func (s *scan) askAhead(ctx context.Context) {
	a, top := &s.ahead, min(s.options.PageSize+1, maxPageSize)
	if i := slices.IndexFunc(a.pages, (*askedFor).failed); i >= 0 {
		a.drop(i + 1) // they go with the one that has failed
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

// ask gets a page. A panic of the transport is kept for whoever uses the page, as
// this goroutine is nobody's.
func (s *scan) ask(ctx context.Context, p *askedFor, query *SearchOptions) {
	defer close(p.done)
	defer p.cancel(nil)
	defer func() { p.panicked = recover() }()
	conn := s.client.conn
	ctx = policy.WithRetryOptions(ctx, conn.noRetries)
	ctx = policy.WithCaptureResponse(ctx, new(*http.Response)) // the caller's is for one request at a time
	ctx, end := runtime.StartSpan(ctx, "Client.Scan", forgiving(ctx, conn.azcore.Tracer()), nil)
	defer func() { end(p.err) }()
	p.page, p.err = s.search(ctx, query)
}

// fromAhead returns the page that begins with the last key, if it was asked for. One
// that has failed is asked for again: who knows whether it is needed.
func (s *scan) fromAhead(ctx context.Context) *scanPage {
	a := &s.ahead
	if len(a.pages) == 0 {
		return nil
	}
	p := a.pages[0]
	<-p.done
	switch {
	case ctx.Err() != nil: // the request that is made instead says so
	case p.panicked != nil:
		panic(p.panicked) // as it would have without reading ahead
	case p.err != nil:
		a.most, a.fit = max(a.most/2, 1), 0
	case len(p.page.Results) > 0:
		if key, err := s.key.Get(p.page.Results[0].Document); err == nil && key == s.last {
			a.pages = slices.Delete(a.pages, 0, 1) // which also forgets it
			if a.fit++; a.fit == fitsToRise {
				a.most, a.fit = min(a.most+1, s.options.ReadAhead), 0
			}
			return p.page
		}
	}
	a.drop(0)
	return nil
}

// drop gives up what was asked for, from the i-th page on, and waits until that has
// ended: what is asked for next is not to come on top of it.
func (a *readAhead) drop(i int) {
	for _, p := range a.pages[i:] {
		p.cancel(errDropped)
	}
	for _, p := range a.pages[i:] {
		<-p.done
	}
	a.pages, a.room = slices.Delete(a.pages, i, len(a.pages)), 0
}

// wait waits for what was asked for. Its context has ended.
func (a *readAhead) wait() {
	a.asking.Wait()
}

// dropped reports whether ctx is that of a page that nobody wants any more. Its
// request has not failed.
func dropped(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), errDropped)
}

// forgiving returns a tracer whose spans do not fail when the page is dropped whose
// context ctx is.
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
