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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/internal/sendertest"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

// fault selects the requests of an index that hang forever, by number and size in bytes.
type fault func(nth, bytes int64) bool

var (
	all     fault = func(int64, int64) bool { return true }
	batches fault = func(_, bytes int64) bool { return bytes > 200 } // requests with single documents succeed
	half    fault = func(nth, _ int64) bool { return nth%2 == 0 }
)

// hung is a service with indexes that can hang.
type hung struct {
	*service
	took  map[string]time.Duration // by index; usual for the others
	slow  sync.Map                 // paces by index
	hangs sync.Map                 // faults by index
	sent  atomic.Int64
	most  atomic.Int64 // maximum number of concurrent requests
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
		bytes, err := body.Seek(0, io.SeekEnd)
		if err == nil {
			_, err = body.Seek(0, io.SeekStart)
		}
		if f, is := h.hangs.Load(index); err != nil || is && f.(fault)(h.sent.Add(1), bytes) {
			<-ctx.Done()
			return models.IndexDocumentsResult{}, ctx.Err()
		}
		takes := takes
		if p, is := h.slow.Load(index); is && h.sent.Add(1)%p.(pace).every == 0 {
			takes = p.(pace).takes
		}
		select {
		case <-time.After(takes):
			return sendertest.AcceptAll(ctx, body)
		case <-ctx.Done():
			return models.IndexDocumentsResult{}, ctx.Err()
		}
	}}, nil
}

// pace slows every n-th request of an index, where n is every.
type pace struct {
	every int64
	takes time.Duration
}

// busy are senders with a constant backlog.
type busy struct {
	t       *testing.T
	most    int // maximum number of requests in flight per index
	taps    map[string]models.Tap
	fleet   *Fleet
	senders map[string]*bufferedsender.BufferedSender[hotel]
	stop    context.CancelFunc
	adding  sync.WaitGroup
}

const (
	batchOfBusy = 10
	usual       = 250 * time.Millisecond // duration of a request
)

func newBusy(t *testing.T, h *hung) *busy {
	return &busy{t: t, most: 8, fleet: newFleet(t, h, nil), senders: map[string]*bufferedsender.BufferedSender[hotel]{}}
}

// begin adds documents to indexes until the test ends.
func (b *busy) begin(names ...string) {
	for _, name := range names {
		s := senderOf(b.t, b.fleet, name, &bufferedsender.Options[hotel]{Tap: b.taps[name], Limits: bufferedsender.Limits{MaxBatchActions: batchOfBusy, MaxInFlight: b.most, MaxBufferedActions: 20 * batchOfBusy}})
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

// in returns the documents per second that indexes apply during the next d.
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

// Hanging indexes keep the slots of the pool for a moment only.
func TestIndexesThatHangLeaveTheSlotsToTheOthers(t *testing.T) {
	for name, c := range map[string]struct {
		fault fault
		hang  int
		most  int
		least float64 // minimum rate of the others, relative to before
	}{
		"1 of 20": {all, 1, 8, 0.95}, "4 of 20": {all, 4, 8, 0.8}, "10 of 20": {all, 10, 8, 0.8}, "1 of 20, one at a time": {all, 1, 1, 0.95},
		"batches of 4": {batches, 4, 4, 0.8}, "batches of 10": {batches, 10, 3, 0.8}, "every second of 4": {half, 4, 4, 0.8}, "every second of 10": {half, 10, 3, 0.8},
	} {
		t.Run(name, func(t *testing.T) {
			if c.hang != 4 {
				testkit.Long(t)
			}
			synctest.Test(t, func(t *testing.T) {
				h := &hung{service: newService()}
				b := newBusy(t, h)
				b.most = c.most
				bad, good := indexes(0, c.hang), indexes(c.hang, 20)
				b.begin(append(bad, good...)...)
				time.Sleep(5 * time.Second)
				before := b.in(10*time.Second, good...)
				for _, name := range bad {
					h.hangs.Store(name, c.fault)
				}
				time.Sleep(5 * time.Second)
				minutes := 10
				if testing.Short() || c.most < 8 {
					minutes = 2 // also after the second timeout of the hanging requests
				}
				for minute := range minutes {
					assert.GreaterOrEqual(t, b.in(time.Minute, good...), c.least*before, "documents a second in minute %d", minute)
				}
				assert.LessOrEqual(t, h.most.Load(), int64(2*(8+20)), "requests under way")
				for _, name := range bad {
					h.hangs.Delete(name)
				}
				time.Sleep(2 * time.Minute) // longer than any breaker stays open
				assert.Greater(t, b.in(10*time.Second, bad...), 0.8*float64(c.hang)*before/float64(20-c.hang), "the recovered indexes")
				b.stop()
				b.adding.Wait()
				require.NoError(t, b.fleet.Flush(sendertest.Within(t, time.Hour)))
			})
		})
	}
}

// slowTap blocks before each request, or before its outcome is confirmed.
type slowTap struct{ before, confirm atomic.Int64 }

func (s *slowTap) Before(ctx context.Context, _ []string) error { return sleep(ctx, &s.before) }

func (s *slowTap) Confirm(ctx context.Context, _ []string) (again bool, err error) {
	return false, sleep(ctx, &s.confirm)
}

func sleep(ctx context.Context, d *atomic.Int64) error {
	select {
	case <-time.After(time.Duration(d.Load())):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A request that waits for its tap must not keep a slot from the others.
func TestTapsThatWaitKeepNoSlots(t *testing.T) {
	for name, c := range map[string]struct {
		before, confirm time.Duration
		slow            int
	}{"before, 4 of 20": {5 * time.Second, 0, 4}, "before, 10 of 20": {5 * time.Second, 0, 10}, "confirm, 10 of 20": {0, 5 * time.Second, 10}, "a moment, 10 of 20": {30 * time.Millisecond, 0, 10}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, tap := newBusy(t, &hung{service: newService()}), new(slowTap)
				slow, good := indexes(0, c.slow), indexes(c.slow, 20)
				b.taps = map[string]models.Tap{}
				for _, name := range slow {
					b.taps[name] = tap
				}
				b.begin(append(slow, good...)...)
				time.Sleep(5 * time.Second)
				before := b.in(10*time.Second, good...)
				tap.before.Store(int64(c.before))
				tap.confirm.Store(int64(c.confirm))
				time.Sleep(time.Second)
				for minute := range testkit.Cases(1, 3, 3) {
					assert.GreaterOrEqual(t, b.in(time.Minute, good...), 0.9*before, "documents a second in minute %d", minute)
				}
				assert.NoError(t, b.fleet.Health().Err())
				b.stop()
				b.adding.Wait()
			})
		})
	}
}

// The hanging index has all slots when the others start.
func TestAnIndexThatHangsWithAllSlotsGivesThemUpToThoseThatCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hung{service: newService()}
		b := newBusy(t, h)
		b.begin("alone")
		time.Sleep(5 * time.Second)
		allSlots := 4 * batchOfBusy * float64(time.Second/usual)
		assert.GreaterOrEqual(t, b.in(10*time.Second, "alone"), 0.8*allSlots, "one busy index has all four slots")
		h.hangs.Store("alone", all)
		time.Sleep(10 * time.Second)
		others := indexes(0, 10)
		b.begin(others...)
		time.Sleep(5 * time.Second)
		for minute := range testkit.Cases(1, 10, 10) {
			assert.GreaterOrEqual(t, b.in(time.Minute, others...), 0.8*allSlots, "the others have them in minute %d", minute)
		}
		b.stop()
		b.adding.Wait()
	})
}

// Its first requests hang for a minute, until they time out; new ones succeed after ten seconds.
func TestAnIndexThatAnswersAgainIsFoundWhileItsLateRequestsHang(t *testing.T) {
	for _, most := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			h := &hung{service: newService()}
			b := newBusy(t, h)
			b.most = most
			b.begin(indexes(0, 10)...)
			time.Sleep(10 * time.Second)
			h.hangs.Store("index-0", all)
			time.Sleep(10 * time.Second)
			h.hangs.Delete("index-0")
			time.Sleep(5 * time.Second)
			assert.GreaterOrEqual(t, b.in(10*time.Second, "index-0"), 0.6*b.in(10*time.Second, "index-1"))
			b.stop()
			b.adding.Wait()
		})
	}
}

// A slow index has at most twice the slots' time of each other index.
func TestSlowIndexesLeaveTheOthersTheirRate(t *testing.T) {
	for _, c := range []struct {
		slow, most int
		pace       pace
		usual      time.Duration
		least      float64 // of the rate before
	}{
		{4, 8, pace{1, 1500 * time.Millisecond}, 20 * time.Millisecond, 0.8},
		{4, 8, pace{1, 1500 * time.Millisecond}, usual, 0.8},
		{4, 8, pace{2, 1500 * time.Millisecond}, usual, 0.8},
		{4, 1, pace{1, 1500 * time.Millisecond}, 20 * time.Millisecond, 0.8},
		{4, 8, pace{1, 500 * time.Millisecond}, 50 * time.Millisecond, 0.8},
		{10, 8, pace{1, 5 * time.Second}, usual, 0.6},
		{10, 8, pace{2, 5 * time.Second}, 20 * time.Millisecond, 0.6},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if c.pace.every == 1 && c.usual != 50*time.Millisecond || c.slow > 4 {
				testkit.Long(t)
			}
			synctest.Test(t, func(t *testing.T) {
				h := &hung{service: newService(), took: map[string]time.Duration{}}
				slow, good := indexes(0, c.slow), indexes(c.slow, 24)
				for _, name := range indexes(0, 24) {
					h.took[name] = c.usual
				}
				b := newBusy(t, h)
				b.most = c.most
				b.begin(append(slow, good...)...)
				time.Sleep(5 * time.Second)
				before := b.in(10*time.Second, good...)
				for _, name := range slow {
					h.slow.Store(name, c.pace)
				}
				time.Sleep(5 * time.Second)
				assert.GreaterOrEqual(t, b.in(30*time.Second, good...), c.least*before, "documents a second")
				assert.Positive(t, b.in(20*time.Second, slow...), "slow indexes get their turns")
				b.stop()
				b.adding.Wait()
			})
		})
	}
}

// This index always takes 5 s per request, the others 50 ms.
func TestASlowIndexLeavesFastOnesTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast := indexes(0, 19)
		h := &hung{service: newService(), took: map[string]time.Duration{"slow": 5 * time.Second}}
		for _, name := range fast {
			h.took[name] = 50 * time.Millisecond
		}
		b := newBusy(t, h)
		b.most = 3
		b.begin(fast...)
		time.Sleep(10 * time.Second)
		alone := b.in(10*time.Second, fast...)
		b.begin("slow")
		time.Sleep(time.Minute)
		assert.GreaterOrEqual(t, b.in(time.Minute, fast...), 0.8*alone)
		b.stop()
		b.adding.Wait()
	})
}

// This index always takes 5 s per request, the others 20 ms. It has the slots' time of about two others.
func TestASlowIndexBesideFastOnesKeepsItsRate(t *testing.T) {
	testkit.Long(t)
	for others, least := range map[int]float64{10: 0.8, 19: 0.45} {
		synctest.Test(t, func(t *testing.T) {
			fast := indexes(0, others)
			h := &hung{service: newService(), took: map[string]time.Duration{"slow": 5 * time.Second}}
			for _, name := range fast {
				h.took[name] = 20 * time.Millisecond
			}
			b := newBusy(t, h)
			b.begin("slow")
			time.Sleep(time.Minute)
			alone := b.in(100*time.Second, "slow")
			b.begin(fast...)
			time.Sleep(time.Minute)
			rate := b.in(200*time.Second, "slow") / alone
			t.Logf("%.2f of its rate beside %d", rate, others)
			assert.GreaterOrEqual(t, rate, least, "beside %d", others)
			assert.NoError(t, b.fleet.Health().Err())
			b.stop()
			b.adding.Wait()
		})
	}
}

// A live feed with a constant backlog must leave every fourth turn for room to the backfill of its index.
func TestABackfillGetsItsTurnsBesideAFeedThatFillsTheBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBusy(t, &hung{service: newService()})
		b.begin("index-0")
		s := b.senders["index-0"]
		var done atomic.Int64
		b.adding.Go(func() {
			ctx := models.WithClass(t.Context(), models.ClassBestEffort)
			for n := 0; s.UploadDocuments(ctx, sendertest.Hotels(fmt.Sprint("old", n, "-"), batchOfBusy)...) == nil; n++ {
				done.Add(batchOfBusy)
			}
		})
		time.Sleep(time.Minute)
		before, all := done.Load(), s.Stats().Completed
		time.Sleep(time.Minute)
		assert.Greater(t, 8*(done.Load()-before), int64(s.Stats().Completed-all))
		b.stop()
		require.NoError(t, b.fleet.Close(sendertest.Within(t, time.Hour)))
		b.adding.Wait()
	})
}
