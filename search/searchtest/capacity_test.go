package searchtest

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCapacityRefusesDocumentsThatAreTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{Capacity: &Capacity{DocumentsPerSecond: 10}})
		refused := func(n int) (refused int) {
			a := p.send("POST", indexPath, batchOf(n))
			for _, status := range a.statuses(t) {
				if status == 503 {
					refused++
				}
			}
			return refused
		}
		assert.Equal(t, 5, refused(15), "a full bucket holds one second")
		assert.Equal(t, 1, refused(1))
		time.Sleep(500 * time.Millisecond)
		assert.Equal(t, 2, refused(7))
		time.Sleep(time.Hour)
		assert.Equal(t, 1, refused(11), "rest fills it no further")
	})
}

func TestCapacityRefusesWholeRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, status := range []int{429, 503} {
			p := newProbe(t, nil)
			p.SetFaults(&Faults{Capacity: &Capacity{DocumentsPerSecond: 10, Burst: Duration(2 * time.Second), Status: status, RetryAfter: Duration(time.Second)}})
			assert.Equal(t, 200, p.send("POST", indexPath, batchOf(15)).status)
			a := p.send("POST", indexPath, batchOf(6))
			assert.Equal(t, status, a.status)
			assert.Equal(t, "1", a.header.Get("Retry-After"))
			time.Sleep(100 * time.Millisecond)
			assert.Equal(t, 200, p.send("POST", indexPath, batchOf(6)).status)
		}
	})
}

func TestCapacityInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{Capacity: &Capacity{BytesPerSecond: 100}})
		document := func(key string) string { return fmt.Sprintf(`{"id":"%s","s":"%s"}`, key, strings.Repeat("x", 33)) } // 50 bytes
		require.Len(t, document("1"), 50)
		assert.Equal(t, []int{201, 201, 503}, p.index(document("1"), document("2"), document("3")).statuses(t))
		time.Sleep(500 * time.Millisecond)
		assert.Equal(t, []int{201, 503}, p.index(document("3"), document("4")).statuses(t))
	})
}

// A document or request larger than a full bucket must not wait forever.
func TestCapacityLetsThroughWhatCouldNeverFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{Capacity: &Capacity{DocumentsPerSecond: 10, Status: 503}})
		assert.Equal(t, 200, p.send("POST", indexPath, batchOf(30)).status)
		time.Sleep(2 * time.Second)
		assert.Equal(t, 503, p.send("POST", indexPath, batchOf(1)).status, "an oversized batch uses the capacity of later seconds")
		time.Sleep(200 * time.Millisecond)
		assert.Equal(t, 200, p.send("POST", indexPath, batchOf(1)).status)
	})
}

// taken sends documents until one is refused for lack of capacity and returns the number of accepted ones.
func (p probe) taken() int {
	p.Helper()
	for n := 0; ; n++ {
		if a := p.send("POST", indexPath, batchOf(1)); a.status != 200 {
			return n
		}
		require.Less(p, n, 1_000_000)
	}
}

func documentsPerSecond(n float64) *Faults {
	return &Faults{Capacity: &Capacity{DocumentsPerSecond: n}}
}

func TestChangeOfCapacityLetsNoBurstThrough(t *testing.T) {
	for name, c := range map[string]struct {
		before, after *Faults
		drained       bool
		now, second   int // documents accepted directly after the change, and a second later
	}{
		"a fall of a drained bucket":          {documentsPerSecond(100), documentsPerSecond(10), true, 0, 10},
		"a fall of a full bucket":             {documentsPerSecond(100), documentsPerSecond(10), false, 10, 10},
		"a rise of a drained bucket":          {documentsPerSecond(10), documentsPerSecond(100), true, 0, 100},
		"a rise of a full bucket":             {documentsPerSecond(10), documentsPerSecond(100), false, 10, 100},
		"the same again":                      {documentsPerSecond(10), documentsPerSecond(10), true, 0, 10},
		"other rules, the same capacity":      {documentsPerSecond(10), &Faults{Rules: []Fault{{Operation: OpGetIndex, Status: 404}}, Capacity: &Capacity{DocumentsPerSecond: 10}}, true, 0, 10},
		"from the options to a script":        {nil, documentsPerSecond(10), true, 0, 10},
		"from a script back to the options":   {documentsPerSecond(10), nil, true, 0, 50},
		"a script without a capacity":         {nil, &Faults{Rules: []Fault{{Operation: OpGetIndex, Status: 404}}}, true, 0, 50},
		"a larger bucket at the same rate":    {documentsPerSecond(10), &Faults{Capacity: &Capacity{DocumentsPerSecond: 10, Burst: Duration(time.Minute)}}, true, 0, 10},
		"a limit that was not there: bytes":   {documentsPerSecond(100), &Faults{Capacity: &Capacity{BytesPerSecond: 30}}, true, 3, 3},
		"one of two limits is removed":        {&Faults{Capacity: &Capacity{DocumentsPerSecond: 10, BytesPerSecond: 50}}, documentsPerSecond(10), true, 5, 10},
		"whole requests instead of documents": {documentsPerSecond(10), &Faults{Capacity: &Capacity{DocumentsPerSecond: 5, Status: 503}}, true, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProbe(t, &Options{Capacity: &Capacity{DocumentsPerSecond: 50}})
				p.SetFaults(c.before)
				time.Sleep(10 * time.Second) // refills the bucket
				if c.drained {
					require.NotZero(t, p.taken())
				}
				p.SetFaults(c.after)
				assert.Equal(t, c.now, p.taken())
				time.Sleep(time.Second)
				assert.Equal(t, c.second, p.taken())
			})
		})
	}
}

func TestCapacityIsFullWhereThereWasNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, nil)
		for range 100 {
			require.Equal(t, 200, p.send("POST", indexPath, batchOf(1)).status)
		}
		p.SetFaults(documentsPerSecond(10))
		assert.Equal(t, 10, p.taken())
		p.SetFaults(nil)
		require.Equal(t, 200, p.send("POST", indexPath, batchOf(100)).status)
	})
}

// A request that exceeds the bucket is paid for at the new rate.
func TestChangeOfCapacityForgivesNoDebt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, nil)
		p.SetFaults(&Faults{Capacity: &Capacity{DocumentsPerSecond: 10, Status: 503}})
		require.Equal(t, 200, p.send("POST", indexPath, batchOf(30)).status) // twenty more than the capacity
		p.SetFaults(&Faults{Capacity: &Capacity{DocumentsPerSecond: 1, Status: 503}})
		time.Sleep(20 * time.Second)
		assert.Zero(t, p.taken())
		time.Sleep(time.Second)
		assert.Equal(t, 1, p.taken())
	})
}
