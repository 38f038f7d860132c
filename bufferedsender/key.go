package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-azsearch/azsearch/models"
)

// keyField is the name of the documents' key field. If neither the options nor the type name it, the first caller that
// needs it fetches the index definition, once. A failure is returned to that caller and to the callers that waited for
// it, and is not cached: the next call asks again.
type keyField struct {
	indexer any
	learn   func(name string) error // called with the name from the service

	known atomic.Pointer[string] // nil until known

	mu    sync.Mutex
	fetch *keyFetch // in flight, or nil; guarded by mu
}

// keyFetch is one request to the service that several calls may wait for.
type keyFetch struct {
	done chan struct{} // closed once err or keyField.known is set
	err  error
	mine bool // err is due to the asking caller's own context
}

// newKeyField returns a keyField with that name; an empty name means that the service must be asked.
func newKeyField(indexer any, learn func(name string) error, name string) *keyField {
	k := &keyField{indexer: indexer, learn: learn}
	if name != "" {
		k.known.Store(&name)
	}
	return k
}

// name returns the name, or "" if it is not known yet.
func (k *keyField) name() string {
	if name := k.known.Load(); name != nil {
		return *name
	}
	return ""
}

// resolve returns the name. It may ask the service, within ctx.
func (k *keyField) resolve(ctx context.Context) (string, error) {
	for {
		if name := k.known.Load(); name != nil {
			return *name, nil
		}
		k.mu.Lock()
		fetch := k.fetch
		leads := fetch == nil && k.known.Load() == nil
		if leads {
			fetch = &keyFetch{done: make(chan struct{})}
			k.fetch = fetch
		}
		k.mu.Unlock()
		switch {
		case leads:
			k.ask(ctx, fetch)
		case fetch == nil:
			continue // it became known meanwhile
		default:
			select {
			case <-fetch.done:
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		if fetch.err != nil && (leads || !fetch.mine) {
			return "", fetch.err
		}
	}
}

// ask fetches the index definition on the goroutine of the first caller, without a lock.
func (k *keyField) ask(ctx context.Context, fetch *keyFetch) {
	fetch.err = errors.New("the client panicked") // replaced unless it panics
	defer func() {
		k.mu.Lock()
		k.fetch = nil
		k.mu.Unlock()
		close(fetch.done)
	}()
	name, err := k.fetchName(ctx)
	if err == nil {
		err = k.learn(name)
	}
	if err != nil {
		fetch.mine = ctx.Err() != nil
		fetch.err = fmt.Errorf("%w: cannot read it from the index definition (set KeyField to do without): %w", errNoKeyField, err)
		return
	}
	k.known.Store(&name)
	fetch.err = nil
}

func (k *keyField) fetchName(ctx context.Context) (string, error) {
	namer, ok := k.indexer.(models.KeyFieldNamer)
	if !ok {
		return "", errors.New("the client has no method KeyFieldName")
	}
	return namer.KeyFieldName(ctx)
}
