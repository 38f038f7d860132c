package filequeue

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The same on a real volume in memory, as root.
func TestASmallVolumeThatTheQueueFillsIsEmptiedAgain(t *testing.T) {
	for seed := range uint64(4) {
		dir := t.TempDir()
		size := (6 + seed) * minSegment
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
			t.Skipf("mount: %v", err)
		}
		t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
		q, err := Open(dir, &Options{SegmentBytes: minSegment})
		require.NoError(t, err)
		settled := func() { // background work has ended
			for busy := true; busy; runtime.Gosched() {
				q.mu.Lock()
				busy = q.log.making || q.compacting
				q.mu.Unlock()
			}
		}
		v := &volume{t, q, newAdder(q), seeded(seed), settled}
		for range 2 {
			v.round()
		}
		require.NoError(t, errors.Join(q.Fault(), q.Close()))
		require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		q, err = Open(dir, &Options{ReadOnly: true})
		require.NoError(t, err, "mounted for reading")
		require.Contains(t, contents(t, q), "again")
		require.NoError(t, q.Close())
	}
}
