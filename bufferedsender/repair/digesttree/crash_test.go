package digesttree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/journal"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// change is a change reported to a tree.
type change struct {
	key     string
	version int64 // 0: deleted
}

func (c change) tell(tree *Tree) {
	if c.version == 0 {
		tree.Deleted(c.key)
	} else {
		tree.Confirmed(c.key, c.version)
	}
}

// states has the content before the first change and after each change.
func states(changes []change) []map[string]int64 {
	all := []map[string]int64{{}}
	now := map[string]int64{}
	for _, c := range changes {
		if c.version == 0 {
			delete(now, c.key)
		} else {
			now[c.key] = c.version
		}
		all = append(all, maps.Clone(now))
	}
	return all
}

// stateOf returns the largest number of changes that gives this content.
func stateOf(all []map[string]int64, now map[string]int64) int {
	for i := len(all) - 1; i >= 0; i-- {
		if maps.Equal(all[i], now) {
			return i
		}
	}
	return -1
}

var someChanges = []change{{"a", 1}, {"b", 2}, {"a", 3}, {"c", 4}, {"b", 0}, {"d", 5}, {"a", 6}, {"c", 0}, {"b", 7}}

func TestALogCutAtAnyByteIsWhatWasToldBeforeIt(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	all := states(someChanges)
	ends := []int{len(d.Files()[logName(1)])}
	for _, c := range someChanges {
		c.tell(tree)
		require.NoError(t, tree.flush())
		ends = append(ends, len(d.Files()[logName(1)]))
	}
	end(t, tree)
	whole := d.Files()[logName(1)]
	each := testkit.Cases(7, 1, 1)
	for cut := range len(whole) + 1 {
		if cut%each > 0 && cut < len(whole) && !slices.Contains(ends, cut) {
			continue
		}
		d := disktest.New()
		d.Put(logName(1), whole[:cut])
		told := 0
		for told+1 < len(ends) && ends[told+1] <= cut {
			told++
		}
		for range 2 { // Open's repairs preserve what it has found
			tree := openDisk(t, d, Options{})
			if cut < ends[0] {
				require.Empty(t, content(t, tree), "cut at %d", cut)
				require.Equal(t, tree.Stats().Segments, tree.Stats().Unknown)
				break
			}
			require.Equal(t, all[told], content(t, tree), "cut at %d", cut)
			stats := tree.Stats()
			if cut < len(whole) {
				require.True(t, stats.Unclean, "cut at %d", cut)
				require.Equal(t, 4, stats.Due, "cut at %d", cut)
			}
			require.Zero(t, stats.Unknown)
			if cut == len(whole) {
				require.False(t, stats.Unclean)
				break
			}
			require.Zero(t, tree.Stats().Damaged)
			require.NoError(t, tree.step()) // folds what was found
			require.Equal(t, int64(1), tree.Stats().Folds)
			require.NotContains(t, d.Files(), logName(1))
		}
	}
}

// history returns a folder with a base, a rotated log, and a closed log.
func history(t testing.TB) (files map[string]string, all []map[string]int64) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	for i, c := range someChanges {
		c.tell(tree)
		switch i {
		case 2, 6:
			require.NoError(t, tree.flush())
		case 4:
			require.NoError(t, tree.fold())
		case 7:
			require.NoError(t, tree.flush())
			require.NoError(t, tree.logs.begin(kindContinues, nil))
		}
	}
	end(t, tree)
	return d.Files(), states(someChanges)
}

func TestDamageOfAnyByteIsUnknownOrDueAndMakesNothingUp(t *testing.T) {
	files, all := history(t)
	require.Len(t, files, 3)
	told := map[change]bool{}
	for _, c := range someChanges {
		told[c] = true
	}
	for name := range files {
		for at := range len(files[name]) {
			d := disktest.New()
			for other, content := range files {
				if other == name {
					content = content[:at] + string(content[at]^0x55) + content[at+1:]
				}
				d.Put(other, content)
			}
			tree := openDisk(t, d, Options{SegmentBits: 2})
			v, err := tree.view(nil)
			require.NoError(t, err)
			for segment := range 4 {
				_, err := v.digest(segment)
				require.NoError(t, err)
				rows, err := v.rows(segment)
				sure := err == nil && tree.built[segment] > dueSince // the tree claims that this segment is complete
				for _, r := range rows {
					require.True(t, told[change{r.Key, r.Version}], "%s, byte %d: %v", name, at, r)
					if sure {
						require.Equal(t, all[len(all)-1][r.Key], r.Version, "%s, byte %d", name, at)
					}
				}
				if sure {
					want := 0
					for key := range all[len(all)-1] {
						if tree.shape.segment(hashOf(key)) == segment {
							want++
						}
					}
					require.Len(t, rows, want, "%s, byte %d: segment %d", name, at, segment)
				}
			}
			require.NoError(t, v.release())
			require.Less(t, sureSegments(tree), 4, "%s, byte %d is not detected", name, at)
		}
	}
}

// sureSegments counts the segments that are neither unknown nor due.
func sureSegments(tree *Tree) int { return tree.Stats().Segments - tree.Stats().Due }

func TestAMissingFileMakesAllSegmentsUnknownOrDue(t *testing.T) {
	files, _ := history(t)
	for missing := range files {
		d := disktest.New()
		for name, content := range files {
			if name != missing {
				d.Put(name, content)
			}
		}
		tree := openDisk(t, d, Options{SegmentBits: 2})
		require.Zero(t, sureSegments(tree), missing)
		if strings.HasPrefix(missing, basePrefix) {
			require.Equal(t, 4, tree.Stats().Unknown, "a missing segment was marked as built")
		}
	}
}

// script reports changes to a tree, and writes and folds in between. It returns the number of changes synced when the
// disk failed; the changes are the same in every run.
func script(d *disktest.Disk, changes []change) (durable int) {
	options, _ := few.withDefaults()
	tree := &Tree{options: options}
	err := tree.open(d)
	if err != nil {
		return 0
	}
	for i, c := range changes {
		c.tell(tree)
		switch i % 4 {
		case 1:
			err = tree.flush()
		case 3:
			err = tree.fold()
		default:
			continue
		}
		tree.mu.Lock()
		durable = int(tree.loop.Durable)
		tree.mu.Unlock()
		if err != nil {
			return durable
		}
	}
	if tree.flush() == nil && tree.logs.end() == nil {
		return len(changes) + 1 // and clean
	}
	return durable
}

func TestACrashAnywhereLeavesWhatWasDurableAndIsNoticed(t *testing.T) {
	all := states(someChanges)
	last := len(someChanges)
	for fail := 0; ; fail++ {
		ended := false
		for seed := range uint64(20) {
			random := rand.New(rand.NewPCG(seed, uint64(fail)))
			d := disktest.New()
			ops := 0
			d.Fail = func(string, string) error {
				if ops++; ops > fail {
					return disktest.ErrDisk
				}
				return nil
			}
			durable := script(d, someChanges)
			ended = durable > last
			d.Crash(func(_ string, n int) int { return random.IntN(n) })
			for again := range 3 { // also crashes while opening
				name := fmt.Sprintf("operation %d, seed %d, opened %d", fail, seed, again)
				fresh := len(d.Files()) == 0
				tree := openDisk(t, d, few)
				state := stateOf(all, content(t, tree))
				require.GreaterOrEqual(t, state, min(durable, last), name)
				if (state < last || again > 0) && !fresh {
					require.Zero(t, sureSegments(tree), name)
				}
				if state < last && fresh {
					require.Zero(t, durable, name)
				}
				require.Zero(t, tree.Stats().Damaged, name)
				require.NotContains(t, d.Files(), tmpName)
				if again == 1 {
					require.NoError(t, tree.step())
				}
				d.Crash(func(_ string, n int) int { return random.IntN(n) })
			}
		}
		if ended {
			return
		}
	}
}

// Open reads data that a later crash of the machine removes.
func TestWhatOpenHasReadAndACrashTakesIsNoticed(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	tree.Confirmed("a", 1)
	tree.told.Seal()
	h, err := d.Append(logName(1))
	require.NoError(t, err)
	journal.Seal(tree.told.Sealed[0], 2)
	_, err = h.Write(tree.told.Sealed[0]) // then it is killed
	require.NoError(t, err)

	tree = openDisk(t, d, Options{})
	require.Equal(t, map[string]int64{"a": 1}, content(t, tree))
	require.Equal(t, 4, tree.Stats().Due)
	rebuildAll(t, tree, tableOf(map[string]int64{"a": 1})) // uses what it has read
	require.NoError(t, tree.flush())
	require.Zero(t, tree.Stats().Due)
	d.Crash(func(string, int) int { return 0 }) // before that is folded

	tree = openDisk(t, d, Options{})
	require.Empty(t, content(t, tree))
	require.Equal(t, 4, tree.Stats().Unknown, "the segments were marked as complete, with the key")
}

func TestAFoldThatIsCutOffDoesNotSayThatASegmentIsBuiltWhoseRowsAreInTheNextLog(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, Options{SegmentBits: 2})
	tree.Confirmed("a", 1)
	rebuilt := false
	d.Fail = func(op, name string) error {
		if op == "create" && name == tmpName && !rebuilt { // the changes are truncated, and the base is written
			rebuilt = true
			rebuildAll(t, tree, tableOf(map[string]int64{"a": 1, "b": 2}))
		}
		return nil
	}
	require.NoError(t, tree.fold())
	require.Zero(t, tree.Stats().Unknown)
	d.Crash(func(string, int) int { return 0 })
	tree = openDisk(t, d, Options{})
	require.Equal(t, map[string]int64{"a": 1}, content(t, tree))
	require.Equal(t, 4, tree.Stats().Unknown)
}

func TestADamagedSegmentIsUnknownFoldedWithoutItAndBuiltAnew(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	want := versions(50)
	tell(tree, want)
	require.NoError(t, tree.fold())
	end(t, tree)
	name := baseName(tree.base.number)
	spoiled := []byte(d.Files()[name])
	spoiled[tree.base.table[1].Offset+20] ^= 1
	d.Put(name, string(spoiled))

	tree = openDisk(t, d, Options{})
	found := compared(t, tree, tableOf(map[string]int64{})) // differs, so it is read
	require.Equal(t, 1, found.Unknown)
	for _, diff := range found.Keys {
		require.True(t, diff.MissingThere)
		require.NotEqual(t, 1, tree.shape.segment(hashOf(diff.Key)))
	}
	require.Equal(t, int64(1), tree.Stats().Damaged)
	require.Equal(t, 1, tree.Stats().Unknown)
	require.NoError(t, tree.step())
	require.Equal(t, int64(1), tree.Stats().Folds)
	require.Less(t, len(content(t, tree)), 50)
	require.Equal(t, [2]int64{1, 50}, rebuildAll(t, tree, tableOf(want)))
	require.Equal(t, want, content(t, tree))
	require.NoError(t, tree.fold())
	require.Equal(t, want, content(t, tree))
	require.Zero(t, tree.Stats().Unknown)
	require.Equal(t, int64(1), tree.Stats().Damaged)
}

func TestATreeWhoseLastFoldFailedClosesCleanly(t *testing.T) {
	d := disktest.New()
	tree := openDisk(t, d, few)
	tree.Confirmed("a", 1)
	require.NoError(t, tree.flush())
	d.Fail = func(op, _ string) error {
		if op == "create" {
			return disktest.ErrDisk
		}
		return nil
	}
	require.Error(t, tree.fold())
	d.Fail = nil
	end(t, tree)
	tree = openDisk(t, d, Options{})
	require.Equal(t, map[string]int64{"a": 1}, content(t, tree))
	require.False(t, tree.Stats().Unclean)
	require.Zero(t, tree.Stats().Due)
}

// The files are those of history, written by an earlier version.
func TestTheFilesOfAFormerVersionAreRead(t *testing.T) {
	d := disktest.New()
	for _, name := range []string{"base.2", "log.2", "log.3"} {
		file, err := os.ReadFile("testdata/former/" + name)
		require.NoError(t, err)
		d.Put(name, string(file))
	}
	all := states(someChanges)
	for range 2 {
		tree := openDisk(t, d, Options{expireAfter: -1})
		require.Equal(t, all[len(all)-1], content(t, tree))
		require.False(t, tree.Stats().Unclean)
		require.Zero(t, tree.Stats().Due+int(tree.Stats().Damaged))
		require.NoError(t, tree.fold())
		end(t, tree)
	}
}
