package publisher

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASlabHoldsBodiesSideBySide(t *testing.T) {
	s := NewSlab(10, largeSlab)
	a, b := s.Append([]byte("one")), s.Append([]byte("two"))
	assert.Equal(t, "one", string(a))
	assert.Equal(t, "two", string(b))
	assert.Equal(t, "one!", string(append(a, '!')), "which does not write over the next one")
	assert.Equal(t, "two", string(b))
	assert.Nil(t, s.Append(make([]byte, smallSlab)), "no room")
	assert.NotNil(t, s.Append(make([]byte, smallSlab-6)))
	assert.Nil(t, s.Append([]byte("x")))
}

func TestASlabIsUsedAgainWhenItsLastUserIsGone(t *testing.T) {
	s := NewSlab(10, largeSlab)
	s.Append([]byte("one"))
	s.Append([]byte("two"))
	s.Release()
	s.Release()
	assert.EqualValues(t, 1, s.users.Load(), "one is left")
	s.Release()
	assert.Zero(t, s.users.Load())
	(*Slab)(nil).Release() // a body with its own memory
}

func TestWhichBodiesGetASlab(t *testing.T) {
	for name, c := range map[string]struct {
		next, soFar int
		size        int // of the slab; 0: none
	}{
		"small, but nothing came before": {10, slabsFrom - 1, 0},
		"small":                          {10, slabsFrom, smallSlab},
		"as large as a small one may be": {smallSlab / 4, slabsFrom, smallSlab},
		"large, but little came before":  {smallSlab/4 + 1, largeSlab - 1, 0},
		"large":                          {smallSlab/4 + 1, largeSlab, largeSlab},
		"as large as one may be":         {largeSlab / 4, largeSlab, largeSlab},
		"too large":                      {largeSlab/4 + 1, 1 << 30, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSlab(c.next, c.soFar)
			if c.size == 0 {
				require.Nil(t, s)
				return
			}
			require.Len(t, s.memory, c.size)
		})
	}
}

// What waits for long does not keep the memory of its neighbours.
func TestWhoWaitsBehindAnotherMovesOut(t *testing.T) {
	s := NewSlab(10, largeSlab)
	p := newPending[int]()
	for i, key := range []string{"a", "b", "a"} {
		p.add(Item[int]{Key: key, Body: s.Append([]byte{'0' + byte(i)}), Slab: s}, uint64(i+1), 0)
	}
	require.EqualValues(t, 3, s.users.Load(), "two items and the filler")
	first, second := p.at(0), p.at(2)
	assert.Same(t, s, first.item.Slab)
	assert.Nil(t, second.item.Slab)
	assert.Equal(t, "2", string(second.item.Body))
}

func TestWhatIsSentAgainMovesOut(t *testing.T) {
	p := New(Config[int, int]{Limits: Limits{BatchBytes: 1 << 20}})
	s := NewSlab(10, largeSlab)
	var refs []ref
	for i := range 40 {
		body := bytes.Repeat([]byte{byte(i)}, i+1)
		p.loop.pending.add(Item[int]{Key: string(rune('a' + i)), Body: s.Append(body), Slab: s}, uint64(i+1), 0)
		refs = append(refs, ref(i))
	}
	p.loop.moveOut(refs)
	require.EqualValues(t, 41, s.users.Load(), "until nobody looks at the batch any more")
	p.loop.free()
	require.EqualValues(t, 1, s.users.Load())
	for i, r := range refs {
		it := &p.loop.pending.at(r).item
		assert.Nil(t, it.Slab)
		assert.Equal(t, bytes.Repeat([]byte{byte(i)}, i+1), it.Body)
		assert.Equal(t, len(it.Body), cap(it.Body))
	}
}

// Requests that Close has left behind may still read.
func TestWhatCloseLeavesBehindIsNeverUsedAgain(t *testing.T) {
	p := New(Config[int, int]{Limits: Limits{BatchBytes: 1 << 20}})
	s := NewSlab(10, largeSlab)
	s.Append([]byte("x"))
	p.loop.left = append(p.loop.left, s)
	p.cancel()
	p.loop.free()
	assert.EqualValues(t, 2, s.users.Load())
	assert.Empty(t, p.loop.left)
}
