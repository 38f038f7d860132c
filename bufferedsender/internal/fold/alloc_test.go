//go:build !race

// Under the race detector sync.Pool drops objects at random.

package fold_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/models"
)

// The publisher folds between two requests and keeps the result for long.
func TestFoldingAllocatesItsResultAndNothingElse(t *testing.T) {
	a, b := benchAction(t, models.ActionTypeUpload, 3, 0, 4), []byte(merge(`"rating":4,"address":{"zip":"1"},"new":{"x":[1,{}]}`).body)
	var body []byte
	allocs := testing.AllocsPerRun(1000, func() { _, body, _ = fold.Actions(models.ActionTypeUpload, a, models.ActionTypeMerge, b) })
	require.NotNil(t, body)
	assert.LessOrEqual(t, allocs, 1.0)
	assert.Equal(t, len(body), cap(body), "spare room")
}
