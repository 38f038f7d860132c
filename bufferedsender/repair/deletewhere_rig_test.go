package repair_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

// record is a document with an owner.
type record struct {
	ID    string `json:"id" search:"key,filterable,sortable"`
	Owner string `json:"owner" search:"filterable"`
	Rev   int64  `json:"rev" search:"filterable"`
}

// deleteRig is an emulated index of records with a sender, and a client of another writer.
type deleteRig struct {
	t       *testing.T
	service *searchtest.Server
	client  *search.Client
	sender  *bufferedsender.BufferedSender[record]
}

func newDeleteRig(t *testing.T, service *searchtest.Options, opts *bufferedsender.Options[record]) *deleteRig {
	t.Helper()
	fields, err := models.FieldsOf[record]()
	require.NoError(t, err)
	r := &deleteRig{t: t, service: searchtest.NewServer(service)}
	t.Cleanup(func() { assert.NoError(t, r.service.Close()) })
	r.client = clienttest.NewClient(t, models.SearchIndex{Name: "records", Fields: fields}, &clienttest.Options{Server: r.service})
	var o bufferedsender.Options[record]
	if opts != nil {
		o = *opts
	}
	o.Logger = sendertest.NoLog
	r.sender, err = bufferedsender.New(r.client, &o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = r.sender.Close(ctx)
	})
	return r
}

// fill uploads n records of an owner with the keys owner-0000000 and so on, before anything else.
func (r *deleteRig) fill(owner string, n int) {
	r.t.Helper()
	docs := make([]record, n)
	for i := range docs {
		docs[i] = record{ID: fmt.Sprintf("%s-%07d", owner, i), Owner: owner}
	}
	r.write(docs...)
}

// write uploads records by another writer.
func (r *deleteRig) write(docs ...record) {
	r.t.Helper()
	for some := range slices.Chunk(docs, 1000) {
		_, err := search.UploadDocuments(context.Background(), r.client, some, nil)
		require.NoError(r.t, err)
	}
}

// of is the index restricted to one owner.
func (r *deleteRig) of(owner string) *watched {
	r.t.Helper()
	rows, err := search.NewRows(r.client, &search.RowsOptions{Filter: search.Eq("owner", owner)})
	require.NoError(r.t, err)
	return &watched{Index: rows}
}

func (r *deleteRig) total(ctx context.Context) (int64, error) {
	return r.client.DocumentCount(ctx, nil)
}

// all returns options without limits.
func (r *deleteRig) all() *repair.DeleteOptions {
	return &repair.DeleteOptions{Total: r.total, MaxShare: 1}
}

// keys returns the index's keys, visible or not.
func (r *deleteRig) keys() []string {
	return slices.Sorted(slices.Values(r.service.DocumentKeys("records")))
}

// deletes returns the number of deletes that the index has applied.
func (r *deleteRig) deletes() (n int) {
	for _, c := range r.service.Changes("records") {
		if c.Action == "delete" {
			n++
		}
	}
	return n
}

// watched is an index that calls functions before each scan and lookup, and after each scan.
type watched struct {
	repair.Index
	scans                    int
	beforeScan, afterScan    func(n int) // from 1
	beforeLookup, lookedUp   func(keys []string)
	lookupFails, scanStumble error
}

func (w *watched) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		w.scans++
		n := w.scans
		if w.beforeScan != nil {
			w.beforeScan(n)
		}
		for row, err := range w.Index.Scan(ctx, after, through) {
			if !yield(row, err) {
				return
			}
			if w.scanStumble != nil {
				yield(models.Row{}, w.scanStumble)
				return
			}
		}
		if w.afterScan != nil {
			w.afterScan(n)
		}
	}
}

func (w *watched) Lookup(ctx context.Context, keys []string) ([]models.Row, error) {
	if w.beforeLookup != nil {
		w.beforeLookup(keys)
	}
	if w.lookupFails != nil {
		return nil, w.lookupFails
	}
	rows, err := w.Index.Lookup(ctx, keys)
	if w.lookedUp != nil {
		w.lookedUp(keys)
	}
	return rows, err
}

// digestOf is the receipt's digest of keys deleted in this order.
func digestOf(keys ...string) string {
	h := sha256.New()
	for _, key := range keys {
		fmt.Fprintf(h, "%s\n", key)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// balanced checks that a receipt accounts for all matches.
func balanced(t *testing.T, r repair.Receipt) {
	t.Helper()
	assert.Equal(t, r.Matched, r.Deleted+r.Changed+r.Failed+r.Unsent, "%+v", r)
}

// fixedIndex always shows these keys.
type fixedIndex []string

func (f fixedIndex) Scan(_ context.Context, after, _ string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for _, key := range f {
			if (after == "" || key > after) && !yield(models.Row{Key: key}, nil) {
				return
			}
		}
	}
}

func (f fixedIndex) Lookup(context.Context, []string) (rows []models.Row, err error) {
	for _, key := range f {
		rows = append(rows, models.Row{Key: key})
	}
	return rows, nil
}
