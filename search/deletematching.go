package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
)

// mostMatching is the largest number of documents of one round of DeleteMatching: one page of results, and one batch.
// Without DeleteMatchingOptions.Expect it is also that of a call.
const mostMatching = 1000

// The first and the longest pause before the index is searched again for documents whose deletion it may not show
// yet.
const (
	firstLookPause   = 50 * time.Millisecond
	longestLookPause = 2 * time.Second
)

// lateAtMost is how long after a delete a count above DeleteMatchingOptions.Expect is taken for a late one.
const lateAtMost = 30 * time.Second

// DeleteMatchingOptions are the options of DeleteMatching. nil and the zero value are ready to use.
type DeleteMatchingOptions struct {
	// Expect is the exact number of documents that match, counted by an earlier search (SearchOptions.IncludeTotalCount) or
	// taken from the error of a DeleteMatching that has deleted nothing. It lifts the limit of 1000. If another number
	// matches, but 0, nothing is deleted. Defaults to 0: up to 1000 documents are deleted.
	Expect int64
}

// DeleteMatching deletes up to 1000 documents that match the filter, or exactly DeleteMatchingOptions.Expect. It
// searches, deletes the results, up to 1000, and waits until the index no longer shows them. It repeats until a search
// finds none, then returns the deleted keys. It needs no sortable or filterable key, so it works where Scan and
// repair.DeleteWhere return ErrNotScannable. With such a key, repair.DeleteWhere is faster for many documents, limits
// their share of the index and gives a receipt.
//
// keyField is the name of the key field; if it is "", the service is asked for it, as by DeleteDocumentsByKey.
// Filter{} is refused, because it matches every document. If more than 1000 documents match and there is no Expect,
// nothing is deleted. If more documents begin to match later, so that the total exceeds 1000, or Expect, DeleteMatching
// ends with an error, with Expect half a minute after its last delete.
//
// Documents that permission filters hide are included: on an index with permission filters the search is an elevated
// read. If the client may not read elevated, or may not read the definition of the index, nothing is deleted and the
// error is ErrPartialView. See ClientOptions.AssumeWholeView.
//
// A document that was found, and then was rewritten so that it no longer matches, is still deleted if the index does
// not show the new version yet. A deleted document that is written again and matches is not deleted a second time.
//
// ctx bounds the work and should have a deadline, because the index shows a delete only seconds after the service has
// confirmed it. The returned keys are those of confirmed deletes, also when there is an error. The error is that of
// ctx, of a search, or of a delete (*IndexingError).
func DeleteMatching(ctx context.Context, c *Client, keyField string, filter Filter, opts *DeleteMatchingOptions) (deleted []string, err error) {
	d := matchingDelete{client: c, call: c.call("DeleteMatching", writeDocuments), keyField: keyField, filter: filter, gone: map[string]bool{}}
	if opts != nil {
		d.expect = opts.Expect
	}
	switch {
	case filter.IsZero():
		return nil, d.call.wrap(errors.New("nothing was sent: there is no filter, so every document would match"))
	case filter.expr == everywhere:
		return nil, d.call.wrap(errors.New("nothing was sent: every document matches the filter; is a list of values empty?"))
	case d.expect < 0:
		return nil, d.call.wrap(fmt.Errorf("nothing was sent: Expect is %d, use the number of documents that match", d.expect))
	}
	if _, err := (&SearchOptions{Filter: filter}).body("", c.conn.apiVersion); err != nil {
		return nil, d.call.wrap(err)
	}
	if keyField == "" {
		if d.keyField, err = c.KeyFieldName(ctx); err != nil {
			return nil, err
		}
	}
	v, err := c.view(wholeindex.Require(ctx), d.call)
	if err == nil {
		err = d.run(ctx, v)
	}
	return d.deleted, err
}

// matchingDelete is a call of DeleteMatching.
type matchingDelete struct {
	client   *Client
	call     call
	keyField string
	filter   Filter
	expect   int64 // 0: at most mostMatching

	deleted []string
	gone    map[string]bool // the same
	last    time.Time       // of the last delete
}

// run makes one pass after another until a search finds no document.
func (d *matchingDelete) run(ctx context.Context, v *view) error {
	for pause := firstLookPause; ; pause = min(pause+pause/2, longestLookPause) {
		found, count, err := d.client.matching(ctx, v, d.keyField, d.filter)
		if err != nil {
			return err
		}
		if count == 0 && len(found) == 0 {
			if v.Lasts() {
				return nil
			}
			again, err := d.client.view(wholeindex.Require(ctx), d.call)
			if err != nil || again.elevated == v.elevated {
				return err
			}
			v = again // permission filters were added since, and hide matching documents
			continue
		}
		sent, err := d.pass(ctx, found, count)
		if err != nil {
			return err
		}
		if sent {
			pause = firstLookPause
		}
		if err := sleep.For(ctx, pause); err != nil {
			return d.call.wrap(fmt.Errorf("%d of the %d documents that were deleted still match, written again or shown late: %w", len(found), len(d.deleted), err))
		}
	}
}

// pass deletes those of the found documents that it has not deleted yet, unless the limit forbids it or the count of
// all matches may be late. It reports whether it has sent a delete.
func (d *matchingDelete) pass(ctx context.Context, found []string, count int64) (sent bool, err error) {
	var fresh []string
	for _, key := range found {
		if !d.gone[key] {
			fresh = append(fresh, key)
		}
	}
	// The index may still count deleted documents. Those on the page are known, and none is elsewhere if all matches fit on
	// it.
	total := int64(len(d.deleted)) + count - int64(len(found)-len(fresh))
	if d.expect > 0 && d.deleted != nil && total > d.expect && time.Since(d.last) < lateAtMost {
		return false, nil
	}
	if err := wholeindex.Checked(ctx, total, found); err != nil {
		return false, d.call.wrap(err)
	}
	switch {
	case d.expect == 0 && total > mostMatching && d.deleted != nil:
		return false, d.call.wrap(fmt.Errorf("more documents match since: %d with the %d that were deleted, the limit is %d; call it again", total, len(d.deleted), mostMatching))
	case d.expect == 0 && total > mostMatching:
		return false, d.call.wrap(fmt.Errorf("%d documents match, the limit is %d; set Expect to their number to delete them all", total, mostMatching))
	case d.expect > 0 && d.deleted == nil && total != d.expect:
		return false, d.call.wrap(fmt.Errorf("nothing was deleted: %d documents match, Expect is %d", total, d.expect))
	case d.expect > 0 && total > d.expect:
		return false, d.call.wrap(fmt.Errorf("more documents match since: %d with the %d that were deleted, Expect is %d", total, len(d.deleted), d.expect))
	case len(fresh) == 0:
		return false, nil
	}
	_, err = DeleteDocumentsByKey(ctx, d.client, d.keyField, fresh, nil)
	for _, key := range confirmed(fresh, err) {
		d.gone[key], d.deleted = true, append(d.deleted, key)
	}
	d.last = time.Now()
	return true, err
}

// confirmed returns the keys that a call which ended with err has certainly indexed or deleted.
func confirmed(keys []string, err error) []string {
	partly := (*IndexingError)(nil)
	switch {
	case err == nil:
		return keys
	case !errors.As(err, &partly):
		return nil
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return slices.ContainsFunc(partly.Failed, func(r models.IndexingResult) bool { return r.Key == key })
	})
}

// matching returns the keys of the first documents that match the filter, and the total number of matches.
func (c *Client) matching(ctx context.Context, v *view, keyField string, filter Filter) (found []string, count int64, err error) {
	key, err := models.KeyFieldByName[json.RawMessage](keyField)
	if err != nil {
		return nil, 0, err
	}
	page, err := v.page(ctx, c, &SearchOptions{Filter: filter, Select: []string{keyField}, Top: new(mostMatching)}, c.call("Search", readDocuments))
	if err != nil {
		return nil, 0, err
	}
	for _, result := range page.Results {
		k, err := key.Get(result.Document)
		if err != nil {
			return nil, 0, c.call("DeleteMatching", readDocuments).wrap(fmt.Errorf("%w: %w (request id %s)", models.ErrMalformedReply, err, page.RequestID))
		}
		found = append(found, k)
	}
	return found, *page.Count, nil
}
