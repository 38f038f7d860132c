package publisher

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASlabHoldsBodiesSideBySide(t *testing.T) {
	s := newSlab(10, largeSlab)
	a, b := s.put([]byte("one")), s.put([]byte("two"))
	assert.Equal(t, "one", string(a))
	assert.Equal(t, "two", string(b))
	assert.Equal(t, "one!", string(append(a, '!')), "the appended byte does not overwrite the next body")
	assert.Equal(t, "two", string(b))
	assert.Nil(t, s.put(make([]byte, smallSlab)), "no room")
	assert.NotNil(t, s.put(make([]byte, smallSlab-6)))
	assert.Nil(t, s.put([]byte("x")))
}

func TestASlabIsUsedAgainWhenItsLastUserIsGone(t *testing.T) {
	s := newSlab(10, largeSlab)
	s.put([]byte("one"))
	s.put([]byte("two"))
	s.release()
	s.release()
	assert.EqualValues(t, 1, s.users.Load(), "one user is left")
	s.release()
	assert.Zero(t, s.users.Load())
	(*slab)(nil).release() // a body with its own memory
}

func TestWhichBodiesGetASlab(t *testing.T) {
	for name, c := range map[string]struct {
		next, soFar int
		size        int // of the slab; 0: none
	}{
		"small, without a predecessor":   {10, slabsFrom - 1, 0},
		"small":                          {10, slabsFrom, smallSlab},
		"as large as a small one may be": {smallSlab / 4, slabsFrom, smallSlab},
		"large, but little came before":  {smallSlab/4 + 1, largeSlab - 1, 0},
		"large":                          {smallSlab/4 + 1, largeSlab, largeSlab},
		"as large as one may be":         {largeSlab / 4, largeSlab, largeSlab},
		"too large":                      {largeSlab/4 + 1, 1 << 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSlab(c.next, c.soFar)
			if c.size == 0 {
				require.Nil(t, s)
				return
			}
			require.Len(t, s.memory, c.size)
		})
	}
}

// An item that waits for long does not keep the memory of its neighbours.
func TestWhoWaitsBehindAnotherMovesOut(t *testing.T) {
	s := newSlab(10, largeSlab)
	p := newPending[int]()
	for i, key := range []string{"a", "b", "a"} {
		p.add(Item[int]{Key: key, Body: s.put([]byte{'0' + byte(i)}), slab: s}, uint64(i+1), 0)
	}
	require.EqualValues(t, 3, s.users.Load(), "two items and the filler use the slab")
	first, second := p.at(0), p.at(2)
	assert.Same(t, s, first.item.slab)
	assert.Nil(t, second.item.slab)
	assert.Equal(t, "2", string(second.item.Body))
}

func TestWhatIsSentAgainMovesOut(t *testing.T) {
	p := New(Config[int, int]{Limits: Limits{BatchBytes: 1 << 20}})
	s := newSlab(10, largeSlab)
	var refs []ref
	for i := range 40 {
		body := bytes.Repeat([]byte{byte(i)}, i+1)
		p.loop.pending.add(Item[int]{Key: string(rune('a' + i)), Body: s.put(body), slab: s}, uint64(i+1), 0)
		refs = append(refs, ref(i))
	}
	p.loop.copyOut(refs)
	require.EqualValues(t, 41, s.users.Load(), "the slab has users until the batch is read")
	p.loop.bodies.free(!p.loop.cancelled())
	require.EqualValues(t, 1, s.users.Load())
	for i, r := range refs {
		it := &p.loop.pending.at(r).item
		assert.Nil(t, it.slab)
		assert.Equal(t, bytes.Repeat([]byte{byte(i)}, i+1), it.Body)
		assert.Equal(t, len(it.Body), cap(it.Body))
	}
}

// An item withdrawn during its request is settled when it would be sent again. Its slab must not be released twice:
// the bodies of others would be overwritten.
func TestWhatIsTakenBackReleasesItsSlabOnce(t *testing.T) {
	p := New(Config[int, int]{Limits: Limits{BatchBytes: 1 << 20}})
	s := newSlab(10, largeSlab)
	l := p.loop
	r := l.pending.add(Item[int]{Key: "a", Body: s.put([]byte("body")), slab: s}, 1, 0)
	n := l.pending.at(r)
	n.sent, n.removed = true, true
	l.putBack(n, r)
	l.again(r, 0, 0)
	require.Len(t, l.delivery.settled, 1)
	l.copyOut(l.bodies.moving)
	releases := 0
	for _, left := range l.bodies.released {
		if left != nil {
			releases++
		}
	}
	for _, e := range l.delivery.endings {
		if e.slab != nil {
			releases++
		}
	}
	assert.Equal(t, 1, releases)
	assert.Equal(t, "body", string(l.delivery.settled[0].Item.Body), "the body is kept until it is reported")
}

// Requests that Close has abandoned may still read.
func TestWhatCloseLeavesBehindIsNeverUsedAgain(t *testing.T) {
	p := New(Config[int, int]{Limits: Limits{BatchBytes: 1 << 20}})
	s := newSlab(10, largeSlab)
	s.put([]byte("x"))
	p.loop.bodies.released = append(p.loop.bodies.released, s)
	p.cancel()
	p.loop.bodies.free(!p.loop.cancelled())
	assert.EqualValues(t, 2, s.users.Load())
	assert.Empty(t, p.loop.bodies.released)
}

// A call that is refused or waits uses no memory besides its own.
func TestOnlyWhatIsAcceptedIsStored(t *testing.T) {
	p := New(Config[int, int]{Limits: Limits{Items: 1000, Bytes: 1 << 20, BatchBytes: 1 << 20}})
	body := bytes.Repeat([]byte("x"), 1000)
	items := make([]Item[int], 3)
	for i := range items {
		items[i] = Item[int]{Key: string(rune('a' + i)), Body: body}
	}
	for range 400 {
		_, _ = p.Add(t.Context(), items, false, false)
	}
	a := &p.admission
	require.Equal(t, 1000, a.stats.Items)
	require.NotNil(t, a.slab)
	slabs := map[*slab]int{}
	for i := range a.inbox {
		it := &a.inbox[i].item
		assert.Equal(t, body, it.Body)
		assert.NotSame(t, &body[0], &it.Body[0], "the body is a copy")
		slabs[it.slab]++
	}
	delete(slabs, nil) // of the first calls
	stored := 0
	for s, n := range slabs {
		stored += n
		filler := 0
		if s == a.slab {
			filler = 1
		}
		assert.EqualValues(t, n+filler, s.users.Load())
	}
	assert.LessOrEqual(t, len(slabs), 1+stored*1000/(smallSlab-1000), "the slabs are full")
}

func TestABodyWithItsOwnMemoryStaysThere(t *testing.T) {
	p := New(Config[int, int]{Limits: Limits{Items: 10, Bytes: 1 << 20, BatchBytes: 1 << 20}})
	body := []byte("x")
	_, err := p.Add(t.Context(), []Item[int]{{Key: "a", Body: body, Own: true}}, false, false)
	require.NoError(t, err)
	assert.Same(t, &body[0], &p.admission.inbox[0].item.Body[0])
}

func TestAnIdleSenderKeepsNoSlab(t *testing.T) {
	p := New(Config[int, int]{Limits: Limits{BatchBytes: 1 << 20}})
	s := newSlab(10, largeSlab)
	p.admission.slab = s
	p.loop.pending.add(Item[int]{Key: "a", Body: s.put([]byte("x")), slab: s}, 1, 0)
	p.loop.mustNotSleep()
	require.Same(t, s, p.admission.slab, "something waits")
	p.loop.pending.take(nil, noLimits)
	p.loop.pending.remove(0, 0)
	p.loop.mustNotSleep()
	assert.Nil(t, p.admission.slab)
	assert.EqualValues(t, 1, s.users.Load())
}

// A large body could be refused forever and keep the memory of the others.
func TestLargeBodiesMoveOutAlone(t *testing.T) {
	p := New(Config[int, int]{Limits: Limits{BatchBytes: 1 << 20}})
	var refs []ref
	for i, size := range []int{1024, 1, 1025, 5000, 3, 1024, 1024} {
		p.loop.pending.add(Item[int]{Key: string(rune('a' + i)), Body: bytes.Repeat([]byte{byte(i)}, size)}, uint64(i+1), 0)
		refs = append(refs, ref(i))
	}
	var groups []int
	for rest := refs; len(rest) > 0; {
		n, size := p.loop.together(rest)
		sum := 0
		for _, r := range rest[:n] {
			sum += len(p.loop.pending.at(r).item.Body)
		}
		require.Equal(t, sum, size)
		groups, rest = append(groups, n), rest[n:]
	}
	assert.Equal(t, []int{2, 1, 1, 3}, groups)
	p.loop.copyOut(refs)
	for i, r := range refs {
		body := p.loop.pending.at(r).item.Body
		assert.Equal(t, bytes.Repeat([]byte{byte(i)}, len(body)), body)
	}
}

func TestASlabWithAnItemInItIsNotUsedAgain(t *testing.T) {
	s := newSlab(10, slabsFrom)
	require.NotNil(t, s.put([]byte("one")))
	require.NotNil(t, s.put([]byte("two")))
	s.release() // by its filler
	s.release() // by one of the items
	next := newSlab(10, slabsFrom)
	assert.NotSame(t, s, next, "the other body is in the slab")
	next.release()
	s.release()
	assert.Zero(t, s.users.Load())
}
