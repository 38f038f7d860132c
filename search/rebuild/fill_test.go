package rebuild

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// A fill that has already failed stops reading, or it might read millions of documents for nothing.
func TestAFillThatHasLostADocumentEndsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 20)
		m := w.runner(Options{})
		read := 0
		m.r.fill.All = func(ctx context.Context, _ string) iter.Seq2[models.RawAction, error] {
			return func(yield func(models.RawAction, error) bool) {
				for ; read < 1_000_000; read++ {
					if read == 600 { // the clock was set back briefly
						far := both()
						far.wall = far.wall.Add(time.Hour)
						m.r.beaten.Store(&far)
						time.Sleep(100 * time.Millisecond)
					}
					key := fmt.Sprintf("%07d", read)
					if !yield(models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document(key, 1)}, nil) {
						return
					}
				}
			}
		}
		require.ErrorIs(t, m.run(t.Context()), errLost)
		assert.Less(t, read, 100_000)
	})
}

// failing is a sender whose calls sometimes fail.
type failing struct {
	Sender
	err func() error
}

func (f failing) AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return f.Sender.AddAndWait(ctx, actions)
}
