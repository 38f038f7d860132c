package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var polls = &RelayOptions{Poll: time.Second, idlePoll: time.Second}

// numbers returns these numbers for the first class.
func numbers(n int64) (of [classes]int64) {
	of[0] = n
	return of
}

func TestAReadGoesOnFromTheLastLookAndBackToWhatHasEnded(t *testing.T) {
	now := time.Now()
	p := progress{most: 10, fullAt: now.Add(time.Hour)}
	was := p.begin(now, time.Hour)
	require.Zero(t, was.after)
	open := map[string]int64{"a": 5}
	due := p.done(&answer{last: numbers(9), more: true, rows: make([]row, 9)}, &progress{floor: floor{last: 30, open: open}}, true, now, polls)
	require.Equal(t, now, due, "more rows are waiting")
	was = p.begin(now, time.Hour)
	require.Equal(t, numbers(9), was.after)
	require.False(t, was.back(30))
	due = p.done(&answer{last: numbers(20)}, &progress{floor: floor{last: 30, open: open}}, false, now, polls)
	require.Equal(t, now.Add(time.Second), due)
	require.True(t, p.dry)
	was = p.begin(now, time.Hour)
	for class, after := range was.after {
		require.EqualValues(t, 30, after, "class %d has no row up to 30, except of open transactions", class)
	}
	require.True(t, was.back(5), "a row above 5 may be visible now")
	require.EqualValues(t, 5, was.after[0])
	require.EqualValues(t, 5, p.begin(now.Add(2*time.Hour), time.Hour).known[0], "rows above it are not late")
}

// A writing transaction holds its lock before it draws a number.
func TestAFloorKnowsWhatATransactionMayHold(t *testing.T) {
	f := floor{last: 10}
	look := func(last int64, writers map[string]bool) int64 {
		from, _ := f.list(last, writers)
		return from
	}
	require.EqualValues(t, 10, look(20, map[string]bool{"long": false, "a": false}))
	require.EqualValues(t, 10, f.at())
	require.EqualValues(t, 10, look(30, map[string]bool{"long": false, "b": false}), "transaction a has ended")
	require.EqualValues(t, 20, f.open["b"])
	require.EqualValues(t, 20, look(40, map[string]bool{"long": false}), "b has")
	require.EqualValues(t, 40, look(50, map[string]bool{"long": false}))
	require.EqualValues(t, 10, look(60, map[string]bool{"prepared": true, "c": false}), "a prepared transaction may last long")
	require.EqualValues(t, 10, f.at())
	require.EqualValues(t, 50, f.open["c"])
	require.EqualValues(t, 10, look(70, nil))
	require.EqualValues(t, 70, f.at())
}

func TestAFullPassKnowsWhatItShouldNotFind(t *testing.T) {
	now := time.Now()
	p := progress{most: 10, fullAt: now.Add(time.Minute), after: numbers(7), seen: numbers(7), floor: floor{last: 7}}
	require.Equal(t, now.Add(time.Minute), p.done(&answer{last: numbers(7)}, &progress{floor: floor{last: 7}}, false, now, &RelayOptions{Poll: time.Hour}), "the row is not late")
	now = now.Add(time.Minute)
	was := p.begin(now, time.Minute)
	require.Zero(t, was.after)
	require.EqualValues(t, 7, was.known[0])
	p.done(&answer{last: numbers(3), more: true, rows: make([]row, 3)}, &progress{floor: floor{last: 7}}, false, now, polls)
	was = p.begin(now, time.Minute)
	require.Equal(t, numbers(3), was.after)
	require.EqualValues(t, 7, was.known[0], "the check of the known numbers continues")
	p.done(&answer{last: numbers(7)}, &progress{floor: floor{last: 7}}, false, now, polls)
	require.Zero(t, p.begin(now, time.Minute).known, "the check has ended")
}

func TestANewRangeIsReadFromTheBeginningAlsoIfItComesDuringARead(t *testing.T) {
	now := time.Now()
	p := progress{most: 10, fullAt: now.Add(time.Hour), after: numbers(7), seen: numbers(7), dry: true}
	p.begin(now, time.Hour)
	p.restart = true
	require.Equal(t, now, p.done(&answer{last: numbers(9)}, &progress{floor: floor{last: 9}}, true, now, polls), "the next read is due at once")
	require.False(t, p.dry)
	was := p.begin(now, time.Hour)
	require.Zero(t, was.after)
	require.Zero(t, was.seen)
	require.Zero(t, was.known, "all rows of the transaction are new")
}

func TestOneWhoIsWokenDuringAReadReadsAgain(t *testing.T) {
	now := time.Now()
	p := progress{most: 10, fullAt: now.Add(time.Hour)}
	p.begin(now, time.Hour)
	p.wokenAt = now.Add(time.Millisecond)
	later := now.Add(time.Second)
	require.Equal(t, later, p.done(&answer{}, new(progress), false, later, polls))
}

func TestTheSizeOfRowsDecidesHowManyAReadAsksFor(t *testing.T) {
	now := time.Now()
	p := progress{most: firstRead}
	p.done(&answer{more: true}, new(progress), false, now, polls)
	require.Equal(t, 2*firstRead, p.most)
	p.done(&answer{more: true, bytes: maxReadBytes, rows: make([]row, 8)}, new(progress), false, now, polls)
	require.Equal(t, 6, p.most)
	for range 20 {
		p.done(&answer{more: true}, new(progress), false, now, polls)
	}
	require.Equal(t, maxRead, p.most)
}
