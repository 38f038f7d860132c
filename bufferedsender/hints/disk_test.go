package hints

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// steered is a disk that can fail or hang.
type steered struct {
	*disktest.Disk
	mu    sync.Mutex
	err   error
	stuck chan struct{}
	tries []time.Time // times of use
}

func newSteered() *steered {
	s := &steered{Disk: disktest.New()}
	s.Fail = func(string, string) error {
		s.mu.Lock()
		if n := len(s.tries); n == 0 || !s.tries[n-1].Equal(time.Now()) {
			s.tries = append(s.tries, time.Now())
		}
		err, stuck := s.err, s.stuck
		s.mu.Unlock()
		if stuck != nil {
			<-stuck
		}
		return err
	}
	return s
}

func (s *steered) set(err error, stuck chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.stuck, s.tries = err, stuck, nil
}

func (s *steered) since(begin time.Time) (all []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.tries {
		all = append(all, at.Sub(begin))
	}
	return all
}

func TestEverythingSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir, nil)
	strange := "../\x00\xff\n/index ü"
	add(t, s, strange, "b", "\x00", "a\nb", "日本")
	add(t, s, "", "the index without a name")
	add(t, s, "hotels", "a", "b", "c")
	require.NoError(t, s.AddEverything("cities"))
	s.Done(s.Take("hotels", 1))
	s.Take("hotels", 1)
	s.Take("cities", 1)
	require.NoError(t, s.Close(t.Context()))
	require.ErrorIs(t, s.Add("hotels", "d"), errClosed)

	s = openDir(t, dir, nil)
	require.Equal(t, []string{"", strange, "cities", "hotels"}, indexes(s))
	require.Equal(t, []string{"b", "\x00", "a\nb", "日本"}, drain(s, strange))
	require.Equal(t, []string{"the index without a name"}, drain(s, ""))
	require.Equal(t, []string{"b", "c"}, drain(s, "hotels"), "b was taken and not done")
	require.Equal(t, []string{everythingMark}, drain(s, "cities"))
	require.NoError(t, s.Close(t.Context()))
	require.Empty(t, indexes(openDir(t, dir, nil)))
}

func TestAddIsDurableSoonWithoutSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		s := running(t, d, 0)
		add(t, s, "hotels", "a")
		synctest.Wait()
		require.Zero(t, s.Stats().Unsynced)
		d.Crash(func(string, int) int { return 0 })
		require.Equal(t, []string{"a"}, drain(openDisk(t, d, 0), "hotels"))
		require.ErrorIs(t, s.Close(t.Context()), fs.ErrClosed)
	})
}

func TestAddDoesNotWaitForADiskThatHangsAndOneSyncHasAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSteered()
		s := openDisk(t, d.Disk, 0)
		add(t, s, "hotels", "first")
		write(t, s)
		stuck := make(chan struct{})
		d.set(nil, stuck)
		go s.run(func() error { return nil })
		begin := time.Now()
		for i := range 100 {
			add(t, s, "hotels", fmt.Sprint(i))
			synctest.Wait()
		}
		require.Zero(t, time.Since(begin))
		require.Equal(t, int64(100), s.Stats().Unsynced)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, s.Sync(ctx), context.DeadlineExceeded)
		require.ErrorIs(t, s.Close(ctx), context.DeadlineExceeded, "Close continues after its context")
		syncs := d.Syncs()
		close(stuck)
		require.NoError(t, s.Close(t.Context()))
		require.Zero(t, s.Stats().Unsynced)
		require.Equal(t, 2, d.Syncs()-syncs, "one sync for the first key, one for all others")
		require.Len(t, content(openDisk(t, d.Disk, 0))["hotels"], 101)
	})
}

func TestADiskThatFailsTakesNothingFromMemoryAndIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSteered()
		s := running(t, d.Disk, 0)
		add(t, s, "hotels", "a")
		require.NoError(t, s.Sync(t.Context()))
		d.set(syscall.ENOSPC, nil)
		begin := time.Now()
		add(t, s, "hotels", "b")
		synctest.Wait()
		require.ErrorIs(t, s.Stats().Err, syscall.ENOSPC)
		for range 100 { // must not postpone the next attempt
			time.Sleep(9 * time.Second)
			add(t, s, "hotels", fmt.Sprint(time.Since(begin)))
		}
		pauses := d.since(begin)
		require.Equal(t, []time.Duration{0, 1, 3, 7, 15, 31, 63, 123, 183, 243}, seconds(pauses[:10]), "twice as long each time, at most a minute")
		require.Equal(t, int64(101), s.Stats().Unsynced)
		require.Equal(t, 102, s.Stats().Keys["hotels"])

		before := failures(s)
		require.ErrorIs(t, s.Sync(t.Context()), syscall.ENOSPC, "Add does not wait for the next attempt")
		require.Equal(t, before+1, failures(s))
		d.set(nil, nil)
		require.NoError(t, s.Sync(t.Context()))
		require.NoError(t, s.Stats().Err)
		require.Zero(t, s.Stats().Unsynced)
		require.NoError(t, s.Close(t.Context()))
		require.Len(t, content(openDisk(t, d.Disk, 0))["hotels"], 102)
	})
}

func failures(s *Set) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, n, _ := s.writer.State()
	return n
}

func seconds(all []time.Duration) (n []time.Duration) {
	for _, d := range all {
		n = append(n, d/time.Second)
	}
	return n
}

func TestADiskThatWorksAgainIsFoundWithoutSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSteered()
		d.set(disktest.ErrDisk, nil)
		s := running(t, d.Disk, 0)
		add(t, s, "hotels", "a")
		time.Sleep(10 * time.Second)
		require.Equal(t, int64(4), failures(s))
		d.set(nil, nil)
		time.Sleep(time.Minute)
		require.Zero(t, s.Stats().Unsynced)
		require.NoError(t, s.Close(t.Context()))
	})
}

func TestCloseSaysWhatWasNotWrittenAndTriesOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSteered()
		s := running(t, d.Disk, 0)
		d.set(disktest.ErrDisk, nil)
		add(t, s, "hotels", "a")
		synctest.Wait()
		require.ErrorIs(t, s.Close(t.Context()), disktest.ErrDisk)
		require.ErrorIs(t, s.Close(t.Context()), disktest.ErrDisk)
		require.ErrorIs(t, s.Sync(t.Context()), errClosed)
	})
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		s := running(t, d, 0)
		add(t, s, "hotels", "a")
		require.NoError(t, s.Sync(t.Context()))
		var once sync.Once
		d.Fail = func(op, _ string) (err error) {
			once.Do(func() { err = disktest.ErrDisk })
			return err
		}
		add(t, s, "hotels", "b")
		require.NoError(t, s.Close(t.Context()))
		require.Len(t, content(openDisk(t, d, 0))["hotels"], 2)
	})
}

func TestAFailedWriteDoesNotHarmTheNext(t *testing.T) {
	for _, failing := range []string{"write", "sync", "create", "rename", "sync names"} {
		d := disktest.New()
		s := openDisk(t, d, 0)
		add(t, s, "hotels", "a")
		write(t, s)
		add(t, s, "hotels", "b")
		if failing != "write" && failing != "sync" {
			s.writer.whole = true
		}
		d.Fail = func(op, _ string) error {
			if op == failing {
				return disktest.ErrDisk
			}
			return nil
		}
		require.ErrorIs(t, s.step(), disktest.ErrDisk)
		d.Fail = nil
		require.Contains(t, content(openDisk(t, d, 0))["hotels"], "a", failing)
		add(t, s, "hotels", "c")
		write(t, s)
		add(t, s, "hotels", "d")
		write(t, s)
		d.Crash(func(string, int) int { return 0 })
		require.Equal(t, []string{"a", "b", "c", "d"}, content(openDisk(t, d, 0))["hotels"], failing)
	}
}

func TestWhatOpenHasFoundIsNotTakenForDurable(t *testing.T) {
	d := disktest.New()
	s := openDisk(t, d, 0)
	add(t, s, "hotels", "a")
	write(t, s)
	add(t, s, "hotels", "b")
	d.Fail = func(op, _ string) error {
		if op == "sync" {
			return disktest.ErrDisk
		}
		return nil
	}
	require.ErrorIs(t, s.step(), disktest.ErrDisk) // and the process ends
	d.Fail = nil
	s = openDisk(t, d, 0)
	require.Equal(t, []string{"a", "b"}, content(s)["hotels"])
	require.Positive(t, s.Stats().Unsynced)
	write(t, s)
	d.Crash(func(string, int) int { return 0 })
	require.Equal(t, []string{"a", "b"}, content(openDisk(t, d, 0))["hotels"], "the key was durable when Sync returned nil")
}

func TestTheFileIsAtMostTwiceWhatItTells(t *testing.T) {
	const most = 128 << 10
	d := disktest.New()
	s := openDisk(t, d, most)
	key := strings.Repeat("x", 1000)
	rewrites, marked := 0, false
	for i := range 2000 {
		add(t, s, "hotels", fmt.Sprint(i, key))
		marked = marked || s.Stats().Everything["hotels"]
		if i%3 > 0 {
			s.Done(s.Take("hotels", 1))
		}
		before := s.writer.file.Size()
		write(t, s)
		size := int64(len(d.Files()[fileName]))
		require.Equal(t, size, s.writer.file.Size())
		require.LessOrEqual(t, size, 2*s.bytes+slack)
		require.LessOrEqual(t, size, int64(2*most+slack))
		if size < before {
			rewrites++
		}
	}
	require.True(t, marked, "there were more keys than room")
	require.Less(t, rewrites, 100, "a rewrite pays for many changes")
	require.Equal(t, content(s), content(openDisk(t, d, 0)))
}

func TestWhatWaitsForTheDiskIsBounded(t *testing.T) {
	d := disktest.New()
	s := openDisk(t, d, 0)
	add(t, s, "hotels", "stays")
	write(t, s)
	key := strings.Repeat("x", 1000)
	for range 5000 { // with a disk that hangs
		add(t, s, "hotels", key)
		b := s.Take("hotels", 2)
		b.Keys = b.Keys[len(b.Keys)-1:]
		s.Done(b)
		require.LessOrEqual(t, s.writer.log.Size, int64(format.MaxPayload))
	}
	write(t, s)
	require.Equal(t, []string{"stays"}, content(openDisk(t, d, 0))["hotels"])
}

func TestASnapshotOfManyFramesIsReadBack(t *testing.T) {
	d := disktest.New()
	s := openDisk(t, d, 0)
	key := strings.Repeat("x", 900)
	for i := range 4000 {
		add(t, s, fmt.Sprintf("index%d", i%3), fmt.Sprint(i, key))
	}
	write(t, s)
	require.Greater(t, int(s.writer.file.Number()), 3)
	require.LessOrEqual(t, s.writer.file.Size(), s.bytes, "a key counts more bytes than it uses")
	require.Equal(t, content(s), content(openDisk(t, d, 0)))
}

func TestLessRoomThanLastTimeForgetsNothing(t *testing.T) {
	d := disktest.New()
	s := openDisk(t, d, 0)
	add(t, s, "hotels", keysOf(0, 100)...)
	add(t, s, "cities", keysOf(0, 5)...)
	write(t, s)
	s = openDisk(t, d, room(10))
	require.Equal(t, map[string][]string{"hotels": {everythingMark}, "cities": keysOf(0, 5)}, content(s))
}

// The file was written by a version with names, marks and Forget, but without Options.MaxMemory.
func TestAFileOfAFormerVersionIsReadAndWrittenAnew(t *testing.T) {
	file, err := os.ReadFile("testdata/former/hints.log")
	require.NoError(t, err)
	d := disktest.New()
	d.Put(fileName, string(file))
	for range 2 {
		s := openDisk(t, d, 0)
		require.Equal(t, map[string][]string{
			"": {"the index without a name"}, "cities": {"rome"}, "hotels": {"a", "d", "e", "日本"}, "lakes": {everythingMark},
		}, content(s))
		write(t, s)
	}
	require.Equal(t, []string{"日本", "d", "e", "a"}, drain(openDisk(t, d, 0), "hotels"), "oldest first; a was done and added again")
}
