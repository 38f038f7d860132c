package backup

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The test counts the round trips of backup and restore, not processor time.
func TestRequestsInFlightDivideTheTime(t *testing.T) {
	testkit.Long(t)
	synctest.Test(t, func(t *testing.T) {
		const latency, documents = 50 * time.Millisecond, 19_900
		s, to, dir := newServiceWith(t, &searchtest.Options{Latency: latency}), &said{}, ""
		s.fill("hotels", keyed, 0)
		for i := 0; i < documents; i += 995 {
			s.upload("hotels", i, i+995, "Hotel")
		}
		latencies := func(do func()) int {
			began := time.Now()
			do()
			return int(time.Since(began) / latency)
		}
		assert.Equal(t, 21, latencies(func() {
			client, err := s.Client("hotels")
			require.NoError(t, err)
			for _, err := range search.Scan[json.RawMessage](t.Context(), client, &search.ScanOptions{KeyField: "id"}) {
				require.NoError(t, err)
			}
		}), "the definition, and pages one after the other")
		for passes, most := range []int{1: 15, 2: 26} { // ten pages for each pass, plus the requests before and after
			if passes == 0 {
				continue
			}
			assert.LessOrEqual(t, latencies(func() {
				o := s.options(t.TempDir(), to)
				o.Passes, o.RangeSize, o.InFlight = passes, 0, 2
				run(t, o)
				dir = o.Dir
			}), most, "passes: %d", passes)
		}
		require.NoError(t, s.DeleteIndex(t.Context(), "hotels", nil))
		assert.LessOrEqual(t, latencies(func() {
			o := s.restoring(dir, to)
			o.InFlight = 2
			require.NoError(t, restore(t, o))
		}), 26, "ten batches, and ten pages to compare")
	})
}

// TestBackupOutlastsABusyService: a query of a long backup is refused more often than a single one may be.
func TestBackupOutlastsABusyService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		s.fill("hotels", keyed, 100)
		busy := func(d time.Duration) {
			s.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: searchtest.OpSearch, For: searchtest.Duration(d), Status: http.StatusServiceUnavailable}}})
		}
		busy(15 * time.Second)
		run(t, s.options(t.TempDir(), &said{}))

		busy(time.Hour)
		b, err := Begin(t.Context(), s.options(t.TempDir(), &said{}))
		require.NoError(t, err)
		_, err = b.Run(t.Context())
		require.ErrorContains(t, err, "too busy")
		assert.NotContains(t, err.Error(), "\n", "the error names one refusal of sixteen")
	})
}
