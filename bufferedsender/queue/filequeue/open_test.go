package filequeue

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestOneProcessHasTheQueueAndTheErrorNamesIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	q, err := Open(dir, nil)
	require.NoError(t, err)
	_, err = Open(dir, nil)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, fmt.Sprintf("process %d on", os.Getpid()))
	require.ErrorContains(t, err, dir)
	_, err = Repair(dir, nil)
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, q.Close())
	require.NoError(t, q.Close(), "again")
	q, err = Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, q.Close())
	report, err := Repair(dir, nil)
	require.NoError(t, err)
	require.Zero(t, report, "Repair had nothing to do")
}

func TestTheQueueOfAnotherIndexIsRefused(t *testing.T) {
	dir := t.TempDir()
	q, err := Open(dir, &Options{Index: "hotels", Endpoint: "https://a.search.windows.net"})
	require.NoError(t, err)
	require.NoError(t, q.Close())
	_, err = Open(dir, &Options{Index: "rooms"})
	require.ErrorIs(t, err, ErrOther)
	require.ErrorContains(t, err, `"hotels"`)
	_, err = Open(dir, &Options{Index: "hotels", Endpoint: "https://b.search.windows.net"})
	require.ErrorIs(t, err, ErrOther)
	q, err = Open(dir, nil)
	require.NoError(t, err, "without an index name there is no check")
	require.NoError(t, q.Close())
}

func TestANewerFormatIsRefusedWithASentence(t *testing.T) {
	dir := t.TempDir()
	q, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, q.Close())
	path := filepath.Join(dir, segmentName(1))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	le.PutUint32(b[8:], formatVersion+1)
	le.PutUint32(b[12:], newerSum(b))
	require.NoError(t, os.WriteFile(path, b, 0o600))
	_, err = Open(dir, nil)
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, "version 2")
}

func TestAQueueIsOpenedForReadingWithoutAnyChange(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "none"), &Options{ReadOnly: true})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoDirExists(t, filepath.Join(dir, "none"))
	q, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
	require.NoError(t, q.Close())
	before, err := os.ReadFile(filepath.Join(dir, segmentName(1)))
	require.NoError(t, err)

	q, err = Open(dir, &Options{ReadOnly: true})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"a": {`upload{"version":1}`}}, contents(t, q))
	require.ErrorIs(t, newAdder(q).append(t.Context(), upload("b", 1)), ErrReadOnly)
	_, err = q.Reserve(t.Context(), want(1))
	require.ErrorIs(t, err, ErrReadOnly)
	require.ErrorIs(t, q.Pause(t.Context(), "why"), ErrReadOnly)
	require.NoError(t, q.Close())
	after, err := os.ReadFile(filepath.Join(dir, segmentName(1)))
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestAQueueIsReadWhileItsProcessWrites(t *testing.T) {
	t.Parallel() // waits for the disk
	dir := t.TempDir()
	q, err := Open(dir, &Options{SegmentBytes: minSegment})
	require.NoError(t, err)
	a := newAdder(q)
	require.NoError(t, a.append(t.Context(), upload("leased", 0)))
	leases, err := q.Reserve(t.Context(), want(1))
	require.NoError(t, err)
	require.Len(t, leases, 1)
	require.NoError(t, a.append(t.Context(), upload("kept", 0)))
	done := make(chan struct{})
	go func() { // rolls segments, and removes settled ones
		defer close(done)
		for i := range testkit.Cases(200, 600, 600) {
			r := upload("busy", i)
			r.Body = append(r.Body, strings.Repeat("x", 500)...)
			assert.NoError(t, a.append(t.Context(), r))
		}
	}()
	for reads, ended := 0, false; !ended || reads == 0; reads++ {
		select {
		case <-done:
			ended = true
		default:
		}
		look, err := Open(dir, &Options{ReadOnly: true})
		require.NoError(t, err)
		s, err := look.Stats(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, s.Leased, "the holder still runs")
		require.Equal(t, []string{`upload{"version":0}`}, contents(t, look)["kept"])
		require.NoError(t, look.Close())
	}
	_, _, err = q.Settle(t.Context(), commits(leases)...)
	require.NoError(t, err, "no file of the queue was changed")
	require.NoError(t, q.Close())
}

func TestADestroyedQueueIsGone(t *testing.T) {
	dir := t.TempDir()
	q, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
	require.NoError(t, q.Destroy(t.Context()))
	require.ErrorIs(t, newAdder(q).append(t.Context(), upload("b", 1)), queue.ErrClosed)
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, lockName)}, names)
	q, err = Open(dir, nil)
	require.NoError(t, err)
	require.Empty(t, contents(t, q))
	require.NoError(t, q.Close())
}

func TestEveryWrongOptionIsNamed(t *testing.T) {
	_, err := Open(t.TempDir(), &Options{MaxKeys: -1, SegmentBytes: 7, Index: string(make([]byte, 200))})
	require.ErrorContains(t, err, "got MaxKeys -1")
	require.ErrorContains(t, err, "got SegmentBytes 7")
	require.ErrorContains(t, err, "got Index of 200 bytes and")
}

func TestAProgramThatChangesItsDirectoryKeepsItsQueue(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	q, err := Open("queue", &Options{SegmentBytes: minSegment})
	require.NoError(t, err)
	other := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(other, "queue"), 0o700))
	t.Chdir(other)
	a := newAdder(q)
	n := 0
	for ; n < 60; n++ {
		r := upload(fmt.Sprint(n), 1)
		r.Body = append(r.Body, strings.Repeat("x", 1000)...)
		require.NoError(t, a.append(t.Context(), r))
	}
	require.NoError(t, q.Close())
	t.Chdir(home)
	q, err = Open("queue", &Options{SegmentBytes: minSegment})
	require.NoError(t, err)
	require.Len(t, contents(t, q), n)
	require.NoError(t, q.Close())
}

// wallOf is a time with the monotonic reading of now and another wall clock.
func wallOf(now time.Time, wall time.Duration) time.Time {
	type inside struct {
		wall uint64
		ext  int64
		loc  *time.Location
	}
	p := (*inside)(unsafe.Pointer(&now))
	p.wall += uint64(int64(wall/time.Second)) << 30
	return now
}

// A machine without a battery-backed clock starts in the past, and gets the time when the network is up.
func TestTheClockDoesNotRunAheadOfAMachineThatStartsInThePast(t *testing.T) {
	last := time.Now().Round(0).Add(-time.Hour) // time of the last frame
	early := wallOf(time.Now(), -30*24*time.Hour)
	c := clock{base: last, anchor: early} // as newClock would create it
	require.WithinDuration(t, time.Now(), c.now(), time.Minute, "the wall clock is right now")
}
