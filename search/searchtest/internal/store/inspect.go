package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Inspection and snapshots see all documents, visible or not. They must not change stored
// documents.

// Written returns a document by its key, nil for none.
func (ix *Index) Written(key string) []byte {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.live[key].data
}

// All returns the documents in the order of writing.
func (ix *Index) All() []query.Write {
	ix.mu.Lock()
	documents := make([]query.Write, 0, len(ix.live))
	for key, doc := range ix.live {
		documents = append(documents, query.Write{Key: key, Data: doc.data, Serial: doc.serial})
	}
	ix.mu.Unlock()
	slices.SortFunc(documents, func(a, b query.Write) int { return cmp.Compare(a.Serial, b.Serial) })
	return documents
}

// Keys returns the keys of All. It is cheaper than All.
func (ix *Index) Keys() []string {
	type write struct {
		serial uint64
		key    string
	}
	ix.mu.Lock()
	writes := make([]write, 0, len(ix.live))
	for key, doc := range ix.live {
		writes = append(writes, write{doc.serial, key})
	}
	ix.mu.Unlock()
	slices.SortFunc(writes, func(a, b write) int { return cmp.Compare(a.serial, b.serial) })
	keys := make([]string, len(writes))
	for i := range writes {
		keys[i] = writes[i].key
	}
	return keys
}

// State returns the number of documents, and a counter that grows with every write and every
// delete.
func (ix *Index) State() (documents int64, changes uint64) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	// Deletes have no serial. In this sum a new document and a delete add one, and a replaced
	// document adds two.
	return int64(len(ix.live)), 2*ix.serial - uint64(len(ix.live))
}

// ChangesOf returns the logged changes of a key, oldest first.
func (ix *Index) ChangesOf(key string) []Change {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.changes.of(key)
}

// AllChanges returns all logged changes, oldest first.
func (ix *Index) AllChanges() []Change {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return slices.Collect(ix.changes.all())
}

// VectorBytes returns the size in bytes of the vectors of all documents, by the types of
// their elements.
func (ix *Index) VectorBytes(now time.Time) int64 {
	sizes := make(map[int]int) // bytes of an element, by ordinal of the field
	for _, f := range ix.schema.Load().Fields {
		switch f.Type {
		case stored.Single:
			sizes[f.Ordinal] = 4
		case stored.Half, stored.Int16:
			sizes[f.Ordinal] = 2
		case stored.SByte, stored.Byte:
			sizes[f.Ordinal] = 1
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.Settle(now)
	var total int64
	fields := ix.schema.Load().Fields
	for _, document := range ix.visible {
		for _, f := range fields {
			if size := sizes[f.Ordinal]; size > 0 {
				if m, ok := stored.FindMember(document.data, f.Ordinal); ok && !m.Null {
					total += int64(len(m.Value) / f.Type.Size() * size)
				}
			}
		}
	}
	return total
}
