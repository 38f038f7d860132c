package bufferedsender

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

func TestAGateForgetsThePassesThatHaveEnded(t *testing.T) {
	b, err := breaker.New(nil)
	require.NoError(t, err)
	g := newGate(Hold{Breaker: b}, func(string) {})
	var permits []publisher.Permit
	for range 3 {
		p, ok := g.Enter()
		require.True(t, ok)
		permits = append(permits, p)
	}
	for left, i := range []int{1, 0, 2} {
		permits[i].Done(publisher.ServiceSound, -1, nil)
		permits[i].Done(publisher.ServiceSound, -1, nil) // a second call has no effect
		assert.Len(t, g.out, 2-left)
	}
}
