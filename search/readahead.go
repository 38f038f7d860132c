package search

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/go-azsearch/azsearch/models"
)

// scanPage is a page of a scan, as it came.
type scanPage = models.SearchDocumentsResult[json.RawMessage]

// readAhead are the pages of a scan that are asked for before the ones in front of
// them have come.
//
// Where such a page begins is not known yet, so it is asked for by its distance from
// the last key, such that its first document has to be the last one of the page in
// front of it. If it is, nothing has come or gone between the two when the page was
// read: it is what a query from that document on would have found. If it is not, all
// pages that were asked for are dropped, and the next one is asked for by its key.
type readAhead struct {
	room   int         // how many pages there may be
	pages  []*askedFor // in their order
	asking sync.WaitGroup
}

// askedFor is a page that has come when done is closed.
type askedFor struct {
	done   chan struct{}
	cancel context.CancelFunc
	page   *scanPage
	err    error
}

// askAhead asks for as many pages behind the last one, which was full, as there is
// room for: at first one, then more with each page that fits.
func (s *scan) askAhead(ctx context.Context) {
	a, top := &s.ahead, min(s.options.PageSize+1, maxPageSize)
	if top < 2 || s.behind {
		return // such pages have nothing but the last document of the one before
	}
	a.room = min(2*a.room+1, s.options.ReadAhead)
	for len(a.pages) < a.room {
		query := s.query(Ge, top, len(a.pages)*(top-1))
		ctx, cancel := context.WithCancel(ctx)
		p := &askedFor{done: make(chan struct{}), cancel: cancel}
		a.pages = append(a.pages, p)
		a.asking.Go(func() {
			defer close(p.done)
			defer cancel()
			ctx, end := s.client.conn.span(ctx, "Client.Scan")
			p.page, p.err = s.search(ctx, query)
			end(p.err)
		})
	}
}

// fromAhead returns the page that begins with the last key, if it was asked for. One
// that has failed is asked for again: who knows whether it is needed.
func (s *scan) fromAhead() *scanPage {
	a := &s.ahead
	if len(a.pages) == 0 {
		return nil
	}
	p := a.pages[0]
	<-p.done
	if p.err == nil && len(p.page.Results) > 0 {
		if key, err := s.key.Get(p.page.Results[0].Document); err == nil && key == s.last {
			a.pages = a.pages[1:]
			return p.page
		}
	}
	a.drop()
	return nil
}

// drop gives up what was asked for.
func (a *readAhead) drop() {
	for _, p := range a.pages {
		p.cancel()
	}
	a.pages, a.room = nil, 0
}

// wait waits for what was asked for. Its context has ended.
func (a *readAhead) wait() {
	a.asking.Wait()
}
