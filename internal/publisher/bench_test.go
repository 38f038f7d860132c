package publisher

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// nothing is the type of unused values of items and replies.
type nothing = struct{}

// done is a Transport that applies everything at once.
type done struct{ results []Result[nothing] }

func (d *done) Send(_ context.Context, b *Batch[nothing]) Reply[nothing] {
	return Reply[nothing]{Results: d.results[:len(b.Items)], RetryAfter: -1, Service: ServiceSound}
}

const benchBatch = 1000

// benchPublisher returns a publisher that is not started, with the default limits of a sender. Its service replies at
// once and its hooks do nothing.
func benchPublisher() *Publisher[nothing, nothing] {
	service := &done{make([]Result[nothing], benchBatch)}
	for i := range service.results {
		service.results[i].Next = Complete
	}
	return New(Config[nothing, nothing]{
		Transport: service,
		Hooks: Hooks[nothing, nothing]{
			Accepted: func(int) {}, Sent: func(*Batch[nothing]) {},
			Replied:   func(*Batch[nothing], *Reply[nothing], time.Duration, Counts) {},
			Ending:    func([]Settlement[nothing, nothing]) bool { return false },
			Explain:   func(*Settlement[nothing, nothing]) error { return nil },
			Settled:   func(*Settlement[nothing, nothing], error) {},
			Delivered: func() {}, Suspect: func(*IndexError) {}, Paused: func(time.Duration) {}, Changed: func(Condition, Condition) {},
			Closed: func(context.Context) error { return nil },
		},
		NewID:     func() string { return "batch" },
		Limits:    Limits{BatchItems: benchBatch, BatchBytes: 16_000_000, InFlight: 1, Items: 32 * benchBatch, Bytes: 64 << 20},
		Envelope:  12,
		Comma:     1,
		AutoFlush: true, Interval: time.Minute,
		MaxAttempts: 4, Backoff: func(int) time.Duration { return time.Second }, RequestTimeout: time.Minute,
	})
}

// benchItems returns n items with different keys.
func benchItems(n int) []Item[nothing] {
	items, body := make([]Item[nothing], n), make([]byte, 650)
	for i := range items {
		items[i] = Item[nothing]{Key: "document-" + strconv.Itoa(i), Body: body}
	}
	return items
}

// BenchmarkAdd measures accepting items. The loop does not run; the queued items are discarded.
func BenchmarkAdd(b *testing.B) {
	for _, call := range []int{1, 100} {
		p := benchPublisher()
		p.admission.wakeItems, p.admission.wakeBytes = math.MaxInt, math.MaxInt64 // as while a request is in flight
		empty := func() {
			a := &p.admission
			a.mu.Lock()
			defer a.mu.Unlock()
			if len(a.inbox) >= 16*benchBatch {
				a.inbox, a.inboxBytes, a.stats.Items, a.stats.Bytes = a.inbox[:0], 0, 0, 0
			}
		}
		benchmarkAdding(b, p, call, empty)
	}
}

// BenchmarkPublisher measures the whole life of an item: accepted, queued, sent in a batch, settled.
func BenchmarkPublisher(b *testing.B) {
	for _, call := range []int{1, 100} {
		p := benchPublisher()
		p.Start()
		benchmarkAdding(b, p, call, func() {})
		if err := p.Close(context.Background()); err != nil {
			b.Error(err)
		}
	}
}

// benchmarkAdding measures calls of Add with the given number of items, from one goroutine and from several. after
// runs after each call.
func benchmarkAdding(b *testing.B, p *Publisher[nothing, nothing], call int, after func()) {
	items := benchItems(100_000) // more than the buffer holds, so that keys rarely repeat in it
	var next atomic.Int64
	add := func() {
		at := int(next.Add(int64(call))-int64(call)) % len(items)
		if n, err := p.Add(context.Background(), items[at:at+call], true, false); n != call {
			b.Error(n, err)
		}
		after()
	}
	for range 1000 { // so that buffers have grown
		add()
	}
	name := fmt.Sprintf("%d items a call", call)
	if call == 1 {
		name = "one item a call"
	}
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			add()
		}
	})
	b.Run(name+", parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				add()
			}
		})
	})
}

// BenchmarkSettle measures the work for a full batch from the arrival of its reply until its last item is reported.
func BenchmarkSettle(b *testing.B) {
	p := benchPublisher()
	defer p.cancel()
	items := benchItems(benchBatch)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		if n, err := p.Add(context.Background(), items, false, false); n != len(items) {
			b.Fatal(n, err)
		}
		p.loop.takeMail() // this goroutine is the loop
		p.loop.send()
		p.workers.Wait()
		reply := p.loop.completions.next()
		b.StartTimer()
		p.loop.complete(reply)
	}
	if stats := p.Stats(); stats.Completed != stats.Accepted {
		b.Errorf("%d of %d items were settled", stats.Completed, stats.Accepted)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchBatch), "ns/item")
}
