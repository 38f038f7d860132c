package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// Drop closes the sender of an index, like bufferedsender.BufferedSender.Close, and removes the index from the fleet. A
// later Sender creates a new one. It does not wait for requests of the old one that may still be applied: the result of
// Drop counts their documents as unknown. The hints of the index remain. Drop returns the result of Close, or nil
// without a sender. A callback of the sender cannot drop it: Drop then returns an error and changes nothing.
func (f *Fleet) Drop(ctx context.Context, index string) error {
	e := f.find(index)
	if e == nil {
		return nil
	}
	over, err := f.end(ctx, e)
	if over {
		f.forget(e)
	}
	return err
}

// find returns the entry of an index, or nil.
func (f *Fleet) find(index string) *entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.entries[index]
}

// Removes an entry from the fleet.
func (f *Fleet) forget(e *entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.entries[e.name] == e {
		delete(f.entries, e.name)
	}
}

// end closes the sender of an entry, if there is one, and prevents creating another. It may be called repeatedly. over
// is false if the sender refused to close because the call is in one of its callbacks.
func (f *Fleet) end(ctx context.Context, e *entry) (over bool, err error) {
	e.left.Store(true)
	select {
	case e.lock <- struct{}{}:
	default:
		select {
		case e.lock <- struct{}{}:
		case <-ctx.Done(): // it is still being created; use closes it
			return true, fmt.Errorf("its client is still being created: %w", context.Cause(ctx))
		}
	}
	e.gone = true
	<-e.lock
	s := e.get()
	if s == nil {
		return true, nil
	}
	err = s.Close(ctx)
	e.lock <- struct{}{}
	defer func() { <-e.lock }()
	if errors.Is(err, bufferedsender.ErrInCallback) {
		e.gone = false
		e.left.Store(false)
		return false, err
	}
	if e.member != nil {
		f.retire(e, s)
	}
	return true, err
}

// retire releases the entry's resources of its closed sender. The lock of the entry must be held.
func (f *Fleet) retire(e *entry, s sender) {
	e.cancel()
	f.note(e, 0, true)
	f.made.Add(-1)
	f.mu.Lock()
	addTo(&f.gone, s.Stats())
	e.counted.Store(true)
	f.mu.Unlock()
	e.member.Leave()
	e.member, e.cancel = nil, nil
}
