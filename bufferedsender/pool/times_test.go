package pool

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestTimesAreRightToWithinAFifth(t *testing.T) {
	for _, d := range []time.Duration{
		time.Microsecond, 3 * time.Microsecond, 7 * time.Microsecond, 99 * time.Microsecond, time.Millisecond, 12345 * time.Microsecond, time.Second, 59 * time.Minute,
	} {
		var one Times
		one.add(d)
		got := one.Quantile(1)
		assert.GreaterOrEqual(t, got, d, "%v", d)
		if d >= 4*time.Microsecond {
			assert.LessOrEqual(t, got, d+d/4+time.Microsecond, "%v", d)
		}
	}
	var many Times
	for i := range 1000 {
		many.add(time.Duration(i) * time.Millisecond)
	}
	many.add(-1)
	many.add(1 << 62)
	assert.EqualValues(t, 1002, many.n)
	assert.InDelta(t, 0.5, many.Quantile(0.5).Seconds(), 0.1)
	assert.InDelta(t, 0.99, many.Quantile(0.99).Seconds(), 0.2)
	assert.Zero(t, (&Times{}).Quantile(0.5))
}

func TestThePoolSaysHowLongTheSlotsOfAClassWereWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := New(&Options{Expedited: 1})
		require.NoError(t, err)
		m, err := p.Join("m")
		require.NoError(t, err)
		for range 2 {
			go func() {
				assert.NoError(t, m.Do(t.Context(), models.ClassExpedited, func(context.Context) error { time.Sleep(time.Second); return nil }))
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		times := p.QueueTimes(models.ClassExpedited)
		assert.EqualValues(t, 2, times.n)
		assert.Zero(t, times.Quantile(0.5), "the first request did not have to wait")
		assert.InDelta(t, 1, times.Quantile(1).Seconds(), 0.25)
		none := p.QueueTimes(models.ClassBestEffort)
		assert.Zero(t, none.n)
		none = p.QueueTimes(99)
		assert.Zero(t, none.n)
	})
}
