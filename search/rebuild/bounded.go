package rebuild

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sqlkit"
)

// abandonAfter is how long a call of the store may run after the end of its context. Then it is abandoned. A Swap may
// still take effect, as one whose answer was lost: the next Swap finds another version and reads the record. A Mark
// may add a mark that is not needed.
const abandonAfter = closedRequest

// bounded is a store whose calls end after tryLimit, and return although a driver ignores their contexts. A runner or a
// tap that waited for such a call would keep writers waiting silently, or would not end with its own context.
type bounded struct {
	store Store
	calls *sqlkit.Calls
}

func returning(store Store) Store { return bounded{store, sqlkit.CallsOf(store)} }

func call[T any](ctx context.Context, b bounded, f func(ctx context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	result, err := sqlkit.Call(limited, b.calls, abandonAfter, func() (T, error) { return f(limited) })
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("rebuild: the store has not answered within %v: %w", tryLimit, err)
	}
	return result, err
}

func (b bounded) Load(ctx context.Context) (Record, error) {
	return call(ctx, b, func(ctx context.Context) (Record, error) { return b.store.Load(ctx) })
}

func (b bounded) Swap(ctx context.Context, next Record) (Record, error) {
	return call(ctx, b, func(ctx context.Context) (Record, error) { return b.store.Swap(ctx, next) })
}

func (b bounded) Mark(ctx context.Context, epoch int64, keys []string) (int64, error) {
	keys = slices.Clone(keys) // those of the caller end with this call, which may be abandoned
	return call(ctx, b, func(ctx context.Context) (int64, error) { return b.store.Mark(ctx, epoch, keys) })
}

func (b bounded) Marked(ctx context.Context, last int64, limit int) ([]string, error) {
	return call(ctx, b, func(ctx context.Context) ([]string, error) { return b.store.Marked(ctx, last, limit) })
}

func (b bounded) Unmark(ctx context.Context, last int64, keys []string) error {
	_, err := call(ctx, b, func(ctx context.Context) (struct{}, error) { return struct{}{}, b.store.Unmark(ctx, last, keys) })
	return err
}

func (b bounded) Register(ctx context.Context, writer string, seen time.Time) error {
	_, err := call(ctx, b, func(ctx context.Context) (struct{}, error) { return struct{}{}, b.store.Register(ctx, writer, seen) })
	return err
}

func (b bounded) Writers(ctx context.Context) ([]Writer, error) {
	return call(ctx, b, func(ctx context.Context) ([]Writer, error) { return b.store.Writers(ctx) })
}
