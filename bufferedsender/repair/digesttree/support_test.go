package digesttree

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

// few are options of a tree with four segments, for an empty index.
var few = Options{SegmentBits: 2, Empty: true}

// openDisk opens a tree without a goroutine: step writes, and fold folds.
func openDisk(t require.TestingT, d disk.Folder, opts Options) *Tree {
	options, err := opts.withDefaults()
	require.NoError(t, err)
	tree := &Tree{options: options, most: maxDifferences}
	require.NoError(t, tree.open(d))
	return tree
}

// openDir opens a tree that is closed with the test.
func openDir(t testing.TB, dir string, opts Options) *Tree {
	t.Helper()
	tree, err := Open(dir, &opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Close(context.Background())) })
	return tree
}

// newTree returns a tree with few segments in a new folder.
func newTree(t testing.TB) *Tree { return openDir(t, t.TempDir(), few) }

// step attempts to write and fold a tree without a goroutine.
func (t *Tree) step() error { return t.loop.Step() }

// start runs the writing goroutine of a tree on a disk until the test ends.
func start(t testing.TB, d *disktest.Disk, opts Options) *Tree {
	tree := openDisk(t, d, opts)
	go tree.run(func() error { return nil })
	t.Cleanup(func() { _ = tree.Close(context.Background()) })
	return tree
}

// end closes a tree without a goroutine.
func end(t require.TestingT, tree *Tree) {
	require.NoError(t, tree.flush())
	require.NoError(t, tree.logs.end())
}

// content returns the versions in a tree by key.
func content(t require.TestingT, tree *Tree) map[string]int64 {
	v, err := tree.view(nil)
	require.NoError(t, err)
	all := map[string]int64{}
	for segment := range tree.shape.segments() {
		rows, err := v.rows(segment)
		require.NoError(t, err)
		require.True(t, slices.IsSortedFunc(rows, func(a, b models.Row) int { return cmp.Compare(a.Key, b.Key) }))
		var sum uint64
		for _, r := range rows {
			_, twice := all[r.Key]
			require.False(t, twice)
			require.Equal(t, segment, tree.shape.segment(hashOf(r.Key)))
			all[r.Key] = r.Version
			sum += digestOf(hashOf(r.Key), r.Version)
		}
		digest, err := v.digest(segment)
		require.NoError(t, err)
		require.Equal(t, sum, digest, "the digest is that of the keys")
	}
	require.NoError(t, v.release())
	return all
}

// table is a source, or an index.
type table map[string]models.Row

func tableOf(all map[string]int64) table {
	t := table{}
	for key, version := range all {
		t[key] = models.Row{Key: key, Version: version}
	}
	return t
}

func (t table) Scan(context.Context, string, string) iter.Seq2[models.Row, error] {
	return func(yield func(models.Row, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(t)) {
			if row, ok := t[key]; ok && !yield(row, nil) {
				return
			}
		}
	}
}

func (t table) Lookup(_ context.Context, keys []string) (rows []models.Row, err error) {
	for _, key := range keys {
		if row, ok := t[key]; ok {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// versions returns keys from k0 on, each with its number as the version.
func versions(n int) map[string]int64 {
	all := make(map[string]int64, n)
	for i := range n {
		all[fmt.Sprintf("k%d", i)] = int64(i)
	}
	return all
}

func tell(tree *Tree, all map[string]int64) {
	for key, version := range all {
		tree.Confirmed(key, version)
	}
}

// Record is Confirmed, or Deleted if deleted is set.
func (t *Tree) Record(key string, version int64, deleted bool) { t.tell(key, version, deleted) }

// compared compares without pauses.
func compared(t require.TestingT, tree *Tree, source Source) Differences {
	found, err := tree.Compare(context.Background(), source, 0)
	require.NoError(t, err)
	return found
}

// rebuildAll builds everything due, and returns the number of segments and of rows.
func rebuildAll(t require.TestingT, tree *Tree, rows table) (built [2]int64) {
	segments, read, err := tree.Rebuild(context.Background(), rows.Scan(context.Background(), "", ""), 0)
	require.NoError(t, err)
	return [2]int64{int64(segments), read}
}

// compareMost compares up to most keys.
func compareMost(tree *Tree, source Source, most int) (Differences, error) {
	defer func(before int) { tree.most = before }(tree.most)
	tree.most = most
	return tree.Compare(context.Background(), source, 0)
}
