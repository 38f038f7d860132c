package publisher

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestEveryFailureIsReportedOnceAndByAFlushThatCoversIt compares with a list of
// all actions and all flushes.
func TestEveryFailureIsReportedOnceAndByAFlushThatCoversIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fs flushes
		var accepted, told uint64
		unsettled := map[uint64]bool{}
		waiting := map[*flush]bool{}
		failedAt, reported := map[string]uint64{}, map[string]bool{}
		report := func(f failures, watermark uint64) {
			require.EqualValues(t, len(f.errors), f.count)
			for _, err := range f.errors {
				require.False(t, reported[err.Error()], "%v twice", err)
				require.LessOrEqual(t, failedAt[err.Error()], watermark)
				reported[err.Error()] = true
			}
		}
		covered := func(f *flush) bool {
			for seq := range unsettled {
				if seq <= f.watermark {
					return false
				}
			}
			return true
		}
		t.Repeat(map[string]func(*rapid.T){
			"accept": func(*rapid.T) { accepted++; unsettled[accepted] = true },
			"flush": func(*rapid.T) {
				f := &flush{watermark: accepted}
				fs.add(f, accepted-told)
				waiting[f] = true
			},
			"settle": func(t *rapid.T) {
				for seq := range unsettled {
					delete(unsettled, seq)
					told++
					var err error
					if rapid.Bool().Draw(t, "fails") {
						err = fmt.Errorf("action %d", seq)
						failedAt[err.Error()] = seq
					}
					fs.settled(seq, err, false)
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
					delete(waiting, f)
					if rapid.Bool().Draw(t, "gone") {
						fs.restore(&f.failed)
						continue
					}
					report(f.failed, f.watermark)
				}
				for f := range waiting {
					require.False(t, covered(f), "flush of %d still waits", f.watermark)
				}
			},
		})
		last := &flush{watermark: accepted}
		for seq := range unsettled {
			told++
			fs.settled(seq, nil, false)
		}
		fs.add(last, accepted-told)
		for f := fs.finished(); f != nil; f = fs.finished() {
			report(f.failed, f.watermark)
		}
		require.Empty(t, fs.waiting)
		require.Equal(t, len(failedAt), len(reported), "every failure was reported")
	})
}

func TestFailuresAreCountedBeyondTheHundredThatAreKept(t *testing.T) {
	var a, b failures
	for i := range 250 {
		a.add(errors.New("a"), i%2 == 0)
	}
	b.add(errors.New("b"), false)
	b.take(&a)
	require.EqualValues(t, 251, b.count)
	require.EqualValues(t, 125, b.unsent)
	require.Len(t, b.errors, keptErrors)
	require.EqualError(t, b.errors[0], "b")
	require.Zero(t, a.count)
}
