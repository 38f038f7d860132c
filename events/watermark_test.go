package events_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/events"
)

// naiveMark keeps everything and scans all of it each time.
type naiveMark struct {
	begun []int64
	left  map[int64]int
	part  map[int64]bool // some of its actions have settled
	owes  bool           // some actions of owed were taken back
	owed  int64
	mark  int64
	ok    bool
}

func (m *naiveMark) begin(pos int64, n int) bool {
	if m.owes && pos > m.owed {
		return false
	}
	if m.owes && pos == m.owed {
		m.owes = false
		if last := len(m.begun) - 1; last >= 0 && m.begun[last] == pos {
			m.left[pos] += n
			return true
		}
	}
	if len(m.begun) > 0 && pos <= m.begun[len(m.begun)-1] {
		return false
	}
	m.begun = append(m.begun, pos)
	m.left[pos] = n
	delete(m.part, pos)
	return true
}

func (m *naiveMark) settle(pos int64) bool {
	if m.left[pos] == 0 {
		return false
	}
	m.left[pos]--
	m.part[pos] = true
	if m.owes && pos == m.owed && m.left[pos] == 0 {
		delete(m.left, pos)
		m.begun = m.begun[:len(m.begun)-1]
	}
	return true
}

func (m *naiveMark) forget(from int64, refused int) (forgotten int) {
	n := m.left[from] - refused
	switch {
	case n > 0 && refused == 0:
		return m.cut(from + 1)
	case n > 0:
		forgotten = m.cut(from)
		m.begun, m.left[from], m.owes, m.owed = append(m.begun, from), n, true, from
		return forgotten
	case refused > 0 && m.left[from] > 0 && m.part[from]:
		m.owes, m.owed = true, from
	}
	return m.cut(from)
}

// cut takes back the unsettled positions from the given one on.
func (m *naiveMark) cut(from int64) (forgotten int) {
	cut := len(m.begun)
	for i := len(m.begun) - 1; i >= 0 && m.begun[i] >= from; i-- {
		if m.left[m.begun[i]] > 0 {
			cut = i
			forgotten++
		}
	}
	for _, pos := range m.begun[cut:] {
		delete(m.left, pos)
	}
	m.begun = m.begun[:cut]
	return forgotten
}

// look returns the mark, the oldest unsettled position, and the number of open positions.
func (m *naiveMark) look() (oldest int64, held bool, open int) {
	for _, pos := range m.begun {
		if m.left[pos] > 0 {
			if !held {
				oldest, held = pos, true
			}
			open++
		} else if !held {
			m.mark, m.ok = pos, true
		}
	}
	return oldest, held, open
}

func TestMarkIsTheEndOfTheSettledPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w events.LowWatermark[int64]
		model := naiveMark{left: map[int64]int{}, part: map[int64]bool{}}
		next := rapid.SampledFrom([]int64{math.MinInt64, -3, 0, 1 << 40}).Draw(t, "start")
		advanced := w.Advanced()
		var reported int64
		reportedOK := false
		inOrder := rapid.Bool().Draw(t, "mostly in order")
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			switch op := rapid.IntRange(0, 20).Draw(t, "op"); {
			case op < 9:
				n := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 3, 0}).Draw(t, "n")
				require.Equal(t, model.begin(next, n), w.BeginN(next, n) == nil)
				next += rapid.SampledFrom([]int64{1, 1, 1, 2, 1000}).Draw(t, "gap")
			case op == 9: // not above the last
				if len(model.begun) == 0 {
					continue
				}
				pos := rapid.SampledFrom(model.begun).Draw(t, "again")
				if model.owes && pos == model.owed {
					continue
				}
				require.ErrorIs(t, w.Begin(pos), events.ErrPositionOrder)
			case op < 19:
				if len(model.begun) == 0 {
					continue
				}
				last := len(model.begun) - 1
				if oldest, held, _ := model.look(); inOrder && held && op < 17 {
					require.Equal(t, model.settle(oldest), w.Settle(oldest))
					continue
				}
				pos := rapid.SampledFrom(model.begun[max(0, last-40):]).Draw(t, "settle")
				require.Equal(t, model.settle(pos), w.Settle(pos))
			case op == 19:
				require.Equal(t, model.settle(next), w.Settle(next), "never begun, or owed")
			default:
				from := next - rapid.SampledFrom([]int64{0, 1, 2, 3, 10, 100_000}).Draw(t, "from")
				if from > next {
					from = math.MinInt64 // it has overflowed
				}
				if n := len(model.begun); n > 0 && rapid.Bool().Draw(t, "the last one") {
					from = model.begun[n-1]
				}
				refused := rapid.IntRange(0, 3).Draw(t, "refused")
				require.Equal(t, model.forget(from, refused), w.Forget(from, refused))
				if n := len(model.begun); model.owes && rapid.Bool().Draw(t, "begin it again") {
					next = model.owed
				} else if n > 0 {
					next = max(model.begun[n-1]+1, from)
				} else {
					next = from
				}
			}
			oldest, held, open := model.look()
			mark, ok := w.Mark()
			require.Equal(t, []any{model.mark, model.ok}, []any{mark, ok}, "mark")
			gotOldest, gotHeld := w.Oldest()
			require.Equal(t, []any{oldest, held, open}, []any{gotOldest, gotHeld, w.Outstanding()})
			if rapid.Bool().Draw(t, "receive") {
				moved := ok && (!reportedOK || mark != reported)
				select {
				case <-advanced:
					require.True(t, moved, "a message, and the mark has not moved")
				default:
					require.False(t, moved, "the mark has moved, and no message")
				}
				reported, reportedOK = mark, ok
			}
		}
	})
}

// Two of three documents of a message are refused. The third one is in flight and settles only itself.
func TestForgetOfAPositionThatActionsShareKeepsTheMarkBelowIt(t *testing.T) {
	for name, c := range map[string]struct {
		settledBefore, again int
	}{
		"the two are added again":                           {0, 2},
		"all three are added again":                         {0, 3},
		"the two, when the accepted one has settled before": {1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var w events.LowWatermark[int64]
			require.NoError(t, w.BeginN(7, 0))
			require.NoError(t, w.BeginN(8, 3))
			require.NoError(t, w.BeginN(9, 1))
			for range c.settledBefore {
				require.True(t, w.Settle(8))
			}
			require.Equal(t, 2, w.Forget(8, 2))
			require.NoError(t, w.BeginN(8, c.again))
			for range 1 - c.settledBefore + c.again {
				mark, _ := w.Mark()
				require.EqualValues(t, 7, mark)
				require.True(t, w.Settle(8))
			}
			mark, _ := w.Mark()
			require.EqualValues(t, 8, mark)
			require.False(t, w.Settle(8))
		})
	}
	t.Run("nothing is added again before the accepted one has settled", func(t *testing.T) {
		var w events.LowWatermark[int64]
		require.NoError(t, w.BeginN(8, 3))
		require.Equal(t, 1, w.Forget(8, 2))
		require.True(t, w.Settle(8))
		_, marked := w.Mark()
		require.False(t, marked)
		require.Zero(t, w.Outstanding())
		require.NoError(t, w.BeginN(8, 2))
	})
}

// Two of three documents of a message are refused, and the program goes on with the next message.
func TestAPositionOfRefusedActionsIsNotPassedUnnoticed(t *testing.T) {
	for name, settled := range map[string]bool{"the accepted one is on its way": false, "the accepted one has settled": true} {
		t.Run(name, func(t *testing.T) {
			var w events.LowWatermark[int64]
			require.NoError(t, w.BeginN(7, 0))
			require.NoError(t, w.BeginN(8, 3))
			require.Equal(t, 1, w.Forget(8, 2))
			if settled {
				require.True(t, w.Settle(8))
			}
			for range 2 {
				require.ErrorIs(t, w.Begin(9), events.ErrPositionOrder)
			}
			mark, _ := w.Mark()
			require.EqualValues(t, 7, mark)
			require.NoError(t, w.BeginN(8, 0), "the program gives them up")
			require.Equal(t, !settled, w.Settle(8))
			require.NoError(t, w.BeginN(9, 0))
			mark, _ = w.Mark()
			require.EqualValues(t, 9, mark)
		})
	}
}

func TestPositionsMayBeUnsigned(t *testing.T) {
	type lsn uint64
	var w events.LowWatermark[lsn]
	require.NoError(t, w.Begin(math.MaxUint64-1))
	require.NoError(t, w.Begin(math.MaxUint64))
	require.ErrorIs(t, w.Begin(0), events.ErrPositionOrder)
	require.True(t, w.Settle(math.MaxUint64-1))
	mark, ok := w.Mark()
	require.True(t, ok)
	require.Equal(t, lsn(math.MaxUint64-1), mark)
}

func TestPositionOfNoActionsIsSettled(t *testing.T) {
	var w events.LowWatermark[int64]
	require.NoError(t, w.BeginN(7, 0))
	mark, ok := w.Mark()
	require.True(t, ok)
	require.EqualValues(t, 7, mark)
	require.ErrorContains(t, w.BeginN(8, -1), "-1 actions")
	require.NoError(t, w.Begin(8), "the refused call has changed nothing")
}

func TestWhoeverAsksLateForAdvancedHearsOfTheMark(t *testing.T) {
	var w events.LowWatermark[int64]
	require.Empty(t, w.Advanced())
	require.NoError(t, w.BeginN(1, 0))
	require.Len(t, w.Advanced(), 1)

	var late events.LowWatermark[int64]
	require.NoError(t, late.BeginN(1, 0))
	require.Len(t, late.Advanced(), 1)
	require.Equal(t, late.Advanced(), late.Advanced())
}

// One goroutine begins positions and several settle them in any order. A reader never sees an unsettled position at
// or below the mark, nor a mark that moves back.
func TestMarkIsNeverAboveWhatIsOpenConcurrentSafe(t *testing.T) {
	const positions, settlers = 20_000, 4
	var w events.LowWatermark[int64]
	var settled [positions]atomic.Bool
	work := make(chan int64, 300)
	var all sync.WaitGroup
	for settler := range uint64(settlers) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, settler))
			var mine []int64
			flush := func() {
				random.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
				for _, pos := range mine {
					settled[pos].Store(true)
					if !w.Settle(pos) {
						t.Errorf("%d was not on its way", pos)
					}
				}
				mine = mine[:0]
			}
			for pos := range work {
				if mine = append(mine, pos); len(mine) == 50 {
					flush()
				}
			}
			flush()
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		last := int64(-1)
		for last < positions-1 {
			<-w.Advanced()
			mark, ok := w.Mark()
			if !assert.True(t, ok) || !assert.GreaterOrEqual(t, mark, last) {
				return
			}
			for pos := last + 1; pos <= mark; pos++ {
				if !settled[pos].Load() {
					t.Errorf("the mark is %d, and %d is not settled", mark, pos)
				}
			}
			last = mark
		}
	}()
	for pos := range int64(positions) {
		assert.NoError(t, w.Begin(pos))
		work <- pos
	}
	close(work)
	all.Wait()
	<-done
	require.Zero(t, w.Outstanding())
}

func BenchmarkLowWatermark(b *testing.B) {
	for name, window := range map[string]int64{"in order": 1, "1000 outstanding": 1000, "32768 outstanding": 32768} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var w events.LowWatermark[int64]
			shuffled := rand.New(rand.NewPCG(1, 2)).Perm(int(window))
			next, i := int64(0), len(shuffled)
			base := int64(0)
			for b.Loop() { // one position begun, one settled
				if i == len(shuffled) {
					base, i = next, 0
					for range window {
						_ = w.Begin(next)
						next++
					}
				}
				w.Settle(base + int64(shuffled[i]))
				i++
			}
		})
	}
	// A failed position holds the mark while millions of others are settled.
	b.Run("held", func(b *testing.B) {
		b.ReportAllocs()
		var w events.LowWatermark[int64]
		_ = w.Begin(0)
		next := int64(1)
		for b.Loop() {
			_ = w.Begin(next)
			w.Settle(next)
			next++
		}
	})
}

// One document of message 8 was accepted and settles before Forget takes the two others back.
func TestMarkDoesNotPassWhatWasRefusedAfterTheRestHasSettled(t *testing.T) {
	var w events.LowWatermark[int64]
	require.NoError(t, w.BeginN(7, 0))
	require.NoError(t, w.BeginN(8, 3))
	require.True(t, w.Settle(8))
	w.Forget(8, 2)
	require.ErrorIs(t, w.Begin(9), events.ErrPositionOrder)
	require.NoError(t, w.BeginN(8, 2))
	require.NoError(t, w.Begin(9))
	require.True(t, w.Settle(9))
	mark, _ := w.Mark()
	assert.EqualValues(t, 7, mark)
	require.True(t, w.Settle(8))
	require.True(t, w.Settle(8))
	mark, _ = w.Mark()
	assert.EqualValues(t, 9, mark)
}
