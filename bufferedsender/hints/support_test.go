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

// memory returns a Set without a file. 0 is the default.
func memory(maxMemory int64) *Set { return &Set{maxMemory: maxMemory} }

// room is the MaxMemory of a Set that has room for so many keys of two letters.
func room(keys int64) int64 { return keys * cost("k0") }

// openDisk opens a Set on a disk in memory, with no goroutine: step writes.
func openDisk(t testing.TB, d *disktest.Disk, maxMemory int64) *Set {
	t.Helper()
	s := memory(maxMemory)
	require.NoError(t, s.open(d))
	return s
}

// step is an attempt to write, for a Set without a goroutine.
func (s *Set) step() error { return s.writer.Step() }

// running is openDisk with the goroutine that writes. The test closes it.
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

// write makes what there is durable, for a Set without a goroutine.
func write(t testing.TB, s *Set) {
	t.Helper()
	require.NoError(t, s.step())
}

// content is what a Set has, taken or not: the keys in order, by index; "*" is everything.
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

// drain takes and finishes all that waits of an index, and returns it in order.
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

// indexes returns the names of all indexes of which there is anything.
func indexes(s *Set) []string { return slices.Sorted(maps.Keys(s.Stats().Keys)) }

// keysOf returns n keys from a number on.
func keysOf(from, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d", from+i)
	}
	return keys
}
