package bufferedsender

import (
	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/bufferedsender/internal/publisher"
	"github.com/go-azsearch/azsearch/models"
)

// folder returns what the publisher asks about two actions of one key that are
// not settled, or nil if it is not to ask.
func (o *Options[T]) folder() func(older, newer *item[T], sent bool) (publisher.Folding, item[T]) {
	if !o.Fold {
		return nil
	}
	return func(older, newer *item[T], sent bool) (publisher.Folding, item[T]) {
		latest := max(older.Value.version, newer.Value.version)
		if newer.Value.version != 0 && newer.Value.version < older.Value.version {
			return publisher.Outdated, item[T]{}
		}
		// A delete has no version of its own: what it deletes must not come back.
		newer.Value.version = latest
		if sent {
			return publisher.Apart, item[T]{}
		}
		typ, body, ok := fold.Actions(older.Value.typ, narrow(older.Body), newer.Value.typ, narrow(newer.Body))
		if !ok {
			return publisher.Apart, item[T]{}
		}
		if typ == models.ActionMerge && o.OnMergeMissing == MergeMissingUpload {
			body = widen(body, 0)
		}
		folded := *older
		folded.Body, folded.Value.typ, folded.Value.version = body, typ, latest
		return publisher.Folded, folded
	}
}

// version returns the version of an action, 0 if it has none.
func (o *Options[T]) version(a models.IndexDocumentsAction[T]) int64 {
	if o.Version == nil || a.Type == models.ActionDelete {
		return 0
	}
	return o.Version(a.Document)
}
