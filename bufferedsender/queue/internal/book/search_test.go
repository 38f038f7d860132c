package book

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
)

// filled is a book of waiting keys; key i has i bytes.
func filled(now time.Time, keys int) *Book[at] {
	b := New[at](now)
	for i := range keys {
		b.Append(now, []Change[at]{{Key: fmt.Sprint("k", i), Ref: at{length: uint32(i)}, Seq: b.NextSeq(1), Replaces: true}})
	}
	return b
}

// sent removes waiting keys from a book.
func sent(b *Book[at], now time.Time, keys int) {
	want := queue.Want{Token: queue.NewID(), Keys: keys, Bytes: math.MaxInt, For: time.Minute}
	for i := range b.Reserve(now, &want) {
		b.Settle(now, []queue.End{{Fate: queue.Commit, Lease: queue.Lease{Key: fmt.Sprint("k", i), Token: want.Token}}})
	}
}

// lengths returns the keys found, by their lengths.
func lengths(b *Book[at], now time.Time, s *Search) (all []int) {
	s.Sort()
	for more := true; more; {
		var some []Entry[at]
		some, more = b.Entries(now, s)
		for _, e := range some {
			all = append(all, int(e.Waits[0].Ref.length))
		}
	}
	return all
}

func TestASearchFindsTheFirstOfMany(t *testing.T) {
	now := time.Unix(1e9, 0)
	b := New[at](now)
	const keys, limit = 50_000, 1500
	var want []int
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(keys) { // for any order of the nodes
		b.Append(now, []Change[at]{{Key: fmt.Sprint("k", i), Ref: at{length: uint32(i)}, Seq: b.NextSeq(1), Since: now.UnixMilli() - keys + int64(i)}})
	}
	for i := range limit {
		want = append(want, i)
	}
	s := Search{Limit: limit}
	for b.See(&s) {
		s.Sort()
		require.Less(t, len(s.found), 2*limit+seenAtOnce)
	}
	require.Equal(t, want, lengths(b, now, &s))
	var named []string
	for i := range 3 * seenAtOnce {
		named = append(named, fmt.Sprint("k", keys-1000+i))
	}
	s = Search{Keys: named, Limit: 1}
	for b.See(&s) {
		s.Sort()
	}
	require.Equal(t, []int{keys - 1000}, lengths(b, now, &s))
}

// Most keys may be sent during a search, which changes the positions of the others.
func TestASearchGoesOnWhenTheBookHasShrunk(t *testing.T) {
	const keys, left = shrinkAbove + 10*slabNodes, 2000
	now := time.Unix(1e9, 0)
	for _, c := range []struct {
		left   int
		before bool // it has seen all keys
	}{{left, true}, {left, false}, {0, true}, {0, false}} {
		b := filled(now, keys)
		s := Search{Limit: 3}
		for b.See(&s) && (c.before || s.next < keys/2) {
			s.Sort()
		}
		s.Sort()
		moves := b.nodes.moves
		sent(b, now, keys-c.left)
		b.advance(now)
		require.NotEqual(t, moves, b.nodes.moves)
		for !c.before && b.See(&s) {
			s.Sort()
		}
		var want []int
		if c.left > 0 && !c.before {
			want = []int{keys - left, keys - left + 1, keys - left + 2}
		}
		require.Equal(t, want, lengths(b, now, &s))
	}
}
