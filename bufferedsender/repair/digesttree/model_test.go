package digesttree

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// TestModel changes, writes, folds, compares, rebuilds, fails, crashes and reopens at random, and compares with a
// map.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{rt: rt, d: disktest.New(), now: map[string]int64{}, durable: map[string]int64{}, since: map[string][]int64{}}
		m.tree = openDisk(rt, m.d, Options{SegmentBits: 3, Empty: true})
		for i := range m.state {
			m.state[i] = built
		}
		rt.Repeat(map[string]func(*rapid.T){
			"":        m.check,
			"tell":    m.tell,
			"drop":    m.drop,
			"flush":   func(*rapid.T) { m.attempt(m.tree.flush) },
			"fold":    func(*rapid.T) { m.attempt(m.tree.fold) },
			"fail":    m.fail,
			"compare": m.compare,
			"rebuild": m.rebuild,
			"reopen":  m.reopen,
			"kill":    func(rt *rapid.T) { m.crash(rt, func(_ string, n int) int { return n - 1 }) },
			"crash": func(rt *rapid.T) {
				m.crash(rt, func(what string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, what) })
			},
		})
	})
}

// States of a segment.
const (
	unknownState = iota
	due
	built
)

// none is the version of a missing key.
const none = -1

type model struct {
	rt      *rapid.T
	d       *disktest.Disk
	tree    *Tree
	now     map[string]int64
	durable map[string]int64   // content at the last full sync
	since   map[string][]int64 // changes of a key since then
	state   [8]int
}

func (m *model) segment(key string) int { return m.tree.shape.segment(hashOf(key)) }

func (m *model) check(*rapid.T) {
	require.Equal(m.rt, m.now, content(m.rt, m.tree))
	for i, state := range m.state {
		got := built
		switch m.tree.built[i] {
		case 0:
			got = unknownState
		case dueSince:
			got = due
		}
		require.Equal(m.rt, state, got, "segment %d", i)
	}
	require.Zero(m.rt, m.tree.Stats().Damaged)
	require.Zero(m.rt, m.tree.Stats().Fruitless)
}

var modelKeys = rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("k%d", rapid.IntRange(0, 20).Draw(t, "key")) })

func (m *model) set(key string, version int64) {
	if version == none {
		delete(m.now, key)
	} else {
		m.now[key] = version
	}
	m.since[key] = append(m.since[key], version)
}

func (m *model) tell(rt *rapid.T) {
	for range rapid.IntRange(1, 8).Draw(rt, "how many") {
		key, version := modelKeys.Draw(rt, "key"), rapid.Int64Range(none, 3).Draw(rt, "version")
		m.tree.Record(key, version, version == none)
		m.set(key, version)
	}
}

// drop changes a key for which there is no room.
func (m *model) drop(rt *rapid.T) {
	key := modelKeys.Draw(rt, "key")
	room := m.tree.options.MaxPending
	m.tree.options.MaxPending = 0
	m.tree.Confirmed(key, 9)
	m.tree.options.MaxPending = room
	m.state[m.segment(key)] = unknownState
}

// attempt writes, possibly to a failing disk.
func (m *model) attempt(do func() error) {
	if do() == nil {
		m.durable, m.since = maps.Clone(m.now), map[string][]int64{}
	}
}

// fail makes one of the next disk operations fail.
func (m *model) fail(rt *rapid.T) {
	left := rapid.IntRange(0, 12).Draw(rt, "operations before it fails")
	m.d.Fail = func(string, string) error {
		if left--; left == -1 {
			return disktest.ErrDisk
		}
		return nil
	}
	m.attempt([]func() error{m.tree.flush, m.tree.fold}[rapid.IntRange(0, 1).Draw(rt, "what fails")])
	m.d.Fail = nil
}

var modelTables = rapid.MapOf(modelKeys, rapid.Int64Range(0, 3))

func (m *model) compare(rt *rapid.T) {
	other := modelTables.Draw(rt, "other")
	want := []Difference{}
	known := func(key string) bool { return m.state[m.segment(key)] != unknownState }
	for key, there := range other {
		here, ok := m.now[key]
		switch {
		case !known(key):
		case !ok:
			want = append(want, Difference{Key: key, There: there, MissingHere: true})
		case here != there:
			want = append(want, Difference{Key: key, Here: here, There: there})
		}
	}
	for key, here := range m.now {
		if _, ok := other[key]; !ok && known(key) {
			want = append(want, Difference{Key: key, Here: here, MissingThere: true})
		}
	}
	found := compared(rt, m.tree, tableOf(other))
	require.ElementsMatch(rt, want, found.Keys)
	require.False(rt, found.More)
}

// rebuild builds due segments while other changes arrive.
func (m *model) rebuild(rt *rapid.T) {
	index := modelTables.Draw(rt, "index")
	at := modelKeys.Draw(rt, "row before which the change arrives")
	told := map[string]bool{}
	_, _, err := m.tree.Rebuild(rt.Context(), during(tableOf(index), at, func() {
		for range rapid.IntRange(0, 3).Draw(rt, "how many") {
			key, version := modelKeys.Draw(rt, "key"), rapid.Int64Range(none, 3).Draw(rt, "version")
			m.tree.Record(key, version, version == none)
			m.set(key, version)
			told[key] = true
		}
		if rapid.Bool().Draw(rt, "fold") {
			m.attempt(m.tree.fold)
		}
	}), 0)
	require.NoError(rt, err)
	isDue := func(key string) bool { return m.state[m.segment(key)] != built && !told[key] }
	for key := range maps.Clone(m.now) {
		if _, ok := index[key]; !ok && isDue(key) {
			m.set(key, none)
		}
	}
	for key, version := range index {
		if now, ok := m.now[key]; isDue(key) && (!ok || now != version) {
			m.set(key, version)
		}
	}
	for i := range m.state {
		m.state[i] = built
	}
}

func (m *model) reopen(rt *rapid.T) {
	end(rt, m.tree)
	m.durable, m.since = maps.Clone(m.now), map[string][]int64{}
	m.tree = openDisk(rt, m.d, Options{})
	require.False(rt, m.tree.Stats().Unclean)
}

// crash ends the process, possibly with the machine. Afterwards each key has a version that it had since the last
// full sync; no segment is sure.
func (m *model) crash(rt *rapid.T, choose func(what string, n int) int) {
	m.d.Crash(choose)
	m.tree = openDisk(rt, m.d, Options{})
	require.True(rt, m.tree.Stats().Unclean)
	found := content(rt, m.tree)
	for i := range 21 {
		key := fmt.Sprintf("k%d", i)
		got, ok := found[key]
		if !ok {
			got = none
		}
		before, ok := m.durable[key]
		if !ok {
			before = none
		}
		require.Contains(rt, append(m.since[key], before), got, key)
	}
	m.now = found
	m.durable, m.since = maps.Clone(found), map[string][]int64{}
	for i := range m.state {
		require.LessOrEqual(rt, m.tree.built[i], int64(dueSince))
		m.state[i] = unknownState
		if m.tree.built[i] != 0 {
			m.state[i] = due
		}
	}
	if rapid.Bool().Draw(rt, "fold the content") {
		m.attempt(m.tree.fold)
	}
}
