package breaker_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/retry/breaker"
)

var errDown = errors.New("down")

func TestItHealsByItselfWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := breaker.New(nil)
		require.NoError(t, err)
		var changes []breaker.Change
		defer b.Subscribe(func(c breaker.Change) { changes = append(changes, c) })()
		start := time.Now()
		for range 3 {
			p, err := b.Allow()
			require.NoError(t, err)
			p.Done(breaker.Result{Outcome: breaker.Failure, Err: errDown})
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.Equal(t, []breaker.Change{
			{From: breaker.Closed, To: breaker.Open, At: start, Err: errDown},
			{From: breaker.Open, To: breaker.HalfOpen, At: start.Add(30 * time.Second), Err: errDown},
		}, changes)
	})
}
