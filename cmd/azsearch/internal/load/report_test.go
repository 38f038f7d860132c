package load

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/models"
)

func TestInterruptedDryRunClaimsNoDocumentInTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, convert.Options{})
		r.Indexer = nil
		ctx, interrupt := context.WithCancel(t.Context())
		r.Take = func(models.RawAction) error {
			if ctx.Err() == nil {
				interrupt()
				synctest.Wait() // the run knows it
			}
			return nil
		}
		report, err := r.loadUntil(ctx, r.file("a.jsonl", lines(0, 100_000)))
		require.EqualError(t, err, "interrupted; nothing was sent")
		assert.Equal(t, exit.Interrupted, exit.Code(err))
		assert.Equal(t, err.Error(), report.Error)
	})
}
