package filequeue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// closedLog returns the files of a queue that was closed, without the next segment, and the keys of each segment.
func closedLog(t *testing.T, segments uint32) (files map[string]string, keys map[uint32][]string, mark disk.Extent) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		keys = make(map[uint32][]string)
		for i := 0; len(keys[segments]) == 0; i++ {
			r := upload(fmt.Sprint("key", i), i)
			if segments > 1 {
				r.Body = append(r.Body, strings.Repeat("x", 3000)...)
			}
			require.NoError(t, a.append(t.Context(), r))
			synctest.Wait()
			n := q.log.head().number
			keys[n] = append(keys[n], r.Key)
		}
		require.NoError(t, q.Close())
		files = d.Files()
		delete(files, segmentName(segments+1))
		var err error
		mark, err = disk.ReadMark(d, markName)
		require.NoError(t, err)
	})
	return files, keys, mark
}

// loss is one damage of a segment.
type loss struct {
	damage  func(b string) string
	from    int64 // of the unreadable bytes
	to      int64 // their end, if it is not that of the frames
	missing bool  // the file
	kept    bool  // the records
}

func losses() map[string]loss {
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	noise := func(n int) string { return strings.Repeat("\xa5", n) }
	return map[string]loss{
		"nothing left":       {damage: func(string) string { return "" }},
		"part of the header": {damage: func(b string) string { return b[:100] }},
		"the header alone":   {damage: func(b string) string { return b[:headerSize] }, from: headerSize},
		"zeros":              {damage: func(b string) string { return zeros(len(b)) }},
		"zeros behind the header": {
			damage: func(b string) string { return b[:headerSize] + zeros(len(b)-headerSize) }, from: headerSize},
		"noise behind the header": {
			damage: func(b string) string { return b[:headerSize] + noise(1<<16) }, from: headerSize, to: headerSize + 1<<16},
		"noise for a header": {
			damage: func(b string) string { return noise(headerSize) + b[headerSize:] }, to: headerSize, kept: true},
		"no file": {damage: func(string) string { return "" }, missing: true},
	}
}

// Repair accepts what Open refuses, reports the files and bytes that are lost, and no others, and keeps the rest.
func TestRepairReportsWhatASegmentHasLost(t *testing.T) {
	for _, segments := range []uint32{1, 3} {
		files, keys, mark := closedLog(t, segments)
		require.EqualValues(t, segments, mark.Segment)
		for n := max(segments-1, 1); n <= segments; n++ {
			end := int64(mark.Offset)
			if n < segments {
				end = linked(t, files, n)
			}
			for name, l := range losses() {
				t.Run(fmt.Sprint(n, " of ", segments, ": ", name), func(t *testing.T) {
					left := maps.Clone(files)
					left[segmentName(n)] = l.damage(left[segmentName(n)])
					want := RepairReport{Damaged: []string{damagedName(n)}, Broken: 1, Dropped: end - l.from}
					if l.to > 0 {
						want.Dropped = l.to - l.from
					}
					if l.missing {
						delete(left, segmentName(n))
						want = RepairReport{Missing: []string{segmentName(n)}, Broken: 1}
					}
					var all []string
					for s, k := range keys {
						if s != n || l.kept {
							all = append(all, k...)
						}
					}
					message := ""
					if n == segments && !l.kept {
						message = fmt.Sprintf("%s byte %d; %d appended records are missing", segmentName(n), end, len(keys[n]))
						if l.missing && segments == 1 {
							message = fmt.Sprintf("the last one was %s; %d appended records are missing", segmentName(n), len(keys[n]))
						}
					}
					refusedAndRepaired(t, left, message, &want, all)
				})
			}
		}
	}
}

// linked returns where a segment ends, according to the next one.
func linked(t *testing.T, files map[string]string, n uint32) int64 {
	r := recovery{dir: diskOf(files), options: &Options{SegmentBytes: minSegment}}
	require.NoError(t, r.run())
	return r.ends[n-1]
}

func refusedAndRepaired(t *testing.T, left map[string]string, message string, want *RepairReport, keys []string) {
	synctest.Test(t, func(t *testing.T) {
		d := diskOf(left)
		_, err := openDisk(d, &Options{SegmentBytes: minSegment})
		require.ErrorAs(t, err, new(*CorruptError))
		require.ErrorContains(t, err, message)
		report, err := repair(d, Options{SegmentBytes: minSegment})
		require.NoError(t, err)
		want.Frames, want.Keys = report.Frames, len(keys)
		assert.Equal(t, *want, report)
		for _, name := range want.Damaged {
			was := left[segmentPrefix+strings.TrimPrefix(name, damagedPrefix)]
			assert.True(t, was == d.Files()[name], "the copy differs")
		}
		for range 2 {
			q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
			require.ElementsMatch(t, keys, slices.Collect(maps.Keys(contents(t, q))))
			require.NoError(t, q.Close())
		}
	})
}
