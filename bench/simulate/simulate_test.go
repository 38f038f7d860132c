package simulate

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// small returns a simulated hour that takes two minutes. Everything but the breakers and the service is thirty times
// as fast, so the bounds are wide.
func small(t *testing.T) *plan {
	t.Helper()
	p := &plan{
		processes: 50, senders: 3, indexes: 100, capacity: 1500, buffered: 300, flush: 500 * time.Millisecond,
		seed: 1, phases: hour(2 * time.Second), settle: time.Hour,
	}
	var err error
	p.policy, p.named, err = policyOf("adaptive", 200*time.Millisecond)
	require.NoError(t, err)
	return p
}

func TestFiftyProcessesLoseNothingAndShareTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := simulate(small(t))
		require.NoError(t, err)
		var report bytes.Buffer
		o.write(&report, measure.Usage{})
		t.Log(report.String())

		assert.Zero(t, o.lost())
		assert.Empty(t, o.wrong)
		assert.Positive(t, o.held, "keys of the killed processes were held")
		assert.Less(t, o.settledAfter, time.Minute)
		for _, i := range []int{overloaded, halved, restored} {
			assert.Greater(t, o.goodput(i), 0.75, o.plan.phases[i].name)
		}
		for i := range o.plan.phases {
			if i != outage && i != afterOutage {
				assert.Greater(t, jain(o.shares[i]), 0.7, o.plan.phases[i].name)
			}
		}
		assert.Less(t, float64(o.firstSecond()), 3*o.usual(), "requests in the first second after the outage")
		_, most, _ := o.probes()
		assert.Less(t, float64(most), 1.5*o.usual(), "requests a second in the second half of the outage")
	})
}
