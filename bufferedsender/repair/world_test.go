package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// hotel is a row of the table and a document of the index.
type hotel struct {
	ID      string `json:"id" search:"key"`
	Version int64  `json:"version"`
	Draft   bool   `json:"-"`
}

// world is a table, its index, and a record of their calls.
type world struct {
	t     testing.TB
	lag   time.Duration // delay until the index shows a write
	takes time.Duration // duration of a request to the index
	page  int           // rows in a page of a scan
	reads time.Duration // duration of a page

	mu       sync.Mutex
	table    map[string]hotel
	index    map[string]hotel
	changes  []change // not visible in the index yet
	shown    map[string]hotel
	refuses  map[string]bool // keys that the service rejects
	written  map[string]int  // documents received by the service, by key
	deleted  []string
	scanned  [2][]string // start keys of the scans of source and index
	failScan func(side string, row int) error
	lookups  func(side string, keys []string) // called for each lookup
	falsely  []string                         // keys that were deleted while they were in the table
}

type change struct {
	at   time.Time
	key  string
	doc  hotel
	gone bool
}

func newWorld(t testing.TB) *world {
	return &world{
		t: t, page: 1000, table: map[string]hotel{}, index: map[string]hotel{}, shown: map[string]hotel{},
		refuses: map[string]bool{}, written: map[string]int{},
	}
}

func key(i int) string { return fmt.Sprintf("k%06d", i) }

// fill puts n documents into the table and the index.
func (w *world) fill(n int) {
	for i := range n {
		h := hotel{ID: key(i), Version: 1}
		w.table[h.ID], w.index[h.ID], w.shown[h.ID] = h, h, h
	}
}

// behind changes the index without the sender.
func (w *world) behind(key string, h *hotel) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apply(key, h)
}

func (w *world) apply(key string, h *hotel) {
	c := change{at: time.Now().Add(w.lag), key: key, gone: h == nil}
	if h != nil {
		c.doc = *h
		w.index[key] = *h
	} else {
		delete(w.index, key)
	}
	w.changes = append(w.changes, c)
}

// show makes due changes visible. The caller holds mu.
func (w *world) show() {
	now := time.Now()
	for len(w.changes) > 0 && !w.changes[0].at.After(now) {
		if c := w.changes[0]; c.gone {
			delete(w.shown, c.key)
		} else {
			w.shown[c.key] = c.doc
		}
		w.changes = w.changes[1:]
	}
}

// set writes a row; nil deletes it.
func (w *world) set(key string, h *hotel) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h == nil {
		delete(w.table, key)
	} else {
		w.table[key] = *h
	}
}

// IndexDocumentsRaw implements bufferedsender.Indexer.
func (w *world) IndexDocumentsRaw(ctx context.Context, body io.ReadSeekCloser) (result models.IndexDocumentsResult, err error) {
	if w.takes > 0 {
		time.Sleep(w.takes)
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return result, err
	}
	var request struct {
		Value []struct {
			hotel
			Action models.ActionType `json:"@search.action"`
		} `json:"value"`
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		return result, err
	}
	if n := len(request.Value); n == 0 || n > 1000 || len(raw) > 16<<20 {
		w.t.Errorf("a request with %d actions and %d bytes, which the service refuses", n, len(raw))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	result.StatusCode = 200
	for _, a := range request.Value {
		r := models.IndexingResult{Key: a.ID, Succeeded: true, StatusCode: 200}
		w.written[a.ID]++
		switch {
		case w.refuses[a.ID]:
			r.Succeeded, r.StatusCode, result.StatusCode = false, 400, 207
		case a.Action == models.ActionTypeMerge && w.index[a.ID].ID == "":
			r.Succeeded, r.StatusCode, result.StatusCode = false, 404, 207
		case a.Action == models.ActionTypeDelete:
			if row, there := w.table[a.ID]; there && !row.Draft {
				w.falsely = append(w.falsely, a.ID)
			}
			w.deleted = append(w.deleted, a.ID)
			w.apply(a.ID, nil)
		default:
			w.apply(a.ID, &a.hotel)
		}
		result.Results = append(result.Results, r)
	}
	return result, ctx.Err()
}

// half is one of the two sides as a repair sees it.
type half struct {
	*world
	side string
}

func (h half) rows() map[string]hotel {
	if h.side == "source" {
		return h.table
	}
	h.show()
	return h.shown
}

func (h half) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		h.mu.Lock()
		i := 0
		if h.side == "index" {
			i = 1
		}
		h.scanned[i] = append(h.scanned[i], after)
		h.mu.Unlock()
		n := 0
		for {
			if h.reads > 0 {
				time.Sleep(h.reads)
			}
			if err := ctx.Err(); err != nil {
				yield(models.Row{}, err)
				return
			}
			h.mu.Lock()
			all := h.rows()
			var page []models.Row
			for _, k := range slices.Sorted(maps.Keys(all)) {
				if k > after && (through == "" || k <= through) && len(page) < h.page {
					page = append(page, models.Row{Key: k, Version: all[k].Version, Hidden: all[k].Draft})
				}
			}
			fail := h.failScan
			h.mu.Unlock()
			for _, row := range page {
				if fail != nil {
					if err := fail(h.side, n); err != nil {
						yield(models.Row{}, err)
						return
					}
				}
				if n++; !yield(row, nil) {
					return
				}
				after = row.Key
			}
			if len(page) < h.page {
				return
			}
		}
	}
}

func (h half) Lookup(ctx context.Context, keys []string) (rows []models.Row, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if h.lookups != nil {
		h.lookups(h.side, keys)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.rows()
	for _, k := range keys {
		if row, ok := all[k]; ok {
			rows = append(rows, models.Row{Key: k, Version: row.Version, Hidden: row.Draft})
		}
	}
	return rows, nil
}

func (h half) Read(ctx context.Context, keys []string) (actions []models.RawAction, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range keys {
		if row, ok := h.table[k]; ok {
			text, err := json.Marshal(row)
			if err != nil {
				return nil, err
			}
			actions = append(actions, models.RawAction{Key: k, Type: models.ActionTypeUpload, Document: text})
		}
	}
	return actions, nil
}

// sender creates a sender to the index.
func (w *world) sender(opts *bufferedsender.Options[hotel]) *bufferedsender.BufferedSender[hotel] {
	w.t.Helper()
	if opts == nil {
		opts = &bufferedsender.Options[hotel]{}
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	s, err := bufferedsender.New(w, opts)
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Close(ctx)
	})
	return s
}

var quiet = slog.New(slog.DiscardHandler)

// repairer creates a Repairer. nil options mean the zero value.
func repairer(source Source, index Index, to Sender, opts *Options) *Repairer {
	r := &Repairer{Source: source, Index: index, Sender: to}
	if opts != nil {
		r.Options = *opts
	}
	return r
}

// repair runs a pass with a new sender.
func (w *world) repair(opts *Options) (Report, error) {
	w.t.Helper()
	s := w.sender(nil)
	defer func() { _ = s.Close(context.Background()) }() // its error lists the rejected documents
	return w.run(s.Raw(), opts)
}

func (w *world) run(to Sender, opts *Options) (Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	return repairer(half{w, "source"}, half{w, "index"}, to, opts).Run(context.Background())
}

// has returns the index's document of a key.
func (w *world) has(key string) (hotel, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h, ok := w.index[key]
	return h, ok
}

// agrees checks that index and table are equal.
func (w *world) agrees() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.show()
	var wrong []string
	for k, row := range w.table {
		if doc, ok := w.index[k]; row.Draft == ok || ok && doc.Version != row.Version {
			wrong = append(wrong, fmt.Sprintf("%s: table %v, index %v %v", k, row, doc, ok))
		}
	}
	for k := range w.index {
		if _, ok := w.table[k]; !ok {
			wrong = append(wrong, k+": only in the index")
		}
	}
	slices.Sort(wrong)
	require.Empty(w.t, strings.Join(wrong[:min(len(wrong), 20)], "\n"))
	require.Empty(w.t, w.falsely, "deleted although the row was there")
}
