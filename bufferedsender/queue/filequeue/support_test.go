package filequeue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

// openDisk opens the queue of a disk that can crash.
func openDisk(d *disktest.Disk, opts *Options) (*Queue, error) {
	if opts == nil {
		opts = &Options{SegmentBytes: 1 << 20} // this disk is memory, and an empty file would take 64 MB
	}
	options, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return open(d, options)
}

func mustOpen(t testing.TB, d *disktest.Disk, opts *Options) *Queue {
	t.Helper()
	q, err := openDisk(d, opts)
	require.NoError(t, err)
	return q
}

// adder appends with its own call numbers.
type adder struct {
	q      *Queue
	id     queue.ID
	number uint64
}

func newAdder(q *Queue) *adder { return &adder{q: q, id: queue.NewID()} }

func (a *adder) append(ctx context.Context, records ...queue.Record) error {
	a.number++
	_, err := a.q.Append(ctx, queue.Call{Adder: a.id, Number: a.number, Records: records})
	return err
}

func upload(key string, version int) queue.Record {
	return queue.Record{Key: key, Op: models.ActionTypeUpload, Body: fmt.Appendf(nil, `{"version":%d}`, version)}
}

func merge(key string, version int) queue.Record {
	r := upload(key, version)
	r.Op = models.ActionTypeMerge
	return r
}

func want(keys int) queue.Want {
	return queue.Want{Token: queue.NewID(), Holder: queue.ID{1}, Name: "test", Keys: keys, Bytes: 1 << 20, For: time.Minute}
}

func commits(leases []queue.Lease) []queue.End {
	ends := make([]queue.End, len(leases))
	for i := range leases {
		ends[i] = queue.End{Lease: leases[i], Fate: queue.Commit}
	}
	return ends
}

// contents returns the waiting or leased bodies of each key, in order.
func contents(t testing.TB, q *Queue) map[string][]string {
	t.Helper()
	entries, err := q.Inspect(t.Context(), queue.Inspection{Limit: 1 << 30, Bodies: true})
	require.NoError(t, err)
	all := make(map[string][]string)
	for i := range entries {
		e := &entries[i]
		for _, recs := range [][]queue.Record{e.Parked, e.Leased, e.Waiting} {
			for j := range recs {
				all[e.Key] = append(all[e.Key], string(recs[j].Op)+string(recs[j].Body))
			}
		}
	}
	return all
}

// burn uses up all room of a full disk for a use, including the reserve.
func burn(t *testing.T, q *Queue, u use) {
	t.Helper()
	for {
		c, err := q.change(t.Context(), u, 0, nil)
		if err != nil {
			require.ErrorIs(t, err, queue.ErrFull)
			return
		}
		require.NoError(t, errors.Join(c.write(kindRanOut, newFrame(0)), c.end()))
		synctest.Wait()
	}
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
