package filequeue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// slowDisk is a disk with slow syncs.
func slowDisk(sync time.Duration) *disktest.Disk {
	d := disktest.New()
	d.Fail = func(op, _ string) error {
		if op == "sync" {
			time.Sleep(sync)
		}
		return nil
	}
	return d
}

func TestLoneCallersShareTheSyncsOfASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers, calls = 64, 50
		d := slowDisk(5 * time.Millisecond)
		q := mustOpen(t, d, &Options{SegmentBytes: 1 << 20})
		require.NoError(t, newAdder(q).append(t.Context(), upload("first", 1)))
		time.Sleep(time.Second) // the next segment exists
		before, begun := d.Syncs(), time.Now()
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				a := newAdder(q)
				for j := range calls {
					assert.NoError(t, a.append(t.Context(), upload(fmt.Sprint(i), j)))
				}
			})
		}
		wg.Wait()
		syncs := d.Syncs() - before
		require.GreaterOrEqual(t, callers*calls/syncs, 10, "%d syncs", syncs)
		require.LessOrEqual(t, time.Since(begun), 2*calls*6*time.Millisecond)
		require.NoError(t, q.Close())
	})
}

func TestAnAppendWhoseContextEndsInTheSyncIsFoundWhenItIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := mustOpen(t, slowDisk(time.Second), nil)
		a := newAdder(q)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begun := time.Now()
		err := a.append(ctx, merge("a", 1))
		require.ErrorIs(t, err, queue.ErrUnknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 100*time.Millisecond, time.Since(begun), "the call ends with its context, however long a sync takes")
		a.number--
		require.NoError(t, a.append(t.Context(), merge("a", 1)))
		require.GreaterOrEqual(t, time.Since(begun), time.Second, "the repeat is durable")
		require.Equal(t, map[string][]string{"a": {`merge{"version":1}`}}, contents(t, q), "once")
		require.NoError(t, q.Close())
	})
}

func TestNobodyWaitsForTheDiskButAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := mustOpen(t, slowDisk(time.Second), nil)
		require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1), upload("b", 1)))
		time.Sleep(time.Minute)
		begun := time.Now()
		go func() { assert.NoError(t, newAdder(q).append(t.Context(), upload("c", 1))) }()
		synctest.Wait()
		leases, err := q.Reserve(t.Context(), want(1))
		require.NoError(t, err)
		_, _, err = q.Settle(t.Context(), commits(leases)...)
		require.NoError(t, err)
		require.Zero(t, time.Since(begun))
		require.NoError(t, q.Close())
	})
}

func TestAFullDiskRefusesAppendsAndTakesCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		var full atomic.Bool // another goroutine creates the next segment
		d.Fail = func(op, _ string) error {
			if op == "allocate" && full.Load() {
				return syscall.ENOSPC
			}
			return nil
		}
		require.NoError(t, a.append(t.Context(), upload("first", 1)))
		synctest.Wait()
		full.Store(true)
		kept := 1
		var err error
		for ; err == nil; kept++ {
			r := upload(fmt.Sprint("key", kept), 1)
			r.Body = append(r.Body, strings.Repeat("x", 1000)...)
			err = a.append(t.Context(), r)
			synctest.Wait()
		}
		kept--
		require.ErrorIs(t, err, queue.ErrFull)
		require.NotErrorIs(t, err, queue.ErrUnknown)
		require.Len(t, contents(t, q), kept, "no part of the call is kept")
		for left := kept; left > 0; {
			leases, err := q.Reserve(t.Context(), want(5))
			require.NoError(t, err)
			require.NotEmpty(t, leases)
			_, _, err = q.Settle(t.Context(), commits(leases)...)
			require.NoError(t, err, "commits work")
			left -= len(leases)
		}
		require.Error(t, a.append(t.Context(), upload("b", 1)))
		full.Store(false)
		require.NoError(t, a.append(t.Context(), upload("b", 1)))
		require.NoError(t, q.Close())
		q = mustOpen(t, d, nil)
		require.Equal(t, map[string][]string{"b": {`upload{"version":1}`}}, contents(t, q))
		require.NoError(t, q.Close())
	})
}

// smallDisk is a disk with room for this many segments.
func smallDisk(segments int) *disktest.Disk {
	d := disktest.New()
	d.Fail = func(op, name string) error {
		files := d.Files()
		delete(files, markName)
		if op == "allocate" && name != markName && len(files) >= segments {
			return syscall.ENOSPC
		}
		return nil
	}
	return d
}

// fill appends until the disk is full, and returns the number of keys.
func fill(t *testing.T, q *Queue) (kept int) {
	t.Helper()
	a := newAdder(q)
	for {
		r := upload(fmt.Sprint("key", kept), 1)
		r.Body = append(r.Body, strings.Repeat("x", 1000)...)
		err := a.append(t.Context(), r)
		synctest.Wait()
		if err != nil {
			require.ErrorIs(t, err, queue.ErrFull)
			return kept
		}
		kept++
	}
}

func TestAFullDiskIsDrainedOpenedAndFilledAgain(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, q *Queue)
		stays  int // keys that are not sent
		reopen bool
	}{
		"without a restart":               {},
		"after a restart":                 {reopen: true},
		"with a parked key in front":      {stays: 1, before: func(t *testing.T, q *Queue) { park(t, q, "key0") }},
		"with a parked key and a restart": {stays: 1, reopen: true, before: func(t *testing.T, q *Queue) { park(t, q, "key0") }},
		"while the queue was paused": {before: func(t *testing.T, q *Queue) {
			require.NoError(t, q.Pause(t.Context(), "why"))
			require.NoError(t, q.Resume(t.Context()))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, opts := smallDisk(6), &Options{SegmentBytes: minSegment}
				q := mustOpen(t, d, opts)
				for range 3 {
					kept := fill(t, q)
					require.Greater(t, kept, 30)
					if c.before != nil {
						c.before(t, q)
					}
					if c.reopen {
						require.NoError(t, q.Close())
						q = mustOpen(t, d, opts)
					}
					for left := kept - c.stays; left > 0; {
						leases, err := q.Reserve(t.Context(), want(7))
						require.NoError(t, err)
						require.NotEmpty(t, leases)
						_, _, err = q.Settle(t.Context(), commits(leases)...)
						require.NoError(t, err)
						synctest.Wait()
						left -= len(leases)
					}
					require.NoError(t, newAdder(q).append(t.Context(), upload("at once", 1)), "a drained queue has room at once")
					leases, err := q.Reserve(t.Context(), want(1))
					require.NoError(t, err)
					_, _, err = q.Settle(t.Context(), commits(leases)...)
					require.NoError(t, err)
					if c.stays > 0 {
						n, err := q.Drop(t.Context(), "key0")
						require.NoError(t, err)
						require.Equal(t, 1, n)
					}
					synctest.Wait()
					require.NoError(t, q.Fault())
				}
				require.NoError(t, q.Close())
			})
		})
	}
}

func park(t *testing.T, q *Queue, key string) {
	t.Helper()
	n, err := q.Park(t.Context(), "why", key)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// Nothing is appended any more, and there are too many live records to rewrite them into the rest of the head.
func TestAnyCallFindsOutThatAFullDiskHasRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := smallDisk(6)
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		kept := fill(t, q)
		w := want(kept / 2)
		leases, err := q.Reserve(t.Context(), w)
		require.NoError(t, err)
		for len(leases) > 0 {
			n := min(5, len(leases))
			_, _, err = q.Settle(t.Context(), commits(leases[:n])...)
			require.NoError(t, err)
			leases = leases[n:]
		}
		synctest.Wait()
		d.Fail = nil
		for range 5 {
			time.Sleep(2 * time.Second)
			_, err = q.Stats(t.Context())
			require.NoError(t, err)
			synctest.Wait()
		}
		q.mu.Lock()
		next := q.log.next
		q.mu.Unlock()
		require.NotNil(t, next)
		total, bound := logBytes(q)
		require.LessOrEqual(t, total, bound)
		require.NoError(t, q.Close())
	})
}

// The keys' states can be larger than the rest of the head.
func TestAParkForWhichThereIsNoRoomChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := smallDisk(3)
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		kept := fill(t, q)
		var keys []string
		for i := range kept {
			keys = append(keys, fmt.Sprint("key", i))
		}
		_, err := q.Park(t.Context(), "why", keys...)
		require.ErrorIs(t, err, queue.ErrFull)
		require.ErrorIs(t, q.Fault(), queue.ErrFull)
		require.NotErrorIs(t, q.Fault(), queue.ErrFailed, "the queue continues")
		s, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.Zero(t, s.Parked)
		park(t, q, "key0")
		require.NoError(t, q.Close())
	})
}

// A copy-on-write file system can be full although the segment was allocated.
func TestAWriteThatFindsNoRoomKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, nil)
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), upload("a", 1)))
		synctest.Wait()
		d.Fail = func(op, _ string) error {
			if op == "write" {
				return syscall.ENOSPC
			}
			return nil
		}
		err := a.append(t.Context(), upload("b", 1), upload("c", 1))
		require.ErrorIs(t, err, queue.ErrFull)
		require.NotErrorIs(t, err, queue.ErrUnknown)
		d.Fail = nil
		require.NoError(t, a.append(t.Context(), upload("d", 1)), "the call overwrites the partial write")
		d.Crash(everything)
		q = mustOpen(t, d, nil)
		require.Len(t, contents(t, q), 2)
		require.NoError(t, q.Close())
	})
}

func TestADiskThatCannotSyncNamesFailsTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		d.Fail = func(op, _ string) error {
			if op == "sync names" {
				return syscall.EIO
			}
			return nil
		}
		_, err := openDisk(d, nil)
		require.ErrorIs(t, err, syscall.EIO)
		d.Crash(nothing)
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		synctest.Wait() // the next segment exists; creating the one after it fails
		d.Fail = func(op, _ string) error {
			if op == "sync names" {
				return syscall.EIO
			}
			return nil
		}
		a := newAdder(q)
		for i := 0; err == nil || !errors.Is(err, queue.ErrFailed); i++ {
			require.Less(t, i, 1000)
			err = a.append(t.Context(), upload(fmt.Sprint(i), i))
		}
		require.ErrorIs(t, q.Close(), queue.ErrFailed)
	})
}
