package hints

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// TestModel adds, takes, finishes, fails, crashes and reopens at random, and compares with plain lists.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{t: t, rt: rt, d: disktest.New(), may: []map[string][]string{{}}}
		m.most = rapid.Int64Range(3, 12).Draw(rt, "keys for which there is room") * cost("k0")
		m.open()
		rt.Repeat(map[string]func(*rapid.T){
			"":           m.check,
			"add":        m.add,
			"everything": m.everything,
			"take":       m.take,
			"done":       func(rt *rapid.T) { m.settle(rt, true) },
			"back":       func(rt *rapid.T) { m.settle(rt, false) },
			"write":      m.write,
			"crash":      m.crash,
			"kill":       m.kill,
		})
	})
}

// modelIndex is a naive model of one index.
type modelIndex struct {
	line  []string
	taken map[string]int  // number of the batch
	again map[string]bool // added again while taken
	all   bool
	allBy int // number of the batch; 0: it waits
}

type modelBatch struct {
	n     int
	index string
	batch Batch
}

type model struct {
	t       *testing.T
	rt      *rapid.T
	d       *disktest.Disk
	s       *Set
	most    int64 // MaxMemory
	indexes map[string]*modelIndex
	batches []modelBatch
	n       int
	// A crash leaves the last synced state, or one that a later attempt would have synced.
	may []map[string][]string
}

func (m *model) open() {
	s := openDisk(m.t, m.d, m.most)
	m.s, m.batches, m.indexes = s, nil, map[string]*modelIndex{}
	for name, x := range s.indexes { // the order follows the file only in part
		i := m.index(name)
		i.all, i.line = x.all, slices.Clone(x.line)
	}
}

func (m *model) index(name string) *modelIndex {
	i, ok := m.indexes[name]
	if !ok {
		i = &modelIndex{taken: map[string]int{}, again: map[string]bool{}}
		m.indexes[name] = i
	}
	return i
}

func (i *modelIndex) keys() int { return len(i.line) + len(i.taken) }

func (i *modelIndex) mark() {
	*i = modelIndex{taken: map[string]int{}, again: map[string]bool{}, all: true}
}

// content returns the model's state in the form of a Set's content.
func (m *model) content() map[string][]string {
	all := map[string][]string{}
	for name, i := range m.indexes {
		if i.keys() == 0 && !i.all {
			continue
		}
		keys := slices.Clone(i.line)
		for key := range i.taken {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		if i.all {
			keys = append([]string{everythingMark}, keys...)
		}
		all[name] = keys
	}
	return all
}

func (m *model) check(*rapid.T) {
	require.Equal(m.rt, m.content(), content(m.s))
	stats := m.s.Stats()
	everything, bytes := 0, int64(0)
	for name, i := range m.indexes {
		if i.all {
			everything++
		}
		require.Equal(m.rt, i.keys(), stats.Keys[name])
		require.Equal(m.rt, i.all, stats.Everything[name])
		for _, key := range slices.Concat(i.line, keysOfMap(i.taken)) {
			bytes += cost(key)
		}
	}
	require.Len(m.rt, stats.Everything, everything)
	require.LessOrEqual(m.rt, bytes, m.most)
	require.Equal(m.rt, bytes, m.s.bytes)
}

func keysOfMap(all map[string]int) (keys []string) {
	for key := range all {
		keys = append(keys, key)
	}
	return keys
}

var modelNames = rapid.SampledFrom([]string{"hotels", "cities", ""})

func (m *model) add(rt *rapid.T) {
	name := modelNames.Draw(rt, "index")
	keys := rapid.SliceOfN(rapid.SampledFrom(keysOf(0, 9)), 1, 5).Draw(rt, "keys")
	require.NoError(rt, m.s.Add(name, keys...))
	for _, key := range keys {
		i := m.index(name)
		if i.all && i.allBy == 0 || slices.Contains(i.line, key) {
			continue
		}
		if _, ok := i.taken[key]; ok {
			i.again[key] = true
			continue
		}
		i.line = append(i.line, key)
	}
	m.bound()
}

// bound marks the index with the most keys, the first by name among equals, until the rest fits.
func (m *model) bound() {
	bytes, worst, most := int64(0), "", 0
	for name, i := range m.indexes {
		n := i.keys()
		bytes += int64(n) * cost("k0")
		if n > most || n == most && n > 0 && name < worst {
			worst, most = name, n
		}
	}
	if bytes > m.most {
		m.indexes[worst].mark()
		m.bound()
	}
}

func (m *model) everything(rt *rapid.T) {
	name := modelNames.Draw(rt, "index")
	require.NoError(rt, m.s.AddEverything(name))
	m.index(name).mark()
	m.bound()
}

func (m *model) take(rt *rapid.T) {
	name := modelNames.Draw(rt, "index")
	n := rapid.IntRange(0, 5).Draw(rt, "max")
	b := m.s.Take(name, n)
	i := m.index(name)
	m.n++
	if i.all && i.allBy == 0 && n > 0 {
		require.True(rt, b.Everything)
		require.Empty(rt, b.Keys)
		i.allBy = m.n
	} else {
		n = min(n, len(i.line))
		require.False(rt, b.Everything)
		require.Len(rt, b.Keys, n)
		require.True(rt, slices.Equal(i.line[:n], b.Keys), "%v, not %v", b.Keys, i.line[:n])
		for _, key := range b.Keys {
			i.taken[key] = m.n
		}
		i.line = append([]string{}, i.line[n:]...)
	}
	if !nothing(b) {
		m.batches = append(m.batches, modelBatch{m.n, name, b})
	}
}

func (m *model) settle(rt *rapid.T, done bool) {
	if len(m.batches) == 0 {
		return
	}
	b := rapid.SampledFrom(m.batches).Draw(rt, "batch") // possibly for the second time
	part := b.batch
	if n := rapid.IntRange(0, len(part.Keys)).Draw(rt, "left out"); n > 0 {
		part.Keys = part.Keys[n:]
	}
	if done {
		m.s.Done(part)
	} else {
		m.s.Back(part)
	}
	i := m.index(b.index)
	if part.Everything {
		switch {
		case i.allBy != b.n:
		case done:
			i.all, i.allBy = false, 0
		default:
			i.mark()
		}
		m.bound()
		return
	}
	for _, key := range part.Keys {
		if i.taken[key] != b.n {
			continue
		}
		delete(i.taken, key)
		if i.again[key] || !done {
			i.line = append(i.line, key)
		}
		delete(i.again, key)
	}
}

func (m *model) write(rt *rapid.T) {
	if at := rapid.IntRange(-8, 7).Draw(rt, "disk fails at change"); at >= 0 {
		n := 0
		m.d.Fail = func(op, name string) error {
			if n++; n == at+1 {
				return fmt.Errorf("%s of %s: %w", op, name, disktest.ErrDisk)
			}
			return nil
		}
	}
	m.may = append(m.may, m.content())
	m.s.writer.whole = m.s.writer.whole || rapid.IntRange(0, 3).Draw(rt, "rewrite") == 0
	if err := m.s.step(); err == nil {
		m.may = []map[string][]string{m.content()}
		require.Zero(rt, m.s.Stats().Unsynced)
	} else {
		require.ErrorIs(rt, err, disktest.ErrDisk)
	}
	m.d.Fail = nil
}

func (m *model) crash(rt *rapid.T) {
	m.d.Crash(func(what string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, what) })
	m.reopen()
	m.may = []map[string][]string{m.content()}
}

func (m *model) kill(*rapid.T) { m.reopen() }

// reopen opens the file on the disk. If a crash follows directly, the states possible before remain possible.
func (m *model) reopen() {
	m.open()
	got := m.content()
	if !slices.ContainsFunc(m.may, func(want map[string][]string) bool { return reflect.DeepEqual(reopened(want), got) }) {
		m.rt.Fatalf("%v is on the disk, and none of %v", got, m.may)
	}
}

// reopened returns a content after a restart, where a mark covers the keys after it.
func reopened(c map[string][]string) map[string][]string {
	after := map[string][]string{}
	for name, keys := range c {
		if keys[0] == everythingMark {
			keys = keys[:1]
		}
		after[name] = keys
	}
	return after
}
