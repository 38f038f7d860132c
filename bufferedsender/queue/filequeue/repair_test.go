package filequeue

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

func TestRepairNamesTheFirstSegmentThatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		for i := 0; q.log.head().number < 3; i++ {
			r := upload(fmt.Sprint("key", i), i)
			r.Body = append(r.Body, strings.Repeat("x", 3000)...)
			require.NoError(t, a.append(t.Context(), r))
			synctest.Wait()
		}
		require.NoError(t, q.Close())
		require.NoError(t, d.Remove(segmentName(1)))
		report, err := repair(d, Options{SegmentBytes: minSegment})
		require.NoError(t, err)
		require.Equal(t, []string{segmentName(1)}, report.Missing)
	})
}

func TestACallIsKnownAfterARepair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		for i := 0; q.log.head().number < 3; i++ {
			r := merge("a", i)
			r.Body = append(r.Body, strings.Repeat("x", 3000)...)
			require.NoError(t, a.append(t.Context(), r))
			synctest.Wait()
		}
		require.NoError(t, q.Close())
		require.NoError(t, d.Remove(segmentName(2)))
		_, err := repair(d, Options{SegmentBytes: minSegment})
		require.NoError(t, err)
		q = mustOpen(t, d, &Options{SegmentBytes: minSegment})
		n := len(contents(t, q)["a"])
		a.q, a.number = q, a.number-1
		require.NoError(t, a.append(t.Context(), merge("a", 0)))
		require.Len(t, contents(t, q)["a"], n)
		require.NoError(t, q.Close())
	})
}

// A Repair that crashes at any disk operation can be repeated with the same result.
func TestARepairThatCrashesAnywhereIsDoneAgain(t *testing.T) {
	for _, damage := range []string{"flip", "first", "middle"} {
		var whole map[string][]string
		for at := 0; ; at++ {
			ended := false
			synctest.Test(t, func(t *testing.T) {
				d := disktest.New()
				q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
				a := newAdder(q)
				for i := 0; q.log.head().number < 4; i++ {
					r := merge(fmt.Sprint("key", i%7), i)
					r.Body = append(r.Body, strings.Repeat("x", 3000)...)
					require.NoError(t, a.append(t.Context(), r))
					synctest.Wait()
				}
				require.NoError(t, q.Close())
				switch damage {
				case "flip":
					b := []byte(d.Files()[segmentName(2)])
					b[5000] ^= 1
					d.Put(segmentName(2), string(b))
				case "first":
					require.NoError(t, d.Remove(segmentName(1)))
				case "middle":
					require.NoError(t, d.Remove(segmentName(2)))
				}
				require.NoError(t, d.SyncNames())
				left := at
				d.Fail = func(string, string) error {
					if left--; left == 0 {
						return disktest.ErrDisk
					}
					if left < 0 && at > 0 {
						return disktest.ErrDisk
					}
					return nil
				}
				_, err := repair(d, Options{SegmentBytes: minSegment})
				ended = err == nil && at > 0
				r := seeded(uint64(at))
				d.Crash(func(_ string, n int) int { return r.IntN(n) })
				if err != nil {
					_, err = repair(d, Options{SegmentBytes: minSegment})
					require.NoError(t, err, "%s %d", damage, at)
				}
				q = mustOpen(t, d, &Options{SegmentBytes: minSegment})
				now := contents(t, q)
				if at == 0 {
					whole = now
				}
				require.Equal(t, whole, now, "%s %d", damage, at)
				require.NoError(t, q.Close())
			})
			if ended || t.Failed() {
				t.Log(damage, at)
				break
			}
		}
	}
}
