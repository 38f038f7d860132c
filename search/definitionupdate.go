package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models"
)

// defaultUpdateAttempts is how often an update is tried in all.
const defaultUpdateAttempts = 5

// UpdateIndexOptions are the options of IndexClient.UpdateIndex. nil and the
// zero value are ready to use.
type UpdateIndexOptions struct {
	// AllowIndexDowntime is that of CreateOrUpdateIndexOptions.
	AllowIndexDowntime bool
	// MaxAttempts is how often the index is read and written in all. Defaults to
	// 5; negative is once.
	MaxAttempts int
}

// UpdateIndex reads the definition of an index, lets change change it, and
// writes it back over the version that was read. If somebody else was faster it
// begins again, and nobody's change is lost; if others were faster in the last
// attempt too, the error is ErrPreconditionFailed. It returns the definition as
// the service has it. If there is no index of that name the error is
// ErrIndexNotFound.
//
// change is called once in each attempt, with what the service has then, which
// may hold a change that an attempt before has made (its answer was lost): it
// should set rather than append. If it leaves the definition as it is, nothing
// is written. Its error is returned, wrapped, and nothing is written either. It
// must not change the name.
func (c *IndexClient) UpdateIndex(ctx context.Context, name string, change func(*models.SearchIndex) error, opts *UpdateIndexOptions) (models.SearchIndex, error) {
	if opts == nil {
		opts = &UpdateIndexOptions{}
	}
	return update[models.SearchIndex]{
		kind:      indexKind,
		operation: "UpdateIndex",
		change:    change,
		same:      sameIndex,
		attempts:  opts.MaxAttempts,
		query:     downtime(opts.AllowIndexDowntime),
	}.run(ctx, c, name)
}

// sameIndex reports whether the definition that was wanted is the one that is
// there, as far as can be told: a secret that was to be set cannot be seen.
func sameIndex(wanted, current models.SearchIndex) bool {
	changes, err := DiffIndex(wanted, current)
	return err == nil && len(changes) == 0 && !setsSecrets(wanted)
}

// setsSecrets reports whether a definition has a secret in it, and not what the
// service shows instead of one.
func setsSecrets(index models.SearchIndex) bool {
	var members any
	encoded, err := json.Marshal(index)
	if err != nil || json.Unmarshal(encoded, &members) != nil {
		return true // it cannot be ruled out
	}
	return hasSecrets("", members)
}

func hasSecrets(name string, value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for member, inner := range v {
			if name == httpHeaders && inner != redacted || hasSecrets(member, inner) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if hasSecrets("", inner) {
				return true
			}
		}
	}
	return isSecret(name, value) && value != redacted && value != ""
}

// update is a change of a definition that exists.
type update[T any] struct {
	kind      *definitionKind[T]
	operation string
	change    func(*T) error
	same      func(a, b T) bool // but for the ETag
	attempts  int
	query     []string
}

func (u update[T]) run(ctx context.Context, c *IndexClient, name string) (_ T, err error) {
	ctx, end := c.conn.span(ctx, "IndexClient."+u.operation)
	defer func() { end(err) }()
	var none, wanted T
	call := u.kind.call(u.operation, name)
	if u.change == nil {
		return none, call.wrap(errors.New("the function that changes it is nil"))
	}
	if u.attempts == 0 {
		u.attempts = defaultUpdateAttempts
	}
	for attempt := 1; ; attempt++ {
		current, err := u.kind.get(ctx, c, u.operation, name)
		if err != nil {
			return none, err
		}
		if attempt > 1 && u.same(wanted, current) {
			return current, nil // an attempt before was successful, its answer lost and a retry refused
		}
		next, changed, err := u.apply(current, name)
		if err != nil {
			return none, call.wrap(err)
		}
		if !changed {
			return current, nil
		}
		_, etag := u.kind.named(&current)
		written, err := u.kind.put(ctx, c, u.operation, next, (*azcore.ETag)(&etag), nil, u.query...)
		if !errors.Is(err, ErrPreconditionFailed) || attempt >= u.attempts {
			return written, err
		}
		wanted = next
	}
}

// apply returns the definition as it is to be, and whether that is another.
// current stays as it is.
func (u update[T]) apply(current T, name string) (next T, changed bool, err error) {
	before, err := json.Marshal(current)
	if err != nil {
		return next, false, err
	}
	if err := json.Unmarshal(before, &next); err != nil {
		return next, false, err
	}
	if err := u.change(&next); err != nil {
		return next, false, err
	}
	if now, _ := u.kind.named(&next); now != name {
		return next, false, fmt.Errorf("the change renames it to %q, which the service cannot do", now)
	}
	after, err := json.Marshal(next)
	return next, !bytes.Equal(before, after), err
}
