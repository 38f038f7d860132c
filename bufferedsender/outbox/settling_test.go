package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// holding returns ranges of which the first n are held.
func holding(n int) *holds {
	h := new(holds)
	for i := range n {
		h.extend(i, 1, time.Now().Add(time.Hour))
	}
	return h
}

func TestWhatCannotBeDeletedWaitsUnlessItsLeaseHasEnded(t *testing.T) {
	h := holding(3)
	s := settling{
		done: []row{{seq: 1, part: 0}, {seq: 2, part: 1}, {seq: 3, part: 2}}, tried: []row{{seq: 5, part: 2}},
	}
	f := s.begin(h, time.Now())
	require.Zero(t, s.left())
	require.Equal(t, []any{int64(0), int64(1), int64(2)}, f.parts)
	require.True(t, s.has(1), "the row is being deleted")
	h.lose(1)
	h.lose(2)
	h.extend(2, 2, time.Now().Add(time.Hour))
	s.done = []row{{seq: 9, part: 2}} // of the new lease
	s.failed(h)
	require.Equal(t, []row{{seq: 1, part: 0}, {seq: 9, part: 2}}, s.done)
	require.Empty(t, s.tried)
	require.False(t, s.has(1))
}

func TestADeletionReliesOnTheLeasesOfItsRows(t *testing.T) {
	h := holding(4)
	s := settling{done: []row{{part: 1}}, dead: []letter{{row: row{part: 2}}}, tried: []row{{part: 3}, {part: 60}}}
	f := s.begin(h, time.Now())
	require.Equal(t, []any{int64(1), int64(2), int64(3)}, f.parts, "ranges 1 to 3; the lease of range 60 has ended")
	require.Equal(t, []any{int64(1), int64(1), int64(1)}, f.epochs)
}

func TestBodiesOfDeadLettersCountUntilTheyAreWritten(t *testing.T) {
	s := settling{dead: []letter{{row: row{body: make([]byte, 10)}}, {row: row{body: make([]byte, 5)}}}}
	require.EqualValues(t, 15, s.bytes())
	s.begin(holding(1), time.Now())
	require.Zero(t, s.bytes())
}

func TestARangeIsGivenBackWithTheTimeThatACutRequestOfItMayTake(t *testing.T) {
	now := time.Now()
	h := holding(2)
	h.unknownWait = 10 * time.Second
	of := h.parts[0].lease
	h.cut(of, now.Add(-4*time.Second))
	h.give(0, now)
	h.give(1, now)
	require.Equal(t, []gift{{0, 1, 6 * time.Second}, {1, 1, 0}}, h.gifts)
	require.True(t, of.GoesBack())
	h.extend(0, 3, now.Add(time.Hour))
	h.give(0, now)
	require.Equal(t, 6*time.Second, h.gifts[2].wait, "it may still be applied")
	h.cut(of, now)
	h.extend(0, 5, now.Add(time.Hour))
	h.give(0, now)
	require.Equal(t, 10*time.Second, h.gifts[3].wait, "the outcome came after the end of the lease")
}

func TestARangeThatIsDrainedIsNotKeptByARenewal(t *testing.T) {
	h := holding(2)
	h.drain(0)
	require.True(t, h.withdraw)
	h.parts[1].lease.GiveBack()
	h.extend(0, 1, time.Now().Add(time.Hour))
	h.extend(1, 1, time.Now().Add(time.Hour))
	require.True(t, h.parts[0].lease.GoesBack())
	require.False(t, h.parts[1].lease.GoesBack(), "the lease was only about to expire")
}

func TestFlightsThatWereForgottenAreNotTaken(t *testing.T) {
	e := &entry{}
	var s flights
	s.next[kindLoad] = []*flight{{entry: e, seq: 1}, {made: 7}, {entry: e, seq: 2}, {entry: e, seq: 3}}
	s.made, s.offered = 7, 5
	require.Equal(t, 9, s.planned())
	taken := s.cut(kindLoad, 2)
	require.Len(t, taken, 2)
	require.EqualValues(t, 2, taken[1].seq)
	require.Zero(t, s.made)
	s.putBack(kindLoad, taken[1:])
	require.EqualValues(t, 2, s.next[kindLoad][0].seq)
	require.Len(t, s.next[kindLoad], 2)
	require.True(t, s.sending())
}
