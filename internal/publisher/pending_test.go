package publisher

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var noLimits = batchLimits{actions: 1 << 20, bytes: 1 << 30, envelope: 2, comma: 1, newest: math.MaxUint64, partActions: 1 << 20, partBytes: 1 << 30}

// fill adds actions with the given keys, each of one byte, and returns their refs.
func fill(p *pending[int], keys ...string) {
	for i, key := range keys {
		p.add(Item[int]{Key: key, Body: []byte("x"), Value: i}, uint64(p.count+i+1), 0)
	}
}

// take is p.take for tests that ignore what ended the batch.
func take(p *pending[int], l batchLimits) []ref {
	batch, _ := p.take(nil, l)
	for _, r := range batch {
		p.at(r).sent = true
	}
	return batch
}

// The reason of a group must not end a call after the group is released.
func TestAnItemIsHeldApartUntilItsGroupIsReleased(t *testing.T) {
	p := newPending[int]()
	fill(p, "a", "b")
	g := p.newGroup(&Trait{Name: "x", Has: func([]byte) bool { return true }}, 0)
	g.why = &IndexError{Err: errRefused, apart: true}
	require.True(t, g.why.Apart())
	p.endGroup(g)
	require.False(t, g.why.Apart())
	require.False(t, (&IndexError{Err: errRefused}).Apart())
}

func keysOf(p *pending[int], refs []ref) (keys []string) {
	for _, r := range refs {
		keys = append(keys, fmt.Sprint(p.at(r).item.Key, p.at(r).item.Value))
	}
	return keys
}

// naive is a pending that is correct by inspection: a list with the actions of a key, and the places of holds in its
// lane, in order.
type naive struct {
	actions []*naiveAction
}

type naiveAction struct {
	key   string
	class uint8
	size  int
	seq   uint64  // 0: a place
	due   instant // while it waits for a retry
	retry bool
	out   bool

	since uint64 // of a place and of actions put before it: the last action before it
	held  bool   // put before a place

	// For a place:
	at      ref
	reached bool
}

// place returns its position in the order of all keys.
func (a *naiveAction) place() uint64 {
	if a.held {
		return a.since
	}
	return a.seq
}

// first reports whether no other action of its key is before it.
func (n *naive) first(a *naiveAction) bool {
	for _, b := range n.actions {
		if b == a {
			return true
		}
		if b.key == a.key {
			return false
		}
	}
	return false
}

// classOf returns the most urgent class of an action and of those of its key behind it.
func (n *naive) classOf(a *naiveAction) uint8 {
	class := a.class
	for _, b := range n.actions[slices.Index(n.actions, a):] {
		if b.key == a.key {
			class = min(class, b.class)
		}
	}
	return class
}

func (n *naive) take(now instant, l batchLimits) (batch []*naiveAction) {
	bytes := 0
	oldest := slices.Clone(n.actions)
	slices.SortFunc(oldest, func(a, b *naiveAction) int {
		return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(a.seq, b.seq))
	})
	for _, retries := range []bool{true, false} {
		for _, a := range oldest {
			if a.seq == 0 || a.out || a.retry != retries || a.retry && a.due > now || !n.first(a) || n.classOf(a) != l.class {
				continue
			}
			if len(batch) == l.actions || len(batch) > 0 && l.size(len(batch)+1, bytes+a.size) > l.bytes {
				return batch
			}
			bytes += a.size
			batch = append(batch, a)
		}
	}
	return batch
}

// places returns the places of the list.
func (n *naive) places() (places []*naiveAction) {
	for _, a := range n.actions {
		if a.seq == 0 {
			places = append(places, a)
		}
	}
	return places
}

func (n *naive) remove(a *naiveAction) {
	n.actions = slices.DeleteFunc(n.actions, func(b *naiveAction) bool { return a == b })
}

// ofKey returns the numbers of the actions of a key.
func (n *naive) ofKey(key string) (seqs []uint64) {
	for _, a := range n.actions {
		if a.key == key && a.seq != 0 {
			seqs = append(seqs, a.seq)
		}
	}
	return seqs
}

// For keys, classes and holds in any order, pending can send the same actions as the list.
func TestPendingTakesWhatANaiveListWouldTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := newPending[int](), &naive{}
		limits := batchLimits{actions: rapid.IntRange(1, 6).Draw(t, "actions"), bytes: rapid.IntRange(4, 40).Draw(t, "bytes"), envelope: 2, comma: 1, newest: math.MaxUint64, partActions: 1 << 20, partBytes: 1 << 30}
		keys := []string{"a", "b", "c", "d", "e"}
		classes := rapid.SampledFrom([]uint8{1, 3}).Draw(t, "classes")
		var now instant
		var seq uint64
		flying := map[ref]*naiveAction{}
		draw := func(t *rapid.T) *naiveAction {
			seq++
			return &naiveAction{
				key: rapid.SampledFrom(keys).Draw(t, "key"), class: rapid.Uint8Range(0, classes-1).Draw(t, "class"),
				size: rapid.IntRange(1, 20).Draw(t, "size"), seq: seq,
			}
		}
		item := func(a *naiveAction) Item[int] {
			return Item[int]{Key: a.key, Class: a.class, Body: make([]byte, a.size)}
		}
		place := func(t *rapid.T, reached bool) *naiveAction {
			places := slices.DeleteFunc(n.places(), func(a *naiveAction) bool { return reached && !a.reached })
			if len(places) == 0 {
				t.Skip("no place")
			}
			return rapid.SampledFrom(places).Draw(t, "place")
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				a := draw(t)
				n.actions = append(n.actions, a)
				p.add(item(a), seq, now)
				p.newest = seq
			},
			"hold": func(t *rapid.T) {
				a := &naiveAction{key: rapid.SampledFrom(keys).Draw(t, "key"), class: math.MaxUint8, since: p.newest}
				n.actions = append(n.actions, a)
				a.at, _ = p.hold(a.key, func() { a.reached = true }, nil, nil)
			},
			"add to a hold": func(t *rapid.T) {
				at := place(t, true)
				a := draw(t)
				a.key, a.since, a.held = at.key, at.since, true
				n.actions = slices.Insert(n.actions, slices.Index(n.actions, at), a)
				p.addFront(at.at, item(a), seq, now, at.since)
			},
			"release": func(t *rapid.T) {
				at := place(t, false)
				n.remove(at)
				require.Equal(t, none, p.release(at.at))
			},
			"wait": func(t *rapid.T) { now += instant(rapid.IntRange(1, 5).Draw(t, "wait")) },
			"take": func(t *rapid.T) {
				p.promote(now)
				limits := limits
				limits.class = rapid.Uint8Range(0, uint8(len(p.classes)-1)).Draw(t, "class")
				want := n.take(now, limits)
				require.Equal(t, len(want) > 0, p.classes[limits.class].waiting > 0)
				got := take(p, limits)
				require.Len(t, got, len(want))
				for i, r := range got {
					require.Equal(t, want[i].seq, p.at(r).seq)
					want[i].out = true
					flying[r] = want[i]
				}
			},
			"settle": func(t *rapid.T) {
				for r, a := range flying {
					delete(flying, r)
					n.remove(a)
					p.remove(r, 0)
					return
				}
			},
			"retry": func(t *rapid.T) {
				for r, a := range flying {
					delete(flying, r)
					a.out, a.retry, a.due = false, true, now+instant(rapid.IntRange(0, 4).Draw(t, "delay"))
					p.retry(r, a.due)
					return
				}
			},
			"": func(t *rapid.T) {
				all := p.all()
				require.Len(t, all, p.count)
				sendable := 0
				for _, key := range keys {
					var seqs []uint64
					for _, r := range all {
						if p.at(r).item.Key == key {
							seqs = append(seqs, p.at(r).seq)
						}
					}
					require.Equal(t, n.ofKey(key), seqs, "items are in the order of sending")
					require.Equal(t, len(seqs) > 0, p.has(key))
					if slices.ContainsFunc(n.actions, func(a *naiveAction) bool { return a.key == key && a.seq != 0 && n.first(a) }) {
						sendable++
					}
				}
				require.Equal(t, sendable, p.keys())
				for _, a := range n.places() {
					require.True(t, a.reached || !n.first(a), "%s is reached when it is the first", a.key)
				}
			},
		})
	})
}

func TestRetriesGoBeforeNewActions(t *testing.T) {
	p := newPending[int]()
	fill(p, "a", "b")
	batch := take(p, batchLimits{actions: 1, bytes: 100, newest: math.MaxUint64})
	p.retry(batch[0], 5)
	fill(p, "c")
	p.promote(4)
	assert.Equal(t, []string{"b1", "c0"}, keysOf(p, take(p, noLimits)), "items that are not due are not taken")
	fill(p, "d")
	p.promote(5)
	assert.Equal(t, []string{"a0", "d0"}, keysOf(p, take(p, noLimits)))
}

func TestAnActionOfABusyKeyKeepsItsPlaceInTheOrder(t *testing.T) {
	p := newPending[int]()
	fill(p, "a", "a", "b")
	first := take(p, noLimits)
	assert.Equal(t, []string{"a0", "b2"}, keysOf(p, first))
	fill(p, "c")
	p.remove(first[0], 0)
	assert.Equal(t, []string{"a1", "c0"}, keysOf(p, take(p, noLimits)), "a1 was accepted before c")
}

func TestASplitBatchTravelsInPartsOfHalfTheBytes(t *testing.T) {
	p := newPending[int]()
	for i, size := range []int{1, 1, 1, 50, 1} {
		p.add(Item[int]{Key: fmt.Sprint("k", i), Body: make([]byte, size), Value: i}, uint64(i+1), 0)
	}
	batch := take(p, noLimits)
	p.split(batch, nil)
	fill(p, "new")
	assert.True(t, p.retryWaits(0))
	assert.Equal(t, []string{"k00", "k11", "k22"}, keysOf(p, take(p, noLimits)))
	giant := take(p, noLimits)
	assert.Equal(t, []string{"k33", "k44"}, keysOf(p, giant))
	p.split(giant, nil)
	assert.Equal(t, []string{"k33"}, keysOf(p, take(p, noLimits)), "isolated after two cuts, not five")
	assert.Equal(t, []string{"k44"}, keysOf(p, take(p, noLimits)))
	assert.Equal(t, []string{"new0"}, keysOf(p, take(p, noLimits)))
}

func TestASplitLosesAndRepeatsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPending[int]()
		sizes := rapid.SliceOfN(rapid.IntRange(0, 30), 2, 20).Draw(t, "sizes")
		for i, size := range sizes {
			p.add(Item[int]{Key: fmt.Sprint(i), Body: make([]byte, size)}, uint64(i+1), 0)
		}
		batch := take(p, noLimits)
		p.split(batch, rapid.SliceOf(rapid.SampledFrom(batch)).Draw(t, "named"))
		var again []ref
		for len(p.parts) > 0 {
			part := take(p, noLimits)
			require.NotEmpty(t, part)
			require.Less(t, len(part), len(batch))
			again = append(again, part...)
		}
		slices.Sort(again)
		slices.Sort(batch)
		require.Equal(t, batch, again)
	})
}

func TestWhatARefusalNamesTravelsApart(t *testing.T) {
	for _, c := range []struct {
		named []int
		parts [][]string
	}{
		{nil, [][]string{{"a0", "b1"}, {"c2", "d3"}}},
		{[]int{1}, [][]string{{"b1"}, {"a0"}, {"c2", "d3"}}},
		{[]int{1, 3}, [][]string{{"a0", "c2"}, {"b1", "d3"}}},
		{[]int{0, 1, 2, 3}, [][]string{{"a0", "b1"}, {"c2", "d3"}}},
	} {
		p := newPending[int]()
		fill(p, "a", "b", "c", "d")
		batch := take(p, noLimits)
		var named []ref
		for _, i := range c.named {
			named = append(named, batch[i])
		}
		p.split(batch, named)
		for _, part := range c.parts {
			assert.Equal(t, part, keysOf(p, take(p, noLimits)), c.named)
		}
	}
}

func TestASettledActionIsForgotten(t *testing.T) {
	p := newPending[int]()
	for round := range 3 {
		fill(p, "a", "b", "b")
		for p.count > 0 {
			for _, r := range take(p, noLimits) {
				p.remove(r, 0)
			}
		}
		require.Len(t, p.blocks, 1)
		assert.Len(t, p.blocks[0], 3, "nodes are reused in round %d", round)
		for _, n := range p.blocks[0] {
			assert.Nil(t, n.item.Body)
		}
		assert.Zero(t, p.lanes.count)
		assert.Zero(t, p.classes[0].waitingBytes)
	}
}

func TestWhatNobodyAskedForIsNotSentBesideARetry(t *testing.T) {
	p := newPending[int]()
	fill(p, "a", "b")
	flushed := batchLimits{actions: 10, bytes: 100, newest: 1}
	batch := take(p, flushed)
	assert.Equal(t, []string{"a0"}, keysOf(p, batch))
	p.retry(batch[0], 0)
	p.promote(0)
	assert.Equal(t, []string{"a0"}, keysOf(p, take(p, flushed)))
	assert.Empty(t, take(p, flushed))
}
