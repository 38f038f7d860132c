package filequeue

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// After a failed sync the kernel marks the pages clean, although the data is only in memory.
func TestWhatAFailedSyncHasLeftInMemoryIsDurableAfterAnOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, nil)
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), upload("a", 1)))
		synctest.Wait()
		d.Fail = func(op, _ string) error {
			if op == "sync" {
				return syscall.EIO
			}
			return nil
		}
		large := upload("b", 1)
		large.Body = append(large.Body, strings.Repeat("x", 3000)...)
		require.ErrorIs(t, a.append(t.Context(), large), queue.ErrUnknown)
		_ = q.Close()
		d.Forget(segmentName(1)) // fsync(2) of Linux: the pages are clean from now on
		synctest.Wait()
		d.Fail = nil
		q = mustOpen(t, d, nil)
		a.q, a.number = q, a.number-1
		require.NoError(t, a.append(t.Context(), large), "the disk claims to be durable")
		require.NoError(t, a.append(t.Context(), upload("c", 1)))
		synctest.Wait()
		d.Crash(nothing)
		q, err := openDisk(d, nil)
		require.NoError(t, err)
		require.Len(t, contents(t, q), 3)
		require.NoError(t, q.Close())
	})
}

// A call is in the log although its caller does not know that: ErrFull would say that nothing was kept.
func TestARepeatedCallOnAFullDiskIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := smallDisk(4)
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		synctest.Wait()
		small, slow := d.Fail, make(chan struct{})
		d.Fail = func(op, _ string) error {
			if op == "sync" {
				<-slow
			}
			return nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, a.append(ctx, upload("a", 1)), queue.ErrUnknown)
		close(slow)
		synctest.Wait()
		d.Fail = small
		fill(t, q)
		require.ErrorIs(t, newAdder(q).append(t.Context(), upload("b", 1)), queue.ErrFull)
		a.number--
		require.NoError(t, a.append(t.Context(), upload("a", 1)))
		require.NoError(t, q.Close())
	})
}

// The process is killed when the next segment has its header but its name is not synced.
func TestASegmentWhoseNameWasNotSyncedWhenTheProcessWasKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		var killed atomic.Bool
		d.Fail = func(op, _ string) error {
			if op == "sync names" {
				killed.Store(true)
			}
			if killed.Load() {
				return disktest.ErrDisk
			}
			return nil
		}
		_, err := openDisk(d, nil)
		require.Error(t, err)
		synctest.Wait()
		d.Fail = func(op, _ string) error { // the next process, before it creates its next segment
			if op == "allocate" {
				return syscall.ENOSPC
			}
			return nil
		}
		q := mustOpen(t, d, nil)
		require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
		synctest.Wait()
		d.Crash(nothing)
		q = mustOpen(t, d, nil)
		require.Len(t, contents(t, q), 1)
		require.NoError(t, q.Close())
	})
}

// A Destroy whose mark could not be synced has failed, and later appends are kept.
func TestADestroyThatFailedDestroysNothingLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, nil)
		synctest.Wait()
		d.Fail = func(op, name string) error {
			if name == destroyedName && op == "sync" {
				return syscall.EIO
			}
			return nil
		}
		require.Error(t, q.Destroy(t.Context()))
		synctest.Wait()
		d.Fail = nil
		if err := newAdder(q).append(t.Context(), upload("a", 1)); err != nil {
			return // also correct
		}
		require.NoError(t, q.Close())
		q = mustOpen(t, d, nil)
		require.Len(t, contents(t, q), 1)
		require.NoError(t, q.Close())
	})
}
