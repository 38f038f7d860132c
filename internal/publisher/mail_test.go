package publisher

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// roomy lets a call of thousands be accepted at once, and items wait for a full batch.
func roomy(c *Config[int, int]) {
	atOnce(c)
	c.Interval, c.Limits.Items = time.Hour, 10_000
}

// inboxes returns the capacity of both inboxes in entries.
func inboxes(p *Publisher[int, int]) int {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	return cap(p.admission.inbox) + cap(p.admission.spare)
}

// A call of many items has grown the inbox. A sender with little work that never becomes idle would keep it forever.
func TestALongInboxIsNotKeptByAPublisherThatIsBusyWithLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := start(t, &service{}, roomy)
		for range 2 {
			add(t, p, 5000) // both inboxes
			synctest.Wait()
			add(t, p, 1) // it waits for more, so the publisher never becomes idle
			synctest.Wait()
		}
		for range 200 {
			add(t, p, 10)
			p.Wake() // one round; otherwise it would wait for more items
			synctest.Wait()
		}
		assert.Less(t, inboxes(p), 1000)
		require.NoError(t, p.Close(t.Context()))
	})
}

// Otherwise each round would allocate an inbox.
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
