package filequeue

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// If Open finds no room for a frame, it cannot record that earlier leases have expired.
func TestWhatIsSettledAfterAnOpenOfAFullDiskStaysSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := disktest.New()
		opts := &Options{SegmentBytes: minSegment}
		q := mustOpen(t, d, opts)
		a := newAdder(q)
		require.NoError(t, a.append(t.Context(), upload("a", 1)))
		synctest.Wait()
		full := true
		d.Fail = func(op, _ string) error {
			if op == "allocate" && full {
				return syscall.ENOSPC
			}
			return nil
		}
		for size, n := 2000, 0; size > 200; n++ { // other keys, so that nothing is compacted
			r := upload(fmt.Sprint("b", n), 1)
			r.Body = append(r.Body, strings.Repeat(" ", size)...)
			if a.append(t.Context(), r) != nil {
				size /= 2
			}
			synctest.Wait()
		}
		w := want(2)
		w.For = time.Hour
		held := 0
		for {
			leases, err := q.Reserve(t.Context(), w)
			if err == nil {
				held = len(leases)
				_, err = q.Extend(t.Context(), time.Hour, leases...)
			}
			if err != nil {
				break
			}
		}
		require.Equal(t, 2, held)
		burn(t, q, removes)
		require.NoError(t, q.Close())
		q = mustOpen(t, d, opts)
		require.False(t, q.log.fits(frameHeader+64), "the test does not leave the head full enough")
		full = false
		leases, err := q.Reserve(t.Context(), want(2))
		require.NoError(t, err)
		require.Len(t, leases, 2)
		ends := commits(leases)
		ends[1].Fate, ends[1].Reason = queue.Park, "refused"
		require.NoError(t, newAdder(q).append(t.Context(), merge(leases[0].Key, 2)))
		_, _, err = q.Settle(t.Context(), ends...)
		require.NoError(t, err)
		inspect := func() string {
			all, err := q.Inspect(t.Context(), queue.Inspection{Keys: []string{"a", "b0"}, Bodies: true})
			require.NoError(t, err)
			var b strings.Builder
			for _, e := range all {
				fmt.Fprintf(&b, "%s: %d wait, %d parked; ", e.Key, len(e.Waiting), len(e.Parked))
			}
			return b.String()
		}
		before := inspect()
		require.Equal(t, "a: 1 wait, 0 parked; b0: 0 wait, 1 parked; ", before)
		require.NoError(t, q.Close())
		q = mustOpen(t, d, opts)
		require.Equal(t, before, inspect())
		require.NoError(t, q.Close())
	})
}

func TestReservationOfWhatIsNotInTheLogIsDamage(t *testing.T) {
	d := disktest.New()
	opts := &Options{SegmentBytes: minSegment}
	q := mustOpen(t, d, opts)
	require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
	w := want(1)
	c, err := q.change(t.Context(), makes, 1<<10, nil)
	require.NoError(t, err)
	b := newFrame(reserveSize(&w))
	b = append(append(b, w.Token[:]...), w.Holder[:]...)
	b = appendText(appendFlag(appendI64(appendI64(b, int64(w.For)), 0), false), w.Name)
	b = appendInt(b, 1)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint32(b, minSegment-1) // too small for any record
	require.NoError(t, c.write(kindReserve, appendInt(b, 1)))
	require.NoError(t, c.end())
	require.NoError(t, q.Close())
	_, err = openDisk(d, opts)
	var damaged *CorruptError
	require.ErrorAs(t, err, &damaged)
	options, err := opts.withDefaults()
	require.NoError(t, err)
	report, err := repair(d, options)
	require.NoError(t, err)
	require.Equal(t, 1, report.Keys)
	q = mustOpen(t, d, opts)
	require.Equal(t, map[string][]string{"a": {`upload{"version":1}`}}, contents(t, q))
	require.NoError(t, q.Close())
}

// Older logs have no request frames and only mark a reservation as one of suspects. It counts as requested.
func TestReservationOfSuspectsFromAnOlderLogCountsAsRequested(t *testing.T) {
	for flag, deaths := range map[byte]int{0: 1, asSuspects: 2} {
		d := disktest.New()
		q := mustOpen(t, d, nil)
		require.NoError(t, newAdder(q).append(t.Context(), upload("a", 1)))
		leases, err := q.Reserve(t.Context(), want(1))
		require.NoError(t, err)
		require.Len(t, leases, 1)
		require.NoError(t, q.Close())
		q = mustOpen(t, d, nil)
		w := want(1)
		c, err := q.change(t.Context(), makes, 200, nil)
		require.NoError(t, err)
		at := latest(q.book.Reserve(c.now, &w)[0].Recs)
		b := append(append(newFrame(200), w.Token[:]...), w.Holder[:]...)
		b = append(appendI64(appendI64(b, int64(w.For)), 0), flag)
		b = appendInt(appendText(b, w.Name), 1)
		b = appendInt(le.AppendUint32(le.AppendUint32(b, at.segment), at.offset), 1)
		require.NoError(t, errors.Join(c.write(kindReserve, b), c.end()))
		require.NoError(t, q.Close())
		q = mustOpen(t, d, nil)
		entries, err := q.Inspect(t.Context(), queue.Inspection{})
		require.NoError(t, err)
		require.Equal(t, deaths, entries[0].Deaths)
		require.Equal(t, 2, entries[0].Expired)
		require.NoError(t, q.Close())
	}
}
