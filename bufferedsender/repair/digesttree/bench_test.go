package digesttree

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"iter"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/models"
)

// BenchmarkConfirmed measures the sender's cost for a tree that writes and folds: repeated changes of a million keys
// in random order.
func BenchmarkConfirmed(b *testing.B) {
	b.ReportAllocs()
	tree := openDir(b, b.TempDir(), Options{Empty: true})
	keys := make([]string, 1_000_000)
	for i := range keys {
		keys[i] = keyOf(i * 7_919 % len(keys))
	}
	i := 0
	for b.Loop() {
		tree.Confirmed(keys[i%len(keys)], int64(i))
		if i++; i%100_000 == 0 { // no sender is this fast, and dropped changes would cost nothing
			b.StopTimer()
			require.NoError(b, tree.Sync(context.Background()))
			b.StartTimer()
		}
	}
	require.Zero(b, tree.Stats().Dropped)
}

// keyOf is a key of 36 bytes, like a UUID.
func keyOf(i int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i) }

// generated is a source that computes its keys instead of storing them.
type generated struct {
	n       int
	changed int // this one has another version; -1: none
}

func (g generated) version(i int) int64 {
	if i == g.changed {
		return 2
	}
	return 1
}

func (g generated) Scan(context.Context, string, string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		key := []byte(keyOf(0))
		for i := range g.n {
			for at, n := 7, i; at >= 0; at, n = at-1, n>>4 {
				key[at] = "0123456789abcdef"[n&15]
			}
			for at, n := 35, i; at >= 28; at, n = at-1, n>>4 {
				key[at] = "0123456789abcdef"[n&15]
			}
			if !yield(models.Row{Key: string(key), Version: g.version(i)}, nil) {
				return
			}
		}
	}
}

func (g generated) Lookup(_ context.Context, keys []string) (rows []models.Row, err error) {
	for _, key := range keys {
		var i int
		if _, err := fmt.Sscanf(key[:8], "%x", &i); err != nil {
			return nil, err
		}
		if i < g.n {
			rows = append(rows, models.Row{Key: key, Version: g.version(i)})
		}
	}
	return rows, nil
}

// full returns a tree with the folded keys of a source.
func full(b *testing.B, dir string, g generated) *Tree {
	d, err := disk.Open(dir)
	require.NoError(b, err)
	s := shape{defaultSegmentBits}
	bySegment := make([][]byte, s.segments())
	for row, err := range g.Scan(context.Background(), "", "") {
		require.NoError(b, err)
		segment := s.segment(hashOf(row.Key))
		bySegment[segment] = appendEntry(bySegment[segment], []byte(row.Key), row.Version)
	}
	require.NoError(b, disk.Replace(d, tmpName, baseName(1), func(to *bufio.Writer) error {
		return writeBase(to, 1, s, func(i int) ([]byte, segmentInfo, error) {
			var m merge
			for key, version := range entriesOf(bySegment[i]) {
				m.count(hashOf(key), version)
			}
			return bySegment[i], segmentInfo{Keys: m.keys, Digest: m.digest, Built: time.Now().Unix()}, nil
		})
	}))
	runtime.GC()
	tree := openDir(b, dir, Options{})
	require.Equal(b, int64(g.n), tree.Stats().Keys)
	require.NoError(b, tree.loop.Await(context.Background(), func() bool { return tree.stats.Folds > 0 })) // it was not closed, so its files are folded once
	return tree
}

var benchKeys = flag.Int("keys", 1_000_000, "number of keys of BenchmarkCompare; building the tree with 10000000 takes about ten seconds and 3 GB")

// BenchmarkCompare measures a comparison without its pauses. The source is read once without differences and twice
// with some. "told" is a tree with changes reported since the last fold, of a tenth of the keys.
func BenchmarkCompare(b *testing.B) {
	ctx := context.Background()
	g := generated{n: *benchKeys, changed: -1}
	one := generated{n: g.n, changed: g.n / 2}
	tree := full(b, b.TempDir(), g)
	before := heap()
	told := full(b, b.TempDir(), g)
	for i := range g.n / 10 {
		told.Confirmed(keyOf(i*10), 1)
	}
	require.NoError(b, told.Sync(ctx))
	memory := heap() - before
	require.Equal(b, int64(1), told.Stats().Folds)
	for _, c := range []struct {
		name  string
		tree  *Tree
		other Source
		want  int
	}{
		{"a source, equal", tree, g, 0},
		{"a source, one differs", tree, one, 1},
		{"a source, one differs, told", told, one, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime()
			for b.Loop() {
				found, err := c.tree.Compare(ctx, c.other, 0)
				require.NoError(b, err)
				require.Len(b, found.Keys, c.want)
			}
			b.ReportMetric(float64((cpuTime()-before).Milliseconds())/float64(b.N), "cpu-ms/op")
			if c.tree == told {
				b.ReportMetric(memory/float64(g.n), "heap-B/key")
			}
		})
	}
}

// heap returns the heap bytes in use.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkRebuild builds an empty tree from as many rows as BenchmarkCompare has keys.
func BenchmarkRebuild(b *testing.B) {
	for b.Loop() {
		tree, err := Open(b.TempDir(), nil)
		require.NoError(b, err)
		g := generated{n: *benchKeys, changed: -1}
		_, rows, err := tree.Rebuild(context.Background(), g.Scan(context.Background(), "", ""), 0)
		require.NoError(b, err)
		require.Equal(b, int64(g.n), rows)
		require.NoError(b, tree.Close(context.Background()))
	}
}

// BenchmarkKept measures the total processor time of a change, including the tree's goroutine and the kernel. All
// keys of a tree change in random order while it folds.
func BenchmarkKept(b *testing.B) {
	keys := make([]string, *benchKeys)
	for i := range keys {
		keys[i] = keyOf(i * 7_919 % len(keys))
	}
	tree := full(b, b.TempDir(), generated{n: len(keys), changed: -1})
	before := cpuTime()
	for i := 0; b.Loop(); i++ {
		for k := range keys {
			tree.Confirmed(keys[k], int64(i))
			if k%50_000 == 0 { // limited by the disk
				require.NoError(b, tree.Sync(context.Background()))
			}
		}
	}
	require.NoError(b, tree.Sync(context.Background()))
	require.Zero(b, tree.Stats().Dropped)
	n := float64(b.N * len(keys))
	b.ReportMetric(float64(cpuTime()-before)/n, "cpu-ns/change")
	b.ReportMetric(float64(tree.Stats().Folds)/float64(b.N), "folds/op")
}
