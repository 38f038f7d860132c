package filequeue

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// An operator has removed a file of the log while its owner runs. The owner still has it open.
func TestTheKeysOfASegmentThatSomebodyHasRemovedAreWrittenAgain(t *testing.T) {
	for _, removed := range []uint32{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			d := disktest.New()
			q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
			a := newAdder(q)
			keys := 0
			add := func() {
				keys++
				r := upload(fmt.Sprint("key", keys), 1)
				r.Body = append(r.Body, strings.Repeat("x", 3000)...)
				require.NoError(t, a.append(t.Context(), r))
				synctest.Wait()
			}
			for q.log.head().number < 4 {
				add()
			}
			require.NoError(t, d.Remove(segmentName(removed)))
			require.NoError(t, d.SyncNames())
			for range 3 {
				add()
			}
			require.NoError(t, q.Fault())
			d.Crash(nothing)
			q = mustOpen(t, d, &Options{SegmentBytes: minSegment})
			require.Len(t, contents(t, q), keys)
			require.NoError(t, q.Close())
		})
	}
}

func TestAReserveThatSomebodyHasRemovedIsNoRoomAndNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		kept := fillUntil(t, q, func() bool { return q.log.reserved })
		require.NoError(t, d.Remove(reserveName))
		d.Fail = func(op, _ string) error {
			if op == "allocate" {
				return syscall.ENOSPC
			}
			return nil
		}
		kept += fill(t, q)
		require.ErrorIs(t, q.Fault(), queue.ErrFull)
		require.NotErrorIs(t, q.Fault(), queue.ErrFailed)
		d.Fail = nil
		require.NoError(t, newAdder(q).append(t.Context(), upload("after", 1)))
		require.Len(t, contents(t, q), kept+1)
		require.NoError(t, q.Close())
	})
}

// fillUntil appends until something is true, and returns how many keys that were.
func fillUntil(t *testing.T, q *Queue, is func() bool) (kept int) {
	t.Helper()
	a := newAdder(q)
	for ; !is(); kept++ {
		require.NoError(t, a.append(t.Context(), upload(fmt.Sprint("first", kept), 1)))
		synctest.Wait()
	}
	return kept
}
