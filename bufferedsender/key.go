package bufferedsender

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-azsearch/azsearch/models"
)

// keyOf finds the key of a document. Where neither the options nor the type say
// which field it is, the index definition is asked once, by the first caller
// that needs it. A failure is that caller's, and everybody's who waited for it,
// and is not remembered: the next call asks again.
type keyOf[T any] struct {
	accessor func(T) string
	indexer  any

	field atomic.Pointer[models.KeyField[T]] // nil until it is known

	mu    sync.Mutex
	fetch *keyFetch // under way, or nil; guarded by mu
}

// keyFetch is one question to the service that several calls may wait for.
type keyFetch struct {
	done chan struct{} // closed when the rest, or keyOf.field, is set
	err  error
	mine bool // err is of the asking caller's own context
}

func newKeyOf[T any](indexer any, o *Options[T]) (*keyOf[T], error) {
	if err := checkDocumentType[T](); err != nil && o.Documents.Encode == nil {
		return nil, err
	}
	k := &keyOf[T]{accessor: o.Documents.Key, indexer: indexer}
	field, err := models.KeyFieldOf[T]()
	if err != nil {
		return nil, err
	}
	if o.Documents.Key != nil {
		field = models.KeyField[T]{} // it may well read another one
	}
	if o.Documents.KeyField != "" && field.Name != o.Documents.KeyField {
		if field.Name != "" {
			return nil, fmt.Errorf("Documents.KeyField is %q but the struct tag of %T says %q", o.Documents.KeyField, *new(T), field.Name)
		}
		field, err = models.KeyFieldByName[T](o.Documents.KeyField)
		if err != nil && o.Documents.Key == nil {
			return nil, err
		}
		field.Name = o.Documents.KeyField // enough for deletes by key
	}
	if field.Name != "" {
		k.field.Store(&field)
	}
	if _, ok := indexer.(models.KeyFieldNamer); !ok && field.Name == "" && o.Documents.Key == nil {
		return nil, fmt.Errorf("%w for %T: tag the field with `search:\"key\"`, or set Documents.Key or Documents.KeyField", ErrNoKeyField, *new(T))
	}
	return k, nil
}

// get returns the key of doc. It may ask the service the first time, within
// ctx.
func (k *keyOf[T]) get(ctx context.Context, typ models.ActionType, doc *T) (string, error) {
	if k.accessor != nil {
		return k.access(typ, doc)
	}
	field, err := k.resolve(ctx)
	if err != nil {
		return "", err
	}
	return field.GetFrom(doc)
}

// access calls the accessor. A key that is not the one in the document would
// have its result credited to another action, so the two are compared where
// that is possible.
func (k *keyOf[T]) access(typ models.ActionType, doc *T) (key string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("Documents.Key panicked: %v", v)
		}
	}()
	key = k.accessor(*doc)
	if field := k.field.Load(); field != nil && typ != models.ActionTypeDelete { // which is written with this key
		written, err := field.GetFrom(doc)
		if err != nil {
			return key, err
		}
		if written != key {
			return key, fmt.Errorf("Documents.Key returns %q, but the field %q of the document is %q", key, field.Name, written)
		}
	}
	return key, nil
}

// resolve returns the key field. It may ask the service, within ctx.
func (k *keyOf[T]) resolve(ctx context.Context) (*models.KeyField[T], error) {
	for {
		if field := k.field.Load(); field != nil {
			return field, nil
		}
		k.mu.Lock()
		fetch := k.fetch
		leads := fetch == nil && k.field.Load() == nil
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
				return nil, ctx.Err()
			}
		}
		if fetch.err != nil && (leads || !fetch.mine) {
			return nil, fetch.err
		}
	}
}

// ask fetches the definition of the index. It runs on the goroutine of the
// first caller, with no lock held.
func (k *keyOf[T]) ask(ctx context.Context, fetch *keyFetch) {
	fetch.err = errors.New("the client panicked") // replaced, unless it does
	defer func() {
		k.mu.Lock()
		k.fetch = nil
		k.mu.Unlock()
		close(fetch.done)
	}()
	field, err := k.fetchField(ctx)
	if err != nil {
		fetch.mine = ctx.Err() != nil
		fetch.err = fmt.Errorf("%w: cannot read it from the index definition (set KeyField to do without): %w", ErrNoKeyField, err)
		return
	}
	k.field.Store(&field)
	fetch.err = nil
}

func (k *keyOf[T]) fetchField(ctx context.Context) (models.KeyField[T], error) {
	namer, ok := k.indexer.(models.KeyFieldNamer)
	if !ok {
		return models.KeyField[T]{}, errors.New("the client has no method KeyFieldName")
	}
	name, err := namer.KeyFieldName(ctx)
	if err != nil {
		return models.KeyField[T]{}, err
	}
	field, err := models.KeyFieldByName[T](name)
	if err != nil && k.accessor != nil {
		return models.KeyField[T]{Name: name}, nil // read from the JSON
	}
	return field, err
}
