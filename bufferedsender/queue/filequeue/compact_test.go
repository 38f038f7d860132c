package filequeue

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

// logBytes returns the size of the log and its limit.
func logBytes(q *Queue) (total, bound int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.log.total, max(4*int64(q.options.SegmentBytes), 4*q.lives())
}

func TestOneKeyThatIsLeasedForEverKeepsNoLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		opts := &Options{SegmentBytes: minSegment}
		q := mustOpen(t, d, opts)
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), merge("stuck", 1), merge("stuck", 2), upload("parked", 1)))
		_, err := q.Park(t.Context(), "why", "parked")
		require.NoError(t, err)
		forEver := want(1)
		forEver.For = 1000 * time.Hour
		stuck, err := q.Reserve(t.Context(), forEver)
		require.NoError(t, err)
		require.NoError(t, a.append(t.Context(), upload("stuck", 3)))
		for i := range 3000 { // 200 segments
			r := upload(fmt.Sprint("key", i%50), i)
			r.Body = append(r.Body, strings.Repeat("x", 1000)...)
			require.NoError(t, a.append(t.Context(), r))
			if i%10 == 9 {
				leases, err := q.Reserve(t.Context(), want(100))
				require.NoError(t, err)
				_, _, err = q.Settle(t.Context(), commits(leases)...)
				require.NoError(t, err)
			}
			synctest.Wait()
			total, bound := logBytes(q)
			require.LessOrEqual(t, total, bound)
		}
		require.Greater(t, q.log.head().number, uint32(150))
		require.LessOrEqual(t, len(d.Files()), 5, "four segments and the prepared next one")
		before := contents(t, q)
		require.Equal(t, map[string][]string{
			"stuck":  {`merge{"version":1}`, `merge{"version":2}`, `upload{"version":3}`},
			"parked": {`upload{"version":1}`},
		}, before)

		stale, _, err := q.Settle(t.Context(), queue.End{Lease: stuck[0], Fate: queue.Release, Done: 1})
		require.NoError(t, err)
		require.Empty(t, stale, "the lease outlived these changes")
		synctest.Wait()
		d.Crash(everything)
		q = mustOpen(t, d, opts)
		require.Equal(t, map[string][]string{"stuck": {`upload{"version":3}`}, "parked": {`upload{"version":1}`}}, contents(t, q))
		require.NoError(t, q.Close())
	})
}

func TestACommitAfterACompactionIsRememberedAcrossARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		opts := &Options{SegmentBytes: minSegment}
		q := mustOpen(t, d, opts)
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), upload("held", 1)))
		w := want(1)
		w.For = 1000 * time.Hour
		held, err := q.Reserve(t.Context(), w)
		require.NoError(t, err)
		churn(t, q, a, 500)
		_, _, err = q.Settle(t.Context(), commits(held)...)
		require.NoError(t, err)
		synctest.Wait()
		d.Crash(everything)
		q = mustOpen(t, d, opts)
		require.Empty(t, contents(t, q))
		require.NoError(t, q.Close())
	})
}

// churn sends records through a queue.
func churn(t *testing.T, q *Queue, a *adder, n int) {
	t.Helper()
	for i := range n {
		r := upload(fmt.Sprint("churn", i), i)
		r.Body = append(r.Body, strings.Repeat("x", 1000)...)
		require.NoError(t, a.append(t.Context(), r))
		leases, err := q.Reserve(t.Context(), want(10))
		require.NoError(t, err)
		_, _, err = q.Settle(t.Context(), commits(leases)...)
		require.NoError(t, err)
		synctest.Wait()
	}
}

func TestAKeyThatIsReplacedAllTheTimeKeepsItsPlaceThroughCompactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		opts := &Options{SegmentBytes: minSegment}
		q := mustOpen(t, d, opts)
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), upload("hot", 0)))
		time.Sleep(time.Minute)
		require.NoError(t, a.append(t.Context(), upload("cold", 0)))
		for i := range 1000 {
			r := upload("hot", i)
			r.Body = append(r.Body, strings.Repeat("x", 1000)...)
			require.NoError(t, a.append(t.Context(), r))
			synctest.Wait()
		}
		require.Greater(t, q.log.segments[0].number, uint32(50), "the log was compacted")
		at, err := q.Stats(t.Context())
		require.NoError(t, err)
		d.Crash(everything)
		q = mustOpen(t, d, opts)
		again, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, at.Oldest, again.Oldest)
		leases, err := q.Reserve(t.Context(), want(1))
		require.NoError(t, err)
		require.Equal(t, "hot", leases[0].Key)
		require.NoError(t, q.Close())
	})
}

func TestCallsOfAnEarlierProcessAreKnownAfterCompactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		opts := &Options{SegmentBytes: minSegment}
		q := mustOpen(t, d, opts)
		old := newAdder(q)
		require.NoError(t, old.append(t.Context(), merge("a", 1)))
		churn(t, q, newAdder(q), 500)
		d.Crash(everything)
		q = mustOpen(t, d, opts)
		old.q, old.number = q, old.number-1
		require.NoError(t, old.append(t.Context(), merge("a", 1)))
		require.Empty(t, contents(t, q), "the record was sent and applied long ago")
		require.NoError(t, q.Close())
	})
}

func TestASegmentThatKeysDependOnIsKeptAndFaultSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, log := disktest.New(), new(strings.Builder)
		opts := &Options{SegmentBytes: minSegment, Logger: slog.New(slog.NewTextHandler(log, nil))}
		q := mustOpen(t, d, opts)
		require.NoError(t, newAdder(q).append(t.Context(), upload("kept", 1)))
		churnOthers(t, q, 15) // a second segment, and no compaction
		require.NoError(t, q.Fault())
		q.mu.Lock()
		require.Len(t, q.log.segments, 2)
		for _, s := range q.log.segments[:len(q.log.segments)-1] {
			s.used = headerSize // simulates a bug: compaction finds nothing in it
		}
		q.mu.Unlock()
		churnOthers(t, q, 200)
		synctest.Wait()
		var kept *keptError
		require.ErrorAs(t, q.Fault(), &kept)
		require.Equal(t, keptError{Segment: 1, Keys: 1}, *kept)
		require.Equal(t, 1, strings.Count(log.String(), "queue segment kept"))
		require.NoError(t, q.Close())
		q = mustOpen(t, d, opts)
		require.Equal(t, map[string][]string{"kept": {`upload{"version":1}`}}, contents(t, q))
		require.NoError(t, q.Fault())
		churnOthers(t, q, 1)
		synctest.Wait()
		total, bound := logBytes(q)
		require.LessOrEqual(t, total, bound, "the next opening compacts")
		require.NoError(t, q.Close())
	})
}

func TestFaultHasTheErrorOfAFailedDisk(t *testing.T) {
	d := disktest.New()
	q := mustOpen(t, d, nil)
	d.Fail = func(op, _ string) error {
		if op == "sync" {
			return disktest.ErrDisk
		}
		return nil
	}
	require.Error(t, newAdder(q).append(t.Context(), upload("a", 1)))
	require.ErrorIs(t, q.Fault(), queue.ErrFailed)
	require.ErrorIs(t, q.Fault(), disktest.ErrDisk)
	require.Error(t, q.Close())
}

// A log that cannot shrink is left alone: only bytes that a rewrite would write count as live.
func TestAnIdleQueueIsNotCompactedForEver(t *testing.T) {
	for name, fill := range map[string]func(t *testing.T, q *Queue){
		"many small records of a key": func(t *testing.T, q *Queue) {
			a := newAdder(q)
			for range 63 {
				var records []queue.Record
				for key := range 100 {
					records = append(records, queue.Record{Key: fmt.Sprint(key), Op: models.ActionTypeMerge, Body: []byte(`{}`)})
				}
				require.NoError(t, a.append(t.Context(), records...))
				synctest.Wait()
			}
		},
		"many adders": func(t *testing.T, q *Queue) {
			for range 900 {
				require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
				synctest.Wait()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := disktest.New()
				q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
				fill(t, q)
				_, err := q.Stats(t.Context())
				require.NoError(t, err)
				synctest.Wait() // endless if compaction does not stop
				total, bound := logBytes(q)
				require.LessOrEqual(t, total, bound)
				require.NoError(t, q.Close())
			})
		})
	}
}

func TestCompactionEndsWithParkedKeysThatHaveLongReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		for i := range 300 {
			require.NoError(t, a.append(t.Context(), upload(fmt.Sprint("hotel-", i), 1)))
		}
		for {
			leases, err := q.Reserve(t.Context(), want(50))
			require.NoError(t, err)
			if len(leases) == 0 {
				break
			}
			ends := commits(leases)
			for i := range ends {
				ends[i].Fate, ends[i].Reason = queue.Park, strings.Repeat("the service explains the refusal ", 12)
			}
			_, _, err = q.Settle(t.Context(), ends...)
			require.NoError(t, err)
		}
		var segments atomic.Int64 // created while the queue is idle
		d.Fail = func(op, _ string) error {
			if op == "allocate" && segments.Add(1) > 100 {
				return disktest.ErrDisk // it would continue forever
			}
			return nil
		}
		synctest.Wait()
		require.LessOrEqual(t, segments.Load(), int64(30), "the log is compacted only once")
		require.NoError(t, q.Close())
	})
}

// slowArea is a disk with slow reads.
type slowArea struct {
	disk.Area
	hold chan struct{}
	busy chan struct{}
}

func (s slowArea) ReadAt(b []byte, at int64) (int, error) {
	select {
	case s.busy <- struct{}{}:
		<-s.hold
	default:
	}
	return s.Area.ReadAt(b, at)
}

func TestAReaderThatIsSlowHoldsNobodyUpWhenASegmentIsRemoved(t *testing.T) {
	q := mustOpen(t, disktest.New(), &Options{SegmentBytes: minSegment})
	a := newAdder(q)
	require.NoError(t, a.append(t.Context(), upload("a", 1), upload("b", 1)))
	hold, busy := make(chan struct{}), make(chan struct{}, 1)
	busy <- struct{}{}
	q.mu.Lock()
	q.log.segments[0].area = slowArea{q.log.segments[0].area, hold, busy}
	q.mu.Unlock()
	<-busy
	go func() { _, _ = q.Inspect(t.Context(), queue.Inspection{Bodies: true}) }()
	for len(busy) == 0 {
		time.Sleep(time.Millisecond)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 200 { // segments are removed meanwhile
			r := upload("a", i)
			r.Body = append(r.Body, strings.Repeat("x", 1000)...)
			_ = a.append(t.Context(), r)
			_, _ = q.Inspect(t.Context(), queue.Inspection{Limit: 1})
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("Append waits for a reader")
	}
	close(hold)
	<-done
	require.NoError(t, q.Close())
}

// The disk may be slow, and other calls wait while compaction holds the lock.
func TestCompactionLetsOthersOnAfterAFewReads(t *testing.T) {
	q := mustOpen(t, disktest.New(), nil)
	var keys []string
	var records []queue.Record
	for i := range 100 {
		keys = append(keys, fmt.Sprint("cold", i))
		records = append(records, upload(keys[i], 1))
	}
	require.NoError(t, newAdder(q).append(t.Context(), records...))
	elsewhere := &frame{at: position{segment: q.log.head().number}} // so that it is not in memory
	left, err := q.moveSome(elsewhere, keys)
	require.NoError(t, err)
	require.Equal(t, keys[readsAtOnce:], left)
	require.NoError(t, q.Close())
}

func TestLargeCallsInSmallSegments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	q, err := Open(dir, &Options{SegmentBytes: minSegment})
	require.NoError(t, err)
	a := newAdder(q)
	for i := range 3 {
		r := upload(fmt.Sprint("large", i), 1)
		r.Body = append(r.Body, strings.Repeat("x", 16<<20)...)
		require.NoError(t, a.append(t.Context(), r))
	}
	records := make([]queue.Record, queue.MaxCall)
	for i := range records {
		records[i] = upload(fmt.Sprint("small", i), i)
	}
	require.NoError(t, a.append(t.Context(), records...))
	w := want(queue.MaxCall)
	w.Bytes = 1 << 30
	l, err := q.Reserve(t.Context(), w)
	require.NoError(t, err)
	require.Len(t, l, queue.MaxCall)
	_, _, err = q.Settle(t.Context(), commits(l)...)
	require.NoError(t, err)
	require.NoError(t, q.Close())
	q, err = Open(dir, nil)
	require.NoError(t, err)
	require.Len(t, contents(t, q), 3)
	for _, name := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.EqualValues(t, 0o700, info.Mode().Perm())
	}
	require.NoError(t, q.Close())
}
