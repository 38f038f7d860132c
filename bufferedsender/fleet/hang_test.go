package fleet

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hung is a service whose indexes can stop to answer, without an end.
type hung struct {
	*service
	took  map[string]time.Duration // by index, usual for others
	hangs sync.Map                 // of indexes, whatever the value
	most  atomic.Int64             // requests that were under way together
	now   atomic.Int64
}

func (h *hung) Indexer(index string) (bufferedsender.Indexer, error) {
	takes := usual
	if d, ok := h.took[index]; ok {
		takes = d
	}
	return &sendertest.Indexer{Index: func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
		defer h.now.Add(-1)
		for n := h.now.Add(1); ; {
			if most := h.most.Load(); n <= most || h.most.CompareAndSwap(most, n) {
				break
			}
		}
		if _, is := h.hangs.Load(index); is {
			<-ctx.Done()
			return models.IndexDocumentsResult{}, ctx.Err()
		}
		select {
		case <-time.After(takes):
			return sendertest.AcceptAll(ctx, body)
		case <-ctx.Done():
			return models.IndexDocumentsResult{}, ctx.Err()
		}
	}}, nil
}

// busy are senders that always have something to send.
type busy struct {
	t       *testing.T
	fleet   *Fleet
	senders map[string]*bufferedsender.BufferedSender[hotel]
	stop    context.CancelFunc
	adding  sync.WaitGroup
}

const (
	batchOfBusy = 10
	usual       = 250 * time.Millisecond // that a request takes
)

func newBusy(t *testing.T, h *hung) *busy {
	return &busy{t: t, fleet: newFleet(t, h, nil), senders: map[string]*bufferedsender.BufferedSender[hotel]{}}
}

// begin has an index get documents until the test ends.
func (b *busy) begin(names ...string) {
	for _, name := range names {
		s := senderOf(b.t, b.fleet, name, &bufferedsender.Options[hotel]{Limits: bufferedsender.Limits{MaxBatchActions: batchOfBusy, MaxInFlight: 8, MaxBufferedActions: 20 * batchOfBusy}})
		b.senders[name] = s
		ctx, stop := context.WithCancel(b.t.Context())
		before := b.stop
		b.stop = func() {
			stop()
			if before != nil {
				before()
			}
		}
		b.adding.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_ = s.UploadDocuments(ctx, sendertest.Hotels(fmt.Sprint(n, "-"), batchOfBusy)...)
			}
		})
	}
}

// in returns how many documents of these were applied in a second, from now on for so long.
func (b *busy) in(d time.Duration, names ...string) float64 {
	count := func() (n int64) {
		for _, name := range names {
			n += b.senders[name].Stats().Completed
		}
		return n
	}
	before := count()
	time.Sleep(d)
	return float64(count()-before) / d.Seconds()
}

func indexes(from, to int) (names []string) {
	for i := from; i < to; i++ {
		names = append(names, fmt.Sprint("index-", i))
	}
	return names
}

// Indexes that do not answer keep the slots of the pool for a moment only, for as long as they hang.
func TestIndexesThatHangLeaveTheSlotsToTheOthers(t *testing.T) {
	for _, c := range []struct {
		hang  int
		least float64 // of what the others did before
	}{{1, 0.95}, {4, 0.8}, {10, 0.8}} {
		t.Run(fmt.Sprint(c.hang, " of 20"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hung{service: newService()}
				b := newBusy(t, h)
				bad, good := indexes(0, c.hang), indexes(c.hang, 20)
				b.begin(append(bad, good...)...)
				time.Sleep(5 * time.Second)
				before := b.in(10*time.Second, good...)
				for _, name := range bad {
					h.hangs.Store(name, true)
				}
				time.Sleep(5 * time.Second)
				minutes := 10
				if testing.Short() {
					minutes = 2 // also the second time that requests have hung for all of their time
				}
				for minute := range minutes {
					assert.GreaterOrEqual(t, b.in(time.Minute, good...), c.least*before, "documents a second in minute %d", minute)
				}
				assert.LessOrEqual(t, h.most.Load(), int64(2*(8+20)), "requests under way")
				for _, name := range bad {
					h.hangs.Delete(name)
				}
				time.Sleep(2 * time.Minute) // no breaker waits longer
				assert.Greater(t, b.in(10*time.Second, bad...), 0.8*float64(c.hang)*before/float64(20-c.hang), "those that answer again")
				b.stop()
				b.adding.Wait()
				require.NoError(t, b.fleet.Flush(sendertest.Within(t, time.Hour)))
			})
		})
	}
}

// The one that hangs has all slots when the others come.
func TestAnIndexThatHangsWithAllSlotsGivesThemUpToThoseThatCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hung{service: newService()}
		b := newBusy(t, h)
		b.begin("alone")
		time.Sleep(5 * time.Second)
		h.hangs.Store("alone", true)
		time.Sleep(10 * time.Second)
		others := indexes(0, 10)
		b.begin(others...)
		time.Sleep(5 * time.Second)
		assert.GreaterOrEqual(t, b.in(time.Minute, others...), 0.8*4*batchOfBusy*float64(time.Second/usual), "four slots")
		b.stop()
		b.adding.Wait()
	})
}

// It answers after five seconds, as it always has; others after 50 ms.
func TestASlowIndexBesideFastOnesKeepsItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hung{service: newService(), took: map[string]time.Duration{"slow": 5 * time.Second}}
		for _, name := range indexes(0, 10) {
			h.took[name] = 50 * time.Millisecond
		}
		b := newBusy(t, h)
		b.begin("slow")
		time.Sleep(time.Minute)
		alone := b.in(100*time.Second, "slow")
		b.begin(indexes(0, 10)...)
		time.Sleep(time.Minute)
		assert.GreaterOrEqual(t, b.in(100*time.Second, "slow"), 0.8*alone)
		assert.NoError(t, b.fleet.Health().Err())
		b.stop()
		b.adding.Wait()
	})
}
