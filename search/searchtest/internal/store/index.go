// Package store is for the documents of an index: what was written, what of it is visible, and what has happened to it.
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

// Index is one index of the service: its definition and its documents. Every
// index has its own lock, so that writers of two indexes do not wait for each
// other, nor for whoever looks for an index by its name.
type Index struct {
	Name  string
	quota int64 // how many documents it may hold, 0 for any number

	// schema is the current definition. It is read without a lock and replaced
	// with SetSchema.
	schema atomic.Pointer[schema.Index]

	mu sync.Mutex // guards everything below
	documents
	changes changeLog
	merged  []byte // where merges are put together

	view query.View // has a lock of its own
}

// Options are those of searchtest.Options that say what is kept and when it is seen.
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

// SetSchema replaces the definition. Documents are stored by field ordinal, so
// fields that were there before keep theirs, wherever the new definition lists
// them, and new fields get fresh ones.
func (ix *Index) SetSchema(sc *schema.Index) {
	keepOrdinals(ix.schema.Load().Fields, sc.Fields)
	ix.schema.Store(sc)
}

// keepOrdinals numbers the fields of next by the numbers that the fields of the
// same name had in prev. Fields are never removed from an index, so the numbers
// stay without gaps.
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

// Count returns how many documents lookups can see, and how many bytes those
// that are stored take.
func (ix *Index) Count(now time.Time) (visible, bytes int64) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.Settle(now)
	return int64(len(ix.visible)), ix.bytes
}

// Definition is the current definition.
func (ix *Index) Definition() *schema.Index { return ix.schema.Load() }

// Get returns the stored form of a document that lookups can see, nil if there is
// none, and a definition that has all its fields. It must not be changed.
func (ix *Index) Get(key string, now time.Time) ([]byte, *schema.Index) {
	ix.mu.Lock()
	ix.Settle(now)
	data := ix.visible[key].data
	ix.mu.Unlock()
	// It has to be as new as the document: a PUT and a write that uses its field may
	// come in between.
	return data, ix.schema.Load()
}

// Read runs a search on the view of the documents that are visible now.
func (ix *Index) Read(prepare func(*query.View) *reply.Error, search func(*query.View)) *reply.Error {
	now := time.Now()
	return ix.view.Read(func(all bool) query.Writes { return ix.news(all, now) }, prepare, search)
}

// news is what the view has not seen. It is asked for under the lock of the view,
// which goes before that of the index.
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

// document is a document in stored form. What is stored is replaced, never
// changed, so it may be read without a lock once it was found.
type document struct {
	data   []byte
	serial uint64 // of the write: searches find equals in the order of writing
}

// documents holds the documents of an index by key.
type documents struct {
	live   map[string]document // what was written
	bytes  int64               // of keys and documents in live
	serial uint64              // of the latest write

	// visible is what reads see: live itself without a lag, otherwise a copy
	// that pending writes reach when they are old enough.
	visible map[string]document
	lag     time.Duration
	pending []pendingWrite // in order of time
	settled int            // how many of pending are visible already

	// followed means that a view for searches is kept up to date with unseen,
	// what became visible since it was. An index that is never searched has
	// none, and one that is written to much more than searched is given up.
	followed bool
	unseen   []query.Write
}

// pendingWrite is a write that reads do not see yet; the document
// has no data if it was deleted.
type pendingWrite struct {
	due time.Time
	key string
	document
}

func (w *pendingWrite) deletes() bool { return w.data == nil }

// put stores a document and reports whether it is a new one.
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

// remove deletes a document if there is one.
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

// follow keeps what has become visible for the next search.
func (d *documents) follow(w pendingWrite) {
	switch {
	case !d.followed:
	case len(d.unseen) > len(d.visible)+1000: // reading all is less work by now
		d.followed, d.unseen = false, nil
	default:
		d.unseen = append(d.unseen, query.Write{Key: w.key, Data: w.data, Serial: w.serial})
	}
}

// Settle makes visible what is due.
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
	// Moving the rest to the front only now and then keeps a write cheap however
	// many are waiting.
	if d.settled > len(d.pending)/2 {
		d.pending = append(d.pending[:0], d.pending[d.settled:]...)
		d.settled = 0
	}
}
