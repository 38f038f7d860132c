package filequeue

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// What reservations and releases write is regained by compaction, although all records wait.
func TestAnOutageDoesNotUseUpAFullDisk(t *testing.T) {
	for _, batch := range []int{1, 10} {
		t.Run(fmt.Sprint("calls of ", batch), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := mustOpen(t, smallDisk(6), &Options{SegmentBytes: minSegment})
				a, kept := newAdder(q), 0
				for full := false; !full; {
					var records []queue.Record
					for i := range batch {
						r := upload(fmt.Sprintf("key-%05d", kept+i), 1)
						r.Body = append(r.Body, strings.Repeat("x", 50)...)
						records = append(records, r)
					}
					if err := a.append(t.Context(), records...); err != nil {
						require.ErrorIs(t, err, queue.ErrFull)
						full = true
					} else {
						kept += batch
					}
					synctest.Wait()
				}
				for range 300 {
					leases, err := q.Reserve(t.Context(), want(3))
					require.NoError(t, err)
					ends := commits(leases)
					for i := range ends {
						ends[i].Fate = queue.Release
					}
					_, _, err = q.Settle(t.Context(), ends...)
					require.NoError(t, err)
					synctest.Wait()
				}
				for left := kept; left > 0; {
					leases, err := q.Reserve(t.Context(), want(10))
					require.NoError(t, err)
					_, _, err = q.Settle(t.Context(), commits(leases)...)
					require.NoError(t, err)
					synctest.Wait()
					left -= len(leases)
				}
				require.NoError(t, q.Fault())
				require.NoError(t, q.Close())
			})
		})
	}
}

func TestARewrittenCallNeedsNoMoreRoom(t *testing.T) {
	for _, batch := range []int{1, 2, 100} {
		q := mustOpen(t, disktest.New(), nil)
		var records []queue.Record
		for i := range batch {
			records = append(records, upload(fmt.Sprint(i), 1))
		}
		before, _ := logBytes(q)
		require.NoError(t, newAdder(q).append(t.Context(), records...))
		after, _ := logBytes(q)
		c, err := q.begin(t.Context(), nil)
		require.NoError(t, err)
		s := q.newStates()
		for i := range records {
			require.NoError(t, s.add(c.now, records[i].Key))
		}
		require.LessOrEqual(t, int64(len(s.frame())), after-before)
		require.NoError(t, errors.Join(c.end(), q.Close()))
	}
}

func TestRewrittenKeysKeepTheirPlaceAndTheirState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen [2][]queue.Lease
		for run := range seen {
			d := disktest.New()
			q := mustOpen(t, d, nil)
			a := &adder{q: q, id: queue.ID{1}}
			var keys []string
			for call := range 4 {
				var records []queue.Record
				for i := range 10 {
					r := upload(fmt.Sprint("key", call, i), i)
					r.Class = uint8(i % 3)
					records = append(records, r)
					keys = append(keys, r.Key)
				}
				require.NoError(t, a.append(t.Context(), append(records, merge("pile", call))...))
				time.Sleep(3 * time.Millisecond)
			}
			leases, err := q.Reserve(t.Context(), want(2))
			require.NoError(t, err)
			ends := commits(leases)
			ends[0].Fate, ends[0].Again = queue.Release, true
			_, _, err = q.Settle(t.Context(), ends...)
			require.NoError(t, err)
			if run == 1 {
				c, err := q.change(t.Context(), makes, 1<<14, nil)
				require.NoError(t, err)
				require.NoError(t, q.settleDown(t.Context(), c, c.states(append(keys, "", "pile"))))
			}
			require.NoError(t, q.Close())
			q = mustOpen(t, d, nil)
			for n := 1; n > 0; {
				leases, err := q.Reserve(t.Context(), want(100))
				require.NoError(t, err)
				for i := range leases {
					leases[i].Token = queue.ID{}
				}
				seen[run], n = append(seen[run], leases...), len(leases)
			}
			require.NoError(t, q.Close())
			time.Sleep(time.Second)
		}
		require.Len(t, seen[0], 40)
		require.Equal(t, seen[0], seen[1])
	})
}

// Parked records are larger than what is left of the disk. Their frames without them are not.
func TestADropNeedsNoRoomForWhatItDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := mustOpen(t, smallDisk(10), &Options{SegmentBytes: minSegment})
		a := newAdder(q)
		var keys []string
		for i := range 10 {
			r := upload(fmt.Sprint("parked", i), 1)
			r.Body = append(r.Body, strings.Repeat("x", 3*minSegment/10)...)
			require.NoError(t, a.append(t.Context(), r))
			park(t, q, r.Key)
			keys = append(keys, r.Key)
			synctest.Wait()
		}
		fill(t, q)
		n, err := q.Drop(t.Context(), keys...)
		require.NoError(t, err)
		require.Equal(t, 10, n)
		require.NoError(t, q.Close())
	})
}

// Nothing is reserved or settled that would let compaction begin.
func TestDropsMakeRoomOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, opts := smallDisk(8), &Options{SegmentBytes: minSegment}
		q := mustOpen(t, d, opts)
		a := newAdder(q)
		var parked []string
		for i := 0; ; i++ {
			r := upload(fmt.Sprint("key", i), 1)
			r.Body = append(r.Body, strings.Repeat("x", 1000)...)
			if err := a.append(t.Context(), r); err != nil {
				require.ErrorIs(t, err, queue.ErrFull)
				break
			}
			if i%3 > 0 {
				if _, err := q.Park(t.Context(), "why", r.Key); err == nil {
					parked = append(parked, r.Key)
				}
			}
			synctest.Wait()
		}
		require.NoError(t, q.Close())
		q = mustOpen(t, d, opts)
		for _, key := range parked {
			n, err := q.Drop(t.Context(), key)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			synctest.Wait()
		}
		require.NoError(t, q.Fault())
		require.NoError(t, newAdder(q).append(t.Context(), upload("x", 1)))
		require.NoError(t, q.Close())
	})
}
