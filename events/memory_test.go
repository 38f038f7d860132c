package events

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An unhandled failure may hold the mark for days while the program continues.
func TestHeldMarkCostsNoMemory(t *testing.T) {
	var w LowWatermark[int64]
	require.NoError(t, w.Begin(0))
	for pos := int64(1); pos < 50_000; pos++ {
		require.NoError(t, w.Begin(pos))
		require.True(t, w.Settle(pos))
		require.LessOrEqual(t, cap(w.begun), 2048)
	}
	require.True(t, w.Settle(0))
	mark, _ := w.Mark()
	require.EqualValues(t, 49_999, mark)
}

func TestMemoryOfAPeakIsGivenBack(t *testing.T) {
	var w LowWatermark[int64]
	const peak = 30_000
	for pos := range int64(peak) {
		require.NoError(t, w.Begin(pos))
	}
	for pos := int64(peak - 1); pos >= 0; pos-- { // the mark moves only at the end
		require.True(t, w.Settle(pos))
		require.LessOrEqual(t, len(w.begun), 2*w.open+32)
		require.LessOrEqual(t, cap(w.begun), 8*w.open+2048, "with %d outstanding", w.open)
	}
	require.LessOrEqual(t, cap(w.begun), 1024)
	mark, _ := w.Mark()
	require.EqualValues(t, peak-1, mark)
}

func TestQueueGivesUpWhatItHandedOut(t *testing.T) {
	q := fifo[*int]{keep: 1024}
	one := 1
	for range 10 {
		for range 100 {
			q.push(&one)
		}
		for range 99 { // never quite empty
			_, ok := q.pop()
			require.True(t, ok)
		}
	}
	require.LessOrEqual(t, cap(q.items), 512)
	require.Equal(t, 10, q.len())
	alive := 0
	for _, p := range q.items[:cap(q.items)] {
		if p != nil {
			alive++
		}
	}
	require.Equal(t, 10, alive)
}

func TestEmptyQueueGivesThePeakBack(t *testing.T) {
	q := fifo[int]{keep: 1024}
	for range 2 {
		for i := range 10_000 {
			q.push(i)
		}
		for i := range 10_000 {
			got, ok := q.pop()
			require.True(t, ok)
			require.Equal(t, i, got)
		}
		require.LessOrEqual(t, cap(q.items), 1024)
	}
}
