package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Pool has the slots and the room that its members share. Its methods are safe for concurrent use, and but for
// Shutdown none blocks.
type Pool struct {
	mu       sync.Mutex // guards everything below; no callback runs under it
	settings Options
	limit    int  // on all slots together, 0 for none
	own      int  // slots of Expedited that are in force
	shared   int  // and of the others
	alone    bool // the limit is 1: both sides have one slot together
	lines    [classes]line
	inUse    [classes]int // slots by lane
	turns    turns        // whose it is next
	before   turns        // what they were before the last slot was given
	given    uint64       // slots, but for Expedited's own
	members  map[string]*Member
	counts   [classes]counts // by class
	queued   [classes]Times  // how long slots were waited for
	fellBack int64
	closed   bool
	idle     chan struct{} // closed when nothing is in use after Shutdown; nil before

	uses     uses
	answered answers     // of all members
	late     int         // requests whose slots went to others
	moreLate int         // of these, all but the first of each member
	watch    *time.Timer // looks after late ones; nil while nobody waits

	budget budget // has a lock of its own

	stop context.Context // ends when Shutdown gives up waiting
	cut  context.CancelCauseFunc
}

// turns say which class is next.
type turns struct {
	rotation int  // the lane, less one, that last got a slot for its floor
	mine     bool // the last slot went to Expedited
}

// Errors of those who ask.
var (
	// ErrShutdown is the answer to whoever waits, or comes, when the pool is shut down. It is also the cause with
	// which the context of work ends that has not ended before Shutdown has given up.
	ErrShutdown = errors.New("the pool is shut down")
	// ErrLeft is the answer to whoever waits when its member leaves.
	ErrLeft = errors.New("the member has left the pool")
	// ErrFull is the answer of Do if 10 000 wait in its class.
	ErrFull = errors.New("too many wait for a slot")
)

// New returns a pool. The error names every problem of the options.
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
	p.budget.set(settings) // nobody waits yet
	p.stop, p.cut = context.WithCancelCause(context.Background())
	p.share()
	return p, nil
}

// Options returns those that are in force, with the defaults filled in.
func (p *Pool) Options() Options {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings
}

// SetOptions replaces the options, all of them: a field that is 0 has its default, which for BufferedActions and
// BufferedBytes is no bound. So begin with Options, and change what is to change. With an error, which names every
// problem, nothing is changed. It holds from the next question on: nothing is taken from who has a slot, or room, and
// who waits goes on waiting. Another floor is that of a member when it has nothing the next time.
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

// SetLimit bounds all slots together, as something may want it that learns how much the service bears; at least 1,
// and 0 for no bound. Below Expedited and Shared together each of them has its part, and one at least; at 1 they take
// turns.
func (p *Pool) SetLimit(n int) {
	p.mu.Lock()
	p.limit = max(n, 0)
	p.share()
	news := p.dispatch()
	p.mu.Unlock()
	news.wake()
}

// slots is how many there are in all. mu must be held.
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
	case p.limit == 0 || p.limit >= all:
	case p.limit == 1:
		p.own, p.shared, p.alone = 1, 1, true
	default:
		p.own = min(max((p.limit*p.own+all/2)/all, 1), p.limit-1)
		p.shared = p.limit - p.own
	}
}

// lane is the line in which a class waits. known is false for a class that there is none of, which is served as
// Expedited.
func (p *Pool) lane(c models.Class) (lane models.Class, known bool) {
	if int(c) >= classes {
		return models.ClassExpedited, false
	}
	return c, true
}

// free reports whether there is a slot for a lane. mu must be held.
func (p *Pool) free(lane models.Class) bool {
	if p.alone && p.busy() > 0 {
		return false
	}
	if lane == models.ClassExpedited {
		return p.inUse[models.ClassExpedited] < p.own
	}
	return p.lent() < p.shared
}

// busy is how many slots are in use. mu must be held.
func (p *Pool) busy() int { return p.inUse[models.ClassExpedited] + p.lent() }

// lent is how many shared slots are in use. mu must be held.
func (p *Pool) lent() (n int) {
	for _, of := range p.inUse[models.ClassAssured1:] {
		n += of
	}
	return n
}

// awaits reports whether somebody in a lane may have a slot. mu must be held.
func (p *Pool) awaits(lane models.Class) bool {
	l := &p.lines[lane]
	for len(l.places) > 0 && !p.admits(l.places[0].first) { // what it has had answered is not of late any more
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

// nextShared returns the lane that gets the next of the shared slots: one that has none, by turns, or the most
// urgent.
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

// dispatch gives free slots to those who wait. mu must be held, and the answer be told when it is not any more.
func (p *Pool) dispatch() (news told) {
	for {
		lane, ok := p.next()
		if !ok {
			if p.watch == nil {
				news.append(p.look())
			}
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

// use counts a slot that a seat is given in its lane. mu must be held.
func (p *Pool) use(s *Seat) {
	lane := s.lane
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

// unuse gives a slot back. mu must be held.
func (p *Pool) unuse(lane models.Class) told {
	p.inUse[lane]--
	p.noteIdle()
	return p.dispatch()
}

// noteIdle tells Shutdown when nothing is in use. mu must be held.
func (p *Pool) noteIdle() {
	if p.idle != nil && p.running() == 0 {
		close(p.idle)
		p.idle = nil
	}
}

// running is how many slots are out, or kept for somebody. mu must be held.
func (p *Pool) running() int {
	trials := 0
	for _, u := range p.uses {
		if u.trial > 0 {
			trials++
		}
	}
	return p.busy() + p.late + trials
}

// repay undoes what a slot has cost that there was no use for: the bytes are not counted, and it was no turn of its
// class unless others have had theirs since. mu must be held.
func (p *Pool) repay(m *Member, lane models.Class, bytes int64, paid paid) {
	p.lines[lane].refund(&m.places[lane], bytes, paid.raised)
	if p.given == paid.turn {
		p.turns = p.before
	}
}

// untake gives back what was granted to a seat that does not take it. mu must be held.
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

// told are seats, or rooms, of whose questions something has become: one, most often, which costs no allocation.
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

// append adds those of another.
func (t *told) append(o told) {
	if o.one != nil {
		t.add(o.one)
	}
	t.more = append(t.more, o.more...)
}

// refuse ends the question of a seat that is in no line any more. Pool.mu must be held.
func (t *told) refuse(s *Seat, err error) {
	s.state, s.err = seatRefused, err
	t.add(s)
}

// wake tells them, the others too when one panics. No lock may be held.
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

// A ShutdownError says what was not done.
type ShutdownError struct {
	// Refused is how many were waiting for a slot.
	Refused int
	// Running is how many slots were still in use when the context ended; the contexts of work that has one of them
	// have ended with ErrShutdown.
	Running int
	// Err is that of the context, nil if nothing is running any more.
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

// Shutdown refuses who waits and who comes, with ErrShutdown, and waits for those who have a slot, as long as ctx
// lasts. It returns nil if nothing was refused and all have ended, otherwise a *ShutdownError. It may be called
// again, to wait longer.
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
