package tuning_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
)

// This file simulates senders and a service, without goroutines and without
// time passing, so that a controller can be tried on an hour of load in a few
// milliseconds. It follows what the sender and the emulator's capacity model do,
// not more: tuning_test.go of the sender measures the real ones.

// world is a service, its clock, and the senders that use it.
type world struct {
	random  *rand.Rand
	now     time.Duration
	events  eventQueue
	serial  int
	service service
	senders []*simSender
}

// service is how requests fare.
type service struct {
	capacity float64 // documents a second; 0: no limit
	burst    float64 // seconds' worth of documents that can be saved up
	level    float64
	filled   time.Duration

	reply      int           // 0: 503 for each document that is too much; else the whole request
	retryAfter time.Duration // with the latter

	// latency is how long a request takes that carries so many actions while so
	// many requests, this one included, are with the service.
	latency func(w *world, actions, inService int) time.Duration
	broken  float64 // share of the requests that get no answer
	chance  float64 // share of the documents that are answered 503 for no reason

	inService int
}

// setCapacity changes the rate. What is left in the bucket stays, as far as the
// new one holds it.
func (s *service) setCapacity(now time.Duration, perSecond float64) {
	level := math.Inf(1)
	if s.capacity > 0 && now > 0 {
		s.fill(now)
		level = s.level
	}
	s.capacity, s.filled = perSecond, now
	s.level = min(level, perSecond*s.burst)
}

func (s *service) fill(now time.Duration) {
	s.level = min(s.capacity*s.burst, s.level+(now-s.filled).Seconds()*s.capacity)
	s.filled = now
}

// take charges the bucket and returns how many documents are taken.
func (s *service) take(now time.Duration, actions int) int {
	if s.capacity <= 0 {
		return actions
	}
	full := s.capacity * s.burst
	s.fill(now)
	if s.reply != 0 {
		if s.level < min(float64(actions), full) {
			return 0
		}
		s.level -= float64(actions)
		return actions
	}
	taken := 0
	for taken < actions && s.level >= min(1, full) {
		s.level--
		taken++
	}
	return taken
}

// simSender sends as the real one does: when a slot is free, the interval has
// passed, no pause is in force, and there is something to send.
type simSender struct {
	controller tuning.Controller
	limits     tuning.Pace
	starts     time.Duration // when it starts to work
	supply     float64       // documents a second that the application adds; 0: as many as can be sent
	bytes      int           // size of a document

	added       float64
	addedAt     time.Duration
	retries     int // documents to be sent again
	inFlight    int
	lastStart   time.Duration
	started     bool
	pausedUntil time.Duration
	pauses      int
	epoch       int
	wakeAt      time.Duration // of the wake-up event under way, 0: none

	seconds []second // what happened, second by second
}

// second is what a sender saw in one second.
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

type eventQueue []simEvent

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].serial < q[j].serial
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(simEvent)) }
func (q *eventQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

func (w *world) after(d time.Duration, do func()) {
	w.serial++
	heap.Push(&w.events, simEvent{w.now + d, w.serial, do})
}

// newWorld makes senders with controllers of the policy.
func newWorld(seed uint64, policy tuning.Policy, bounds tuning.Bounds, senders int, s service) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), service: s}
	w.service.setCapacity(0, s.capacity)
	for range senders {
		c := policy.New(bounds)
		w.senders = append(w.senders, &simSender{controller: c, limits: c.Pace(), bytes: 100})
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

// run lets time pass until then.
func (w *world) run(until time.Duration) {
	if w.now == 0 {
		w.begin()
	}
	for len(w.events) > 0 && w.events[0].at < until {
		e := heap.Pop(&w.events).(simEvent)
		w.now = e.at
		e.do()
	}
	w.now = until
}

// backlog is how many documents wait.
func (w *world) backlog(s *simSender) int {
	if s.supply == 0 {
		return s.retries + 1_000_000
	}
	s.added += (w.now - s.addedAt).Seconds() * s.supply
	s.addedAt = w.now
	return s.retries + int(s.added)
}

// pump starts what may be started, and sees to it that it is called again.
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
		w.start(s, min(waiting, s.limits.BatchActions, max(1, s.limits.BatchBytes/s.bytes)))
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

func (w *world) start(s *simSender, actions int) {
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
		w.reply(s, started, epoch, actions)
	})
}

// reply ends a request: the service takes what it can, the sender is notified.
func (w *world) reply(s *simSender, started time.Duration, epoch, actions int) {
	o := tuning.Observation{Now: w.now, Started: started, Actions: actions, Bytes: actions * s.bytes, InFlight: s.inFlight}
	sv := &w.service
	wait, pause := time.Duration(-1), false
	if w.random.Float64() < sv.broken {
		o.Broken, pause = true, true
	} else {
		lucky := actions - w.unlucky(actions)
		o.Done = sv.take(w.now, lucky)
		switch {
		case o.Done < lucky && sv.reply != 0:
			o.Refused, pause = true, true
			if sv.retryAfter > 0 {
				wait = sv.retryAfter
			}
		case o.Done < actions:
			o.Throttled = actions - o.Done
			pause = o.Done == 0
		}
	}
	s.inFlight--
	s.retries += actions - o.Done
	fresh := epoch == s.epoch
	switch {
	case !pause:
		if fresh {
			s.pauses = 0
		}
	case fresh || wait >= 0:
		if fresh {
			s.pauses++
			s.epoch++
			if wait < 0 {
				bound := min(float64(time.Minute), float64(800*time.Millisecond)*math.Pow(2, float64(s.pauses-1)))
				wait = time.Duration(w.random.Float64() * bound)
			}
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

// unlucky draws how many of so many documents are refused by chance.
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

// fixedLatency is a service that takes as long for whatever it is given, with
// some noise.
func fixedLatency(d time.Duration, noise float64) func(*world, int, int) time.Duration {
	return func(w *world, _, _ int) time.Duration {
		return time.Duration(float64(d) * (1 - noise + 2*noise*w.random.Float64()))
	}
}

// span is what all senders saw from one second on to another.
type span struct {
	goodput, throttled float64 // documents a second; share of those sent
	least              float64 // of the senders' shares, 1 is fair
}

func (w *world) span(from, to time.Duration) span {
	var sent, done, throttled float64
	least := math.Inf(1)
	for _, s := range w.senders {
		own := 0.0
		for i := int(from / time.Second); i < int(to/time.Second) && i < len(s.seconds); i++ {
			sent += s.seconds[i].sent
			own += s.seconds[i].done
			throttled += s.seconds[i].throttled
		}
		done += own
		least = min(least, own)
	}
	return span{
		goodput:   done / (to - from).Seconds(),
		throttled: throttled / max(sent, 1),
		least:     least * float64(len(w.senders)) / max(done, 1),
	}
}
