package tuning_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// This file simulates senders and a service without goroutines and without real time, so an hour of load takes
// milliseconds. It models only the sender and the emulator's capacity; tuning_test.go of the sender measures the real
// ones.

// world is a service, its clock, and its senders.
type world struct {
	random  *rand.Rand
	now     time.Duration
	events  eventQueue
	serial  int
	service service
	senders []*simSender
}

// bucket is a token bucket: it fills at rate and holds the tokens of burst seconds.
type bucket struct {
	rate, burst float64 // 0: no limit
	level       float64
	filled      time.Duration
}

func (b *bucket) full() float64 { return b.rate * b.burst }

func (b *bucket) fill(now time.Duration) {
	b.level = min(b.full(), b.level+(now-b.filled).Seconds()*b.rate)
	b.filled = now
}

// set changes the rate. Tokens stay as far as the new bucket holds them.
func (b *bucket) set(now time.Duration, perSecond float64) {
	level := math.Inf(1)
	if b.rate > 0 && now > 0 {
		b.fill(now)
		level = b.level
	}
	b.rate, b.filled = perSecond, now
	b.level = min(level, b.full())
}

// fits returns how many items of this size fit.
func (b *bucket) fits(size float64) int {
	if b.rate <= 0 {
		return math.MaxInt
	}
	return int(max(0, math.Floor((b.level+1e-9)/size)))
}

// service is the simulated service.
type service struct {
	requests, documents, bytes bucket

	whole bool // a request that does not fit is refused as a whole; false: only the documents that do not fit
	// strict: a request larger than a full bucket is always refused; false: a full bucket takes it and goes into
	// debt.
	strict     bool
	retryAfter time.Duration // for requests refused as a whole

	// latency is the duration of a request with this many actions while this many requests, including this one, are
	// with the service.
	latency func(w *world, actions, inService int) time.Duration
	broken  float64 // share of requests without an answer
	chance  float64 // share of documents refused with 503 at random

	inService int
}

// ofDocuments is a service with this capacity in documents a second.
func ofDocuments(capacity float64, latency func(*world, int, int) time.Duration) service {
	return service{documents: bucket{rate: capacity, burst: 1}, latency: latency}
}

// take charges the buckets and returns how many documents are taken, and whether the request was refused as a whole.
func (s *service) take(now time.Duration, actions, size int) (taken int, refused bool) {
	for _, b := range []*bucket{&s.requests, &s.documents, &s.bytes} {
		b.fill(now)
	}
	if s.requests.fits(min(1, max(s.requests.full(), 1e-9))) == 0 {
		return 0, true
	}
	s.requests.level--
	n, bytes := float64(actions), float64(actions*size)
	if !s.whole {
		taken = min(actions, s.documents.fits(min(1, max(s.documents.full(), 1e-9))), s.bytes.fits(float64(size)))
	} else {
		need, needBytes := n, bytes
		if !s.strict {
			need, needBytes = min(n, max(s.documents.full(), 1e-9)), min(bytes, max(s.bytes.full(), 1e-9))
		}
		if s.documents.fits(need) == 0 || s.bytes.fits(needBytes) == 0 {
			return 0, true
		}
		taken = actions
	}
	s.documents.level -= float64(taken)
	s.bytes.level -= float64(taken * size)
	return taken, false
}

// simSender follows the rules of the real sender: it sends when a slot is free, the interval has passed, there is no
// pause, and there is something to send.
type simSender struct {
	controller tuning.Controller
	limits     tuning.Pace
	starts     time.Duration // start time
	supply     float64       // documents a second that the application adds; 0: unlimited
	bytes      int           // mean size of a document
	fixed      bool          // the controller never changes anything
	uneven     bool          // document sizes vary by half between batches

	added       float64
	addedAt     time.Duration
	retries     int // documents to be retried
	inFlight    int
	lastStart   time.Duration
	started     bool
	pausedUntil time.Duration
	pauses      int
	epoch       int
	troubled    bool
	troubleAt   time.Duration
	wakeAt      time.Duration // time of the next wake-up event, 0: none

	seconds []second // events, second by second
}

// second has the observations of one second.
type second struct {
	sent, done, throttled, requests float64
	limits                          tuning.Pace // at the end
}

func (s *simSender) at(now time.Duration) *second {
	i := int(now / time.Second)
	for len(s.seconds) <= i {
		s.seconds = append(s.seconds, second{})
	}
	return &s.seconds[i]
}

type simEvent struct {
	at     time.Duration
	serial int
	do     func()
}

type eventQueue []*simEvent

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].serial < q[j].serial
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(*simEvent)) }
func (q *eventQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

func (w *world) after(d time.Duration, do func()) {
	w.serial++
	heap.Push(&w.events, &simEvent{w.now + d, w.serial, do})
}

// newWorld creates senders with controllers of the policy.
func newWorld(seed uint64, policy tuning.Policy, bounds tuning.Bounds, senders int, s service) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), service: s}
	for _, b := range []*bucket{&w.service.requests, &w.service.documents, &w.service.bytes} {
		b.set(0, b.rate)
	}
	for range senders {
		c := policy.New(bounds)
		w.senders = append(w.senders, &simSender{controller: c, limits: c.Pace(), bytes: 100, fixed: policy == tuning.Fixed()})
	}
	return w
}

// begin starts the senders, each at its time and not exactly together.
func (w *world) begin() {
	for _, s := range w.senders {
		w.after(s.starts+time.Duration(w.random.Int64N(int64(time.Millisecond))), func() {
			s.addedAt = w.now
			w.pump(s)
		})
	}
}

// run advances the clock to until.
func (w *world) run(until time.Duration) {
	if w.now == 0 {
		w.begin()
	}
	for len(w.events) > 0 && w.events[0].at < until {
		e := heap.Pop(&w.events).(*simEvent)
		w.now = e.at
		e.do()
	}
	w.now = until
}

// backlog is the number of waiting documents.
func (w *world) backlog(s *simSender) int {
	if s.supply == 0 {
		return s.retries + 1_000_000
	}
	s.added += (w.now - s.addedAt).Seconds() * s.supply
	s.addedAt = w.now
	return s.retries + int(s.added)
}

// pump starts possible requests and schedules its next call.
func (w *world) pump(s *simSender) {
	for {
		waiting := w.backlog(s)
		urgent := s.retries > 0
		full := waiting >= s.limits.BatchActions || waiting*s.bytes >= s.limits.BatchBytes
		if s.inFlight >= s.limits.InFlight || !urgent && !full {
			if s.inFlight < s.limits.InFlight && s.supply > 0 {
				w.wake(s, w.now+10*time.Millisecond)
			}
			return
		}
		at := s.pausedUntil
		if s.started {
			at = max(at, s.lastStart+s.limits.Interval)
		}
		if at > w.now {
			w.wake(s, at)
			return
		}
		size := s.bytes
		if s.uneven {
			size = int(float64(size) * (0.5 + w.random.Float64()))
		}
		w.start(s, min(waiting, s.limits.BatchActions, max(1, s.limits.BatchBytes/size)), size)
	}
}

func (w *world) wake(s *simSender, at time.Duration) {
	if s.wakeAt > w.now && s.wakeAt <= at {
		return
	}
	s.wakeAt = at
	w.after(at-w.now, func() {
		if s.wakeAt == w.now {
			s.wakeAt = 0
		}
		w.pump(s)
	})
}

func (w *world) start(s *simSender, actions, size int) {
	old := min(actions, s.retries)
	s.retries -= old
	if s.supply > 0 {
		s.added -= float64(actions - old)
	}
	s.inFlight++
	s.lastStart, s.started = w.now, true
	started, epoch := w.now, s.epoch
	w.service.inService++
	w.after(w.service.latency(w, actions, w.service.inService), func() {
		w.service.inService--
		w.reply(s, started, epoch, actions, size)
	})
}

// reply ends a request: the service takes what it can, and the sender gets the result. The sender pauses as the
// publisher does (see pace.go there): for the time of a Retry-After; otherwise randomly, and longer each time nothing
// was applied; if a part was applied, it pauses only without a controller.
func (w *world) reply(s *simSender, started time.Duration, epoch, actions, size int) {
	o := tuning.Observation{Now: w.now, Started: started, Actions: actions, Bytes: actions * size, InFlight: s.inFlight}
	sv := &w.service
	wait, pause := time.Duration(-1), false
	if w.random.Float64() < sv.broken {
		o.Broken, pause = true, true
	} else {
		lucky := actions - w.unlucky(actions)
		o.Done, o.Refused = sv.take(w.now, lucky, size)
		switch {
		case o.Refused:
			pause = true
			if sv.retryAfter > 0 {
				wait = sv.retryAfter
			}
		case o.Done < actions:
			o.Throttled = actions - o.Done
			pause = o.Done == 0 || s.fixed
		}
	}
	s.inFlight--
	s.retries += actions - o.Done
	switch {
	case o.Done > 0:
		s.troubled = false
	case !s.troubled:
		s.troubled, s.troubleAt = true, started
	}
	fresh := epoch == s.epoch
	switch {
	case !pause:
		if fresh {
			s.pauses = 0
		}
	case fresh || wait >= 0:
		if fresh {
			if s.pauses++; o.Done > 0 {
				s.pauses = 1
			}
			s.epoch++
			longest := time.Second
			if s.troubled {
				longest = min(max(longest, w.now-s.troubleAt), 30*time.Second)
			}
			drawn := w.random.Float64() * float64(800*time.Millisecond) * math.Pow(2, float64(min(s.pauses, 20)-1))
			wait = max(wait, 10*time.Millisecond, time.Duration(min(drawn, float64(longest))))
		}
		s.pausedUntil = max(s.pausedUntil, w.now+wait)
	}
	o.Backlog = w.backlog(s)
	s.limits = s.controller.Observe(o)
	sec := s.at(w.now)
	sec.sent += float64(actions)
	sec.done += float64(o.Done)
	sec.requests++
	if !o.Broken {
		sec.throttled += float64(actions - o.Done)
	}
	sec.limits = s.limits
	w.pump(s)
}

// unlucky draws how many of these documents are refused at random.
func (w *world) unlucky(actions int) (n int) {
	if w.service.chance == 0 {
		return 0
	}
	for range actions {
		if w.random.Float64() < w.service.chance {
			n++
		}
	}
	return n
}

// fixedLatency is a latency independent of the load, with some noise.
func fixedLatency(d time.Duration, noise float64) func(*world, int, int) time.Duration {
	return func(w *world, _, _ int) time.Duration {
		return time.Duration(float64(d) * (1 - noise + 2*noise*w.random.Float64()))
	}
}

// span has the observations of all senders over some seconds.
type span struct {
	goodput, throttled float64 // documents a second; share of those sent
	least, most        float64 // of the senders' shares, 1 is fair
}

func (w *world) span(from, to time.Duration) span {
	var sent, done, throttled float64
	least, most := math.Inf(1), 0.0
	for _, s := range w.senders {
		own := 0.0
		for i := int(from / time.Second); i < int(to/time.Second) && i < len(s.seconds); i++ {
			sent += s.seconds[i].sent
			own += s.seconds[i].done
			throttled += s.seconds[i].throttled
		}
		done += own
		least, most = min(least, own), max(most, own)
	}
	return span{
		goodput:   done / (to - from).Seconds(),
		throttled: throttled / max(sent, 1),
		least:     least * float64(len(w.senders)) / max(done, 1),
		most:      most * float64(len(w.senders)) / max(done, 1),
	}
}
