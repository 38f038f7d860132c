package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-azsearch/azsearch/models"
)

// keyField is the name of the field that holds the keys of documents. Where neither the
// options nor the type say which it is, the index definition is asked once, by the first
// caller that needs it. A failure is that caller's, and everybody's who waited for it, and
// is not remembered: the next call asks again.
type keyField struct {
	indexer any
	learn   func(name string) error // is told the name that the service gives

	known atomic.Pointer[string] // nil until it is

	mu    sync.Mutex
	fetch *keyFetch // under way, or nil; guarded by mu
}

// keyFetch is one question to the service that several calls may wait for.
type keyFetch struct {
	done chan struct{} // closed when the rest, or keyField.known, is set
	err  error
	mine bool // err is of the asking caller's own context
}

// newKeyField returns the key field of that name, "" if the service has to be asked.
func newKeyField(indexer any, learn func(name string) error, name string) *keyField {
	k := &keyField{indexer: indexer, learn: learn}
	if name != "" {
		k.known.Store(&name)
	}
	return k
}

// name returns the name, "" if it is not known yet.
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
			continue // it became known in between
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

// ask fetches the definition of the index. It runs on the goroutine of the
// first caller, with no lock held.
func (k *keyField) ask(ctx context.Context, fetch *keyFetch) {
	fetch.err = errors.New("the client panicked") // replaced, unless it does
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
