package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Pool holds the slots and the room that its members share. Its methods are safe for concurrent use. Only Shutdown
// blocks.
type Pool struct {
	mu       sync.Mutex // guards the fields below; no callback runs under it
	settings Options
	limit    limit // of SetLimit
	own      int   // current slots of Expedited
	shared   int   // current slots of the other classes
	alone    bool  // the limit is 1: both sides share one slot
	lines    [classes]line
	inUse    [classes]int // slots by lane
	turns    turns        // which class is next
	before   turns        // turns before the last slot was given
	given    uint64       // slots given so far, without Expedited's own
	members  map[string]*Member
	counts   [classes]counts // by class
	queued   [classes]Times  // waiting times for slots
	fellBack int64
	closed   bool
	idle     chan struct{} // set by Shutdown; closed when no slot is in use

	uses     uses
	answered answers     // of all members
	late     int         // requests whose slots went to others
	moreLate int         // late requests, without the first one of each member
	watch    *time.Timer // looks for late ones; nil while no seat waits

	budget budget // has its own lock

	stop context.Context // ends when Shutdown gives up waiting
	cut  context.CancelCauseFunc
}

// turns determine which class is next.
type turns struct {
	rotation int  // the lane, minus one, that last got a slot as its guaranteed one
	mine     bool // the last slot went to Expedited
}

// Errors of waiting calls.
var (
	// ErrShutdown means that the pool was shut down. It is also the cause of the context of work that still runs when
	// Shutdown gives up waiting.
	ErrShutdown = errors.New("pool is shut down")
	// ErrLeft means that the member has left the pool.
	ErrLeft = errors.New("member has left the pool")
	// ErrFull means that 10 000 calls of Do wait in the class.
	ErrFull = errors.New("too many wait for a slot")
)

// New returns a pool. Its error names every problem of the options.
func New(opts *Options) (*Pool, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	settings, err := o.checked()
	if err != nil {
		return nil, err
	}
	p := &Pool{settings: settings, members: make(map[string]*Member)}
	for c := range p.lines {
		p.lines[c].lane = models.Class(c)
	}
	p.budget.set(settings) // no room waits yet
	p.stop, p.cut = context.WithCancelCause(context.Background())
	p.share()
	return p, nil
}

// Options returns the current options, with defaults set.
func (p *Pool) Options() Options {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings
}

// SetOptions replaces all options. A zero field gets its default, which means no bound for BufferedActions and
// BufferedBytes, so start from Options. An error names every problem and changes nothing. The options apply from the
// next request on: slots and room that are in use stay, and waiting calls continue to wait. A member gets a new floor
// the next time its buffer is empty.
func (p *Pool) SetOptions(o Options) error {
	o, err := o.checked()
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.settings = o
	p.share()
	news := p.dispatch()
	news.append(p.budget.set(o))
	p.mu.Unlock()
	news.wake()
	return nil
}

// SetLimit bounds all slots together, and gives them at least an interval apart, for example as far as the service was
// found to bear. 0 means no bound, and no interval. If n is less than Expedited and Shared together, each gets its
// share, at least one slot; at 1 they take turns.
func (p *Pool) SetLimit(n int, interval time.Duration) {
	p.mu.Lock()
	p.limit.slots = max(n, 0)
	p.limit.space(interval)
	p.share()
	news := p.dispatch()
	p.mu.Unlock()
	news.wake()
}

// slots returns the number of slots. mu must be held.
func (p *Pool) slots() int {
	if p.alone {
		return 1
	}
	return p.own + p.shared
}

// share divides the limit. mu must be held.
func (p *Pool) share() {
	p.own, p.shared, p.alone = p.settings.Expedited, p.settings.Shared, false
	all := p.own + p.shared
	switch {
	case p.limit.slots == 0 || p.limit.slots >= all:
	case p.limit.slots == 1:
		p.own, p.shared, p.alone = 1, 1, true
	default:
		p.own = min(max((p.limit.slots*p.own+all/2)/all, 1), p.limit.slots-1)
		p.shared = p.limit.slots - p.own
	}
}

// lane returns the line of a class. known is false for an unknown class, which is served as Expedited.
func (p *Pool) lane(c models.Class) (lane models.Class, known bool) {
	if int(c) >= classes {
		return models.ClassExpedited, false
	}
	return c, true
}

// free reports whether a slot is free for a lane. mu must be held.
func (p *Pool) free(lane models.Class) bool {
	if p.alone && p.busy() > 0 || p.limit.wait() > 0 {
		return false
	}
	if lane == models.ClassExpedited {
		return p.inUse[models.ClassExpedited] < p.own
	}
	return p.lent() < p.shared
}

// busy returns the number of slots in use. mu must be held.
func (p *Pool) busy() int { return p.inUse[models.ClassExpedited] + p.lent() }

// lent returns the number of shared slots in use. mu must be held.
func (p *Pool) lent() (n int) {
	for _, of := range p.inUse[models.ClassAssured1:] {
		n += of
	}
	return n
}

// awaits reports whether a seat in a lane may get a slot. mu must be held.
func (p *Pool) awaits(lane models.Class) bool {
	l := &p.lines[lane]
	for len(l.places) > 0 && !p.admits(l.places[0].first) { // its answers are no longer recent
		l.put(l.places[0], false)
	}
	return len(l.places) > 0
}

// next returns the lane that gets the next slot. mu must be held.
func (p *Pool) next() (lane models.Class, ok bool) {
	first := p.awaits(models.ClassExpedited) && p.free(models.ClassExpedited)
	if first && !p.alone {
		return models.ClassExpedited, true
	}
	lane, ok = p.nextShared()
	if first && (!ok || !p.turns.mine) {
		return models.ClassExpedited, true
	}
	return lane, ok
}

// nextShared returns the lane that gets the next shared slot: by rotation one without a slot, otherwise the most urgent
// one.
func (p *Pool) nextShared() (models.Class, bool) {
	const lanes = classes - 1
	if p.lent() >= p.shared {
		return 0, false
	}
	for i := 1; i <= lanes; i++ {
		at := (p.turns.rotation + i) % lanes
		if lane := models.Class(at + 1); p.awaits(lane) && p.free(lane) && p.inUse[lane] == 0 {
			return lane, true
		}
	}
	for lane := models.ClassAssured1; lane <= models.ClassBestEffort; lane++ {
		if p.awaits(lane) && p.free(lane) {
			return lane, true
		}
	}
	return 0, false
}

// dispatch gives free slots to waiting seats. mu must be held; wake the result after unlocking.
func (p *Pool) dispatch() (news told) {
	for {
		lane, ok := p.next()
		if !ok {
			if p.watch == nil {
				news.append(p.look())
			}
			p.giveLater()
			return news
		}
		s := p.lines[lane].pop()
		p.use(s)
		p.orderIn(s.member, lane)
		s.granted()
		s.waited = time.Since(s.since)
		news.add(s)
	}
}

// use counts a slot given to a seat in its lane. mu must be held.
func (p *Pool) use(s *Seat) {
	lane := s.lane
	p.foresee(s)
	p.limit.count()
	s.paid.turn = 0
	if p.alone || lane != models.ClassExpedited {
		p.given++
		p.before, s.paid.turn = p.turns, p.given
	}
	p.turns.mine = lane == models.ClassExpedited
	if lane != models.ClassExpedited {
		if p.inUse[lane] == 0 {
			p.turns.rotation = int(lane) - 1
		}
	}
	p.inUse[lane]++
	if s.bounded == 0 {
		s.member.out[lane]++
	}
}

// unuse takes back a slot. mu must be held.
func (p *Pool) unuse(lane models.Class) told {
	p.inUse[lane]--
	p.noteIdle()
	return p.dispatch()
}

// noteIdle notifies Shutdown when no slot is in use. mu must be held.
func (p *Pool) noteIdle() {
	if p.idle != nil && p.running() == 0 {
		close(p.idle)
		p.idle = nil
	}
}

// running returns how many slots and trials are out, or kept for a seat. mu must be held.
func (p *Pool) running() int {
	trials := 0
	for _, u := range p.uses {
		if u.trial > 0 {
			trials++
		}
	}
	return p.busy() + p.late + trials
}

// repay undoes the cost of an unused slot: its bytes do not count, and it was not a turn of its class, unless other
// turns have followed. mu must be held.
func (p *Pool) repay(m *Member, lane models.Class, bytes int64, paid paid) {
	p.lines[lane].refund(&m.places[lane], turn(bytes)+paid.extra, paid.raised)
	p.limit.uncount()
	if p.given == paid.turn {
		p.turns = p.before
	}
}

// untake takes back a slot granted to a seat that does not take it. mu must be held.
func (p *Pool) untake(s *Seat) (news told) {
	s.taken()
	m := s.member
	if s.trial {
		s.trial, m.trial = false, false
		p.noteIdle()
		return p.offerTrial(m)
	}
	if s.bounded == 0 {
		m.out[s.lane]--
	}
	p.repay(m, s.lane, s.bytes, s.paid)
	p.order(m)
	return p.unuse(s.lane)
}

// Seats or rooms to wake because their requests were granted or refused. Usually there is one, which costs no
// allocation.
type told struct {
	one  interface{ tell() }
	more []interface{ tell() }
}

func (t *told) add(s interface{ tell() }) {
	if t.one == nil {
		t.one = s
		return
	}
	t.more = append(t.more, s)
}

// append adds all of o.
func (t *told) append(o told) {
	if o.one != nil {
		t.add(o.one)
	}
	t.more = append(t.more, o.more...)
}

// refuse refuses the request of a seat that is no longer in a line. Pool.mu must be held.
func (t *told) refuse(s *Seat, err error) {
	s.state, s.err = seatRefused, err
	t.add(s)
}

// wake wakes all of them, even if one panics. No lock may be held.
func (t told) wake() {
	defer func() {
		if t.one != nil {
			t.wake()
		}
	}()
	for t.one != nil {
		s := t.one
		if t.one = nil; len(t.more) > 0 {
			t.one, t.more = t.more[0], t.more[1:]
		}
		s.tell()
	}
}

// A ShutdownError reports the work that was not done.
type ShutdownError struct {
	// Refused is how many requests waited for a slot.
	Refused int
	// Running is how many slots were still in use when the context ended. The contexts of their work have ended with
	// ErrShutdown.
	Running int
	// Err is the context's cause, or nil if nothing was running any more.
	Err error
}

func (e *ShutdownError) Error() string {
	if e.Running == 0 {
		return fmt.Sprintf("pool: shut down; %d that waited were refused", e.Refused)
	}
	return fmt.Sprintf("pool: shut down; %d that waited were refused, and %d are still running: %v", e.Refused, e.Running, e.Err)
}

// Unwrap returns Err.
func (e *ShutdownError) Unwrap() error { return e.Err }

// Shutdown refuses waiting and new requests with ErrShutdown, and waits for slots in use until ctx ends. It returns nil
// if nothing was refused and all slots are free, otherwise a *ShutdownError. To wait longer, call it again.
func (p *Pool) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	var news told
	refused := 0
	for _, m := range p.members {
		for i := range m.places {
			for ; m.places[i].first != nil; refused++ {
				s := m.places[i].first
				p.lines[i].remove(s)
				news.refuse(s, ErrShutdown)
			}
			p.orderIn(m, models.Class(i))
		}
	}
	var idle chan struct{}
	if p.running() > 0 {
		if p.idle == nil {
			p.idle = make(chan struct{})
		}
		idle = p.idle
	}
	p.mu.Unlock()
	news.wake()
	if idle != nil {
		select {
		case <-idle:
		case <-ctx.Done():
			p.mu.Lock()
			running := p.running()
			p.mu.Unlock()
			if running > 0 {
				p.cut(ErrShutdown)
				return &ShutdownError{Refused: refused, Running: running, Err: context.Cause(ctx)}
			}
		}
	}
	if refused > 0 {
		return &ShutdownError{Refused: refused}
	}
	return nil
}
