package outbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/relay"
)

// Bounds of work in progress.
const (
	maxOffer  = 1000
	maxExport = 100
	statement = 30 * time.Second
)

// loop is one Run of a relay. Its goroutine owns all fields except inbox. Blocking work runs on other goroutines, at
// most one for each kind of work, and posts its results to inbox.
type loop struct {
	r        *Relay
	hub      *hub
	desk     *desk
	holds    *holds
	progress progress
	flights  flights
	loads    relay.Loads

	read   *reading
	finish *finishes
	leases *leasing

	work   context.Context // of all work on other goroutines
	cancel context.CancelFunc
	beside sync.WaitGroup
	inbox  inbox
	jobs   [kinds]job

	asking context.Context // of offers, loads and exports
	stop   context.CancelFunc
	recall func() // ends an Offer that waits

	stats  Stats
	paused bool
	back   back
	stuck  stuck
	waits  waits
	tidying
	ending
}

// tidying schedules the clean-up of the database.
type tidying struct {
	untidy   int64     // rows deleted since beginTidy
	forgetAt time.Time // when to delete old tombstones
}

// ending is the state of a loop that ends, and the reason.
type ending struct {
	closing   bool
	closeBy   time.Time
	failure   error
	abandoned int // calls of the driver that have not returned
}

func newLoop(r *Relay) *loop {
	l := &loop{
		r: r, hub: enter(r), stats: r.Stats(), desk: newDesk(r.opts.Export != nil), holds: &holds{terms: &r.terms, unknownWait: max(r.info.UnknownWait, 0)},
		progress: progress{most: firstRead}, inbox: inbox{signal: make(chan struct{}, 1)},
		read: newReading(r.table), finish: newFinishes(r.table, r.opts.SeqField != ""), leases: newLeasing(r),
	}
	l.desk.loads = r.opts.Loader.load != nil && r.opts.Export == nil
	return l
}

var errSenderClosed = errors.New("outbox: the sender is closed; rows stay in the table")

func (l *loop) run(ctx context.Context) error {
	l.work, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.asking, l.stop = context.WithCancel(l.work)
	defer l.end()
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
				wake, l.r.opts.Wake, l.r.opts.idlePoll = nil, nil, l.r.opts.Poll // no more notifications will come
			}
			l.progress.wokenAt, l.progress.past = time.Now(), l.hub.looks.begun()
			l.jobs[kindRead].retry.At = l.progress.wokenAt
		case <-done:
			done = nil
			l.close(time.Now())
		}
	}
	l.leave()
	l.r.log(slog.LevelInfo, "outbox: relay stopped", l.failure, "deleted", l.stats.Deleted, "dead", l.stats.Dead, "rows", l.stats.InHand)
	return l.failure
}

func (l *loop) takeInbox() {
	for _, f := range l.inbox.take() {
		f()
	}
	held, _ := l.holds.count()
	l.stats.Ranges, l.stats.InHand, l.stats.Aside = int64(held), int64(len(l.desk.seqs)), int64(l.desk.asides+l.desk.left)
	stats := l.stats
	l.r.stats.Store(&stats)
}

// step begins all work that may begin now.
func (l *loop) step(now time.Time) {
	l.guardLeases(now)
	l.desk.wake(now)
	l.hear(now)
	l.plan(now)
	for k := range kinds {
		l.begin(k, now)
	}
	l.logWaits(now)
}

// begin begins work of a kind, if there is any and it is due.
func (l *loop) begin(k kind, now time.Time) {
	if l.wants(k) && l.jobs[k].retry.Due(now) {
		begins[k](l, now)
	}
}

var begins = [kinds]func(l *loop, now time.Time){
	(*loop).beginOffer, (*loop).beginFetch, (*loop).beginRefill, (*loop).beginLoad, (*loop).beginExport, (*loop).beginTick,
	(*loop).beginRead, (*loop).beginFinish, (*loop).beginWithdraw, (*loop).beginGive, (*loop).beginTidy, (*loop).beginDoubt,
}

// wants reports whether there is work of a kind that is not running yet.
func (l *loop) wants(k kind) bool {
	if l.jobs[k].busy {
		return false
	}
	o := &l.r.opts
	waits := !l.closing && k <= kindExport && len(l.flights.next[k]) > 0
	switch k {
	case kindOffer:
		return waits
	case kindRefill:
		return waits && (l.desk.inHand() < o.maxRows || !l.flights.sending())
	case kindFetch:
		return waits && (l.desk.size() < o.maxBytes || !l.flights.sending())
	case kindLoad: // loaded documents wait for the sender
		return waits && (l.flights.made < o.maxBytes || !l.flights.sending())
	case kindExport: // a row may become any number of actions
		return waits && l.flights.unsent() < o.maxRows
	case kindRead:
		return !l.closing && !l.paused && l.holds.mask() != 0 && len(l.desk.aside) < maxAside && l.room() > 0 && l.desk.size() < o.maxBytes
	case kindFinish:
		return l.desk.settling.left() > 0
	case kindWithdraw:
		return l.holds.withdraw
	case kindGive:
		return len(l.holds.gifts) > 0
	case kindDoubt:
		return len(l.back.doubts) > 0
	case kindTidy:
		forget, tidy := l.untidied(time.Now())
		return !l.closing && (forget || tidy)
	}
	return true
}

// wait returns how long the loop may sleep unless something arrives.
func (l *loop) wait(now time.Time) time.Duration {
	next := now.Add(time.Minute)
	sooner := func(t time.Time) {
		if t.After(now) && t.Before(next) {
			next = t
		}
	}
	for k := range kinds {
		if l.wants(k) {
			sooner(l.jobs[k].retry.At)
		}
		if l.jobs[k].busy {
			sooner(l.jobs[k].since.Add(unheard))
		}
	}
	sooner(l.desk.nextDue())
	sooner(l.holds.next(now))
	sooner(l.waits.next())
	if l.closing {
		sooner(l.closeBy)
	}
	return next.Sub(now)
}

// close begins to end the relay: nothing more is read or offered.
func (l *loop) close(now time.Time) {
	if l.closing {
		return
	}
	l.closing, l.closeBy = true, now.Add(l.r.info.RequestTimeout+l.r.terms.Margin)
	l.stop()
	l.waits.on = nobody
	l.r.state.Store(&state{errors.New("the relay ends")})
	l.r.log(slog.LevelInfo, "outbox: relay ending", nil, "rows", l.stats.InHand, "in_sender", l.flights.offered, "until", l.closeBy)
	for i := range l.holds.parts {
		if l.holds.parts[i].lease != nil {
			l.holds.drain(i)
		}
	}
	l.holds.withdraw = true
}

// finished reports whether all work has ended, or takes too long.
func (l *loop) finished(now time.Time) bool {
	if !now.Before(l.closeBy) {
		return true
	}
	s := &l.desk.settling
	return l.flights.offered == 0 && !l.holds.withdraw && !slices.ContainsFunc(l.jobs[:], func(j job) bool { return j.busy }) &&
		(len(l.back.doubts) == 0 || l.jobs[kindDoubt].retry.Failures > 3) && (len(s.done)+len(s.dead) == 0 || l.jobs[kindFinish].retry.Failures > 3)
}
