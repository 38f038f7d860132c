package searchtest

import (
	"sync"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// The largest slices that are worth keeping in a pooled parser: those of the
// service's own limit many times over.
const (
	largestPooledActions  = 32_000
	largestPooledDocument = 1 << 20
	largestPooledMerges   = 16 << 20
)

var batchParsers = sync.Pool{New: func() any { return new(batchParser) }}

// newBatchParser takes a parser from the pool. release gives it back.
func newBatchParser(data []byte, sc *schema, version apiversion.Version, opts *Options) *batchParser {
	p := batchParsers.Get().(*batchParser)
	p.scanner = scanner{data: data}
	p.schema, p.version = sc, version
	p.maxActions, p.keysOnly = opts.MaxBatchActions, opts.DiscardDocuments
	p.actions, p.surplus, p.merges = p.actions[:0], 0, p.merges[:0]
	return p
}

// release returns the parser to the pool, without the documents it produced but
// with the data of merges.
func (p *batchParser) release() {
	clear(p.actions)
	p.scanner, p.schema = scanner{}, nil
	if cap(p.actions) > largestPooledActions {
		p.actions = nil
	}
	if cap(p.buf)+cap(p.name) > largestPooledDocument {
		p.buf, p.name = nil, nil
	}
	if cap(p.merges) > largestPooledMerges {
		p.merges = nil
	}
	batchParsers.Put(p)
}
