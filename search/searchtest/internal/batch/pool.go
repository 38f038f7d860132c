package batch

import (
	"sync"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/wire"
)

// The capacities up to which a pooled parser keeps its slices.
const (
	LargestPooledActions  = 32_000
	LargestPooledDocument = 1 << 20
	largestPooledMerges   = 16 << 20
)

var batchParsers = sync.Pool{New: func() any { return new(Parser) }}

// Limits are the options for reading a batch.
type Limits struct {
	MaxActions int
	KeysOnly   bool // drops the contents of documents
}

// NewParser returns a parser from the pool. Release returns it.
func NewParser(data []byte, sc *schema.Index, version apiversion.Version, l Limits) *Parser {
	p := batchParsers.Get().(*Parser)
	p.Scanner = wire.Scanner{Data: data}
	p.Schema, p.version = sc, version
	p.Limits = l
	p.Actions, p.surplus, p.merges, p.refused = p.Actions[:0], 0, p.merges[:0], nil
	return p
}

// Release returns the parser to the pool. It drops the documents and keeps the memory for the
// data of merges.
func (p *Parser) Release() {
	clear(p.Actions)
	p.Scanner, p.Schema = wire.Scanner{}, nil
	if cap(p.Actions) > LargestPooledActions {
		p.Actions = nil
	}
	if cap(p.Buf)+cap(p.name) > LargestPooledDocument {
		p.Buf, p.name = nil, nil
	}
	if cap(p.merges) > largestPooledMerges {
		p.merges = nil
	}
	batchParsers.Put(p)
}
