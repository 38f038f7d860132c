// Package keyrange reads all documents of an index in key ranges, several concurrently. Paging would end at 100 000
// documents.
package keyrange

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Range is the keys greater than After, up to and including Through. "" means no bound.
type Range struct {
	After   string `json:"after,omitempty"`
	Through string `json:"through,omitempty"`
}

// Paged is the number of documents that paging reaches. Paging is the only way to read an index whose key is not
// filterable and sortable.
const Paged = 100_000

// Index is an index to be read completely.
type Index struct {
	Client *search.Client
	// Unscannable is the reason why only the first Paged documents can be read, "" if all can.
	Unscannable string
	// Hidden lists the fields whose values the service does not return, with the reason.
	Hidden []string
	// Trimmed is true if permissions hide documents from ordinary queries.
	Trimmed bool
	// ReadAhead is search.ScanOptions.ReadAhead, for a caller that reads one range at a time.
	ReadAhead int

	key    models.KeyField[json.RawMessage]
	filter search.Filter
	fields []string
}

// Open is Of for the definition d, as the service returned it.
func Open(service *connect.Service, d *definitions.Definition, filter search.Filter, fields []string) (*Index, error) {
	var definition models.SearchIndex
	if err := json.Unmarshal(d.JSON, &definition); err != nil {
		return nil, fmt.Errorf("%s: %w", d, err)
	}
	client, err := service.Client(d.Name)
	if err != nil {
		return nil, err
	}
	return Of(client, &definition, filter, fields)
}

// Of returns an index for reading. filter and fields limit what is read; nil fields means all.
func Of(client *search.Client, definition *models.SearchIndex, filter search.Filter, fields []string) (*Index, error) {
	x := &Index{Client: client, filter: filter, fields: fields, Trimmed: wholeindex.Trims(definition)}
	var err error
	for _, f := range definition.Fields {
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
	x.Hidden = Hidden(definition.Fields)
	return x, nil
}

// Hidden returns the paths of fields whose values the service does not return, each with the reason.
func Hidden(fields []models.SearchField) []string { return hidden("", fields) }

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

// Key returns the name of the key field.
func (x *Index) Key() string { return x.key.Name }

// KeyOf returns the key of a document.
func (x *Index) KeyOf(document json.RawMessage) (string, error) { return x.key.Get(document) }

// Whole returns a context for reading all documents: where permissions hide some, requests are elevated, or fail. A
// request is attempted for a minute and a half, because a busy service refuses one in a thousand four times in a row.
func Whole(ctx context.Context) context.Context {
	return wholeindex.Require(policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: 6}))
}

// Before returns a context in which search.DeleteMatching calls check before each pass, and ends with its error: n is
// the number of documents that it will have deleted then, or more if not all that match are in keys.
func Before(ctx context.Context, check func(n int64, keys []string) error) context.Context {
	return wholeindex.Before(ctx, check)
}

// Count returns the number of documents of an index, including those hidden by permissions. If it cannot count
// these, it returns search.ErrPartialView.
func Count(ctx context.Context, client *search.Client) (int64, error) {
	return client.DocumentCount(Whole(ctx), nil) //nolint:forbidigo // here it is elevated, or refused
}

// Count is like the function Count, for an index whose definition was just read.
func (x *Index) Count(ctx context.Context) (int64, error) {
	if x.Trimmed {
		return Count(ctx, x.Client)
	}
	return x.Client.DocumentCount(ctx, nil) //nolint:forbidigo // nothing is hidden
}

// Documents yields the documents of a range in the order of their keys; of an Unscannable index those that paging
// reaches, whatever the range. ctx comes from Whole.
func (x *Index) Documents(ctx context.Context, r Range) iter.Seq2[json.RawMessage, error] {
	if x.Unscannable != "" {
		return x.pages(ctx)
	}
	return search.Scan[json.RawMessage](ctx, x.Client, &search.ScanOptions{Filter: x.within(Range{Through: r.Through}), Select: x.fields, KeyField: x.key.Name, After: r.After, ReadAhead: x.ReadAhead})
}

// pages yields the documents that paging reaches, in no particular order.
func (x *Index) pages(ctx context.Context) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		if x.Trimmed {
			yield(nil, fmt.Errorf("%w of %s, and %s: no elevated read reaches them all", search.ErrPartialView, x.Client.IndexName(), x.Unscannable))
			return
		}
		for skip := 0; skip < Paged; {
			first := skip
			pager := search.NewSearchPager[json.RawMessage](x.Client, "", &search.SearchOptions{Filter: x.filter, Select: x.selected(), Top: new(1000), Skip: skip})
			for pager.More() {
				page, err := pager.NextPage(ctx)
				if err == nil {
					err = wholeindex.Page(page.StatusCode, page.Coverage, page.AdditionalProperties)
				}
				if err != nil {
					yield(nil, err)
					return
				}
				for _, found := range page.Results {
					if !yield(found.Document, nil) {
						return
					}
				}
				skip += len(page.Results)
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

// Gaps returns the key ranges that ranges leave out.
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

// Size is the default number of documents per range: five pages of Scan. Each page begins with the last document of
// the previous one, and the last page must not be full, or Scan would request another.
const Size = 5*999 - 1

// splitAhead is the number of ranges that Split determines concurrently. Each query skips up to splitAhead times the
// size, at most 100 000.
const splitAhead = 16

// Split divides a range into ranges of about size documents, each found by one query on demand or shortly before.
// Added and deleted documents change how many a range has, but each key stays in exactly one range.
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
					break // past the last document, or documents changed meanwhile
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

// next returns the keys of the documents at positions size, 2·size and so on of a range, "" past the last document.
func (x *Index) next(ctx context.Context, r Range, size int) (keys []string, err error) {
	keys = make([]string, splitAhead)
	errs := make([]error, splitAhead)
	var asking sync.WaitGroup
	for i := range keys {
		asking.Go(func() { keys[i], errs[i] = x.at(ctx, r, (i+1)*size-1) })
	}
	asking.Wait()
	return keys, cmp.Or(errs...) // all say the same
}

// at returns the key of the document after skip others of a range, "" if there is none.
func (x *Index) at(ctx context.Context, r Range, skip int) (string, error) {
	for found, err := range search.Search[json.RawMessage](ctx, x.Client, "", &search.SearchOptions{
		Filter: x.within(r), OrderBy: []string{x.key.Name}, Select: []string{x.key.Name}, Top: new(1), Skip: skip,
	}) {
		if err != nil {
			return "", err
		}
		key, err := x.key.Get(found.Document)
		if err == nil && key <= r.After {
			err = fmt.Errorf("index %s does not order %q by its characters", x.Client.IndexName(), x.key.Name)
		}
		return key, err
	}
	return "", nil
}

// Each calls do for each range, in up to workers goroutines. After the first error it starts no more, waits for all
// running calls, and returns that error.
func Each[T any](ctx context.Context, workers int, ranges iter.Seq2[T, error], do func(context.Context, T) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work := make(chan T, workers) // buffers ranges found while all workers are busy
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
