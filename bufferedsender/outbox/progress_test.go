package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var polls = &RelayOptions{Poll: time.Second, idlePoll: time.Second}

// numbers are those of the first class.
func numbers(n int64) (of [classes]int64) {
	of[0] = n
	return of
}

func TestReadingGoesOnFromTheFloorAndNotFromWhatWasRead(t *testing.T) {
	now := time.Now()
	p := progress{most: 10, fullAt: now.Add(time.Hour)}
	was := p.begin(now, time.Hour)
	require.Zero(t, was.after)
	due := p.done(&answer{last: numbers(9), more: true, rows: make([]row, 9)}, floor{at: 5, waitFor: map[string]bool{"a": true}}, true, now, polls)
	require.Equal(t, now, due, "there is more")
	was = p.begin(now, time.Hour)
	require.Equal(t, numbers(5), was.after, "a row up to 9 may still become visible")
	require.Equal(t, numbers(9), was.seen)
	due = p.done(&answer{last: numbers(9)}, floor{at: 9}, false, now, polls)
	require.Equal(t, now.Add(time.Second), due)
	require.True(t, p.dry)
	require.Equal(t, numbers(9), p.begin(now, time.Hour).after)
}

func TestAFullPassKnowsWhatItShouldNotFind(t *testing.T) {
	now := time.Now()
	p := progress{most: 10, fullAt: now.Add(time.Minute), after: numbers(7), seen: numbers(7), floor: floor{at: 7}}
	require.Equal(t, now.Add(time.Minute), p.done(&answer{last: numbers(7)}, floor{at: 7}, false, now, &RelayOptions{Poll: time.Hour}), "it is not late")
	now = now.Add(time.Minute)
	was := p.begin(now, time.Minute)
	require.Zero(t, was.after)
	require.Equal(t, numbers(7), was.known)
	p.done(&answer{last: numbers(3), more: true, rows: make([]row, 3)}, floor{at: 7}, false, now, polls)
	was = p.begin(now, time.Minute)
	require.Equal(t, numbers(3), was.after)
	require.Equal(t, numbers(7), was.known, "it goes on")
	p.done(&answer{last: numbers(7)}, floor{at: 7}, false, now, polls)
	require.Zero(t, p.begin(now, time.Minute).known, "it has ended")
}

func TestANewRangeIsReadFromTheBeginningAlsoIfItComesDuringARead(t *testing.T) {
	now := time.Now()
	p := progress{most: 10, fullAt: now.Add(time.Hour), after: numbers(7), seen: numbers(7), dry: true}
	p.begin(now, time.Hour)
	p.restart = true
	require.Equal(t, now, p.done(&answer{last: numbers(9)}, floor{at: 9}, true, now, polls), "at once")
	require.False(t, p.dry)
	was := p.begin(now, time.Hour)
	require.Zero(t, was.after)
	require.Zero(t, was.seen)
	require.Zero(t, was.known, "all of its rows are new")
}

func TestOneWhoIsWokenDuringAReadReadsAgain(t *testing.T) {
	now := time.Now()
	p := progress{most: 10, fullAt: now.Add(time.Hour)}
	p.begin(now, time.Hour)
	p.wokenAt = now.Add(time.Millisecond)
	later := now.Add(time.Second)
	require.Equal(t, later, p.done(&answer{}, floor{}, false, later, polls))
}

func TestTheSizeOfRowsDecidesHowManyAReadAsksFor(t *testing.T) {
	now := time.Now()
	p := progress{most: firstRead}
	p.done(&answer{more: true}, floor{}, false, now, polls)
	require.Equal(t, 2*firstRead, p.most)
	p.done(&answer{more: true, bytes: maxReadBytes, rows: make([]row, 8)}, floor{}, false, now, polls)
	require.Equal(t, 6, p.most)
	for range 20 {
		p.done(&answer{more: true}, floor{}, false, now, polls)
	}
	require.Equal(t, maxRead, p.most)
}
