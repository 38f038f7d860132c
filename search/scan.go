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

// ErrNotScannable means that the key field of an index cannot be filtered and
// sorted by, which Scan does. DeleteMatching deletes by a filter without that.
var ErrNotScannable = errors.New("search: the key field is not filterable and sortable")

// maxPageSize is how many results the service puts into a page at most.
const maxPageSize = 1000

// maxReadAhead is how many pages a scan may ask for at once.
const maxReadAhead = 16

// ScanOptions are the options of Scan. nil and the zero value are ready to use.
type ScanOptions struct {
	// Filter is the condition that documents must meet. Defaults to no condition.
	Filter Filter
	// Select names the fields to return, as in SearchOptions. The key is returned
	// as well, whether it is named or not. Defaults to all retrievable fields.
	Select []string
	// KeyField is the name of the key field in JSON. Defaults to the field of T with
	// the struct tag `search:"key"`, and without one to what the definition of the
	// index says, which takes an admin key or the role "Search Service Contributor"
	// to read.
	KeyField string
	// After is the key to begin behind, for a scan that goes on where another one
	// stopped. There need not be a document with this key. Defaults to the first
	// key.
	After string
	// PageSize is how many documents one request gets, 1 to 1000, counted without
	// the last one of the page before, which comes again if there is room. Large
	// documents make large replies. Defaults to 1000.
	PageSize int
	// ReadAhead is how many pages are asked for at once while the one before them is
	// on its way or in use, 0 to 16. What is returned is the same. A scan takes as
	// many times less as requests take long, and as many times more memory for
	// pages; the service has as many queries at once. The first page comes alone, and
	// so does the next one after documents came or went just where the scan is. If a
	// request fails the page is asked for when it is needed, and the scan has fewer
	// requests at once from then on, until some have succeeded. Documents may be
	// older by as many pages when they are returned.
	//
	// Leaving the loop waits for the requests under way: their context ends, which
	// the transport must honour. With policy.WithCaptureResponse there is the reply
	// to the last request that was made for a page when it was needed. A normalizer
	// that only shows late (see Scan) may not show with 2 or more: where other keys
	// equal the last one of a page, and documents change meanwhile, one may be passed
	// over. Leave KeyField empty, and T without the tag, where the key field may have
	// a normalizer: then the definition says so.
	// Defaults to 0: a page is asked for when it is needed.
	ReadAhead int
	// SessionID is that of SearchOptions. Replicas of an index need not be equally
	// up to date: with an id one of them answers all requests, if possible. Defaults
	// to none.
	SessionID string
}

// Scan returns all documents of an index, or all that meet a filter, in the order
// of their keys, each decoded into a T as Search does. It is for exports,
// comparisons and repairs: unlike Search it does not end after 100000 documents,
// and the last page costs the service no more than the first.
//
// Every document that is in the index, and meets the filter, from the beginning
// of the walk to its end is returned exactly once, whatever happens to others
// meanwhile. A document that is added, deleted or changed during the walk is
// returned at most once, as it is when its page is read, or not at all. "In the
// index" is what the service searches: it shows a write some seconds after it has
// accepted it, and perhaps not on all replicas at once.
//
// Permissions can hide documents from a client, with an admin key as well. So the
// definition of the index is read first, see ClientOptions.AssumeWholeView. An index
// with permission filters is read elevated, or the error is ErrPartialView.
//
// Each page is a query for the keys from the last one on, so the key field must be
// filterable and sortable, and have no normalizer. Without ScanOptions.KeyField that
// is checked in the definition, and the error is ErrNotScannable. Otherwise the
// service checks it with the first request, which filters and sorts by the key
// already: it cannot turn out later. Only a normalizer then shows late: the walk
// ends with an error before it would pass over a key that
// is equal to another. That holds for pages that are asked for by key, not for those
// that are read ahead (see ScanOptions.ReadAhead).
//
// Errors are those of Search, and end the iteration. To go on after one, give
// ScanOptions.After the key of the last document that was returned. ctx bounds
// each iteration. The iterator may be used by many goroutines at once.
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

// ScanKeys returns the keys of all documents of an index, or of all that meet a
// filter, in their order. It is Scan with nothing else in the replies, for what
// takes keys: deleting what meets a filter, for example.
//
// ScanOptions.Select must be empty. Without ScanOptions.KeyField the definition of
// the index says which field the key is.
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

// scan is a walk over an index in the order of the keys.
type scan struct {
	client  *Client
	call    call
	options ScanOptions
	view    *view
	key     models.KeyField[json.RawMessage]
	last    string // the key of the last document, or ScanOptions.After
	begun   bool
	done    bool
	behind  bool // the next page begins behind the last key, not with it
	ahead   readAhead
}

// scanned is a document that a scan has found.
type scanned struct {
	key  string
	json json.RawMessage
}

// newScan checks the options, all of them at once, and finds out what the key
// is, and how to read the whole index unless v says so.
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

// scannableKey returns the key field that the definition of the index names, if
// a scan can use it.
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
	isFalse := func(b *bool) bool { return b != nil && !*b } // absent is true, for both
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

// documents walks over all pages. An error is the last.
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

// next gets the page behind the last key. It asks for that key again: where a
// normalizer makes others equal to it, they would be passed over otherwise, and so
// are seen to be out of order.
func (s *scan) next(ctx context.Context) (_ []scanned, err error) {
	page, again, from := s.fromAhead(ctx), s.last != "" && !s.behind, Ge
	top := s.options.PageSize
	if again {
		top = min(top+1, maxPageSize)
	}
	if page != nil {
		defer func() {
			if err != nil { // the span of its request has ended, and without an error
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
	// Less than was asked for, and nothing to continue with, is the end. A page
	// that the service cut short is continued by its last key like any other.
	s.done = len(page.Results) < top && !more
	found := make([]scanned, 0, len(page.Results))
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
	// Where documents are so large that a page has room for one, that is the last
	// one again.
	s.behind = len(found) == 0 && len(page.Results) > 0
	if len(found) == 0 && more && !s.behind {
		return nil, s.call.wrap(fmt.Errorf("%w: it has no results, but another page (request id %s)", models.ErrMalformedReply, page.RequestID))
	}
	if len(page.Results) < top {
		s.ahead.drop(0) // they would be behind documents that this one left out
	} else {
		s.askAhead(ctx)
	}
	return found, nil
}

// query asks for the documents from the last key on, but for some. The first page
// has a condition on the key as well, so that a key field that cannot be filtered
// by is refused there.
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

// checkUnique asks whether other keys equal the last one, which the page behind it
// would pass over.
func (s *scan) checkUnique(ctx context.Context) error {
	query := SearchOptions{Filter: And(Eq(s.options.KeyField, s.last), s.options.Filter), IncludeTotalCount: true, Top: new(int), SessionID: s.options.SessionID}
	page, err := s.search(ctx, &query)
	switch {
	case err != nil:
		return err
	case page.Count == nil:
		return s.call.wrap(fmt.Errorf("%w: it has no count (request id %s)", models.ErrMalformedReply, page.RequestID))
	case *page.Count > 1:
		return s.disorder(fmt.Sprintf("%d keys equal %q", *page.Count, s.last), page.RequestID)
	}
	return nil
}

// search gets the first page of a query.
func (s *scan) search(ctx context.Context, query *SearchOptions) (*scanPage, error) {
	return s.view.search(ctx, s.client, query, s.call)
}

// disorder is the error of keys that do not come by their characters. Going on
// would return documents twice, or for ever, or pass some over.
func (s *scan) disorder(found, requestID string) error {
	return s.call.wrap(fmt.Errorf("%w: %s: the service orders %q in another way than by its characters (request id %s)", models.ErrMalformedReply, found, s.options.KeyField, requestID))
}

// refused says what is likely if the service does not take the first query.
func (s *scan) refused(err error) error {
	var e *Error
	if s.begun || !errors.As(err, &e) || e.StatusCode != http.StatusBadRequest || !strings.Contains(e.Message, "'"+s.options.KeyField+"'") || strings.Contains(e.Message, "$select") {
		return err // about the caller's own filter or fields, perhaps
	}
	return fmt.Errorf("%w; the first page of a scan was refused: the key field %q must be filterable and sortable", err, s.options.KeyField)
}
