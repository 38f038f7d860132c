package redisqueue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit/servers"
)

// dead leases all keys for a minute to a holder that does not return.
func dead(t *testing.T, q *Queue, keys int) []queue.Lease {
	t.Helper()
	leases := take(t, q, keys)
	require.Len(t, leases, keys)
	return leases
}

func TestLeasesAndDelaysEndInTimeAlthoughTheClockOfTheServerGoesBack(t *testing.T) {
	for name, end := range map[string]*queue.End{
		"a lease":                       nil,
		"a delay":                       {Fate: queue.Release, After: time.Minute},
		"a commit with unknown outcome": {Fate: queue.Commit, Uncertain: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newClock()
			q := open(t, newClient(t, servers.Redis(t).Addr()), &Options{clock: cl.now, Shards: 4})
			keys := []string{"a", "b", "c", "d", "e", "f", "g", "h"} // in all shards
			add(t, q, keys...)
			leases := dead(t, q, len(keys))
			if end != nil {
				for _, l := range leases {
					one := *end
					one.Lease = l
					_, _, err := q.Settle(t.Context(), one)
					require.NoError(t, err)
				}
			}
			if name == "a commit with unknown outcome" {
				add(t, q, keys...)
			}
			for range 3 { // the clock goes back each time: to nodes with other clocks
				cl.advance(15 * time.Second)
				require.Empty(t, take(t, q, 1))
				cl.advance(-time.Hour)
				require.Empty(t, take(t, q, 1))
			}
			cl.advance(14 * time.Second)
			require.Empty(t, take(t, q, 1), "no other lease ends early either")
			cl.advance(2 * time.Second)
			got := 0
			for range keys { // suspects are sent alone, or in small groups
				leases := take(t, q, len(keys))
				got += len(leases)
				require.Empty(t, commit(t, q, leases))
			}
			require.Equal(t, len(keys), got)
		})
	}
}

// While a dead holder has the keys, a watcher may be the only caller. It only reads, but records that the clock went
// back.
func TestWatcherNotesThatTheClockOfTheServerHasGoneBack(t *testing.T) {
	cl := newClock()
	q := open(t, newClient(t, servers.Redis(t).Addr()), &Options{clock: cl.now})
	add(t, q, "a")
	dead(t, q, 1)
	cl.advance(-time.Hour)
	q.peekNext(t.Context())
	cl.advance(time.Minute)
	require.Len(t, take(t, q, 1), 1)
}

func TestTimesAreThoseOfTheServerAfterItsClockWentBack(t *testing.T) {
	cl := newClock()
	q := open(t, newClient(t, servers.Redis(t).Addr()), &Options{clock: cl.now})
	add(t, q, "a", "b")
	cl.advance(-time.Hour)
	dead(t, q, 1)
	_, err := q.Park(t.Context(), "why", "b")
	require.NoError(t, err)
	s, err := q.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, cl.now(), s.Oldest)
	require.Equal(t, cl.now(), s.LastReserved)
	entries, err := q.Inspect(t.Context(), queue.Inspection{})
	require.NoError(t, err)
	require.Equal(t, cl.now().Add(time.Minute), entries[0].Until)
	require.Equal(t, cl.now(), entries[0].Since)
	require.Equal(t, cl.now(), entries[1].ParkedAt)
}

func TestClockThatJumpsAheadEndsLeasesEarlyAndTheirHoldersLearnIt(t *testing.T) {
	cl := newClock()
	q := open(t, newClient(t, servers.Redis(t).Addr()), &Options{clock: cl.now})
	add(t, q, "a")
	late := dead(t, q, 1)
	cl.advance(time.Hour)
	again := take(t, q, 1)
	require.Len(t, again, 1, "the key is not lost")
	require.Len(t, commit(t, q, late), 1)
	lost, err := q.Extend(t.Context(), time.Minute, late...)
	require.NoError(t, err)
	require.Len(t, lost, 1)
	cl.advance(-time.Hour) // an operator corrects the clock
	require.Empty(t, commit(t, q, again))
}
