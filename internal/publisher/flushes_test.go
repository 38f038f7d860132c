package publisher

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestEveryFailureIsReportedToEveryFlushThatWaitedForIt compares with a list of all actions and flushes. Failures
// that no flush received go to the next one.
func TestEveryFailureIsReportedToEveryFlushThatWaitedForIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fs flushes
		var accepted, told, news uint64
		unsettled := map[uint64]bool{}
		waiting := map[*flush]map[string]bool{} // by flush: the failed items that it waited for
		failedAt, reported := map[string]uint64{}, map[string]bool{}
		deliver := func(f *flush) {
			result, n := fs.deliver(f)
			news += n
			require.EqualValues(t, len(result.errors), result.count)
			given := map[string]bool{}
			for _, err := range result.errors {
				name := err.Error()
				require.False(t, given[name], "%v twice", name)
				require.LessOrEqual(t, failedAt[name], f.watermark)
				require.True(t, waiting[f][name] || !reported[name], "%v, which another flush was given", name)
				given[name], reported[name] = true, true
			}
			for name := range waiting[f] {
				require.True(t, given[name], "%v is missing", name)
			}
			delete(waiting, f)
		}
		covered := func(f *flush) bool {
			for seq := range unsettled {
				if seq <= f.watermark {
					return false
				}
			}
			return true
		}
		waiters := 0 // failures that a waiter of the action received
		t.Repeat(map[string]func(*rapid.T){
			"accept": func(*rapid.T) { accepted++; unsettled[accepted] = true },
			"flush": func(*rapid.T) {
				f := &flush{watermark: accepted}
				fs.add(f, accepted-told)
				waiting[f] = map[string]bool{}
			},
			"settle": func(t *rapid.T) {
				for seq := range unsettled {
					delete(unsettled, seq)
					told++
					var err error
					byWaiter := false
					if rapid.Bool().Draw(t, "fails") {
						err = fmt.Errorf("action %d", seq)
						failedAt[err.Error()] = seq
						if byWaiter = rapid.Bool().Draw(t, "waiter"); byWaiter {
							reported[err.Error()] = true
							waiters++
						}
						for f, its := range waiting {
							if seq <= f.watermark {
								its[err.Error()] = true
							}
						}
					}
					fs.settled(seq, err, ended{}, byWaiter)
					return
				}
			},
			"give up": func(*rapid.T) {
				for f := range waiting {
					delete(waiting, f)
					fs.drop(f)
					return
				}
			},
			"release": func(t *rapid.T) {
				for f := fs.finished(); f != nil; f = fs.finished() {
					require.True(t, covered(f), "released with actions before %d unsettled", f.watermark)
					if rapid.Bool().Draw(t, "gone") {
						delete(waiting, f)
						fs.restore(f)
						continue
					}
					deliver(f)
				}
				for f := range waiting {
					require.False(t, covered(f), "flush of %d still waits", f.watermark)
				}
			},
		})
		last := &flush{watermark: accepted}
		for seq := range unsettled {
			told++
			fs.settled(seq, nil, ended{}, false)
		}
		fs.add(last, accepted-told)
		for f := fs.finished(); f != nil; f = fs.finished() {
			deliver(f)
		}
		require.Empty(t, fs.waiting)
		require.Empty(t, fs.log)
		require.Equal(t, len(failedAt), len(reported), "every failure was reported")
		require.Equal(t, len(failedAt), int(news)+waiters, "each failure was counted once")
	})
}

func TestFailuresAreCountedBeyondTheHundredThatAreKept(t *testing.T) {
	var a, b failures
	for i := range 250 {
		a.add(errors.New("a"), ended{unsent: i%2 == 0, withdrawn: i%5 == 0})
	}
	b.add(errors.New("b"), ended{})
	b.take(&a)
	require.EqualValues(t, 251, b.count)
	require.EqualValues(t, 125, b.unsent)
	require.EqualValues(t, 50, b.withdrawn)
	require.Len(t, b.errors, keptErrors)
	require.EqualError(t, b.errors[0], "b")
	require.Zero(t, a.count)
}
