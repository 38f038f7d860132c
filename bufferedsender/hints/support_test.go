package hints

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// memory returns a Set without a file. 0 means the default.
func memory(maxMemory int64) *Set { return &Set{maxMemory: maxMemory} }

// room is the MaxMemory for this many keys of two characters.
func room(keys int64) int64 { return keys * cost("k0") }

// openDisk opens a Set on a disk in memory without a goroutine: step writes.
func openDisk(t testing.TB, d *disktest.Disk, maxMemory int64) *Set {
	t.Helper()
	s := memory(maxMemory)
	require.NoError(t, s.open(d))
	return s
}

// step attempts to write a Set without a goroutine.
func (s *Set) step() error { return s.writer.Step() }

// running is like openDisk with the writing goroutine. The test closes the Set.
func running(t testing.TB, d *disktest.Disk, maxMemory int64) *Set {
	t.Helper()
	s := openDisk(t, d, maxMemory)
	go s.run(func() error { return nil })
	return s
}

// openDir opens a Set in a directory, and closes it with the test.
func openDir(t testing.TB, dir string, opts *Options) *Set {
	t.Helper()
	s, err := Open(dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close(context.Background())) })
	return s
}

func add(t testing.TB, s *Set, index string, keys ...string) {
	t.Helper()
	require.NoError(t, s.Add(index, keys...))
}

// write syncs a Set without a goroutine.
func write(t testing.TB, s *Set) {
	t.Helper()
	require.NoError(t, s.step())
}

// content returns the keys of a Set by index, in order, taken or not; "*" means everything.
func content(s *Set) map[string][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string][]string{}
	for name, x := range s.indexes {
		keys := slices.Sorted(maps.Keys(x.keys))
		if x.all {
			keys = append([]string{everythingMark}, keys...)
		}
		all[name] = slices.Concat([]string{}, keys)
	}
	return all
}

const everythingMark = "*"

// drain takes and finishes all waiting keys of an index, and returns them in order.
func drain(s *Set, index string) []string {
	all := []string{}
	for {
		b := s.Take(index, 3)
		if nothing(b) {
			return all
		}
		if b.Everything {
			all = append(all, everythingMark)
		}
		all = append(all, b.Keys...)
		s.Done(b)
	}
}

func nothing(b Batch) bool { return len(b.Keys) == 0 && !b.Everything }

// indexes returns the names of all indexes in a Set.
func indexes(s *Set) []string { return slices.Sorted(maps.Keys(s.Stats().Keys)) }

// keysOf returns n keys, numbered from a start.
func keysOf(from, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d", from+i)
	}
	return keys
}
