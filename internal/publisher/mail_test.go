package publisher

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// roomy has a call of thousands accepted at once, and what waits for a full batch wait.
func roomy(c *Config[int, int]) {
	atOnce(c)
	c.Interval, c.Limits.Items = time.Hour, 10_000
}

// inboxes returns how many entries there is memory for.
func inboxes(p *Publisher[int, int]) int {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	return cap(p.admission.inbox) + cap(p.admission.spare)
}

// It is a call of many items that made it long, and they are all that a sender with little to do needs
// for the rest of its life if it never gets idle.
func TestALongInboxIsNotKeptByAPublisherThatIsBusyWithLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &service{}, roomy)
		for range 2 {
			add(t, p, 5000) // both inboxes
			synctest.Wait()
			add(t, p, 1) // it waits for more, so the publisher never has nothing
			synctest.Wait()
		}
		for range 200 {
			add(t, p, 10)
			p.Wake() // a round, or it would wait for more before it looks
			synctest.Wait()
		}
		assert.Less(t, inboxes(p), 1000)
		require.NoError(t, p.Close(t.Context()))
	})
}

// Or each round would cost an inbox.
func TestAnInboxIsKeptBetweenCallsThatDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &service{}, roomy)
		for range 20 {
			for i := range 10 {
				add(t, p, 1+1999*(i/9))
				synctest.Wait()
			}
			assert.GreaterOrEqual(t, inboxes(p), 2000)
		}
		require.NoError(t, p.Close(t.Context()))
	})
}
