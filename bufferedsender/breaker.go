package bufferedsender

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/internal/publisher"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Breaker returns the breaker of the sender's Hold, or nil with FailSoon.
func (s *sender) Breaker() *breaker.Breaker { return s.options.held().Breaker }

// gate adapts a breaker to the publisher. Breaker methods may call subscribers, so contain is deferred around them and
// recovers their panics.
type gate struct {
	breaker *breaker.Breaker
	service *breaker.Breaker // shared by all indexes, or nil
	contain func(handler string)

	// status is the status that State has read last. Only the publisher goroutine uses it.
	status breaker.Status
	whole  breaker.Status // of service
	known  bool
	others uint64 // successful requests of other senders

	served atomic.Uint64 // successful requests of this sender, counted before the breaker counts them

	declined atomic.Bool // do not try early until the service breaker changes
	early    bool        // an action could be tried although the index breaker is open, see Early
	refused  bool        // the breaker has refused that try

	mu  sync.Mutex
	out []*permit // permits of requests in flight; guarded by mu
}

// aSubscriber is the handler name in the log line of a contained panic.
const aSubscriber = "a subscriber of Breaker"

func newGate(h Hold, contain func(handler string)) *gate {
	if h.Breaker == nil {
		return nil
	}
	return &gate{breaker: h.Breaker, service: h.Service, contain: contain}
}

// subscribe registers changed for changes of the index breaker and wake for changes of either breaker, until cancel is
// called.
func (g *gate) subscribe(changed func(breaker.Change), wake func()) (cancel func()) {
	if g == nil {
		return func() {}
	}
	woken := func(breaker.Change) { wake() }
	cancels := []func(){g.breaker.Subscribe(changed), g.breaker.Subscribe(woken)}
	if g.service != nil {
		cancels = append(cancels, g.service.Subscribe(func(breaker.Change) {
			g.declined.Store(false)
			wake()
		}))
	}
	return func() {
		for _, c := range cancels {
			c()
		}
	}
}

// forPublisher returns a nil interface, not a nil *gate, without a breaker.
func (g *gate) forPublisher() publisher.Gate {
	if g == nil {
		return nil
	}
	return g
}

func (g *gate) Enter() (publisher.Permit, bool) {
	p := &permit{gate: g}
	if p.given = g.allow(g.breaker); p.given == nil && g.early && !g.refused {
		p.given = g.tryEarly()
	}
	if p.given == nil {
		return nil, false
	}
	if g.service != nil {
		defer func() { // also if a subscriber ends the goroutine
			if p.whole == nil {
				g.giveBack(p.given)
			}
		}()
		if p.whole = g.allow(g.service); p.whole == nil {
			p.whole, p.early = g.allowEarly(), true
		}
		if p.whole == nil {
			return nil, false
		}
	}
	g.mu.Lock()
	g.out = append(g.out, p)
	g.mu.Unlock()
	return p, true
}

// allow returns nil if the breaker does not let a request through.
func (g *gate) allow(b *breaker.Breaker) (given *breaker.Permit) {
	defer g.contain(aSubscriber)
	given, _ = b.Allow()
	return given
}

// allowEarly asks for one request of an index that is spared although the service breaker is open.
func (g *gate) allowEarly() *breaker.Permit {
	defer g.contain(aSubscriber)
	if !g.spared(g.breaker.Status(), g.service.Status()) {
		return nil
	}
	g.declined.Store(true) // set before asking, because after a refusal a breaker change may clear it at any time
	early, ok := g.service.AllowEarly()
	if ok {
		g.declined.Store(false)
	}
	return early
}

// Early implements publisher.Gate. After a refusal the breaker is asked again only after a call with the other value of
// there.
func (g *gate) Early(there bool) {
	if g.early != there {
		g.early, g.refused = there, false
	}
}

func (g *gate) tryEarly() *breaker.Permit {
	defer g.contain(aSubscriber)
	given, ok := g.breaker.AllowEarly()
	g.refused = !ok
	return given
}

// spared reports whether the service breaker is shut only because of other indexes: this one has not failed often
// enough for its own breaker, and no failure shows that the service is unreachable. The publisher then waits after a
// failure as it would alone.
func (g *gate) spared(index, service breaker.Status) bool {
	return index.State == breaker.Closed && shut(service) && service.State != breaker.Disabled && !unreachable(service.Err)
}

// giveBack returns the permit of one breaker after the other one refused.
func (g *gate) giveBack(given *breaker.Permit) {
	defer g.contain(aSubscriber)
	given.Done(breaker.Result{Outcome: breaker.Neutral})
}

func (g *gate) State() publisher.GateState {
	for g.known = false; !g.known; { // read again after a subscriber's panic; that subscriber has been notified by then
		g.read()
	}
	// A request of this sender must not count as one of another sender, which would be evidence that the index works. Own
	// requests are counted before the breaker counts them and are read after it, so own is never too low.
	served, own := g.status.Counts.Successes, g.served.Load()
	g.others = max(g.others, served-min(own, served))
	state := publisher.GateState{Served: served, Others: g.others}
	index, service := shut(g.status), g.service != nil && shut(g.whole)
	switch {
	case service:
		state.Shut = &circuitOpenError{OpenError: &breaker.OpenError{Status: g.whole}, service: true}
	case index:
		state.Shut = &circuitOpenError{OpenError: &breaker.OpenError{Status: g.status}}
	default:
		return state
	}
	state.Blocked = index && g.status.State != breaker.HalfOpen || service && g.whole.State != breaker.HalfOpen
	state.Ready = !state.Blocked && g.status.Probe.IsZero() && (g.service == nil || g.whole.Probe.IsZero())
	if index && !service && g.early && !g.refused && g.status.State != breaker.Disabled {
		state.Early = !state.Ready
		state.Blocked, state.Ready = false, true
	}
	if state.Spared = service && g.spared(g.status, g.whole); state.Spared && !g.declined.Load() {
		state.Blocked, state.Ready = false, true
	}
	return state
}

// worst returns the state of the breaker that keeps more from being sent.
func (g *gate) worst() breaker.State {
	state := g.breaker.Status().State
	if g.service != nil {
		state = max(state, g.service.Status().State)
	}
	return state
}

// shut reports whether a breaker holds requests back.
func shut(s breaker.Status) bool { return s.State != breaker.Closed }

func (g *gate) read() {
	defer g.contain(aSubscriber)
	if g.status = g.breaker.Status(); g.service != nil {
		g.whole = g.service.Status()
	}
	g.known = true
}

// abandon returns the permits of requests that Close has left behind, so that other senders of the index can probe. It
// may be called on nil.
func (g *gate) abandon() {
	if g == nil {
		return
	}
	g.mu.Lock()
	left := g.out
	g.out = nil
	g.mu.Unlock()
	for _, p := range left {
		p.Done(publisher.ServiceUnclear, -1, nil)
	}
}

// circuitOpenError is ErrCircuitOpen with the status of the breaker.
type circuitOpenError struct {
	*breaker.OpenError
	service bool // of the service breaker
}

func (e *circuitOpenError) Error() string {
	if e.service {
		return "the service as a whole: " + e.OpenError.Error()
	}
	return e.OpenError.Error()
}

func (e *circuitOpenError) Is(target error) bool { return target == ErrCircuitOpen }

func (e *circuitOpenError) Unwrap() error { return e.OpenError }

type permit struct {
	gate  *gate
	given *breaker.Permit
	whole *breaker.Permit // of the service, or nil
	early bool            // whole is from allowEarly
	done  atomic.Bool
}

var outcomes = map[publisher.Service]breaker.Outcome{
	publisher.ServiceUnclear:   breaker.Neutral,
	publisher.ServiceSound:     breaker.Success,
	publisher.ServiceThrottles: breaker.Neutral, // the sender slows down first
	publisher.ServiceFails:     breaker.Failure,
	publisher.ServiceRefuses:   breaker.Trip,
}

func (p *permit) Probe() bool { return p.given.Probe() || p.whole != nil && p.whole.Probe() }

func (p *permit) Done(health publisher.Service, retryAfter time.Duration, err error) {
	p.gate.mu.Lock()
	if i := slices.Index(p.gate.out, p); i >= 0 {
		p.gate.out = slices.Delete(p.gate.out, i, i+1)
	}
	p.gate.mu.Unlock()
	defer p.gate.contain(aSubscriber)
	if health == publisher.ServiceSound && !p.done.Swap(true) {
		p.gate.served.Add(1)
	}
	defer p.doneForService(health, retryAfter, err) // also if a subscriber panics
	p.given.Done(breaker.Result{Outcome: outcomes[health], RetryAfter: max(retryAfter, 0), Err: err})
}

// Answered implements publisher.Permit: any answer of an index proves that the service works.
func (p *permit) Answered() {
	if p.whole != nil {
		defer p.gate.contain(aSubscriber)
		p.whole.Done(breaker.Result{Outcome: breaker.Success})
	}
}

// doneForService reports the result of a request to the service breaker. The failure of one index counts there only if
// the service was unreachable, or if the request was the service's probe and the index has failed so often that its own
// breaker is not closed: otherwise one failure of an index that is well would stop all for as long as an outage. The
// early request of one index must not delay those of others, so its failure does not count.
func (p *permit) doneForService(health publisher.Service, retryAfter time.Duration, err error) {
	if p.whole == nil {
		return
	}
	r := breaker.Result{Outcome: breaker.Neutral, Err: err}
	switch {
	case health == publisher.ServiceSound, retry.HasStatus(err, http.StatusNotFound): // there is no such index, and a service that says so
		r.Outcome = breaker.Success
	case health == publisher.ServiceFails && unreachable(err):
		r.Outcome = breaker.Failure
	case (health == publisher.ServiceFails || health == publisher.ServiceRefuses) && p.whole.Probe() && !p.early && shut(p.gate.breaker.Status()):
		r.Outcome, r.RetryAfter = breaker.Failure, max(retryAfter, 0)
	}
	p.whole.Done(r)
}

// unreachable reports whether the service was not reached at all.
func unreachable(err error) bool {
	if name := (*net.DNSError)(nil); errors.As(err, &name) {
		return true
	}
	dial := (*net.OpError)(nil)
	return errors.As(err, &dial) && dial.Op == "dial"
}

// Outage is the behavior while the service is unavailable: Hold or FailSoon.
type Outage interface{ hold() Hold }

// Hold suspends sending during an outage. No attempts are used.
type Hold struct {
	// Breaker decides when to stop and when to probe. Share it only among senders of one index. Defaults to a new one.
	Breaker *breaker.Breaker
	// Service is a second breaker, shared by the senders of all indexes of a service. Sending stops while either is not
	// closed. Only failures to connect or to resolve the name count for it. Defaults to none.
	Service *breaker.Breaker
	// OnPurged is called with the keys of purged actions, like a handler, after the function of WhenFull. Defaults to none.
	OnPurged func(ctx context.Context, keys []string)
	// WhenFull decides about adding calls if the buffer fills meanwhile; SetControl changes it. Defaults to waiting.
	WhenFull WhenFull
}

func (h Hold) hold() Hold { return h }

// FailSoon sends every request. If the service is unavailable or the credentials are wrong, all actions soon fail. A
// document may fail because of others in its request.
type FailSoon struct{}

func (FailSoon) hold() Hold { return Hold{} }

// WhenFull is the policy for a full buffer while sending is suspended, by default WaitForRoom. Actions in flight, and
// actions of their keys behind them, are never purged.
type WhenFull struct {
	policy   publisher.Overload
	onPurged func(ctx context.Context, keys []string)
	given    bool // false for the zero value
}

// WaitForRoom makes adding calls wait. The zero value does so too, but SetControl treats it as no change.
func WaitForRoom() WhenFull { return WhenFull{given: true} }

// Reject makes adding calls fail with ErrBufferFull and ErrCircuitOpen.
func Reject() WhenFull { return WhenFull{policy: publisher.Refuse, given: true} }

// PurgeOldest gives up waiting actions: the oldest of the least urgent class first, none more urgent than the new ones.
// If all are more urgent, adding waits. Purged ones fail with ErrPurged. After their events onPurged is called with
// their keys, one for each action; see AllowLoss.
func PurgeOldest(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{publisher.PurgeOne, onPurged, true}
}

// PurgeAll is PurgeOldest for all waiting actions that are not more urgent than the new ones.
func PurgeAll(onPurged func(ctx context.Context, keys []string)) WhenFull {
	return WhenFull{publisher.PurgeAll, onPurged, true}
}

// AllowLoss is an onPurged that does nothing.
func AllowLoss(context.Context, []string) {}

func (w WhenFull) String() string {
	switch w.policy {
	case publisher.Refuse:
		return "reject"
	case publisher.PurgeOne:
		return "purge oldest"
	case publisher.PurgeAll:
		return "purge all"
	}
	return "wait"
}

func (w WhenFull) validate() error {
	if w.purges() && w.onPurged == nil {
		return errors.New("WhenFull purges accepted actions: give PurgeOldest or PurgeAll a function that repairs them, or AllowLoss if they do not matter")
	}
	return nil
}

func (w WhenFull) purges() bool {
	return w.policy == publisher.PurgeOne || w.policy == publisher.PurgeAll
}

// withQueue returns an error if a sender with a Queue cannot use the policy.
func (w WhenFull) withQueue() error {
	switch {
	case w.purges():
		return errors.New("WhenFull purges accepted actions: a Queue keeps them, use Hold without WhenFull")
	case w.policy == publisher.Refuse:
		return errors.New("WhenFull is Reject, which refuses actions when the buffer is full: with a Queue the bounds are those of the queue")
	}
	return nil
}

// held returns the Hold of Outage, after complete. It has no breaker with FailSoon.
func (o *settings) held() Hold { return o.Outage.hold() }
