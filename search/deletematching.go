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

// mostMatching is the largest number of documents that a call of DeleteMatching deletes: one page of results, and one
// batch.
const mostMatching = 1000

// The first and the longest pause before the index is searched again for documents whose deletion it may not show
// yet.
const (
	firstLookPause   = 50 * time.Millisecond
	longestLookPause = 2 * time.Second
)

// DeleteMatching deletes up to 1000 documents that match the filter. It searches, deletes the results, and waits until
// the index no longer shows them. It repeats until a search finds none, then returns the deleted keys. It needs no
// sortable or filterable key, so it works where Scan and repair.DeleteWhere return ErrNotScannable.
//
// keyField is the name of the key field; if it is "", the service is asked for it, as by DeleteDocumentsByKey.
// Filter{} is refused, because it matches every document. If more than 1000 documents match, nothing is deleted: use
// repair.DeleteWhere, which deletes any number, limits their share of the index and gives a receipt. If more
// documents begin to match later, so that the total exceeds 1000, DeleteMatching ends with that error.
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
func DeleteMatching(ctx context.Context, c *Client, keyField string, filter Filter) (deleted []string, err error) {
	call := c.call("DeleteMatching", writeDocuments)
	if filter.IsZero() {
		return nil, call.wrap(errors.New("nothing was sent: there is no filter, so every document would match"))
	}
	if _, err := (&SearchOptions{Filter: filter}).body("", c.conn.apiVersion); err != nil {
		return nil, call.wrap(err)
	}
	if keyField == "" {
		if keyField, err = c.KeyFieldName(ctx); err != nil {
			return nil, err
		}
	}
	v, err := c.view(wholeindex.Require(ctx), call)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for pause := firstLookPause; ; pause = min(pause+pause/2, longestLookPause) {
		found, count, err := c.matching(ctx, v, keyField, filter)
		if err != nil {
			return deleted, err
		}
		if count == 0 && len(found) == 0 {
			if v.Lasts() {
				return deleted, nil
			}
			again, err := c.view(wholeindex.Require(ctx), call)
			if err != nil || again.elevated == v.elevated {
				return deleted, err
			}
			v = again // permission filters were added since, and hide matching documents
			continue
		}
		var fresh []string
		for _, key := range found {
			if !gone[key] {
				fresh = append(fresh, key)
			}
		}
		shown := len(found) - len(fresh)
		total := int64(len(deleted)) + count - int64(shown)
		if err := wholeindex.Checked(ctx, total, found); err != nil {
			return deleted, call.wrap(err)
		}
		if total > mostMatching {
			return deleted, call.wrap(fmt.Errorf("%d documents match, the limit is %d; repair.DeleteWhere deletes any number, and gives a receipt", total, mostMatching))
		}
		if len(fresh) > 0 {
			_, err := DeleteDocumentsByKey(ctx, c, keyField, fresh, nil)
			for _, key := range confirmed(fresh, err) {
				gone[key], deleted = true, append(deleted, key)
			}
			if err != nil {
				return deleted, err
			}
			pause = firstLookPause
		}
		if err := sleep.For(ctx, pause); err != nil {
			return deleted, call.wrap(fmt.Errorf("%d of the %d documents that were deleted still match, written again or shown late: %w", len(found), len(deleted), err))
		}
	}
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
