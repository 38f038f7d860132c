package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Bounds of what is under way.
const (
	maxOffer  = 1000
	maxLoad   = 1000
	maxExport = 100
	maxAside  = 100_000 // rows of keys that wait after a failure: about 150 B each
	statement = 30 * time.Second

	// A relay that was woken reads on for longer than notifyEvery, see there.
	hotFor, hotPoll = 4 * notifyEvery, notifyEvery / 2
)

// loop is one Run of a relay. Its goroutine owns all of it but inbox. Whatever waits runs
// beside it, one of each kind of work at a time, and posts what came of it.
type loop struct {
	r      *Relay
	desk   *desk
	holds  *holds
	read   *reading
	finish *finishes
	leases *leasing

	work   context.Context // of all that runs beside it
	cancel context.CancelFunc
	beside sync.WaitGroup
	inbox  inbox
	busy   [kinds]bool

	tickAt            time.Time
	tickFailed        int
	want              int // how many ranges are its share
	paused, letters   bool
	readAt, fullAt    time.Time
	readBegan         time.Time
	hotUntil          time.Time
	readFailed        int
	readMost          int // rows that one read asks for: fewer if they are large
	floor             floor
	after, seen       [classes]int64 // where the next read begins; what has been read
	known             [classes]int64 // of a full pass: what it should not find anything new in
	restart, full     bool           // the next read begins at 0: there are new ranges, or it is time
	dry               bool           // all up to the floor was read
	offerAt           time.Time
	offersFailed      int
	loadAt            time.Time
	loadsFailed       int
	finishAt          time.Time
	finishFailed      int
	now               *finishing // that is under way
	toOffer           []*flight
	toLoad            []*flight
	toFetch, toExport []*flight
	fetchAt           time.Time
	underway          int // actions that were offered and have no outcome
	withdraw          bool
	gifts             []gift

	closing bool
	closeBy time.Time
	stop    context.CancelFunc // of offers, loads and exports
	asking  context.Context    // of these
	failure error
}

// kind is work that runs beside the loop, one of each at a time.
type kind int

const (
	kindTick kind = iota
	kindRead
	kindFetch
	kindLoad
	kindExport
	kindOffer
	kindFinish
	kindWithdraw
	kindGive
	kinds
)

// inbox is what others leave for the loop.
type inbox struct {
	mu       sync.Mutex
	events   []func()
	outcomes []ended
	signal   chan struct{} // of capacity 1: there is something
}

// ended is how an action has ended.
type ended struct {
	flight  *flight
	outcome models.Outcome
}

func (b *inbox) wake() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

func (b *inbox) post(f func()) {
	b.mu.Lock()
	b.events = append(b.events, f)
	b.mu.Unlock()
	b.wake()
}

// outcome runs on the goroutine of the sender.
func (b *inbox) outcome(f *flight, o models.Outcome) {
	b.mu.Lock()
	b.outcomes = append(b.outcomes, ended{f, o})
	first := len(b.outcomes) == 1
	b.mu.Unlock()
	if first {
		b.wake()
	}
}

func (b *inbox) take() ([]func(), []ended) {
	b.mu.Lock()
	defer b.mu.Unlock()
	events, outcomes := b.events, b.outcomes
	b.events, b.outcomes = nil, nil
	return events, outcomes
}

func newLoop(r *Relay) *loop {
	return &loop{
		r: r, desk: newDesk(r.opts.Export != nil), holds: &holds{margin: r.margin}, read: newReading(r.table),
		readMost: firstRead,
		finish:   newFinishes(r.table, r.opts.SeqField != ""), leases: newLeasing(r), inbox: inbox{signal: make(chan struct{}, 1)},
	}
}

var errSenderClosed = errors.New("outbox: the sender is closed; rows stay in the table")

func (l *loop) run(ctx context.Context) error {
	l.work, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.asking, l.stop = context.WithCancel(l.work)
	defer l.leases.close() // when nothing uses it any more
	defer l.beside.Wait()
	defer l.cancel()
	defer l.stop()
	done := ctx.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		l.takeInbox()
		now := time.Now()
		if l.failure != nil && !l.closing {
			l.close(now)
		}
		if l.step(now); l.closing && l.finished(now) {
			break
		}
		timer.Reset(l.wait(now))
		select {
		case <-l.inbox.signal:
		case <-timer.C:
		case <-l.r.opts.Wake:
			l.woken(time.Now())
		case <-done:
			done = nil
			l.close(time.Now())
		}
	}
	l.leave()
	return l.failure
}

// beginWork runs f beside the loop, and then what it returns on the loop.
func (l *loop) beginWork(k kind, timeout time.Duration, parent context.Context, f func(ctx context.Context) (then func())) {
	l.busy[k] = true
	l.beside.Add(1)
	go func() {
		defer l.beside.Done()
		ctx, cancel := parent, context.CancelFunc(func() {})
		if timeout > 0 {
			ctx, cancel = context.WithTimeout(parent, timeout)
		}
		defer cancel()
		then := f(ctx)
		l.inbox.post(func() {
			l.busy[k] = false
			then()
		})
	}()
}

func (l *loop) takeInbox() {
	events, outcomes := l.inbox.take()
	for _, e := range outcomes {
		l.outcome(e)
	}
	for _, f := range events {
		f()
	}
	held, _ := l.holds.count()
	l.r.stats.ranges.Store(int64(held))
	l.r.stats.inHand.Store(int64(len(l.desk.seqs)))
	l.r.stats.aside.Store(int64(l.desk.asides))
}

// step begins all that may begin now.
func (l *loop) step(now time.Time) {
	l.guardLeases(now)
	if !l.busy[kindTick] && !now.Before(l.tickAt) {
		l.tick()
	}
	l.desk.wake(now)
	l.beginRead(now)
	l.plan()
	l.beginFetch(now)
	l.beginLoad(now)
	l.beginExport()
	l.beginOffer(now)
	l.beginFinish(now)
	l.beginWithdraw()
	l.beginGive()
}

// wait is how long nothing has to be done, unless something comes.
func (l *loop) wait(now time.Time) time.Duration {
	next := l.tickAt
	if l.busy[kindTick] {
		next = now.Add(time.Minute)
	}
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	if !l.busy[kindRead] && l.mayRead() {
		sooner(l.readAt)
	}
	sooner(l.desk.nextDue())
	if len(l.toOffer) > 0 && !l.busy[kindOffer] {
		sooner(l.offerAt)
	}
	if len(l.toLoad) > 0 && !l.busy[kindLoad] {
		sooner(l.loadAt)
	}
	if len(l.toFetch) > 0 && !l.busy[kindFetch] {
		sooner(l.fetchAt)
	}
	if !l.busy[kindFinish] && len(l.desk.done)+len(l.desk.dead)+len(l.desk.tried) > 0 {
		sooner(l.finishAt)
	}
	if l.closing {
		sooner(l.closeBy)
	}
	for i := range l.holds.parts {
		if p := &l.holds.parts[i]; p.lease != nil {
			left := p.lease.span.Load().left(now)
			sooner(now.Add(left))
			if low := left - l.r.margin - l.shortest(); low > 0 {
				sooner(now.Add(low))
			}
		}
	}
	return max(next.Sub(now), 0)
}

// shortest is the least time that has to be left for a request.
func (l *loop) shortest() time.Duration { return max(l.r.info.RequestTimeout/10, 1) }

// guardLeases has what was not sent taken back when leases are about to end, and forgets what is of those
// that have ended.
func (l *loop) guardLeases(now time.Time) {
	lost := 0
	defer func() {
		if lost > 0 {
			l.r.log(slog.LevelWarn, fmt.Sprintf("%d leases have ended before they could be renewed: others send their keys", lost), nil)
		}
	}()
	for i := range l.holds.parts {
		p := &l.holds.parts[i]
		if p.lease == nil {
			continue
		}
		left := p.lease.span.Load().left(now)
		if left <= 0 {
			l.lose(i)
			lost++
			continue
		}
		if left-l.r.margin < l.shortest() && !p.lease.revoked.Swap(true) {
			l.withdraw = true
		}
		if p.draining && !l.desk.busy(uint8(i)) && !l.now.has(uint8(i)) && !l.closing {
			l.giveAway(i, now)
		}
	}
}

// lose forgets a range whose lease has ended.
func (l *loop) lose(part int) {
	l.r.stats.lost.Add(1)
	l.holds.lose(part)
	l.desk.drop(uint8(part))
	l.withdraw = true
}

// giveAway ends the lease on a range of which nothing is under way.
func (l *loop) giveAway(part int, now time.Time) {
	p := &l.holds.parts[part]
	g := gift{part: part, epoch: p.lease.epoch}
	if l.r.info.UnknownWait > 0 && !p.cut.IsZero() {
		g.wait = max(0, p.cut.Add(l.r.info.UnknownWait).Sub(now))
	}
	l.holds.lose(part)
	l.desk.drop(uint8(part))
	l.gifts = append(l.gifts, g)
}

func (l *loop) beginGive() {
	if len(l.gifts) == 0 || l.busy[kindGive] {
		return
	}
	gifts := l.gifts
	l.gifts = nil
	l.beginWork(kindGive, statement, l.work, func(ctx context.Context) func() {
		err := l.leases.givenAway(ctx, l.r.db, gifts)
		return func() {
			if err != nil { // they run out
				l.r.log(slog.LevelWarn, "leases could not be given away", err)
			}
		}
	})
}

func (l *loop) tick() {
	_, draining := l.holds.count()
	if l.closing {
		draining -= ranges // it wants no more
	}
	var knew [ranges]int64
	for i := range l.holds.parts {
		if p := l.holds.parts[i].lease; p != nil {
			knew[i] = p.epoch
		}
	}
	l.beginWork(kindTick, l.r.opts.Renew, l.work, func(ctx context.Context) func() {
		t, err := l.leases.tick(ctx, l.r.db, draining)
		return func() { l.tickedOff(t, knew, err) }
	})
}

// tickedOff takes over what a tick has found.
func (l *loop) tickedOff(t tally, knew [ranges]int64, err error) {
	now := time.Now()
	if err != nil {
		l.tickAt = now.Add(retryAfter(l.tickFailed, l.r.opts.Renew))
		if l.tickFailed == 0 {
			l.r.log(slog.LevelWarn, "leases could not be renewed", err)
		}
		l.tickFailed++
		l.r.state.Store(&state{err: err})
		return
	}
	l.tickFailed = 0
	l.tickAt = t.began.Add(l.r.opts.Renew)
	l.paused, l.letters = t.paused, t.letters
	end := t.began.Add(l.r.opts.Lease)
	for part := range l.holds.parts {
		had := l.holds.parts[part].lease
		epoch, renewed := t.renewed[part]
		switch acquired, is := t.acquired[part]; {
		case is:
			l.holds.extend(part, acquired, end)
			l.restart = true
		case renewed && had != nil && had.epoch == epoch:
			l.holds.extend(part, epoch, end)
		case renewed: // it is being given away, or has ended by the clock here: nobody works on it
			l.gifts = append(l.gifts, gift{part: part, epoch: epoch, wait: l.r.margin})
		case had != nil && knew[part] == had.epoch:
			l.lose(part)
		}
	}
	l.want = share(max(t.members, 1), t.rank)
	if l.closing {
		return
	}
	for _, part := range l.holds.surplus(l.want) {
		l.holds.drain(part)
		l.withdraw = true
	}
	held, draining := l.holds.count()
	if held-draining < l.want { // others have yet to give some away
		l.tickAt = now.Add(min(time.Second, l.r.opts.Renew))
	}
	l.r.state.Store(&state{held: held})
}

// retryAfter is when something is tried again that has failed so often.
func retryAfter(failed int, most time.Duration) time.Duration {
	return min(100*time.Millisecond<<min(failed, 10), most, 5*time.Second)
}

// woken reads at once, and for a while more often.
func (l *loop) woken(now time.Time) {
	l.hotUntil, l.readAt = now.Add(hotFor), now
}

func (l *loop) mayRead() bool {
	return !l.closing && !l.paused && l.holds.mask() != 0 && l.desk.asides < maxAside && l.room() > 0 && l.desk.bytes < l.r.opts.MaxBytes
}

// room is how many rows a read may bring; 0 until it is worth one.
func (l *loop) room() int {
	room := l.r.opts.MaxRows - l.desk.rows
	if room < min(maxRead, l.r.opts.MaxRows)/2 && l.desk.rows > 0 {
		return 0
	}
	return max(min(room, maxRead), 0)
}

func (l *loop) beginRead(now time.Time) {
	if l.busy[kindRead] || !l.mayRead() {
		return
	}
	if l.restart || !now.Before(l.fullAt) {
		l.known = l.after
		if l.full = !l.restart; l.restart {
			l.seen, l.known = [classes]int64{}, [classes]int64{}
		}
		l.restart = false
		l.after, l.readAt, l.fullAt = [classes]int64{}, now, now.Add(l.r.opts.FullPass)
	}
	if now.Before(l.readAt) {
		return
	}
	mask, after, seen := l.holds.mask(), l.after, l.seen
	count, bytes := min(l.room(), l.readMost), min(maxReadBytes, l.r.opts.MaxBytes-l.desk.bytes)
	if after != seen { // what is in hand comes again
		count += len(l.desk.seqs)
	}
	l.readBegan = now
	known := l.known
	if !l.full {
		known = [classes]int64{}
	}
	gens, full, floor, dry := l.holds.gens, l.full, l.floor.clone(), l.dry
	l.desk.reading = true
	l.beginWork(kindRead, statement, l.work, func(ctx context.Context) func() {
		var a answer
		err := onConn(ctx, l.r.db, l.r.table.data, func(c *sql.Conn) (err error) {
			if !full || floor.at < slices.Max(seen[:]) {
				news, err := floor.rise(ctx, c, l.read)
				if err != nil || !news && dry {
					return err
				}
			}
			return steered(ctx, c, l.r.table.data, func() (err error) {
				a, err = l.read.read(ctx, c, mask, after, seen, count, bytes)
				return err
			})
		})
		return func() { l.readDone(a, err, floor, gens, known) }
	})
}

// readDone takes over what was read.
func (l *loop) readDone(a answer, err error, floor floor, gens [ranges]uint32, known [classes]int64) {
	now := time.Now()
	l.desk.reading = false
	defer clear(l.desk.gone)
	if err != nil {
		if l.readFailed == 0 {
			l.r.log(slog.LevelWarn, "rows could not be read", err)
		}
		l.readAt = now.Add(retryAfter(l.readFailed, 5*time.Second))
		l.readFailed++
		l.readMost = max(1, l.readMost/4) // it may have taken too long
		return
	}
	l.readFailed = 0
	switch {
	case a.bytes >= maxReadBytes/2: // what does not fit was sent in vain
		l.readMost = max(1, len(a.rows)*3/4)
	case a.more:
		l.readMost = min(2*l.readMost, maxRead)
	}
	for i := range gens { // of ranges that are held as they were when the read began
		if gens[i] != l.holds.gens[i] {
			gens[i] = 0
		}
	}
	fresh, late := l.desk.take(a.rows, &gens, known)
	l.r.stats.read.Add(int64(fresh))
	l.r.stats.late.Add(int64(late))
	l.dry = false
	if !l.restart {
		l.floor, l.dry = floor, !a.more && floor.waitFor == nil
		for c := range l.after {
			l.seen[c] = max(l.seen[c], a.last[c])
			l.after[c] = a.last[c]
			if !a.more {
				l.after[c] = l.seen[c]
			}
			l.after[c] = min(l.after[c], floor.at)
		}
	}
	switch {
	case a.more && len(a.rows) > 0:
		l.readAt = now
		return
	case l.readAt.After(l.readBegan): // woken meanwhile
		l.readAt = now
	case now.Before(l.hotUntil):
		l.readAt = now.Add(min(hotPoll, l.r.opts.Poll))
	case l.r.opts.Wake != nil:
		l.readAt = now.Add(l.r.opts.IdlePoll)
	default:
		l.readAt = now.Add(l.r.opts.Poll)
	}
	l.full = false
}
