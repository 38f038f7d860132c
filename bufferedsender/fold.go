package bufferedsender

import (
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// largestFold is the largest action that a change is merged into. A small change
// of a large document would cost reading all of it; the changes that follow are
// folded into the first one instead.
const largestFold = 64 << 10

// folder returns what the publisher asks about two actions of one key that are
// not settled, or nil if it is not to ask. Without Folding it folds only the records of a lease
// whose holder before has died: that one may have had all of them applied, and sent one by one
// they would show what was there before the last of them.
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
			// A delete has no version of its own: what it deletes must not come back.
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
		folded.Value.waiter = nil // it is one of several now, and must not take back what others wait for
		return publisher.Folded, folded
	}
}

// versionOf returns the version of the action that is being added, 0 if it has none.
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
