package book

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// at is a Ref of twelve bytes, like that of a log.
type at struct{ _, _, length uint32 }

func (a at) Bytes() int { return int(a.length) }

// TestBookAgreesWithItselfAfterAnyCalls checks the book's counts and the positions of its nodes after each of many
// random calls.
func TestBookAgreesWithItselfAfterAnyCalls(t *testing.T) {
	for seed := range uint64(testkit.Cases(60, 300, 300)) {
		r := rand.New(rand.NewPCG(seed, 1))
		b, now := New[at](time.Unix(1e9, 0)), time.Unix(1e9, 0)
		key := func() string { return fmt.Sprint("k", r.IntN(8)) }
		var held []Lease[at]
		var heldKeys []queue.Lease
		for step := range 200 {
			switch r.IntN(9) {
			case 0, 1, 2:
				c := Change[at]{Key: key(), Ref: at{length: uint32(1 + r.IntN(9))}, Replaces: r.IntN(2) == 0, Class: uint8(r.IntN(3))}
				c.Seq = b.NextSeq(1)
				b.Append(now, []Change[at]{c})
			case 3:
				want := queue.Want{Token: queue.NewID(), Holder: queue.ID{byte(r.IntN(3))}, Keys: 1 + r.IntN(4), Bytes: r.IntN(30), For: time.Second, Uncertain: time.Duration(r.IntN(2)) * time.Second}
				if r.IntN(4) == 0 {
					want.Only = []string{key(), key()}
				}
				held = b.Reserve(now, &want)
				for _, i := range b.leases.items {
					n := b.nodes.at(i)
					if n.more.from.token == want.Token {
						heldKeys = append(heldKeys, queue.Lease{Key: b.nameOf(n, 8), Token: want.Token})
					}
				}
				require.LessOrEqual(t, len(held), max(want.Keys, 2))
			case 4, 5:
				if len(heldKeys) > 0 {
					l := heldKeys[r.IntN(len(heldKeys))]
					b.Settle(now, []queue.End{{Lease: l, Fate: queue.Fate(1 + r.IntN(3)), Done: r.IntN(3), After: time.Duration(r.IntN(2)) * time.Second, Uncertain: time.Duration(r.IntN(2)) * time.Second, Again: r.IntN(2) == 0}})
				}
			case 6:
				if len(heldKeys) > 0 && r.IntN(2) == 0 {
					l := heldKeys[r.IntN(len(heldKeys))]
					l.Requested = true
					b.Extend(now, time.Second, []queue.Lease{l})
				}
				now = now.Add(time.Duration(r.IntN(1500)) * time.Millisecond)
				b.advance(now)
			case 7:
				switch r.IntN(4) {
				case 0:
					b.Park(now, "why", []string{key()})
				case 1:
					b.Unpark(now, []string{key()})
				case 2:
					b.Drop(now, []string{key()})
				case 3:
					_, err := b.Settled(now, b.Position())
					require.NoError(t, err)
				}
			case 8:
				k := key()
				if s, ok := b.State(now, k); ok {
					b.Restore(now, k, s)
				}
			}
			b.verify(t, fmt.Sprintf("seed %d, step %d", seed, step))
		}
	}
}

// nameOf finds the key of a node among k0 … kn.
func (b *Book[R]) nameOf(n *node[R], of int) string {
	for i := range of {
		if key := fmt.Sprint("k", i); b.hash(key) == n.id {
			return key
		}
	}
	return ""
}

func (b *Book[R]) verify(t *testing.T, when string) {
	t.Helper()
	var waiting, leased, parked, bytes, parkedBytes, replacedBytes int64
	quiets := 0
	gens, held := map[uint32]int{}, map[queue.ID][2]int{}
	live := map[*reservation]int{}
	found := 0
	b.each(func(n *node[R], i int32) {
		found++
		require.Equal(t, i, b.findNode(n.id), when)
		sum := func(r *Rec[R]) { bytes += int64(r.Ref.Bytes()) }
		b.eachWaiting(n, sum)
		if n.waits() {
			waiting++
			if !n.isParked() {
				gens[n.gen]++
			}
		}
		if n.vacant() {
			quiets++
		}
		if m := n.more; m != nil {
			for j := range m.leased {
				sum(&m.leased[j])
			}
			for j := range m.parked {
				sum(&m.parked[j])
				parkedBytes += int64(m.parked[j].Ref.Bytes())
			}
			if m.replaced != nil {
				sum(m.replaced)
				replacedBytes += int64(m.replaced.Ref.Bytes())
			}
		}
		if n.isLeased() {
			leased++
			gens[n.more.leasedGen]++
			h := held[n.more.from.by.id]
			if h[0]++; n.isSuspect() {
				h[1]++
			}
			held[n.more.from.by.id] = h
			live[n.more.from]++
		}
		if n.isParked() {
			parked++
		}
		switch k, at := n.at.split(); {
		case n.isParked() && !n.isLeased():
			require.Equal(t, nowhere, n.at, when)
		default:
			require.NotEqual(t, nowhere, n.at, when)
			require.Equal(t, i, b.heapOf(k).items[at], when)
			require.Equal(t, n.isLeased(), k == inLeases, when)
		}
	})
	require.Equal(t, b.nodes.used, found, when)
	for kind := range kinds {
		h := b.heapOf(kind)
		for at := 1; at < len(h.items); at++ {
			require.False(t, b.before(h.kind, h.items[at], h.items[(at-1)/2]), when)
		}
	}
	require.Equal(t, [...]int64{waiting, leased, parked, bytes, parkedBytes, replacedBytes}, [...]int64{b.waiting, b.leased, b.parked, b.bytes, b.parkedBytes, b.replacedBytes}, when)
	require.Equal(t, quiets, b.quiets, when)
	require.Equal(t, gens, b.gens, when)
	require.Len(t, b.holders, len(held), when)
	for id, h := range b.holders {
		require.Equal(t, held[id], [2]int{h.leases, h.suspects}, when)
		require.True(t, h.company || h.leases == 1, when)
		require.False(t, h.company && h.alone, when)
	}
	require.Len(t, b.reservations, len(live), when)
	for r, n := range live {
		require.Equal(t, n, r.live, when)
	}
}

func TestPositionThatTheBookHasNotGivenIsNotSettled(t *testing.T) {
	b, now := New[at](time.Unix(1e9, 0)), time.Unix(1e9, 0)
	_, err := b.Settled(now, "?")
	require.ErrorContains(t, err, `malformed position "?"`)
	_, err = b.Settled(now, "zz")
	require.ErrorIs(t, err, queue.ErrLost)
	settled, err := b.Settled(now, b.Position())
	require.NoError(t, err)
	require.True(t, settled)
}

func TestMemoryOfAnEmptyBookIsGivenBack(t *testing.T) {
	b, now := New[at](time.Now()), time.Now()
	for i := range 10_000 {
		b.Append(now, []Change[at]{{Key: fmt.Sprint(i), Seq: b.NextSeq(1), Ref: at{length: 10}}})
	}
	token := queue.NewID()
	require.Len(t, b.Reserve(now, &queue.Want{Token: token, Keys: 10_000, Bytes: 1 << 20, For: time.Second}), 10_000)
	for i := range 10_000 {
		require.Empty(t, b.Settle(now, []queue.End{{Lease: queue.Lease{Key: fmt.Sprint(i), Token: token}, Fate: queue.Commit}}))
	}
	require.Empty(t, b.nodes.chunks)
	require.Zero(t, b.bytes)
}

// BenchmarkWaitingKeys measures time and memory of a waiting key.
func BenchmarkWaitingKeys(b *testing.B) {
	const keys = 1_000_000
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprintf("hotel-%08d", i)
	}
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		q, now := New[at](time.Now()), time.Now()
		for chunk := range slices.Chunk(names, 1000) {
			changes := make([]Change[at], len(chunk))
			first := q.NextSeq(len(chunk))
			for i, name := range chunk {
				changes[i] = Change[at]{Key: name, Ref: at{length: 650}, Seq: first + uint64(i), Replaces: true}
			}
			q.Append(now, changes)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/keys, "B/key")
		runtime.KeepAlive(q)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/key")
}
