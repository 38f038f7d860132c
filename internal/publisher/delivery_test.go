package publisher

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func delivered(outcomes ...Settlement[int, int]) *delivery[int, int] {
	d := &delivery[int, int]{}
	for i, end := range outcomes {
		d.add(end, ending{seq: uint64(i + 1), bytes: 10, node: none})
	}
	return d
}

func TestEachEndIsAccountedForOnce(t *testing.T) {
	type end = Settlement[int, int]
	d := delivered(end{Outcome: Completed}, end{Outcome: Failed}, end{Outcome: Failed, Purged: true}, end{Outcome: Failed, Withdrawn: true})
	s, given := Stats{}, CloseError{}
	items, bytes := d.account(&s, &given)
	assert.Equal(t, 4, items)
	assert.EqualValues(t, 40, bytes)
	items, bytes = d.account(&s, &given) // by the code that continues after a hook has ended the goroutine
	assert.Zero(t, items)
	assert.Zero(t, bytes)
	assert.Equal(t, Stats{Completed: 1, Failed: 3, Purged: 1, Withdrawn: 1}, s)
	d.add(end{Outcome: Unsent}, ending{bytes: 10})
	d.add(end{Outcome: Unsent, Unknown: true}, ending{bytes: 10})
	d.account(&s, &given)
	assert.Equal(t, Stats{Completed: 1, Failed: 3, Purged: 1, Withdrawn: 1, Unsent: 2}, s)
	assert.Equal(t, CloseError{Unsent: 1, Unknown: 1}, given)
}

// A Close that could not wait has reported unaccounted items as unknown.
func TestOnlyWhatIsNotAccountedForBecomesUnknown(t *testing.T) {
	type end = Settlement[int, int]
	d := delivered(end{Outcome: Completed})
	d.account(&Stats{}, &CloseError{})
	d.add(end{Outcome: Completed}, ending{})
	d.add(end{Outcome: Failed, Exhausted: true}, ending{})
	d.markUnknown()
	assert.Equal(t, end{Outcome: Completed}, d.settled[0])
	for _, end := range d.settled[1:] {
		assert.Equal(t, Unsent, end.Outcome)
		assert.True(t, end.Unknown)
		assert.False(t, end.Exhausted)
		assert.ErrorIs(t, end.Result.Err, ErrAbandoned)
	}
}

// The cursor is after the last reported item, wherever a hook ended the goroutine.
func TestTheCursorGoesOnBehindWhatWasReported(t *testing.T) {
	type end = Settlement[int, int]
	d := delivered(end{}, end{}, end{})
	d.reported()
	d.reported()
	assert.Equal(t, 2, d.next)
	assert.Len(t, d.settled, 3)
	d.reported()
	d.announced = true
	d.reset()
	assert.Equal(t, &delivery[int, int]{settled: d.settled, endings: d.endings, notified: 3}, d)
	assert.Empty(t, d.settled)
	assert.Empty(t, d.endings)
}
