package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// ErrNotScannable means that the key field of the index is not filterable and sortable, as Scan needs it.
// DeleteMatching works without that.
var ErrNotScannable = errors.New("search: key field is not filterable and sortable")

// maxPageSize is the largest number of results of a page of the service.
const maxPageSize = 1000

// maxReadAhead is the largest number of pages that a scan requests at once.
const maxReadAhead = 16

// ScanOptions are the options of Scan. nil and the zero value are ready to use.
type ScanOptions struct {
	// Filter is the condition for documents. Defaults to no condition.
	Filter Filter
	// Select names the fields to return, as in SearchOptions. The key is always returned. Defaults to all retrievable
	// fields.
	Select []string
	// KeyField is the name of the key field in JSON. Defaults to the field of T with the struct tag `search:"key"`,
	// otherwise to the key in the definition of the index. Reading the definition takes an admin key or the role "Search
	// Service Contributor".
	KeyField string
	// After is the key after which the scan starts, to resume an earlier scan. A document with this key need not exist.
	// Defaults to the first key.
	After string
	// PageSize is the number of new documents per request, 1 to 1000. Each page also repeats the last document of the
	// page before, within the limit of 1000. Large documents make large replies. Defaults to 1000.
	PageSize int
	// ReadAhead is the number of pages, 0 to 16, that are requested in advance while the page before them is in flight or
	// in use. The results are the same. Reading ahead makes a scan faster if it mostly waits for requests. It needs
	// memory for as many more pages, and the service runs as many more queries at once. The first page is requested
	// alone, and so is the page after a place where documents were added or deleted during the scan. If a request fails,
	// the page is requested again when it is needed, and fewer pages are requested at once until some have succeeded.
	// Documents are read up to ReadAhead pages before they are returned.
	//
	// Leaving the loop cancels the requests in flight and waits for them, so the transport must honour the context.
	// policy.WithCaptureResponse returns the reply to the last request for a page that was not read ahead. With 2 or more
	// pages a normalizer of the key field may stay undetected (see Scan): if other keys equal the last one of a page and
	// documents change meanwhile, a document may be skipped. If the key field may have a normalizer, leave KeyField empty
	// and use a T without the tag, so that the definition is checked. Defaults to 0: a page is requested when it is
	// needed.
	ReadAhead int
	// SessionID has the meaning of SearchOptions.SessionID. Replicas of an index may differ in how current they are; with
	// an id, one replica serves all requests if possible. Defaults to none.
	SessionID string
}

// Scan returns all documents of an index, or all that match a filter, in the order of their keys, each decoded into a
// T as by Search. Use it for exports, comparisons and repairs: unlike Search it does not stop after 100000
// documents, and the last page costs the service no more than the first.
//
// A document that is in the index and matches the filter during the whole scan is returned exactly once, whatever
// happens to other documents. A document that is added, deleted or changed during the scan is returned at most once,
// in its state when the page was read. "In the index" refers to the service's searchable state, which shows a
// write some seconds after the service has accepted it, and perhaps not on all replicas at once.
//
// Permission filters can hide documents from a client, even with an admin key. Therefore the definition of the index
// is read first, see ClientOptions.AssumeWholeView. If the index has permission filters, Scan uses elevated read, or
// returns ErrPartialView.
//
// Each page is a query for the keys from the last one on, so the key field must be filterable and sortable, and have
// no normalizer. If ScanOptions.KeyField is empty and T has no key tag, the definition is checked for that, and the
// error is ErrNotScannable. Otherwise the service checks it with the first request, which already filters and sorts
// by the key. Only a normalizer is not detected by that request: the scan then ends with an error before it would
// skip a key that equals another. Pages that are read ahead lack this protection (see ScanOptions.ReadAhead).
//
// Errors are those of Search and end the iteration. So does a page that the service calls partial: HTTP 206, a
// coverage below 100, or an error next to the results. To resume, set ScanOptions.After to the key of the last returned
// document. ctx bounds each iteration. The iterator is safe for concurrent use.
func Scan[T any](ctx context.Context, c *Client, opts *ScanOptions) iter.Seq2[T, error] {
	if opts == nil {
		opts = &ScanOptions{}
	}
	options := *opts
	options.Select = slices.Clone(opts.Select)
	return func(yield func(T, error) bool) {
		var zero T
		s, err := newScan[T](ctx, c, options, nil)
		if err != nil {
			yield(zero, err)
			return
		}
		for found, err := range s.documents(ctx) {
			if err != nil {
				yield(zero, err)
				return
			}
			var doc T
			if raw, ok := any(&doc).(*json.RawMessage); ok {
				*raw = found.json
			} else if err := models.DecodeDocument(found.json, &doc); err != nil {
				yield(zero, s.call.wrap(fmt.Errorf("the document with the key %q does not fit into %T: %w", found.key, zero, withoutValue(err))))
				return
			}
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// ScanKeys returns the keys of all documents of an index, or of all that match a filter, in order. It is Scan with
// nothing but keys in the replies, for example to delete the documents that match a filter.
//
// ScanOptions.Select must be empty. If ScanOptions.KeyField is empty, the definition of the index names the key
// field.
func ScanKeys(ctx context.Context, c *Client, opts *ScanOptions) iter.Seq2[string, error] {
	if opts == nil {
		opts = &ScanOptions{}
	}
	options := *opts
	return func(yield func(string, error) bool) {
		if len(options.Select) > 0 {
			yield("", c.call("ScanKeys", readDocuments).wrap(errors.New("nothing was sent: keys have no fields to select, use Scan")))
			return
		}
		s, err := newScan[models.Document](ctx, c, options, nil)
		if err != nil {
			yield("", err)
			return
		}
		s.options.Select = []string{s.options.KeyField}
		for found, err := range s.documents(ctx) {
			if !yield(found.key, err) {
				return
			}
		}
	}
}

// scan is one iteration over an index in the order of the keys.
type scan struct {
	client  *Client
	call    call
	options ScanOptions
	view    *view
	key     models.KeyField[json.RawMessage]
	last    string // the key of the last document, or ScanOptions.After
	begun   bool
	done    bool
	behind  bool // the next page begins after the last key, not at it
	ahead   readAhead
}

// scanned is a document of a scan.
type scanned struct {
	key  string
	json json.RawMessage
}

// newScan checks all options and determines the key field. It also determines the view, unless v is given.
func newScan[T any](ctx context.Context, c *Client, options ScanOptions, v *view) (_ *scan, err error) {
	s := &scan{client: c, view: v, call: c.call("Scan", readDocuments), options: options, last: options.After, ahead: readAhead{most: options.ReadAhead}}
	if err := s.options.check(c.conn.apiVersion); err != nil {
		return nil, s.call.wrap(err)
	}
	if s.options.PageSize == 0 {
		s.options.PageSize = maxPageSize
	}
	if s.options.KeyField == "" {
		tagged, err := models.KeyFieldOf[T]()
		if err != nil {
			return nil, s.call.wrap(err)
		}
		s.options.KeyField = tagged.Name
	}
	if s.view == nil {
		if s.view, err = c.view(ctx, s.call); err != nil {
			return nil, err
		}
	}
	if s.options.KeyField == "" {
		if s.options.KeyField, err = s.scannableKey(ctx); err != nil {
			return nil, err
		}
	}
	if selected := s.options.Select; len(selected) > 0 && !slices.Contains(selected, "*") && !slices.Contains(selected, s.options.KeyField) {
		s.options.Select = slices.Concat(selected, []string{s.options.KeyField})
	}
	if s.key, err = models.KeyFieldByName[json.RawMessage](s.options.KeyField); err != nil {
		return nil, s.call.wrap(err)
	}
	return s, nil
}

func (o *ScanOptions) check(version apiversion.Version) error {
	b := newQueryBody(version)
	b.filter("filter", "Filter", o.Filter)
	b.paths("select", "Select", o.Select, selectPath)
	if o.KeyField != "" {
		b.paths("orderby", "KeyField", []string{o.KeyField}, checkPath)
	}
	b.text("after", "After", o.After)
	if o.PageSize < 0 || o.PageSize > maxPageSize {
		b.problemf("PageSize", "%d is not from 1 to %d", o.PageSize, maxPageSize)
	}
	if o.ReadAhead < 0 || o.ReadAhead > maxReadAhead {
		b.problemf("ReadAhead", "%d is not from 0 to %d", o.ReadAhead, maxReadAhead)
	}
	_, err := b.end()
	return err
}

// scannableKey returns the key field in the definition of the index, or an error if a scan cannot use it.
func (s *scan) scannableKey(ctx context.Context) (_ string, err error) {
	index, call := s.view.index, s.client.call("Scan", readKeyField)
	if index == nil {
		ctx, end := s.client.conn.span(ctx, "Client.Scan")
		defer func() { end(err) }()
		if index, err = s.client.conn.definition(ctx, s.client.indexName, call); err != nil {
			return "", err
		}
	}
	isTrue := func(b *bool) bool { return b != nil && *b }
	isFalse := func(b *bool) bool { return b != nil && !*b } // absent means true for both attributes
	for _, f := range index.Fields {
		switch {
		case !isTrue(f.Key):
			continue
		case isFalse(f.Filterable) || isFalse(f.Sortable):
			return "", call.wrap(fmt.Errorf("%w: the definition says so of %q, and only a new index can have another key field; to delete by a filter use DeleteMatching", ErrNotScannable, f.Name))
		case f.Normalizer != "":
			return "", call.wrap(fmt.Errorf("%w as it is: the normalizer %q of %q makes different keys equal; to delete by a filter use DeleteMatching", ErrNotScannable, f.Normalizer, f.Name))
		}
		return f.Name, nil
	}
	return "", call.wrap(fmt.Errorf("%w: none of the %d fields of the definition is its key", models.ErrMalformedReply, len(index.Fields)))
}

// documents yields the documents of all pages. An error ends it.
func (s *scan) documents(ctx context.Context) iter.Seq2[scanned, error] {
	return func(yield func(scanned, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer s.ahead.wait()
		defer cancel(errDropped)
		for !s.done {
			page, err := s.next(ctx)
			if err != nil {
				yield(scanned{}, err)
				return
			}
			for _, found := range page {
				if !yield(found, nil) {
					return
				}
			}
		}
	}
}

// next returns the page after the last key. The query includes the last key: if a normalizer makes other keys equal
// to it, a query after it would skip them. With it, next detects that they are out of order.
func (s *scan) next(ctx context.Context) (_ []scanned, err error) {
	page, again, from := s.fromAhead(ctx), s.last != "" && !s.behind, Ge
	top := s.options.PageSize
	if again {
		top = min(top+1, maxPageSize)
	}
	if page != nil {
		defer func() {
			if err != nil { // the span of the request has already ended without an error
				_, end := s.client.conn.span(ctx, "Client.Scan")
				end(err)
			}
		}()
	} else {
		ctx, end := s.client.conn.span(ctx, "Client.Scan")
		defer func() { end(err) }()
		if s.behind {
			if err := s.checkUnique(ctx); err != nil {
				return nil, err
			}
			from = Gt
		}
		if page, err = s.search(ctx, s.query(from, top, 0)); err != nil {
			return nil, s.refused(err)
		}
	}
	s.begun = true
	more := continues(page.NextLink, page.NextPageParameters)
	// A page with fewer results than requested and no continuation is the last one. A page that the service cut short is
	// continued from its last key like any other.
	s.done = len(page.Results) < top && !more
	found, after := make([]scanned, 0, len(page.Results)), s.last
	for i, result := range page.Results {
		key, err := s.key.Get(result.Document)
		if err != nil {
			return nil, s.call.wrap(fmt.Errorf("%w: result %d: %w (request id %s)", models.ErrMalformedReply, i, err, page.RequestID))
		}
		if i == 0 && again && key == s.last {
			continue
		}
		if key <= s.last {
			return nil, s.disorder(fmt.Sprintf("the key %q does not follow %q", key, s.last), page.RequestID)
		}
		found = append(found, scanned{key: key, json: result.Document})
		s.last = key
	}
	// If documents are so large that a page holds only one, that is the last document again.
	s.behind = len(found) == 0 && len(page.Results) > 0
	if len(found) == 0 && more && !s.behind {
		return nil, s.call.wrap(fmt.Errorf("%w: it has no results, but another page (request id %s)", models.ErrMalformedReply, page.RequestID))
	}
	if len(page.Results) < top {
		s.ahead.drop(0) // they would come after documents that this page left out
	} else {
		s.askAhead(ctx)
	}
	return found, s.complete(ctx, after, len(found))
}

// complete returns an error if an elevated page lacks documents. It has n from after to the last key.
func (s *scan) complete(ctx context.Context, after string, n int) error {
	if !s.view.elevated || n == 0 && !s.done {
		return nil
	}
	query := s.query(Gt, maxPageSize, 0)
	query.Filter, query.Select = And(Gt(s.options.KeyField, after), s.options.Filter), []string{s.options.KeyField}
	if !s.done {
		query.Filter = And(Le(s.options.KeyField, s.last), query.Filter)
	}
	_, err := s.view.agreed(ctx, s.client, query, n, s.call)
	return err
}

// query returns the query for the documents from the last key on, without the first skip. The first page also filters
// by the key, so that the service refuses a key field that is not filterable at once.
func (s *scan) query(from func(field string, value any) Filter, top, skip int) *SearchOptions {
	return &SearchOptions{
		Filter:    And(from(s.options.KeyField, s.last), s.options.Filter),
		OrderBy:   []string{s.options.KeyField},
		Select:    s.options.Select,
		Top:       &top,
		Skip:      skip,
		SessionID: s.options.SessionID,
	}
}

// checkUnique returns an error if other keys equal the last one, because the page after it would skip them.
func (s *scan) checkUnique(ctx context.Context) error {
	query := SearchOptions{Filter: And(Eq(s.options.KeyField, s.last), s.options.Filter), IncludeTotalCount: true, Top: new(int), SessionID: s.options.SessionID}
	page, err := s.search(ctx, &query)
	switch {
	case err != nil:
		return err
	case *page.Count > 1:
		return s.disorder(fmt.Sprintf("%d keys equal %q", *page.Count, s.last), page.RequestID)
	}
	return nil
}

// search returns the first page of a query.
func (s *scan) search(ctx context.Context, query *SearchOptions) (*scanPage, error) {
	return s.view.search(ctx, s.client, query, s.call)
}

// disorder returns the error for keys that are not in the order of their characters. A scan that continued might
// return documents twice, skip some, or never end.
func (s *scan) disorder(found, requestID string) error {
	return s.call.wrap(fmt.Errorf("%w: %s: the service orders %q in another way than by its characters (request id %s)", models.ErrMalformedReply, found, s.options.KeyField, requestID))
}

// refused adds the likely cause if the service refuses the first query.
func (s *scan) refused(err error) error {
	var e *Error
	if s.begun || !errors.As(err, &e) || e.StatusCode != http.StatusBadRequest || !strings.Contains(e.Message, "'"+s.options.KeyField+"'") || strings.Contains(e.Message, "$select") {
		return err // the cause may be the caller's filter or fields
	}
	return fmt.Errorf("%w; the first page of a scan was refused: the key field %q must be filterable and sortable", err, s.options.KeyField)
}
