package main

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
)

const (
	lookups       = 3 // documents to get by key at the end
	shownFailures = 5 // failures to describe
)

// outcomes is what the sender has reported about each document. Handlers run one at
// a time, and none runs after Close, so there is no lock: read it then.
type outcomes struct {
	completed int64
	failed    int64
	unsent    int64 // given up by Close
	unknown   int64 // of the failed and the unsent: may be in the index all the same
	maybeSent int64 // of the unsent alone: likewise
	failures  []error
	samples   []sample // of completed documents
}

// sample is a document to compare with what the service has.
type sample struct {
	rank uint64
	doc  declarations.Declaration
}

func (o *outcomes) handlers(met *survived) events.Handlers[declarations.Declaration] {
	return events.Handlers[declarations.Declaration]{
		ActionCompleted: o.actionCompleted,
		ActionFailed:    o.actionFailed,
		BatchCompleted:  met.batch,
	}
}

func (o *outcomes) actionCompleted(_ context.Context, e *events.ActionCompleted[declarations.Declaration]) {
	o.completed++
	// The documents whose keys have the smallest hashes: a random choice that is
	// the same in every run.
	h := fnv.New64a()
	h.Write([]byte(e.Key))
	rank := h.Sum64()
	at, _ := slices.BinarySearchFunc(o.samples, rank, func(s sample, rank uint64) int {
		if s.rank < rank {
			return -1
		}
		return 1
	})
	if at < lookups {
		o.samples = slices.Insert(o.samples, at, sample{rank, e.Action.Document})
		o.samples = o.samples[:min(len(o.samples), lookups)]
	}
}

func (o *outcomes) actionFailed(_ context.Context, e *events.ActionFailed[declarations.Declaration]) {
	if e.Unknown {
		o.unknown++
	}
	if errors.Is(e.Err, bufferedsender.ErrClosed) {
		o.unsent++
		if e.Unknown {
			o.maybeSent++
		}
		return
	}
	o.failed++
	if len(o.failures) < shownFailures {
		o.failures = append(o.failures, e.Err)
	}
}
