package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// defaultUpdateAttempts is the total number of attempts of an update.
const defaultUpdateAttempts = 5

// update is a change of an existing definition.
type update[T any] struct {
	kind      *definitionKind[T]
	operation string
	change    func(*T) error
	same      func(a, b T) bool // compares all but the ETag
	attempts  int
	query     []string
}

func (u update[T]) run(ctx context.Context, c manager, name string) (_ T, err error) {
	ctx, end := c.span(ctx, u.operation)
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
			return current, nil // an earlier attempt succeeded: its reply was lost and the retry refused
		}
		next, changed, err := u.apply(current)
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

// apply returns the changed definition, and whether it differs. It does not modify current.
func (u update[T]) apply(current T) (next T, changed bool, err error) {
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
	if now := u.kind.name(&next); now != u.kind.name(&current) {
		return next, false, fmt.Errorf("the change renames it to %q, which the service cannot do", now)
	}
	after, err := json.Marshal(next)
	return next, !bytes.Equal(before, after), err
}
