package bufferedsender

import (
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// largestFold is the size in bytes of the largest action that a change is merged into. Merging a small change into a
// large document would read all of it. The following changes are folded into the first small one instead.
const largestFold = 64 << 10

// folder returns the function that folds two unsettled actions of one key, or nil if nothing is folded. Without Folding
// it folds only the records of a lease whose previous holder died. That holder may have applied all of them; sent one
// by one, they would expose older states of the document.
func (o *settings) folder() func(older, newer *item, sent bool) (publisher.Folding, item) {
	if o.Folding == nil && o.Queue == nil {
		return nil
	}
	return func(older, newer *item, sent bool) (publisher.Folding, item) {
		if h := older.Value.from.holding; o.Folding == nil && (h == nil || h != newer.Value.from.holding || h.lease.Expired == 0) {
			return publisher.Apart, item{}
		}
		newest := older.Value.version
		if older.Outdated {
			newest = older.Value.newest
		}
		if newer.Value.version != 0 && newest != 0 && newer.Value.version < newest {
			newer.Value.newest = newest
			return publisher.Outdated, item{}
		}
		if newer.Value.version == 0 {
			// A delete has no version of its own. It takes the older one, so that outdated actions do not restore the document.
			newer.Value.version = older.Value.version
		}
		replaces := newer.Value.typ == models.ActionTypeUpload || newer.Value.typ == models.ActionTypeDelete
		if sent || !replaces && len(older.Body) > largestFold {
			return publisher.Apart, item{}
		}
		typ, body, ok := fold.Actions(older.Value.typ, narrow(older.Body), newer.Value.typ, narrow(newer.Body))
		if !ok || !foldWaiters(older.Value.waiter, newer.Value.waiter) {
			return publisher.Apart, item{}
		}
		if typ == models.ActionTypeMerge && o.OnMergeMissing == MergeMissingUpload {
			body = widen(body, 0)
		}
		folded := *older
		folded.Body, folded.Value.typ, folded.Value.version = body, typ, newer.Value.version
		folded.Value.waiter = nil // it stands for several actions, so one caller must not withdraw it
		return publisher.Folded, folded
	}
}

// versionOf returns the version of the action being added, or 0 if it has none.
func (o *settings) versionOf(c *chunk) (version int64, err error) {
	switch {
	case !o.versioned, c.header.typ == models.ActionTypeDelete, c.patch != nil:
		return 0, nil
	case c.raw != nil:
		return c.raw.Version, nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the function Version panicked: %v", v)
		}
	}()
	return c.document.version(), nil
}
