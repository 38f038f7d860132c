// Package store keeps the documents of an index, which of them are visible, and the history of their changes.
package store

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Index is one index of the service: its definition and its documents. Each index has its own
// lock, so it blocks neither writers of other indexes nor lookups of indexes by name.
type Index struct {
	Name  string
	quota int64 // maximum number of documents, 0 for no limit

	// schema is the current definition. It is read without a lock and replaced by SetSchema.
	schema atomic.Pointer[schema.Index]

	mu sync.Mutex // guards everything below
	documents
	changes changeLog
	merged  []byte // buffer for merged documents

	view query.View // has its own lock
}

// Options are the fields of searchtest.Options for storage and visibility.
type Options struct {
	DocumentQuota int64
	VisibilityLag time.Duration
	KeepChanges   int
	KeepContents  bool
}

// New returns an empty index.
func New(sc *schema.Index, o Options) *Index {
	ix := &Index{
		Name:      sc.Name,
		quota:     o.DocumentQuota,
		documents: documents{live: make(map[string]document), lag: o.VisibilityLag},
		changes:   changeLog{limit: o.KeepChanges, keepContents: o.KeepContents},
	}
	ix.visible = ix.live
	if ix.lag > 0 {
		ix.visible = make(map[string]document)
	}
	ix.schema.Store(sc)
	return ix
}

// SetSchema replaces the definition. Documents are stored by field ordinal, so existing fields
// keep their ordinals at any position in the new definition, and new fields get unused ones.
func (ix *Index) SetSchema(sc *schema.Index) {
	keepOrdinals(ix.schema.Load().Fields, sc.Fields)
	ix.schema.Store(sc)
}

// keepOrdinals gives the fields of next the ordinals of the fields with the same name in prev.
// Fields are never removed from an index, so ordinals have no gaps.
func keepOrdinals(prev, next []*stored.Field) {
	byName := make(map[string]*stored.Field, len(prev))
	free := 0
	for _, f := range prev {
		byName[f.Name] = f
		free = max(free, f.Ordinal+1)
	}
	for _, f := range next {
		if old, ok := byName[f.Name]; ok {
			f.Ordinal = old.Ordinal
			keepOrdinals(old.Fields, f.Fields)
			continue
		}
		f.Ordinal = free
		free++
	}
}

// Count returns the number of documents that lookups can see, and the size in bytes of the
// stored ones.
func (ix *Index) Count(now time.Time) (visible, bytes int64) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.Settle(now)
	return int64(len(ix.visible)), ix.bytes
}

// Definition returns the current definition.
func (ix *Index) Definition() *schema.Index { return ix.schema.Load() }

// Get returns a document that lookups can see, in stored form, and a definition that contains
// all its fields. The document is nil if there is none and must not be changed.
func (ix *Index) Get(key string, now time.Time) ([]byte, *schema.Index) {
	ix.mu.Lock()
	ix.Settle(now)
	data := ix.visible[key].data
	ix.mu.Unlock()
	// Read the definition after the document: a PUT and a write that uses its field may
	// happen in between.
	return data, ix.schema.Load()
}

// Read runs a search on the view of the documents that are visible now.
func (ix *Index) Read(prepare func(*query.View) *reply.Error, search func(*query.View)) *reply.Error {
	now := time.Now()
	return ix.view.Read(func(all bool) query.Writes { return ix.news(all, now) }, prepare, search)
}

// news returns the writes since the last update of the view. The caller holds the lock of the
// view, which is locked before that of the index.
func (ix *Index) news(all bool, now time.Time) query.Writes {
	w := query.Writes{Schema: ix.schema.Load()}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.Settle(now)
	if w.All = all || !ix.followed; !w.All {
		w.List, ix.unseen = ix.unseen, nil
		return w
	}
	ix.followed, ix.unseen = true, nil
	w.List = make([]query.Write, 0, len(ix.visible))
	for key, doc := range ix.visible {
		w.List = append(w.List, query.Write{Key: key, Data: doc.data, Serial: doc.serial})
	}
	return w
}

// document is a document in stored form. Its data is immutable, so it may be read without a
// lock.
type document struct {
	data   []byte
	serial uint64 // of the write, because equal results have the order of writing
}

// documents holds the documents of an index by key.
type documents struct {
	live   map[string]document // all documents, by key
	bytes  int64               // of keys and documents in live
	serial uint64              // of the latest write

	// visible has the documents that reads see: live itself without a lag, otherwise a copy to
	// which pending writes are added when they are due.
	visible map[string]document
	lag     time.Duration
	pending []pendingWrite // in order of time
	settled int            // number of pending writes that are already visible

	// followed means that unseen collects the writes for the next update of the view. An index
	// that is never searched is not followed, and one with many more writes than searches stops
	// being followed.
	followed bool
	unseen   []query.Write
}

// pendingWrite is a write that reads do not see yet. Its document has no data for a delete.
type pendingWrite struct {
	due time.Time
	key string
	document
}

func (w *pendingWrite) deletes() bool { return w.data == nil }

// put stores a document and reports whether it is new.
func (d *documents) put(key string, data []byte, now time.Time) (created bool) {
	before, found := d.live[key]
	d.serial++
	doc := document{data, d.serial}
	d.live[key] = doc
	if found {
		d.bytes += int64(len(data) - len(before.data))
	} else {
		d.bytes += int64(len(key) + len(data))
	}
	d.publish(key, doc, now)
	return !found
}

// remove deletes a document if it exists.
func (d *documents) remove(key string, now time.Time) {
	if before, found := d.live[key]; found {
		delete(d.live, key)
		d.bytes -= int64(len(key) + len(before.data))
		d.publish(key, document{}, now)
	}
}

// publish makes a write visible after the lag.
func (d *documents) publish(key string, doc document, now time.Time) {
	if d.lag > 0 {
		d.Settle(now)
		d.pending = append(d.pending, pendingWrite{now.Add(d.lag), key, doc})
		return
	}
	d.follow(pendingWrite{key: key, document: doc})
}

// follow records a visible write for the next search.
func (d *documents) follow(w pendingWrite) {
	switch {
	case !d.followed:
	case len(d.unseen) > len(d.visible)+1000: // reading all documents is less work
		d.followed, d.unseen = false, nil
	default:
		d.unseen = append(d.unseen, query.Write{Key: w.key, Data: w.data, Serial: w.serial})
	}
}

// Settle makes due writes visible.
func (d *documents) Settle(now time.Time) {
	for d.settled < len(d.pending) && !d.pending[d.settled].due.After(now) {
		w := &d.pending[d.settled]
		if w.deletes() {
			delete(d.visible, w.key)
		} else {
			d.visible[w.key] = w.document
		}
		d.follow(*w)
		*w = pendingWrite{}
		d.settled++
	}
	// Moving the remaining writes only after half of them are settled keeps each write cheap
	// for any number of pending writes.
	if d.settled > len(d.pending)/2 {
		d.pending = append(d.pending[:0], d.pending[d.settled:]...)
		d.settled = 0
	}
}
