package filequeue

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// livedIn returns the files of a queue to which keys were appended, as a killed process leaves them, and the end of its
// log.
func livedIn(t *testing.T, segments uint32) (files map[string]string, keys int, end position) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		for q.log.head().number < segments || q.log.head().used < 6000 {
			keys++
			r := upload(fmt.Sprint("key", keys), 1)
			r.Body = append(r.Body, strings.Repeat("x", 1500)...)
			require.NoError(t, a.append(t.Context(), r))
			synctest.Wait()
		}
		files, end = d.Files(), q.log.end()
		require.NoError(t, q.Close())
	})
	return files, keys, end
}

func diskOf(files map[string]string) *disktest.Disk {
	d := disktest.New()
	for name, content := range files {
		d.Put(name, content)
	}
	return d
}

// damages are what a bad copy, a restore or a disk that lies about syncs leaves of a log that ends at a position.
func damages(end position) map[string]func(files map[string]string) {
	head, before := segmentName(end.segment), segmentName(end.segment-1)
	zero := func(b string, from int) string { return b[:from] + strings.Repeat("\x00", len(b)-from) }
	return map[string]func(map[string]string){
		"cut":                  func(f map[string]string) { f[head] = f[head][:end.offset-1700] },
		"one byte cut":         func(f map[string]string) { f[head] = f[head][:end.offset-1] },
		"zeroed":               func(f map[string]string) { f[head] = zero(f[head], int(end.offset)-1700) },
		"one flipped bit":      func(f map[string]string) { f[head] = f[head][:end.offset-9] + "!" + f[head][end.offset-8:] },
		"a header alone":       func(f map[string]string) { f[head] = zero(f[head], headerSize) },
		"a segment of zeros":   func(f map[string]string) { f[head] = zero(f[head], 0) },
		"an empty segment":     func(f map[string]string) { f[head] = "" },
		"no last segment":      func(f map[string]string) { delete(f, head) },
		"two segments too few": func(f map[string]string) { delete(f, head); delete(f, before) },
	}
}

// A log that has lost its end looks like one that was cut in a crash. The mark says that it was synced.
func TestASyncedEndThatIsGoneIsRefusedCountedAndGivenUpByRepair(t *testing.T) {
	files, keys, end := livedIn(t, 3)
	for name, damage := range damages(end) {
		t.Run(name, func(t *testing.T) {
			d := diskOf(files)
			left := d.Files()
			delete(left, segmentName(end.segment+1)) // the next one, which is empty
			damage(left)
			synctest.Test(t, func(t *testing.T) {
				for _, o := range []*Options{{SegmentBytes: minSegment}, {ReadOnly: true}} {
					_, err := openDisk(diskOf(left), o)
					var corrupt *CorruptError
					require.ErrorAs(t, err, &corrupt)
					require.ErrorContains(t, err, "appended records are missing")
				}
				d := diskOf(left)
				_, err := openDisk(d, &Options{SegmentBytes: minSegment})
				require.Error(t, err)
				require.Equal(t, left, d.Files(), "nothing was truncated")
				report, err := repair(d, Options{SegmentBytes: minSegment})
				require.NoError(t, err)
				require.Positive(t, report.Broken)
				require.Positive(t, int(report.Dropped)+len(report.Missing))
				for range 2 {
					q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
					has := contents(t, q)
					require.Len(t, has, report.Keys)
					require.Less(t, report.Keys, keys)
					require.NoError(t, q.Close())
				}
				again, err := repair(d, Options{SegmentBytes: minSegment})
				require.NoError(t, err)
				require.Zero(t, again)
			})
		})
	}
}

func TestTheRecordsThatAreMissingAreCounted(t *testing.T) {
	files, _, end := livedIn(t, 1)
	left := diskOf(files).Files()
	left[segmentName(1)] = left[segmentName(1)][:end.offset-1700] // a frame has about 1640 bytes
	_, err := openDisk(diskOf(left), &Options{SegmentBytes: minSegment})
	require.ErrorContains(t, err, fmt.Sprintf("was synced up to %s byte %d; 2 appended records are missing", segmentName(1), end.offset))
}

func TestAQueueWhoseLogFilesAreAllGoneIsNotANewOne(t *testing.T) {
	files, keys, end := livedIn(t, 2)
	for empty := range uint32(3) {
		synctest.Test(t, func(t *testing.T) {
			d := diskOf(map[string]string{markName: files[markName]})
			message, lost := "all log files are missing; the last one was "+segmentName(2), RepairReport{Missing: []string{segmentName(2)}, Broken: 1}
			if empty > 0 {
				d.Put(segmentName(empty), "")
				message = segmentName(empty) + " at byte 0: the log ends here"
				lost = RepairReport{Damaged: []string{damagedName(empty)}, Dropped: int64(end.offset), Broken: 1}
			}
			if empty == 1 {
				lost.Missing, lost.Dropped, lost.Broken = []string{segmentName(2)}, headerSize+frameHeader+8, 2
			}
			_, err := openDisk(d, nil)
			require.ErrorAs(t, err, new(*CorruptError))
			require.ErrorContains(t, err, message)
			require.ErrorContains(t, err, fmt.Sprintf("%d appended records are missing", keys))
			report, err := repair(d, Options{SegmentBytes: minSegment})
			require.NoError(t, err)
			require.Equal(t, lost, report)
			q := mustOpen(t, d, nil)
			require.Empty(t, contents(t, q))
			require.NoError(t, q.Close())
		})
	}
}

// Each mark that can be next to a log without a fault of the disk is accepted.
func TestAMarkThatIsOlderAbsentTornOrOfAnotherLogIsNoDamage(t *testing.T) {
	files, keys, _ := livedIn(t, 3)
	older, _, _ := livedIn(t, 2)
	torn := []byte(files[markName])
	torn[20] ^= 1
	mark := map[string]string{"another": older[markName], "torn": string(torn), "zeros": strings.Repeat("\x00", 512), "short": "az", "none": ""}
	synctest.Test(t, func(t *testing.T) {
		for name, content := range mark {
			d := diskOf(files)
			if d.Put(markName, content); name == "none" {
				require.NoError(t, d.Remove(markName))
			}
			q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
			require.Len(t, contents(t, q), keys, name)
			require.NoError(t, q.Close())
			at, err := disk.ReadMark(d, markName)
			require.NoError(t, err)
			require.EqualValues(t, q.log.synced.segment, at.Segment, name)
			require.EqualValues(t, q.log.synced.offset, at.Offset, name)
			require.EqualValues(t, keys, at.Count, name)
		}
	})
}

// The mark is a help: a disk that cannot keep it does not stop the queue.
func TestAMarkThatCannotBeWrittenStopsNothing(t *testing.T) {
	for _, op := range []string{"allocate", "write"} {
		synctest.Test(t, func(t *testing.T) {
			d := disktest.New()
			d.Fail = func(what, name string) error {
				if what == op && name == markName {
					return syscall.ENOSPC
				}
				return nil
			}
			q := mustOpen(t, d, nil)
			require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
			require.NoError(t, q.Fault())
			require.NoError(t, q.Close())
			d.Fail = nil
			q = mustOpen(t, d, nil)
			require.Len(t, contents(t, q), 1)
			require.NoError(t, q.Close())
		})
	}
}

// A Repair that crashes at any operation of the disk is done again, also if a whole segment is missing at the end.
func TestARepairOfAMissingEndThatCrashesAnywhereIsDoneAgain(t *testing.T) {
	for _, segments := range []uint32{1, 3} {
		files, _, end := livedIn(t, segments)
		crashRepairs(t, files, end)
	}
}

func crashRepairs(t *testing.T, files map[string]string, end position) {
	for name, damage := range damages(end) {
		left := diskOf(files).Files()
		delete(left, segmentName(end.segment+1))
		damage(left)
		want := -1
		for at := 0; ; at++ {
			ended := false
			synctest.Test(t, func(t *testing.T) {
				d := diskOf(left)
				done := 0
				d.Fail = func(string, string) error {
					if done++; at > 0 && done >= at {
						return disktest.ErrDisk
					}
					return nil
				}
				report, err := repair(d, Options{SegmentBytes: minSegment})
				ended = err == nil && at > 0
				if at == 0 {
					require.NoError(t, err)
					want = report.Keys
				}
				r := seeded(uint64(at))
				d.Crash(func(_ string, n int) int { return r.IntN(n) })
				if err != nil {
					require.ErrorIs(t, err, disktest.ErrDisk)
					_, err = repair(d, Options{SegmentBytes: minSegment})
					require.NoError(t, err, "%s %d", name, at)
				}
				q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
				assert.Len(t, contents(t, q), want, "%s %d", name, at)
				require.NoError(t, errors.Join(newAdder(q).append(t.Context(), upload("after", 1)), q.Close()))
			})
			if ended || t.Failed() {
				break
			}
		}
	}
}
