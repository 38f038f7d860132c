package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/models"
)

var quiet = slog.New(slog.DiscardHandler)

// item is a document.
type item struct {
	ID      string `json:"id" search:"key,filterable,sortable"`
	Version int64  `json:"version"`
	Text    string `json:"text"`
	Tenth   bool   `json:"tenth" search:"filterable"`
}

func itemOf(i int) item {
	return item{ID: key(i), Version: int64(i), Text: "A document like many others, with a sentence or two of text in it.", Tenth: i%10 == 3}
}

func key(i int) string { return fmt.Sprintf("%09d", i) }

// generated is a source or an index with rows 0 to n-1 that are not stored.
type generated struct{ n int }

// first returns the number of the first row after a key.
func (g generated) first(after string) (i int) {
	if after == "" {
		return 0
	}
	_, _ = fmt.Sscanf(after, "%d", &i)
	return i + 1
}

func (g generated) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for i := g.first(after); i < g.n; i++ {
			k := key(i)
			if through != "" && k > through || i%1000 == 0 && ctx.Err() != nil {
				return
			}
			if !yield(models.Row{Key: k, Version: int64(i)}, nil) {
				return
			}
		}
	}
}

func (g generated) Lookup(_ context.Context, keys []string) (all []models.Row, err error) {
	for _, k := range keys {
		if i := g.first(k) - 1; i < g.n {
			all = append(all, models.Row{Key: k, Version: int64(i)})
		}
	}
	return all, nil
}

func (g generated) Read(_ context.Context, keys []string) (all []models.RawAction, err error) {
	for _, k := range keys {
		a, err := upload(g.first(k) - 1)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func upload(i int) (models.RawAction, error) {
	text, err := json.Marshal(itemOf(i))
	return models.RawAction{Key: key(i), Type: models.ActionTypeUpload, Document: text}, err
}

// table is a table, and an index with the same rows. A request takes time, but no processor time.
type table struct {
	takes time.Duration

	mu       sync.Mutex
	versions map[string]int64
	sorted   []string // keys, which never change
	written  int
}

func newTable(n int, takes time.Duration) *table {
	t := &table{takes: takes, versions: make(map[string]int64, n)}
	for i := range n {
		t.sorted = append(t.sorted, key(i))
		t.versions[key(i)] = 1
	}
	return t
}

// IndexDocumentsRaw implements bufferedsender.Indexer.
func (t *table) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (result models.IndexDocumentsResult, err error) {
	var request struct {
		Value []item `json:"value"`
	}
	if err := json.NewDecoder(body).Decode(&request); err != nil {
		return result, err
	}
	if err := slow.Wait(ctx, t.takes); err != nil {
		return result, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	keys := make([]string, len(request.Value))
	for n, i := range request.Value {
		keys[n], t.versions[i.ID] = i.ID, i.Version
	}
	t.written += len(keys)
	return slow.Applied(keys), nil
}

func (t *table) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		i, _ := slices.BinarySearch(t.sorted, after+"\x00")
		for part := range slices.Chunk(t.sorted[i:], 1000) {
			if err := slow.Wait(ctx, t.takes); err != nil {
				yield(models.Row{}, err)
				return
			}
			rows, err := t.Lookup(ctx, part)
			for _, row := range rows {
				if !yield(row, err) {
					return
				}
			}
		}
	}
}

func (t *table) Lookup(_ context.Context, keys []string) (all []models.Row, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range keys {
		if v, ok := t.versions[k]; ok {
			all = append(all, models.Row{Key: k, Version: v})
		}
	}
	return all, nil
}

func (t *table) Read(context.Context, []string) ([]models.RawAction, error) { return nil, nil }
