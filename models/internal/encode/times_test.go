package encode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// timesOf holds a time in every position that a time can have.
type timesOf struct {
	T       time.Time
	P       *time.Time
	Empty   time.Time  `json:",omitempty"`
	Zero    time.Time  `json:",omitzero"`
	PZero   *time.Time `json:",omitzero"`
	Quoted  time.Time  `json:",string"` //nolint:staticcheck // on purpose: the option has no effect
	QuotedP *time.Time `json:",string"` //nolint:staticcheck // likewise
	Any     any
	AnyP    any
	List    []time.Time
	ListP   []*time.Time
	Two     [2]time.Time
	Dict    map[string]time.Time
	Keys    map[time.Time]int
	Embeds  embedsTime
	Tagged  struct {
		time.Time  `json:"at,omitzero"`
		jvtvStruct // removes both MarshalJSON and MarshalText
	}
	Plain plainTime
}

func newTimesOf(x time.Time) *timesOf {
	v := &timesOf{
		T: x, P: &x, Empty: x, Zero: x, PZero: &x, Quoted: x, QuotedP: &x, Any: x, AnyP: &x, List: []time.Time{x, x}, ListP: []*time.Time{nil, &x},
		Two: [2]time.Time{x}, Dict: map[string]time.Time{"a": x}, Keys: map[time.Time]int{x: 1}, Embeds: embedsTime{x}, Plain: plainTime(x),
	}
	v.Tagged.Time = x
	return v
}

func checkTime(t testing.TB, x time.Time) {
	t.Helper()
	checkWritten(t, x)
	checkWritten(t, &x)
	checkWritten(t, newTimesOf(x))
	checkWritten(t, *newTimesOf(x))
}

func FuzzTime(f *testing.F) {
	for _, sec := range []int64{0, 1, -1, -62135596800, -62135596801, -62167219200, -62167219201, 253402300799, 253402300800, 1 << 40, -1 << 40, 1 << 62} {
		for _, offset := range []int32{0, 1, -1, 59, 60, -3600, 86399, -86399, 86400, -86400, 360000} {
			f.Add(sec, int64(0), offset)
			f.Add(sec, int64(120_000_000), offset)
		}
	}
	f.Fuzz(func(t *testing.T, sec, nsec int64, offset int32) {
		x := time.Unix(sec, nsec)
		checkTime(t, x.UTC())
		checkTime(t, x.In(time.FixedZone("", int(offset))))
	})
}

func TestTimes(t *testing.T) {
	for _, nano := range []int{0, 1, 9, 10, 99, 100, 1000, 999_999, 1_000_000, 10_000_000, 100_000_000, 120_000_000, 123_456_789, 500_000_000, 999_999_999} {
		for _, year := range []int{-10000, -1000, -999, -1, 0, 1, 9, 10, 99, 100, 999, 1000, 1969, 1970, 2024, 9999, 10000, 12345, 99999} {
			for _, zone := range append(zones, oddZones...) {
				checkTime(t, time.Date(year, 12, 31, 23, 59, 59, nano, zone))
				if nano < 2 {
					checkTime(t, time.Date(year, 1, 1, 0, 0, 0, nano, zone))
				}
			}
		}
	}
}

// The year of a time depends on its zone.
func TestTheYearIsTheOneInTheZone(t *testing.T) {
	last := time.Date(9999, 12, 31, 23, 30, 0, 0, time.UTC)
	require.Equal(t, same, check(t, last))
	require.Equal(t, refused, check(t, last.In(time.FixedZone("", 3600))))
	first := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, same, check(t, first))
	require.Equal(t, refused, check(t, first.In(time.FixedZone("", -3600))))
}

func TestZonesOfADayOrMoreAreRefused(t *testing.T) {
	for _, zone := range oddZones {
		require.Equal(t, refused, check(t, time.Date(2024, 5, 6, 7, 8, 9, 10, zone)), zone)
	}
	for _, zone := range zones {
		require.Equal(t, same, check(t, time.Date(2024, 5, 6, 7, 8, 9, 10, zone)), zone)
	}
}

// The encoding omits the monotonic clock and the zone's name. A zero time is zero in every zone.
func TestWhatATimeDoesNotShow(t *testing.T) {
	checkTime(t, time.Now())
	checkTime(t, time.Now().Round(0))
	checkTime(t, time.Time{})
	checkTime(t, time.Time{}.In(time.FixedZone("east", 3600)))
	checkTime(t, time.Time{}.In(time.FixedZone("west", -3600)))
	if zone, err := time.LoadLocation("America/New_York"); err == nil {
		for year := 1850; year < 2100; year += 5 {
			checkTime(t, time.Date(year, 3, 10, 2, 30, 0, 1, zone))
			checkTime(t, time.Date(year, 11, 3, 1, 30, 0, 0, zone))
		}
	}
}

func TestRandomTimes(t *testing.T) {
	for seed := range uint64(testkit.Cases(400, 2000, 2000)) {
		checkTime(t, randomChoices(seed).time())
	}
}
