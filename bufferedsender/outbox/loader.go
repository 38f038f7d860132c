package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

// Loader reads the current documents of keys. Load and LoadRaw make one.
type Loader struct {
	load func(ctx context.Context, t *Table, keys []string) ([]loaded, error)
}

// loaded is the result of a Loader for a key.
type loaded struct {
	action models.RawAction
	err    error // why the document cannot be sent
}

// Load returns a Loader for a function that reads documents by their raw keys, at most 1000 at a time. For each key,
// load returns an action, or none to delete the document from the index. So it must not read from a replica that may be
// behind, and must return an error if it cannot read. After an error it gets fewer keys, until a key for which it fails
// is alone; that key then waits for one second at first, and up to five minutes. While load fails for all keys it gets
// one key a second. An action of another key is an error. One call runs at a time, on a goroutine of the relay.
func Load[T any](load func(ctx context.Context, keys []string) ([]models.IndexDocumentsAction[T], error)) Loader {
	if load == nil {
		return Loader{}
	}
	return Loader{func(ctx context.Context, t *Table, keys []string) ([]loaded, error) {
		actions, err := load(ctx, keys)
		if err != nil {
			return nil, err
		}
		all := make([]loaded, len(actions))
		for i := range actions {
			a := &actions[i]
			key, err := keyIn(t, &a.Document)
			if err != nil {
				return nil, fmt.Errorf("action %d: %w", i, err)
			}
			all[i].action = models.RawAction{Key: key, Type: a.Type}
			if !a.Type.Valid() {
				all[i].err = fmt.Errorf("unknown action type %q", a.Type)
			} else if a.Type != models.ActionTypeDelete {
				var text string
				if text, all[i].err = encode(a); all[i].err == nil {
					all[i].action.Document = []byte(text)
				}
			}
		}
		return all, nil
	}}
}

// LoadRaw is Load for documents that are already JSON.
func LoadRaw(load func(ctx context.Context, keys []string) ([]models.RawAction, error)) Loader {
	if load == nil {
		return Loader{}
	}
	return Loader{func(ctx context.Context, _ *Table, keys []string) ([]loaded, error) {
		actions, err := load(ctx, keys)
		all := make([]loaded, len(actions))
		for i := range actions {
			all[i].action = actions[i]
		}
		return all, err
	}}
}

var errNoLoader = errors.New("rows hold keys only, but RelayOptions.Loader is not set")

// ask returns the results of the Loader for raw keys, by key. A panic is returned as an error.
func (l Loader) ask(ctx context.Context, t *Table, raw []string) (found map[string]loaded, err error) {
	if l.load == nil {
		return nil, errNoLoader
	}
	defer func() {
		if v := recover(); v != nil {
			found, err = nil, fmt.Errorf("the Loader panicked: %v", v)
		}
	}()
	all, err := l.load(ctx, t, raw)
	if err != nil {
		return nil, err
	}
	asked, answered, answers := make([]string, len(raw)), make([]string, len(all)), make(map[string]loaded, len(all))
	for i, k := range raw {
		asked[i] = t.key(k) // Table.Key may map several raw keys to it
	}
	for i, a := range all {
		answered[i], answers[a.action.Key] = a.action.Key, a
	}
	if err := relay.Answered(asked, answered); err != nil {
		return nil, err
	}
	found = make(map[string]loaded, len(raw))
	for i, k := range raw {
		a, ok := answers[asked[i]]
		if !ok {
			a.action = models.RawAction{Key: asked[i], Type: models.ActionTypeDelete}
		}
		found[k] = a
	}
	return found, nil
}
