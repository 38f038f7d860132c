package repair

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// heldAtMost is the timeout for reading the truth of held keys, because other writers of these keys wait meanwhile.
const heldAtMost = time.Minute

// Sides are user code and may panic. A panic must end the pass and not the process: the pass holds keys, and runs
// goroutines that the caller cannot recover.

// panicked sets err if v, the result of recover, is not nil.
func panicked(who string, v any, err *error) {
	if v != nil {
		*err = fmt.Errorf("%s panicked: %v", who, v)
	}
}

// guardedIndex is an Index that returns panics as errors.
type guardedIndex struct {
	Index
	name string
}

// Scan implements Index.
func (g guardedIndex) Scan(ctx context.Context, after, through string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		ended := false
		if err := g.scan(ctx, after, through, func(row models.Row, err error) bool {
			ended = ended || !yield(row, err)
			return !ended
		}); err != nil && !ended {
			yield(models.Row{}, err)
		}
	}
}

func (g guardedIndex) scan(ctx context.Context, after, through string, yield func(models.Row, error) bool) (err error) {
	defer func() { panicked("Scan of the "+g.name, recover(), &err) }()
	g.Index.Scan(ctx, after, through)(yield)
	return nil
}

// Lookup implements Index.
func (g guardedIndex) Lookup(ctx context.Context, keys []string) (rows []models.Row, err error) {
	defer func() { panicked("Lookup of the "+g.name, recover(), &err) }()
	return g.Index.Lookup(ctx, keys)
}

// guardedSource is a Source that returns panics as errors.
type guardedSource struct {
	guardedIndex
	source Source
}

// Read implements Source.
func (g guardedSource) Read(ctx context.Context, keys []string) (actions []models.RawAction, err error) {
	defer func() { panicked("Read of the source", recover(), &err) }()
	return g.source.Read(ctx, keys)
}
