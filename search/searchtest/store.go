package searchtest

import (
	"sync"
	"sync/atomic"
)

// index is one index of the service: its definition and its documents. Every
// index has its own lock, so that writers of two indexes do not wait for each
// other; Server.mu guards only the map that they are found in.
type index struct {
	name string

	// schema is the current definition. It is read without a lock and replaced
	// with setSchema, under Server.mu.
	schema atomic.Pointer[schema]

	mu sync.Mutex // guards everything below
	documents
}

// newIndex returns an empty index.
func (s *Server) newIndex(sc *schema) *index {
	ix := &index{name: sc.name}
	ix.schema.Store(sc)
	ix.documents.init(s)
	return ix
}

// setSchema replaces the definition. Documents are stored by field ordinal, so
// fields that were there before keep theirs, wherever the new definition lists
// them, and new fields get fresh ones.
func (ix *index) setSchema(sc *schema) {
	keepOrdinals(ix.schema.Load().fields, sc.fields)
	ix.schema.Store(sc)
}

// keepOrdinals numbers the fields of next by the numbers that the fields of the
// same name had in prev.
func keepOrdinals(prev, next []*field) {
	byName := make(map[string]*field, len(prev))
	free := 0
	for _, f := range prev {
		byName[f.name] = f
		free = max(free, f.ordinal+1)
	}
	for _, f := range next {
		if old, ok := byName[f.name]; ok {
			f.ordinal = old.ordinal
			keepOrdinals(old.fields, f.fields)
			continue
		}
		f.ordinal = free
		free++
	}
}
