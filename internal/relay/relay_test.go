package relay

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var terms = Terms{Margin: 5 * time.Second, Shortest: time.Second}

func lasting(d time.Duration) *Lease {
	l, end := new(Lease), time.Now().Add(d)
	l.Extend(&end)
	return l
}

func TestARequestEndsAMarginBeforeItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lasting(20 * time.Second)
		require.Equal(t, 15*time.Second, terms.Until(l, time.Now()))
		time.Sleep(14 * time.Second)
		require.True(t, terms.Lasts(l, time.Now()), "the lease lasts for the shortest duration, a second")
		time.Sleep(time.Nanosecond)
		require.False(t, terms.Lasts(l, time.Now()))
		end := time.Now().Add(20 * time.Second)
		l.Extend(&end)
		require.True(t, terms.Lasts(l, time.Now()))
	})
}

func TestALeaseThatHasEndedStaysEnded(t *testing.T) {
	l := lasting(time.Minute)
	require.False(t, l.GoesBack())
	l.End()
	require.Zero(t, l.Left(time.Now()))
	require.True(t, l.GoesBack())
	require.Zero(t, new(Lease).Left(time.Now()))
}

func TestALeaseIsGivenBackUntilItIsKept(t *testing.T) {
	l := lasting(time.Minute)
	l.GiveBack()
	require.True(t, l.GoesBack())
	l.Keep()
	require.False(t, l.GoesBack())
}

func TestTheClockThatSaysLessCounts(t *testing.T) {
	now := time.Now()
	l := lasting(10 * time.Second)
	require.LessOrEqual(t, l.Left(now.Round(0).Add(8*time.Second)), 2*time.Second+time.Millisecond, "the machine has slept: the monotonic clock stood still")
	set := now.Round(0).Add(time.Hour) // the wall clock was set, which does not change the monotonic clock
	l.Extend(&set)
	require.LessOrEqual(t, l.Left(now.Add(59*time.Minute)), time.Minute)
}

func TestBackOffDoublesToItsLastAndIsDrawnFromTheUpperHalf(t *testing.T) {
	for failures, most := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 9: 256 * time.Second, 10: 5 * time.Minute, math.MaxInt: 5 * time.Minute,
	} {
		for range 100 {
			d := BackOff(failures, time.Second, 5*time.Minute)
			require.GreaterOrEqual(t, d, most/2, failures)
			require.LessOrEqual(t, d, most, failures)
		}
	}
}

func TestWhatFailsIsTriedAgainLaterEachTime(t *testing.T) {
	var r Retry
	now := time.Now()
	require.True(t, r.Due(now))
	for _, wait := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		r.Failed(now, 5*time.Second)
		require.False(t, r.Due(now.Add(wait*time.Millisecond-1)))
		require.True(t, r.Due(now.Add(wait*time.Millisecond)))
	}
	for range 1000 {
		r.Failed(now, time.Hour)
	}
	require.True(t, r.At.After(now), "the addition does not overflow")
}

// The Loader fails for one key, and is called with fewer keys until the key is alone.
func TestALoaderIsAskedForHalfOfTheKeysUntilTheOneThatItFailsForIsAlone(t *testing.T) {
	var l Loads
	calls := 0
	for keys := MaxLoad; ; keys = l.Most(math.MaxInt64) { // each call includes the key
		require.Less(t, calls, halvings)
		calls++
		require.False(t, l.Failed(keys), "the key fails, not the Loader")
		if keys == 1 {
			break
		}
	}
	l.Loaded(1, 10)
	require.Equal(t, 2, l.Most(math.MaxInt64))
	for range 9 {
		l.Loaded(1, 10)
	}
	require.Equal(t, MaxLoad, l.Most(math.MaxInt64))
}

func TestALoaderThatFailsForEveryKeyIsDown(t *testing.T) {
	var l Loads
	for range halvings {
		require.False(t, l.Failed(1))
	}
	require.True(t, l.Failed(1))
	require.True(t, l.Failed(1))
	l.Loaded(1, 0)
	require.False(t, l.Failed(1), "the Loader has worked since")
}

func TestALoaderIsAskedForAsManyKeysAsThereIsRoomFor(t *testing.T) {
	var l Loads
	require.Equal(t, MaxLoad, l.Most(1<<20), "how large documents are is not known")
	l.Loaded(10, 10<<10)
	require.Equal(t, 100, l.Most(100<<10))
	require.Equal(t, 1, l.Most(10), "at least one")
	l.Loaded(100, 100<<9)
	require.Equal(t, 200, l.Most(100<<10), "the documents are smaller now")
}

func TestALoaderAnswersForKeysItWasAskedForEachOnce(t *testing.T) {
	require.NoError(t, Answered([]string{"a", "b", "c"}, []string{"c", "a"}))
	require.NoError(t, Answered([]string{"a", "a"}, []string{"a"}), "keys that Table.Key makes equal")
	require.ErrorContains(t, Answered([]string{"a"}, []string{"a", "b"}), `"b", which was not requested`)
	require.ErrorContains(t, Answered([]string{"a", "b"}, []string{"a", "b", "a"}), `two actions for key "a"`)
}

func TestTheFirstRecordThatIsNotConfirmedDecidesHowAKeyIsSettled(t *testing.T) {
	for _, row := range []struct {
		records   []Verdict
		confirmed int
		verdict   Verdict
	}{
		{nil, 0, Confirmed},
		{[]Verdict{Confirmed, Confirmed}, 2, Confirmed},
		{[]Verdict{Confirmed, Refused, Returned}, 1, Refused},
		{[]Verdict{Returned, Confirmed, Refused}, 0, Returned},
	} {
		n, v := Settle(row.records)
		require.Equal(t, row.confirmed, n, row)
		require.Equal(t, row.verdict, v, row)
	}
}
