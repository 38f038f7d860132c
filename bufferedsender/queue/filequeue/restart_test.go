package filequeue

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// aside has the ways in which a key stays in a queue while others pass.
var aside = map[string]func(t *testing.T, q *Queue){
	"the key waits": func(*testing.T, *Queue) {},
	"the key is parked": func(t *testing.T, q *Queue) {
		n, err := q.Park(t.Context(), "why", "kept")
		require.NoError(t, err)
		require.Equal(t, 1, n)
	},
	"the key is leased": func(t *testing.T, q *Queue) { reserveKept(t, q) },
	"the key is delayed": func(t *testing.T, q *Queue) {
		_, _, err := q.Settle(t.Context(), queue.End{Lease: reserveKept(t, q), Fate: queue.Release, After: 1000 * time.Hour})
		require.NoError(t, err)
	},
}

func reserveKept(t *testing.T, q *Queue) queue.Lease {
	t.Helper()
	w := want(1)
	w.Only, w.For = []string{"kept"}, 1000*time.Hour
	leases, err := q.Reserve(t.Context(), w)
	require.NoError(t, err)
	require.Len(t, leases, 1)
	return leases[0]
}

// churnOthers sends other keys through a queue and reserves them by name, so "kept" stays.
func churnOthers(t *testing.T, q *Queue, n int) {
	t.Helper()
	a := newAdder(q)
	for i := range n {
		r := upload(fmt.Sprint("churn", i), i)
		r.Body = append(r.Body, strings.Repeat("x", 1000)...)
		require.NoError(t, a.append(t.Context(), r))
		w := want(1)
		w.Only = []string{r.Key}
		leases, err := q.Reserve(t.Context(), w)
		require.NoError(t, err)
		_, _, err = q.Settle(t.Context(), commits(leases)...)
		require.NoError(t, err)
	}
}

func TestAKeyOutlivesTheCompactionOfReopenedSegments(t *testing.T) {
	for name, keep := range aside {
		t.Run(name, func(t *testing.T) {
			dir, opts := t.TempDir(), &Options{SegmentBytes: minSegment}
			reopened := func() *Queue {
				q, err := Open(dir, opts)
				require.NoError(t, err)
				return q
			}
			q := reopened()
			require.NoError(t, newAdder(q).append(t.Context(), upload("kept", 1)))
			keep(t, q)
			for range 3 { // restarts, each after several segments
				churnOthers(t, q, 60)
				require.NoError(t, q.Close())
				q = reopened()
			}
			churnOthers(t, q, 200)
			require.NoError(t, q.Close())
			q = reopened()
			in, err := q.Contains(t.Context(), "kept")
			require.NoError(t, err)
			require.Equal(t, []bool{true}, in)
			require.Equal(t, map[string][]string{"kept": {`upload{"version":1}`}}, contents(t, q))
			require.NoError(t, q.Close())
		})
	}
}

func TestReopenedSegmentsAreGivenBackToTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, opts := disktest.New(), &Options{SegmentBytes: minSegment}
		q := mustOpen(t, d, opts)
		require.NoError(t, newAdder(q).append(t.Context(), upload("kept", 1)))
		for range 20 { // restarts, each after too few segments for a compaction
			churnOthers(t, q, 30)
			require.NoError(t, q.Close())
			q = mustOpen(t, d, opts)
		}
		churnOthers(t, q, 1) // a call resumes the compaction that Close interrupted
		synctest.Wait()
		total, bound := logBytes(q)
		require.LessOrEqual(t, total, bound)
		require.LessOrEqual(t, len(d.Files()), 5, "four segments and the prepared next one")
		require.NoError(t, q.Close())
	})
}

func TestAReadThatFailsDuringOpenIsAnErrorAndLosesNothing(t *testing.T) {
	d, opts := disktest.New(), &Options{SegmentBytes: minSegment}
	q := mustOpen(t, d, opts)
	a := newAdder(q)
	for i := range 60 {
		r := upload(fmt.Sprint("key", i), i)
		r.Body = append(r.Body, strings.Repeat("x", 1000)...)
		require.NoError(t, a.append(t.Context(), r))
	}
	_, err := q.Reserve(t.Context(), want(3))
	require.NoError(t, err)
	testkit.Eventually(t, func() bool { q.mu.Lock(); defer q.mu.Unlock(); return q.log.next != nil })
	d.Crash(everything)
	options, err := opts.withDefaults()
	require.NoError(t, err)
	q = mustOpen(t, d, opts)
	before := contents(t, q)
	require.Len(t, before, 60)
	require.NoError(t, q.Close())
	disktest.FailEachRead(t, d, func(t *testing.T, d *disktest.Disk) error {
		q, err := open(d, options)
		if err == nil {
			d.FailRead = nil
			require.Equal(t, before, contents(t, q))
			require.NoError(t, q.Close())
		}
		return err
	})
}
