package filequeue

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

func TestAnAppendThatWasKeptSaysSoWhenThePileCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, nil)
		a := newAdder(q)
		for i := range queue.PileLimit - 1 {
			require.NoError(t, a.append(t.Context(), merge("a", i)))
		}
		q.mu.Lock()
		_, err := q.log.segments[0].area.WriteAt([]byte{1}, int64(q.book.Pile("a", 1)[0].Ref.offset)+recordHeader)
		q.mu.Unlock()
		require.NoError(t, err)
		err = a.append(t.Context(), merge("a", 99))
		ok, cerr := q.Stats(t.Context())
		require.NoError(t, cerr)
		require.EqualValues(t, queue.PileLimit, ok.Appended, "the call was kept")
		if err != nil {
			require.ErrorIs(t, err, queue.ErrUnknown)
		}
		require.NoError(t, q.Close())
	})
}

func TestTooManyOpenFilesAtARollAreNotTheEndOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), upload("first", 1)))
		synctest.Wait()
		var short atomic.Bool
		d.Fail = func(op, _ string) error {
			if op == "allocate" && short.Load() {
				return syscall.EMFILE
			}
			return nil
		}
		short.Store(true)
		for i := range 50 { // beyond the end of the head and of the next one
			r := upload(fmt.Sprint(i), 1)
			r.Body = append(r.Body, strings.Repeat("x", 1000)...)
			if a.append(t.Context(), r) != nil {
				a.number--
				break
			}
			synctest.Wait()
		}
		_, reserved := d.Files()[reserveName]
		require.True(t, reserved, "the reserve is kept for a full disk")
		short.Store(false) // the program's connections are closed again
		_ = a.append(t.Context(), upload("x", 1))
		synctest.Wait()
		require.NoError(t, a.append(t.Context(), upload("y", 1)))
		require.NoError(t, q.Close())
	})
}

func TestTooManyOpenFilesAtARemovalAreNotTheEndOfTheQueue(t *testing.T) {
	for _, fails := range []string{"remove", "sync names"} {
		t.Run(fails, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := disktest.New()
				q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
				var mu sync.Mutex
				leaving, there := "", false // the segment whose removal is not durable, and whether its file is there
				failed, removed := false, 0
				d.Fail = func(op, name string) error {
					mu.Lock()
					defer mu.Unlock()
					if op == "remove" && strings.HasPrefix(name, segmentPrefix) {
						if leaving != "" && leaving != name {
							t.Errorf("%s is removed before %s is gone for good", name, leaving)
						}
						leaving, there = name, true
						removed++
					}
					if op == fails && leaving != "" && !failed {
						failed = true
						return syscall.EMFILE
					}
					switch {
					case op == "remove":
						there = false
					case op == "sync names" && !there:
						leaving = ""
					}
					return nil
				}
				churnOthers(t, q, 200)
				synctest.Wait()
				require.NoError(t, q.Fault())
				require.True(t, failed)
				require.Greater(t, removed, 3)
				require.NoError(t, newAdder(q).append(t.Context(), upload("x", 1)))
				require.NoError(t, q.Close())
				require.NoError(t, mustOpen(t, d, nil).Close())
			})
		})
	}
}

// Fault reads the error without the lock, after which the disk may have room.
func TestFaultReadsAnErrorThatNobodyChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := smallDisk(3)
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		fill(t, q)
		read := q.noRoom.Load()
		d.Fail = nil
		_ = newAdder(q).append(t.Context(), upload("x", 1)) // asks for room
		synctest.Wait()
		require.NoError(t, q.Fault())
		require.ErrorIs(t, *read, queue.ErrFull)
		require.NoError(t, q.Close())
	})
}

func TestAnExchangeWithoutRoomForItsReservationSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := mustOpen(t, smallDisk(6), &Options{SegmentBytes: minSegment})
		fill(t, q)
		leases, err := q.Reserve(t.Context(), want(5))
		require.NoError(t, err)
		q.mu.Lock()
		q.kept = true // so that compaction makes no room
		q.mu.Unlock()
		burn(t, q, spends)
		_, err = q.Reserve(t.Context(), want(5))
		require.ErrorIs(t, err, queue.ErrFull)
		more, stale, failed, err := q.Exchange(t.Context(), want(5), commits(leases)...)
		require.NoError(t, err, "a commit has room")
		require.Empty(t, slices.Concat(more, stale, failed))
		in, err := q.Contains(t.Context(), leases[0].Key, leases[4].Key)
		require.NoError(t, err)
		require.Equal(t, []bool{false, false}, in)
		require.NoError(t, q.Close())
	})
}

// Settled must need no room.
func TestSettledOnAFullDiskDoesNotEndTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), merge("a", 0), merge("b", 0)))
		_, err := q.Park(t.Context(), "why", "a")
		require.NoError(t, err)
		require.NoError(t, a.append(t.Context(), merge("a", 1), merge("b", 0)))
		synctest.Wait()
		full := true
		d.Fail = func(op, _ string) error {
			if op == "allocate" && full {
				return syscall.ENOSPC
			}
			return nil
		}
		for i := 0; ; i++ {
			r := merge("a", 1)
			r.Body = append(r.Body, strings.Repeat("x", 1500)...)
			if a.append(t.Context(), r) != nil {
				break
			}
			synctest.Wait()
		}
		// Short-lived records use up the head.
		for {
			l, err := q.Reserve(t.Context(), want(1))
			if err != nil {
				break
			}
			if _, _, err = q.Settle(t.Context(), queue.End{Lease: l[0], Fate: queue.Release}); err != nil {
				break
			}
		}
		synctest.Wait()
		burn(t, q, removes)
		d.Fail = func(op, _ string) error { // nor beyond the end of the head
			if op == "allocate" || op == "write" {
				return syscall.ENOSPC
			}
			return nil
		}
		_, err = q.Settled(t.Context(), q.book.Position())
		require.NotErrorIs(t, err, queue.ErrFailed, "a read must not stop the queue")
	})
}

func TestALinkThatFindsNoRoomKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		large := func(i int) queue.Record {
			r := upload(fmt.Sprint(i), 1)
			r.Body = append(r.Body, strings.Repeat("x", 5000)...)
			return r
		}
		for i := range 3 {
			require.NoError(t, a.append(t.Context(), large(i)))
		}
		synctest.Wait()
		d.Fail = func(op, _ string) error {
			if op == "write" {
				return syscall.ENOSPC
			}
			return nil
		}
		require.ErrorIs(t, a.append(t.Context(), large(3)), queue.ErrFull)
		synctest.Wait()
		d.Fail = nil
		require.NoError(t, a.append(t.Context(), large(4)))
		require.EqualValues(t, 2, q.log.head().number)
		synctest.Wait()
		d.Crash(nothing)
		q = mustOpen(t, d, nil)
		require.Len(t, contents(t, q), 4)
		require.NoError(t, q.Close())
	})
}

// The head may be longer than a segment.
func TestACallThatIsLargerThanASegmentTakesNoRoomOfTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		_, err := q.Stats(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		d.Fail = func(op, _ string) error {
			if op == "allocate" {
				return syscall.ENOSPC
			}
			return nil
		}
		r := upload("large", 1)
		r.Body = append(r.Body, strings.Repeat("x", 3*minSegment)...)
		require.NoError(t, newAdder(q).append(t.Context(), r))
		synctest.Wait()
		require.ErrorIs(t, q.Fault(), queue.ErrFull)
		leases, err := q.Reserve(t.Context(), want(1))
		require.NoError(t, err)
		_, _, err = q.Settle(t.Context(), commits(leases)...)
		require.NoError(t, err)
		require.NoError(t, q.Close())
	})
}
