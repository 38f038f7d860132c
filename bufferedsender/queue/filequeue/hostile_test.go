package filequeue

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/internal/book"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

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
				ends[i].Fate, ends[i].Reason = queue.Park, strings.Repeat("the service says what is wrong with it ", 12)
			}
			_, _, err = q.Settle(t.Context(), ends...)
			require.NoError(t, err)
		}
		var segments atomic.Int64 // that are made while nobody uses the queue
		d.Fail = func(op, _ string) error {
			if op == "allocate" && segments.Add(1) > 100 {
				return disktest.ErrDisk // it would go on for ever
			}
			return nil
		}
		synctest.Wait()
		require.LessOrEqual(t, segments.Load(), int64(30), "it is compacted, and that is the end of it")
		require.NoError(t, q.Close())
	})
}

// A sync that fails leaves what it could not write in memory only: the kernel calls it clean.
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
		require.NoError(t, a.append(t.Context(), large), "it says that it is durable")
		require.NoError(t, a.append(t.Context(), upload("c", 1)))
		synctest.Wait()
		d.Crash(nothing)
		q, err := openDisk(d, nil)
		require.NoError(t, err)
		require.Len(t, contents(t, q), 3)
		require.NoError(t, q.Close())
	})
}

// The process is killed when the next segment has its header, and no durable name yet.
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
		d.Fail = func(op, _ string) error { // the next process, whose next segment is not made yet
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

func TestAProgramThatChangesItsDirectoryKeepsItsQueue(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	q, err := Open("queue", &Options{SegmentBytes: minSegment})
	require.NoError(t, err)
	other := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(other, "queue"), 0o700))
	t.Chdir(other)
	a := newAdder(q)
	n := 0
	for ; n < 60; n++ {
		r := upload(fmt.Sprint(n), 1)
		r.Body = append(r.Body, strings.Repeat("x", 1000)...)
		require.NoError(t, a.append(t.Context(), r))
	}
	require.NoError(t, q.Close())
	t.Chdir(home)
	q, err = Open("queue", &Options{SegmentBytes: minSegment})
	require.NoError(t, err)
	require.Len(t, contents(t, q), n)
	require.NoError(t, q.Close())
}

// slowArea is one whose disk takes its time to read.
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
		synctest.Wait()
		a := newAdder(q)
		var short atomic.Bool
		d.Fail = func(op, _ string) error {
			if op == "allocate" && short.Load() {
				return syscall.EMFILE
			}
			return nil
		}
		short.Store(true)
		for i := range 25 { // over the end of the head
			r := upload(fmt.Sprint(i), 1)
			r.Body = append(r.Body, strings.Repeat("x", 1000)...)
			if a.append(t.Context(), r) != nil {
				a.number--
				break
			}
			synctest.Wait()
		}
		short.Store(false) // the connections of the program are closed again
		_ = a.append(t.Context(), upload("x", 1))
		synctest.Wait()
		require.NoError(t, a.append(t.Context(), upload("y", 1)))
		require.NoError(t, q.Close())
	})
}

func TestRepairNamesTheFirstSegmentThatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		for i := 0; q.log.head().number < 3; i++ {
			r := upload(fmt.Sprint("key", i), i)
			r.Body = append(r.Body, strings.Repeat("x", 3000)...)
			require.NoError(t, a.append(t.Context(), r))
			synctest.Wait()
		}
		require.NoError(t, q.Close())
		require.NoError(t, d.Remove(segmentName(1)))
		report, err := repair(d, Options{SegmentBytes: minSegment})
		require.NoError(t, err)
		require.Equal(t, []string{segmentName(1)}, report.Missing)
	})
}

func TestACallIsKnownAfterARepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		for i := 0; q.log.head().number < 3; i++ {
			r := merge("a", i)
			r.Body = append(r.Body, strings.Repeat("x", 3000)...)
			require.NoError(t, a.append(t.Context(), r))
			synctest.Wait()
		}
		require.NoError(t, q.Close())
		require.NoError(t, d.Remove(segmentName(2)))
		_, err := repair(d, Options{SegmentBytes: minSegment})
		require.NoError(t, err)
		q = mustOpen(t, d, &Options{SegmentBytes: minSegment})
		n := len(contents(t, q)["a"])
		a.q, a.number = q, a.number-1
		require.NoError(t, a.append(t.Context(), merge("a", 0)))
		require.Len(t, contents(t, q)["a"], n)
		require.NoError(t, q.Close())
	})
}

// A Destroy whose mark could not be synced has not happened, and what is appended afterwards is kept.
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
			return // which would be right, too
		}
		require.NoError(t, q.Close())
		q = mustOpen(t, d, nil)
		require.Len(t, contents(t, q), 1)
		require.NoError(t, q.Close())
	})
}

// wallOf is a time with the monotonic reading of now and another wall clock.
func wallOf(now time.Time, wall time.Duration) time.Time {
	type inside struct {
		wall uint64
		ext  int64
		loc  *time.Location
	}
	p := (*inside)(unsafe.Pointer(&now))
	p.wall += uint64(int64(wall/time.Second)) << 30
	return now
}

// A machine without a clock of its own starts in the past, and is told the time when the network is there.
func TestTheClockDoesNotRunAheadOfAMachineThatStartsInThePast(t *testing.T) {
	last := time.Now().Round(0).Add(-time.Hour) // the last frame that was written
	early := wallOf(time.Now(), -30*24*time.Hour)
	c := clock{base: last, anchor: early} // what newClock makes then
	require.WithinDuration(t, time.Now(), c.now(), time.Minute, "the wall clock is right now")
}

func TestOneParkedKeyKeepsNoMemoryOfMillions(t *testing.T) {
	b := book.New[ref](time.Now())
	now := time.Now()
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const n = 500_000
	before := live()
	for i := range n {
		b.Append(now, []book.Change[ref]{{Key: fmt.Sprint("key", i), Ref: ref{1, 1, 10}, Seq: b.NextSeq(1), Replaces: true}})
	}
	b.Park(now, "why", []string{"key7"})
	for {
		w := want(10000)
		w.Bytes = 1 << 30
		l := b.Reserve(now, &w)
		if len(l) == 0 {
			break
		}
		var ends []queue.End
		for i := range l {
			ends = append(ends, queue.End{Lease: queue.Lease{Key: fmt.Sprint("key", l[i].Recs[0].Seq-1), Token: w.Token}, Fate: queue.Commit})
		}
		b.Settle(now, ends)
	}
	b.Advance(now)
	keys, _, _ := b.Size()
	require.Equal(t, 1, keys)
	after := live() - before
	require.Less(t, after, uint64(8<<20), "%d bytes for one key", after)
	runtime.KeepAlive(b)
}

func TestInspectOfAFewNeedsNoMemoryForAll(t *testing.T) {
	b := book.New[ref](time.Now())
	now := time.Now()
	const n = 300_000
	for i := range n {
		b.Append(now, []book.Change[ref]{{Key: fmt.Sprint("key", i), Ref: ref{1, 1, 10}, Seq: b.NextSeq(1), Replaces: true}})
	}
	var m, m2 runtime.MemStats
	runtime.ReadMemStats(&m)
	b.Inspect(now, 0, nil, 10)
	runtime.ReadMemStats(&m2)
	require.Less(t, (m2.TotalAlloc-m.TotalAlloc)/n, uint64(64), "bytes a key that is not asked for")
}

// A question must not need any room.
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
		// The head is used up by what comes and goes.
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
		d.Fail = func(op, _ string) error { // nor beyond the end of the head
			if op == "allocate" || op == "write" {
				return syscall.ENOSPC
			}
			return nil
		}
		_, err = q.Settled(t.Context(), q.book.Position())
		require.NotErrorIs(t, err, queue.ErrFailed, "a question has ended the queue")
	})
}

// The disk may be slow, and nobody else gets on while the lock is held.
func TestCompactionLetsOthersOnAfterAFewReads(t *testing.T) {
	q := mustOpen(t, disktest.New(), nil)
	var keys []string
	var records []queue.Record
	for i := range 100 {
		keys = append(keys, fmt.Sprint("cold", i))
		records = append(records, upload(keys[i], 1))
	}
	require.NoError(t, newAdder(q).append(t.Context(), records...))
	elsewhere := &frame{at: position{segment: q.log.head().number}} // and not what is in memory
	left, err := q.moveSome(elsewhere, keys)
	require.NoError(t, err)
	require.Equal(t, keys[readsAtOnce:], left)
	require.NoError(t, q.Close())
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

// A Repair that crashes at any operation of the disk is done again, and the queue is the same as without the crash.
func TestARepairThatCrashesAnywhereIsDoneAgain(t *testing.T) {
	for _, damage := range []string{"flip", "first", "middle"} {
		var whole map[string][]string
		for at := 0; ; at++ {
			ended := false
			synctest.Test(t, func(t *testing.T) {
				d := disktest.New()
				q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
				a := newAdder(q)
				for i := 0; q.log.head().number < 4; i++ {
					r := merge(fmt.Sprint("key", i%7), i)
					r.Body = append(r.Body, strings.Repeat("x", 3000)...)
					require.NoError(t, a.append(t.Context(), r))
					synctest.Wait()
				}
				require.NoError(t, q.Close())
				switch damage {
				case "flip":
					b := []byte(d.Files()[segmentName(2)])
					b[5000] ^= 1
					d.Put(segmentName(2), string(b))
				case "first":
					require.NoError(t, d.Remove(segmentName(1)))
				case "middle":
					require.NoError(t, d.Remove(segmentName(2)))
				}
				require.NoError(t, d.SyncNames())
				left := at
				d.Fail = func(string, string) error {
					if left--; left == 0 {
						return disktest.ErrDisk
					}
					if left < 0 && at > 0 {
						return disktest.ErrDisk
					}
					return nil
				}
				_, err := repair(d, Options{SegmentBytes: minSegment})
				ended = err == nil && at > 0
				r := seeded(uint64(at))
				d.Crash(func(_ string, n int) int { return r.IntN(n) })
				if err != nil {
					_, err = repair(d, Options{SegmentBytes: minSegment})
					require.NoError(t, err, "%s %d", damage, at)
				}
				q = mustOpen(t, d, &Options{SegmentBytes: minSegment})
				now := contents(t, q)
				if at == 0 {
					whole = now
				}
				require.Equal(t, whole, now, "%s %d", damage, at)
				require.NoError(t, q.Close())
			})
			if ended || t.Failed() {
				t.Log(damage, at)
				break
			}
		}
	}
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
