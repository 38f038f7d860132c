package outbox

import (
	"context"
	"errors"
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
)

// loop is one Run of a relay. Its goroutine owns all of it but inbox. Whatever waits runs
// beside it, one of each kind of work at a time, and posts what came of it.
//
//archtest:long owed: a relay kit takes the line of a key, the leases and the load
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

	troubles [kinds]trouble

	tickAt            time.Time
	tickFailed        int
	paused, letters   bool
	buriedAt          time.Time // when dead letters were written last, or begun to be
	readAt, fullAt    time.Time
	readBegan         time.Time
	wokenAt           time.Time // or when a read has found something
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
	loadsFailed       int // since one has worked
	loadMost          int // keys that one load asks for: fewer after an error
	finishAt          time.Time
	finishFailed      int
	now               *finishing // that is under way
	toOffer           []*flight
	toLoad            []*flight
	toFetch, toExport []*flight
	fetchAt           time.Time
	underway          int         // actions that were offered and have no outcome
	sent              [ranges]int // of each range: what the Loader, Export or a full sender keeps waiting does not hold it
	recall            func()      // ends an Offer that waits
	madeBytes         int64       // of documents of the Loader and of Export that have no outcome
	loadedSize        int64       // of a document of the Loader, about
	untidy            int64       // rows deleted since beginTidy
	tidyAt, forgetAt  time.Time   // when it may come again, and when old tombstones are deleted
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
	kindTidy
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
		readMost: firstRead, loadMost: maxLoad,
		finish: newFinishes(r.table, r.opts.SeqField != ""), leases: newLeasing(r), inbox: inbox{signal: make(chan struct{}, 1)},
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
	done, wake := ctx.Done(), l.r.opts.Wake
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
		case _, open := <-wake:
			if !open {
				wake, l.r.opts.Wake, l.r.opts.IdlePoll = nil, nil, l.r.opts.Poll // nobody wakes it any more
			}
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
func (l *loop) beginWork(parent context.Context, k kind, timeout time.Duration, f func(ctx context.Context) (then func())) {
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
	l.beginTidy(now)
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
	if len(l.toOffer) > 0 && !l.busy[kindOffer] && !l.closing {
		sooner(l.offerAt)
	}
	if len(l.toLoad) > 0 && !l.busy[kindLoad] && !l.closing {
		sooner(l.loadAt)
	}
	if len(l.toFetch) > 0 && !l.busy[kindFetch] && !l.closing {
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
