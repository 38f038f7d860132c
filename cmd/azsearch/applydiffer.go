package main

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/digest"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
)

// difference is a key whose documents differ in the two indexes of a rebuild.
type difference struct {
	key      string
	document json.RawMessage // of the old index, nil if it has none
	there    bool            // the new index has one, too
}

// entry is a document of an index.
type entry struct {
	key  string
	json json.RawMessage
	sum  digest.Sum
}

// entries yields the documents of an index with keys greater than after. ctx comes from keyrange.Whole. sum is without
// the values of fields that either index does not return.
func (b *rebuilding) entries(ctx context.Context, x *keyrange.Index, after string) iter.Seq2[entry, error] {
	fields := slices.Concat(b.before.Fields, b.next.Fields)
	whole := len(keyrange.Hidden(fields)) == 0
	return func(yield func(entry, error) bool) {
		for document, err := range x.Documents(ctx, keyrange.Range{After: after}) {
			e := entry{json: document}
			if err == nil {
				e.key, err = x.KeyOf(document)
			}
			if err == nil && !whole {
				document, err = readable(document, fields)
			}
			if err == nil {
				e.sum, err = digest.Of(document)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// differ yields the keys greater than after whose documents differ, in the order of keys if that can be read.
func (b *rebuilding) differ(ctx context.Context, after string) iter.Seq2[difference, error] {
	ctx = keyrange.Whole(ctx)
	if b.old.Unscannable != "" || b.new.Unscannable != "" {
		return b.differUnordered(ctx)
	}
	return func(yield func(difference, error) bool) {
		nextOld, endOld := iter.Pull2(b.entries(ctx, b.old, after))
		defer endOld()
		nextNew, endNew := iter.Pull2(b.entries(ctx, b.new, after))
		defer endNew()
		o, err, isOld := nextOld()
		n, failed, isNew := nextNew()
		for isOld || isNew {
			if err == nil {
				err = failed
			}
			if err != nil {
				yield(difference{}, err)
				return
			}
			before, behind := isOld && (!isNew || o.key < n.key), isNew && (!isOld || n.key < o.key)
			d := difference{key: o.key, document: o.json, there: !before}
			if behind {
				d = difference{key: n.key, there: true}
			}
			if (before || behind || o.sum != n.sum) && !yield(d, nil) {
				return
			}
			if !behind {
				o, err, isOld = nextOld()
			}
			if !before {
				n, failed, isNew = nextNew()
			}
		}
	}
}

// differUnordered is differ for an index whose keys cannot be ordered, with at most keyrange.Paged documents.
func (b *rebuilding) differUnordered(ctx context.Context) iter.Seq2[difference, error] {
	return func(yield func(difference, error) bool) {
		found := map[string]digest.Sum{}
		for n, err := range b.entries(ctx, b.new, "") {
			if err != nil {
				yield(difference{}, err)
				return
			}
			found[n.key] = n.sum
		}
		for o, err := range b.entries(ctx, b.old, "") {
			sum, there := found[o.key]
			delete(found, o.key)
			if (err != nil || sum != o.sum) && !yield(difference{o.key, o.json, there}, err) {
				return
			}
		}
		for key := range found {
			if !yield(difference{key: key, there: true}, nil) {
				return
			}
		}
	}
}
