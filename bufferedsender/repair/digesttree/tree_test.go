package digesttree

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/journal"
)

func TestWhatIsToldIsThereBeforeAndAfterItIsFoldedAndReopened(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	want := versions(100)
	tell(tree, want)
	require.Equal(t, want, content(t, tree))
	require.NoError(t, tree.fold())
	require.Equal(t, want, content(t, tree))
	for i, key := range []string{"k7", "k70", "new", "k8"} {
		tree.Confirmed(key, int64(1000+i))
		want[key] = int64(1000 + i)
	}
	tree.Deleted("k8")
	tree.Deleted("k9")
	tree.Deleted("never")
	delete(want, "k8")
	delete(want, "k9")
	require.Equal(t, want, content(t, tree))
	end(t, tree)
	tree = openDisk(t, d, Options{})
	require.Equal(t, want, content(t, tree))
	require.False(t, tree.Stats().Unclean)
	require.NoError(t, tree.fold())
	require.Equal(t, want, content(t, tree))
	require.Equal(t, int64(len(want)), tree.Stats().Keys)
	require.Zero(t, tree.Stats().PendingBytes)
	require.Zero(t, tree.Stats().Unknown)
}

func TestTellingNeverWaitsForADisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		tree := start(t, d, few)
		hang := make(chan struct{})
		d.Fail = func(string, string) error {
			<-hang
			return nil
		}
		began := time.Now()
		want := versions(20_000) // more than one write
		tell(tree, want)
		synctest.Wait() // the writer hangs
		tell(tree, map[string]int64{"later": 1})
		want["later"] = 1
		require.Zero(t, time.Since(began))
		require.Equal(t, int64(20_001), tree.Stats().Unsynced)
		require.Equal(t, want, content(t, tree), "comparing does not wait for writes, either")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, tree.Sync(ctx), context.DeadlineExceeded)
		close(hang)
		require.NoError(t, tree.Sync(t.Context()))
		require.Zero(t, tree.Stats().Unsynced)
	})
}

func TestWhatIsToldIsDurableAfterASecondOrASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		tree := start(t, d, few)
		syncs := d.Syncs()
		for range 10 {
			tree.Confirmed("a", 1)
			time.Sleep(writeEvery / 10)
			synctest.Wait()
		}
		require.Equal(t, syncs+1, d.Syncs(), "one write for all changes")
		require.Zero(t, tree.Stats().Unsynced)
		time.Sleep(time.Hour)
		require.Equal(t, syncs+1, d.Syncs(), "no write without changes")
		tree.Confirmed("a", 2)
		require.Equal(t, int64(1), tree.Stats().Unsynced)
		require.NoError(t, tree.Sync(t.Context()))
		require.Zero(t, tree.Stats().Unsynced)
	})
}

func TestWhatIsToldWhileTheDiskWritesIsDurableOnlyWithTheNextWrite(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	tree.Confirmed("a", 1)
	d.Fail = func(op, _ string) error {
		if op == "sync" {
			tree.Confirmed("b", 2)
		}
		return nil
	}
	require.NoError(t, tree.flush())
	require.Equal(t, int64(1), tree.Stats().Unsynced)
	d.Fail = nil
	require.NoError(t, tree.flush())
	require.Zero(t, tree.Stats().Unsynced)
	d.Crash(func(string, int) int { return 0 })
	require.Equal(t, map[string]int64{"a": 1, "b": 2}, content(t, openDisk(t, d, Options{})))
}

func TestADiskThatFailsIsTriedAgainMoreAndMoreSeldomAndNothingIsLost(t *testing.T) {
	for _, op := range []string{"write", "sync", "create", "rename", "sync names"} {
		synctest.Test(t, func(t *testing.T) {
			d := disktest.New()
			tree := start(t, d, few)
			attempts := 0
			d.Fail = func(o, _ string) error {
				if o == op {
					attempts++
					return disktest.ErrDisk
				}
				return nil
			}
			want := versions(40)
			tell(tree, want)
			tree.mu.Lock()
			tree.refold = true // for the operations of a fold
			tree.mu.Unlock()
			time.Sleep(time.Hour)
			require.ErrorIs(t, tree.Stats().Err, disktest.ErrDisk, op)
			require.Greater(t, attempts, 50, op)
			require.Less(t, attempts, 100, op)
			require.Equal(t, want, content(t, tree))
			tree.Confirmed("more", 1)
			want["more"] = 1
			d.Fail = nil
			require.NoError(t, tree.Sync(t.Context()), op)
			time.Sleep(2 * time.Minute)
			require.NoError(t, tree.Stats().Err, op)
			require.Equal(t, int64(1), tree.Stats().Folds)
			require.NoError(t, tree.Close(t.Context()))
			tree = openDisk(t, d, Options{})
			require.Equal(t, want, content(t, tree), op)
			require.False(t, tree.Stats().Unclean, op)
			require.Zero(t, tree.Stats().Due, op)
		})
	}
}

func TestWhatFindsNoRoomMakesItsSegmentUnknownAndNoOther(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	tree.Confirmed("a", 1)
	tree.options.MaxPending = 0
	tree.Confirmed("a", 2)
	tree.Deleted("a")
	tree.options.MaxPending = defaultMaxPending
	require.Equal(t, int64(2), tree.Stats().Dropped)
	require.Equal(t, 1, tree.Stats().Unknown)
	require.Zero(t, tree.built[tree.shape.segment(hashOf("a"))])
	end(t, tree)
	tree = openDisk(t, d, Options{})
	require.Equal(t, 1, tree.Stats().Unknown, "the log has the unknown segment like any other change")
	require.NoError(t, tree.fold())
	end(t, tree)
	require.Equal(t, 1, openDisk(t, d, Options{}).Stats().Unknown)
}

func TestMuchIsFoldedByItselfAndLeavesTwoFiles(t *testing.T) {
	dir := t.TempDir()
	tree := openDir(t, dir, Options{Empty: true, MaxPending: minMaxPending})
	want := map[string]int64{}
	for round := range 4 {
		for key, version := range versions(10_000) {
			want[key] = version + int64(round)
			tree.Confirmed(key, want[key])
		}
		for tree.Stats().PendingBytes > minMaxPending/2 {
			require.NoError(t, tree.Sync(t.Context()))
		}
	}
	require.Equal(t, want, content(t, tree))
	require.Zero(t, tree.Stats().Dropped)
	require.Greater(t, tree.Stats().Folds, int64(0))
	require.NoError(t, tree.Close(t.Context()))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := []string{}
	for _, f := range files {
		name, _, _ := strings.Cut(f.Name(), ".")
		names = append(names, name)
	}
	require.Subset(t, []string{"base", "lock", "log", "log"}, names)
	require.Equal(t, want, content(t, openDir(t, dir, Options{})))
}

func TestWhatCannotBeAKeyIsCounted(t *testing.T) {
	tree := newTree(t)
	for _, key := range []string{"", strings.Repeat("k", journal.MaxKey+1), "\xff"} {
		tree.Confirmed(key, 1)
		tree.Deleted(key)
	}
	tree.Confirmed(strings.Repeat("k", journal.MaxKey), 1)
	tree.Confirmed("ключ", 1)
	require.Equal(t, int64(6), tree.Stats().Refused)
	require.Len(t, content(t, tree), 2)
}

func TestOneTreeHasTheFolderAndItsNumberOfSegments(t *testing.T) {
	dir := t.TempDir()
	tree, err := Open(dir, &Options{SegmentBits: 5})
	require.NoError(t, err)
	_, err = Open(dir, nil)
	require.ErrorIs(t, err, errLocked)
	require.NoError(t, tree.Close(t.Context()))
	require.NoError(t, tree.Close(t.Context()))
	tree.Confirmed("a", 1)
	require.Zero(t, tree.Stats().PendingBytes, "the tree is closed")
	require.NoError(t, tree.Sync(t.Context()), "every change before Close is durable")
	require.Equal(t, 32, openDir(t, dir, Options{SegmentBits: 6}).Stats().Segments)
	_, err = Open(dir, &Options{SegmentBits: 1, MaxPending: -1})
	require.ErrorContains(t, err, "SegmentBits: got 1")
	require.ErrorContains(t, err, "MaxPending: got -1")
}

func TestTheFileOfAMillionKeysTakesTenBytesAndTheKeyForEach(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, Options{Empty: true, SegmentBits: 4})
	bytes := 0
	for key, version := range versions(1000) {
		tree.Confirmed(key, version)
		bytes += len(key) + 10
	}
	require.NoError(t, tree.fold())
	require.Equal(t, int64(bytes+len(baseMagic)+16*tableEntry+trailerSize), tree.Stats().FileBytes)
	require.Len(t, d.Files()[baseName(2)], int(tree.Stats().FileBytes))
}

func TestTellingComparingFoldingAndRebuildingConcurrentSafe(t *testing.T) {
	tree := openDir(t, t.TempDir(), Options{SegmentBits: 4})
	want := versions(2000)
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for part := range 2 {
		all.Go(func() {
			for key, version := range want {
				if int(version)%2 == part {
					tree.Confirmed(key, version-1)
					tree.Deleted(key)
					tree.Confirmed(key, version)
				}
			}
		})
	}
	var busy sync.WaitGroup
	for _, do := range []func(){
		func() { compared(t, tree, tableOf(want)) },
		func() { rebuildAll(t, tree, tableOf(want)) },
		func() {
			tree.mu.Lock()
			tree.refold = true
			tree.mu.Unlock()
			_ = tree.Sync(ctx)
			tree.Stats()
		},
	} {
		busy.Go(func() {
			for ctx.Err() == nil {
				do()
				tree.mu.Lock()
				tree.forget(3)
				tree.mu.Unlock()
			}
		})
	}
	all.Wait()
	cancel()
	busy.Wait()
	require.Equal(t, want, content(t, tree))
}
