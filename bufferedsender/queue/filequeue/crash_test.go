package filequeue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

// oneOf is the stride of the tried bytes. It has no factor in common with 64, the number tried with a whole queue,
// nor with the eight bits of a byte.
func oneOf() int { return testkit.Cases(37, 7, 1) }

// story is the life of a queue that can end at any disk operation. Each key has a counter, and each upload the next
// number.
type story struct {
	r         *rand.Rand
	q         *Queue
	a         *adder
	next      map[string]int // the last appended number, acknowledged or not
	kept      map[string]int // the last acknowledged number
	committed map[string]int // the last committed number
	steps     int
}

func newStory(q *Queue, seed uint64) *story {
	return &story{r: seeded(seed), q: q, a: newAdder(q), next: map[string]int{}, kept: map[string]int{}, committed: map[string]int{}}
}

// live runs until the disk fails, or for a number of steps.
func (s *story) live(ctx context.Context, steps int) error {
	for range steps {
		s.steps++
		if err := s.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) step(ctx context.Context) error {
	switch s.r.IntN(5) {
	case 0, 1:
		var records []queue.Record
		versions := map[string]int{}
		for range 1 + s.r.IntN(4) {
			key := fmt.Sprint("key", s.r.IntN(9))
			s.next[key]++
			versions[key] = s.next[key]
			rec := upload(key, s.next[key])
			rec.Body = append(rec.Body, strings.Repeat(" ", s.r.IntN(600))...)
			records = append(records, rec)
		}
		if err := s.a.append(ctx, records...); err != nil {
			return err
		}
		maps.Copy(s.kept, versions)
	case 2, 3:
		leases, err := s.q.Reserve(ctx, want(1+s.r.IntN(4)))
		if err != nil {
			return err
		}
		if s.r.IntN(4) == 0 {
			return nil // they stay leased until the process ends
		}
		for _, l := range leases {
			s.committed[l.Key] = versionOf(string(l.Records[len(l.Records)-1].Body))
		}
		_, _, err = s.q.Settle(ctx, commits(leases)...)
		return err
	case 4:
		time.Sleep(time.Duration(s.r.IntN(40)) * time.Second)
	}
	return nil
}

func versionOf(body string) (version int) {
	_, _ = fmt.Sscanf(body, `{"version":%d}`, &version)
	return version
}

// verify checks a queue after a crash: each key has its last acknowledged version or a later one unless that was
// committed, and nothing that was never appended.
func (s *story) verify(t require.TestingT, q *Queue, now map[string][]string) {
	_ = q
	for key, kept := range s.kept {
		if bodies := now[key]; len(bodies) == 0 {
			require.GreaterOrEqual(t, s.committed[key], kept, "%s is lost", key)
		} else {
			last := versionOf(strings.TrimPrefix(bodies[len(bodies)-1], "upload"))
			require.GreaterOrEqual(t, last, kept, "%s has an old version", key)
			require.LessOrEqual(t, last, s.next[key])
		}
	}
	for key := range now {
		require.Positive(t, s.next[key], "%s was never appended", key)
	}
}

func TestACrashAtAnyOperationOfTheDiskLosesNothingThatWasAcknowledged(t *testing.T) {
	opts := &Options{SegmentBytes: minSegment}
	crashes := 0
	for at := 1; ; at++ {
		ended := false
		synctest.Test(t, func(t *testing.T) {
			d := disktest.New()
			r := seeded(uint64(at))
			var left atomic.Int64 // another goroutine creates the next segment
			left.Store(int64(at))
			d.Fail = func(string, string) error {
				if left.Add(-1) <= 0 {
					return disktest.ErrDisk
				}
				return nil
			}
			s := newStory(nil, uint64(at)%7)
			q, err := openDisk(d, opts)
			if err == nil {
				s.q, s.a.q = q, q
				err = s.live(t.Context(), 150)
				synctest.Wait()
				if cerr := q.Close(); err == nil {
					err = cerr
				}
			}
			ended = err == nil
			if !ended {
				crashes++
				require.ErrorIs(t, err, disktest.ErrDisk, "at operation %d", at)
			}
			d.Crash(func(_ string, n int) int { return r.IntN(n) })
			q = mustOpen(t, d, opts)
			s.verify(t, q, contents(t, q))
			require.NoError(t, newAdder(q).append(t.Context(), upload("after", 1)))
			require.NoError(t, q.Close())
		})
		if ended {
			break
		}
		if testing.Short() {
			at += 5
		}
	}
	t.Logf("%d crashes", crashes)
	require.Greater(t, crashes, 20)
}

// TestALogTornAtAnyByteKeepsTheCallsBeforeIt truncates a log of 64 kB at offsets that are oneOf apart.
func TestALogTornAtAnyByteKeepsTheCallsBeforeIt(t *testing.T) {
	files, _, ends := logOf64K(t)
	name := segmentName(1)
	whole := files[name][:ends[len(ends)-1]]
	for cut := len(whole) - 1; cut > 0; cut -= oneOf() {
		calls := 0
		for _, end := range ends {
			if end <= cut {
				calls++
			}
		}
		waiting, err := readOnly(name, whole[:cut])
		if err != nil || waiting != calls { // require would be slow
			t.Fatalf("cut at %d: %d of %d calls, %v", cut, waiting, calls, err)
		}
		if cut%64 != 0 {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			d := disktest.New()
			d.Put(name, whole[:cut])
			q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
			require.NoError(t, newAdder(q).append(t.Context(), upload("after", 1)))
			require.Len(t, contents(t, q), calls+1, "cut at %d", cut)
			require.NoError(t, q.Close())
			q = mustOpen(t, d, &Options{SegmentBytes: minSegment})
			require.Len(t, contents(t, q), calls+1, "cut at %d", cut)
			require.NoError(t, q.Close())
		})
	}
}

// readOnly reads a log of one file, and returns the number of waiting keys.
func readOnly(name, content string) (waiting int, err error) {
	d := disktest.New()
	d.Put(name, content)
	r := recovery{dir: d, options: &Options{}}
	if err := r.run(); err != nil || r.book == nil {
		return 0, err
	}
	waiting, _, _ = r.book.Size()
	return waiting, nil
}

// logOf64K returns the files of a queue that was not closed, in which each call appended one key and was synced. It
// also returns the start of the first call and the end of each call.
func logOf64K(t *testing.T) (files map[string]string, begin int, ends []int) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: 128 << 10})
		a := newAdder(q)
		begin = int(q.log.head().used)
		for i := 0; q.log.head().used < 64<<10; i++ {
			r := upload(fmt.Sprint("key", i), i)
			r.Body = append(r.Body, strings.Repeat("x", 1500)...)
			require.NoError(t, a.append(t.Context(), r))
			ends = append(ends, int(q.log.head().used))
		}
		synctest.Wait()
		files = d.Files()
		require.NoError(t, q.Close())
	})
	return files, begin, ends
}

// TestAFlippedByteIsNeverTakenForWhatWasWritten flips bytes of a log that are oneOf apart. Damage before later synced
// data is refused, the last call may be truncated, and Repair salvages all other calls.
func TestAFlippedByteIsNeverTakenForWhatWasWritten(t *testing.T) {
	testkit.Long(t)
	files, begin, ends := logOf64K(t)
	name := segmentName(1)
	whole := []byte(files[name][:ends[len(ends)-1]])
	attested := ends[len(ends)-2]
	for at := 0; at < len(whole); at += oneOf() {
		whole[at] ^= 1 << (at % 8)
		flipped := string(whole)
		whole[at] ^= 1 << (at % 8)
		waiting, err := readOnly(name, flipped)
		var corrupt *CorruptError
		switch {
		case at >= attested:
			if err != nil || waiting != len(ends)-1 {
				t.Fatalf("flipped at %d: %d keys, %v", at, waiting, err)
			}
		case !errors.As(err, &corrupt):
			t.Fatalf("flipped at %d: %d keys, %v", at, waiting, err)
		case at >= headerSize && at%64 == 0:
			lost := 1
			if at < begin {
				lost = 0
			}
			salvaged(t, flipped, len(ends)-lost)
		}
	}
}

// salvaged repairs a log of one file and checks the number of remaining keys.
func salvaged(t *testing.T, flipped string, left int) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		d.Put(segmentName(1), flipped)
		report, err := repair(d, Options{SegmentBytes: minSegment})
		require.NoError(t, err)
		require.Equal(t, []string{damagedName(1)}, report.Damaged)
		require.Equal(t, flipped, d.Files()[damagedName(1)])
		require.Positive(t, report.Dropped)
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		require.Equal(t, left, report.Keys, "%+v", report)
		require.Len(t, contents(t, q), left)
		require.NoError(t, q.Close())
	})
}

func TestDamageOfTheLastFramesIsFoundAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
		end := q.log.head().used
		require.NoError(t, q.Close())
		b := []byte(d.Files()[segmentName(1)])
		b[end-1] ^= 1
		d.Put(segmentName(1), string(b))
		require.NoError(t, d.Remove(markName)) // as in a directory of an older version
		_, err := openDisk(d, &Options{SegmentBytes: minSegment})
		var corrupt *CorruptError
		require.ErrorAs(t, err, &corrupt)
		require.EqualValues(t, 1, corrupt.Segment)
	})
}

func TestAFileThatIsMissingIsNoticed(t *testing.T) {
	for _, missing := range []uint32{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			d := disktest.New()
			q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
			a := newAdder(q)
			for i := 0; q.log.head().number < 4; i++ {
				r := upload(fmt.Sprint("key", i), i)
				r.Body = append(r.Body, strings.Repeat("x", 3000)...)
				require.NoError(t, a.append(t.Context(), r))
				synctest.Wait()
			}
			require.NoError(t, q.Close())
			require.NoError(t, d.Remove(segmentName(missing)))
			_, err := openDisk(d, &Options{SegmentBytes: minSegment})
			var corrupt *CorruptError
			require.ErrorAs(t, err, &corrupt)
			require.ErrorContains(t, err, segmentName(missing))
			report, err := repair(d, Options{SegmentBytes: minSegment})
			require.NoError(t, err)
			if missing != 1 {
				require.Equal(t, []string{segmentName(missing)}, report.Missing)
			}
			q = mustOpen(t, d, &Options{SegmentBytes: minSegment})
			require.Len(t, contents(t, q), report.Keys)
			require.Positive(t, report.Keys)
			require.NoError(t, q.Close())
		})
	}
}

func TestASyncThatFailedIsNeverTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		q := mustOpen(t, d, &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), upload("a", 1)))
		synctest.Wait()
		fails := 0
		d.Fail = func(op, _ string) error {
			if op == "sync" {
				fails++
				return syscall.EIO
			}
			return nil
		}
		err := a.append(t.Context(), upload("a", 2))
		require.ErrorIs(t, err, queue.ErrFailed)
		require.ErrorIs(t, err, queue.ErrUnknown)
		require.ErrorIs(t, err, syscall.EIO)
		for range 3 {
			require.ErrorIs(t, a.append(t.Context(), upload("b", 1)), queue.ErrFailed)
			_, err = q.Reserve(t.Context(), want(1))
			require.ErrorIs(t, err, queue.ErrFailed)
		}
		require.ErrorIs(t, q.Close(), queue.ErrFailed)
		assert.Equal(t, 1, fails, "the kernel may have dropped unwritten pages")
		d.Crash(nothing)
		q = mustOpen(t, d, &Options{SegmentBytes: minSegment})
		require.Equal(t, map[string][]string{"a": {`upload{"version":1}`}}, contents(t, q))
		require.NoError(t, q.Close())
	})
}
