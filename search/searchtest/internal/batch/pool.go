package batch

import (
	"sync"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/wire"
)

// The largest slices that are worth keeping in a pooled parser: those of the
// service's own limit many times over.
const (
	LargestPooledActions  = 32_000
	LargestPooledDocument = 1 << 20
	largestPooledMerges   = 16 << 20
)

var batchParsers = sync.Pool{New: func() any { return new(Parser) }}

// Limits are the options that a batch is read with.
type Limits struct {
	MaxActions int
	KeysOnly   bool // documents are not kept
}

// NewParser takes a parser from the pool. release gives it back.
func NewParser(data []byte, sc *schema.Index, version apiversion.Version, l Limits) *Parser {
	p := batchParsers.Get().(*Parser)
	p.Scanner = wire.Scanner{Data: data}
	p.Schema, p.version = sc, version
	p.Limits = l
	p.Actions, p.surplus, p.merges = p.Actions[:0], 0, p.merges[:0]
	return p
}

// Release returns the parser to the pool, without the documents it produced but
// with the data of merges.
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
