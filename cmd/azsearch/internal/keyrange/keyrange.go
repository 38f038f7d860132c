// Package keyrange is for commands that read all documents of an index: in ranges of its keys, several at a
// time, beyond
// the 100 000 documents that paging ends at.
package keyrange

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Range is the keys behind After up to and with Through; "" has no bound.
type Range struct {
	After   string `json:"after,omitempty"`
	Through string `json:"through,omitempty"`
}

// Paged is how many documents paging reaches, which is all there is for a key that cannot be filtered and sorted by.
const Paged = 100_000

// Index is an index that is read as a whole.
type Index struct {
	Client *search.Client
	// Unscannable says why only the first documents can be reached, "" if all can.
	Unscannable string
	// Hidden are the fields whose values cannot be read, with the reason.
	Hidden []string
	// Trimmed says that permissions hide documents from ordinary queries.
	Trimmed bool
	// ReadAhead is that of search.ScanOptions, for a caller that reads one range at a time.
	ReadAhead int

	key    models.KeyField[json.RawMessage]
	filter search.Filter
	fields []string
}

// Of returns an index by its definition. filter and fields narrow what is read; fields may be nil for all.
func Of(client *search.Client, definition *models.SearchIndex, filter search.Filter, fields []string) (*Index, error) {
	x := &Index{Client: client, filter: filter, fields: fields, Trimmed: definition.PermissionFilterOption == models.PermissionFilterEnabled}
	var err error
	for _, f := range definition.Fields {
		if f.PermissionFilter != "" && definition.PermissionFilterOption == "" {
			x.Trimmed = true
		}
		if f.Key == nil || !*f.Key {
			continue
		}
		if x.key, err = models.KeyFieldByName[json.RawMessage](f.Name); err != nil {
			return nil, err
		}
		switch {
		case isFalse(f.Filterable):
			x.Unscannable = fmt.Sprintf("its key field %q is not filterable", f.Name)
		case isFalse(f.Sortable):
			x.Unscannable = fmt.Sprintf("its key field %q is not sortable", f.Name)
		case f.Normalizer != "":
			x.Unscannable = fmt.Sprintf("its key field %q has a normalizer", f.Name)
		}
		if isFalse(f.Retrievable) {
			return nil, fmt.Errorf("index %s: its key field %q is retrievable:false, so its documents cannot be read", definition.Name, f.Name)
		}
	}
	if x.key.Name == "" {
		return nil, fmt.Errorf("index %s: its definition has no key field", definition.Name)
	}
	x.Hidden = hidden("", definition.Fields)
	return x, nil
}

func hidden(path string, fields []models.SearchField) (all []string) {
	for _, f := range fields {
		switch {
		case isFalse(f.Stored):
			all = append(all, path+f.Name+" (stored:false)")
		case isFalse(f.Retrievable):
			all = append(all, path+f.Name+" (retrievable:false)")
		}
		all = append(all, hidden(path+f.Name+"/", f.Fields)...)
	}
	return all
}

func isFalse(b *bool) bool { return b != nil && !*b } // nil is true

// Key is the name of the key field.
func (x *Index) Key() string { return x.key.Name }

// KeyOf returns the key of a document.
func (x *Index) KeyOf(document json.RawMessage) (string, error) { return x.key.Get(document) }

// Whole returns a context in which documents are read as a whole: elevated where permissions would hide some,
// or not at all.
func Whole(ctx context.Context) context.Context { return wholeindex.Require(ctx) }

// Count returns how many documents an index has, those included that permissions hide, or search.ErrPartialView.
func Count(ctx context.Context, client *search.Client) (int64, error) {
	return client.DocumentCount(Whole(ctx), nil) //nolint:forbidigo // here it is elevated, or refused
}

// Count is Count for an index whose definition was just read.
func (x *Index) Count(ctx context.Context) (int64, error) {
	if x.Trimmed {
		return Count(ctx, x.Client)
	}
	return x.Client.DocumentCount(ctx, nil) //nolint:forbidigo // nothing is hidden
}

// Documents returns the documents of a range, in the order of their keys. ctx is one of Whole.
func (x *Index) Documents(ctx context.Context, r Range) iter.Seq2[json.RawMessage, error] {
	if x.Unscannable != "" {
		return x.pages(ctx)
	}
	return search.Scan[json.RawMessage](ctx, x.Client, &search.ScanOptions{Filter: x.within(Range{Through: r.Through}), Select: x.fields, KeyField: x.key.Name, After: r.After, ReadAhead: x.ReadAhead})
}

// pages returns what paging reaches, in no order.
func (x *Index) pages(ctx context.Context) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		if x.Trimmed {
			yield(nil, fmt.Errorf("%w of %s, and %s: no elevated read reaches them all", search.ErrPartialView, x.Client.IndexName(), x.Unscannable))
			return
		}
		for skip := 0; skip < Paged; {
			first := skip
			for found, err := range search.Search[json.RawMessage](ctx, x.Client, "", &search.SearchOptions{Filter: x.filter, Select: x.selected(), Top: new(1000), Skip: skip}) {
				if !yield(found.Document, err) || err != nil {
					return
				}
				skip++
			}
			if skip-first < 1000 {
				return
			}
		}
	}
}

func (x *Index) selected() []string {
	if x.fields == nil {
		return nil
	}
	return append(x.fields[:len(x.fields):len(x.fields)], x.key.Name)
}

func (x *Index) within(r Range) search.Filter {
	f := x.filter
	if r.After != "" {
		f = search.And(search.Gt(x.key.Name, r.After), f)
	}
	if r.Through != "" {
		f = search.And(search.Le(x.key.Name, r.Through), f)
	}
	return f
}

// Gaps returns what some ranges leave out of all keys.
func Gaps(ranges []Range) (gaps []Range) {
	at := ""
	for _, r := range slices.SortedFunc(slices.Values(ranges), func(a, b Range) int { return cmp.Compare(a.After, b.After) }) {
		if r.After > at {
			gaps = append(gaps, Range{After: at, Through: r.After})
		}
		if at = r.Through; at == "" {
			return gaps
		}
	}
	return append(gaps, Range{After: at})
}

// Size is how many documents a range has by default: five pages of Scan, which begin with the last document of the page
// before. With one more the last page would be full, and another one asked for.
const Size = 5*999 - 1

// splitAhead is how many ranges Split looks for at once. The service skips that many times their size, at most 100 000.
const splitAhead = 16

// Split divides a range into ranges of about size documents, each found by one query as the caller takes it, or soon
// before. What is added and deleted meanwhile changes how many documents they have, and not that each key is in one of
// them.
func (x *Index) Split(ctx context.Context, r Range, size int) iter.Seq2[Range, error] {
	return func(yield func(Range, error) bool) {
		for more := x.Unscannable == ""; more; {
			through, err := x.next(ctx, r, size)
			if err != nil {
				yield(r, err)
				return
			}
			for _, key := range through {
				if more = key != ""; !more || key <= r.After {
					break // behind the last document, or some came or went meanwhile
				}
				if !yield(Range{r.After, key}, nil) || key == r.Through {
					return
				}
				r.After = key
			}
		}
		yield(r, nil)
	}
}

// next returns the keys of the documents at the places size, 2·size and so on of a range, "" where there is none.
func (x *Index) next(ctx context.Context, r Range, size int) (keys []string, err error) {
	keys = make([]string, splitAhead)
	errs := make([]error, splitAhead)
	var asking sync.WaitGroup
	for i := range keys {
		asking.Go(func() { keys[i], errs[i] = x.at(ctx, r, (i+1)*size-1) })
	}
	asking.Wait()
	return keys, errors.Join(errs...)
}

// at returns the key of the document that has skip others of a range before it, "" if there is none.
func (x *Index) at(ctx context.Context, r Range, skip int) (string, error) {
	for found, err := range search.Search[json.RawMessage](ctx, x.Client, "", &search.SearchOptions{
		Filter: x.within(r), OrderBy: []string{x.key.Name}, Select: []string{x.key.Name}, Top: new(1), Skip: skip,
	}) {
		if err != nil {
			return "", err
		}
		key, err := x.key.Get(found.Document)
		if err == nil && key <= r.After {
			err = fmt.Errorf("index %s orders %q in another way than by its characters", x.Client.IndexName(), x.key.Name)
		}
		return key, err
	}
	return "", nil
}

// Each calls do for each of some ranges, several at a time, and returns the first error, after all have ended.
func Each[T any](ctx context.Context, workers int, ranges iter.Seq2[T, error], do func(context.Context, T) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work := make(chan T, workers) // with room for those that are found while all workers are busy
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for r := range work {
				if err := do(ctx, r); err != nil {
					stop(err)
					return
				}
			}
		})
	}
	for r, err := range ranges {
		if err != nil {
			stop(err)
			break
		}
		select {
		case work <- r:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	working.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
