package outbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

// beginOffer offers actions to the sender, which may wait for room.
func (l *loop) beginOffer(now time.Time) {
	flights := l.flights.cut(kindOffer, maxOffer)
	var actions []models.RawAction
	var of []*flight
	for i, f := range flights {
		if f.lease.GoesBack() { // a late offer could no longer be withdrawn
			l.flights.release(f)
			l.desk.end(f, relay.Returned, models.Outcome{}, now)
			continue
		}
		if i > 0 && len(actions)+len(f.actions) > maxOffer {
			l.flights.putBack(kindOffer, flights[i:])
			break
		}
		note := func(o models.Outcome) { l.inbox.post(func() { l.outcome(f, o) }) } // called on the goroutine of the sender
		for _, a := range f.actions {
			a.Tag, a.OnOutcome, a.Until = f, note, f.lease.until
			actions, of = append(actions, a), append(of, f)
		}
		l.offered(f, len(f.actions))
	}
	if len(actions) == 0 {
		return
	}
	waits, recall := context.WithCancel(l.asking)
	l.recall = recall
	l.beginWork(waits, kindOffer, 0, func(ctx context.Context) func() {
		defer recall()
		var o offer
		for o.rest < len(actions) && o.err == nil {
			n, err := l.r.to.Offer(ctx, actions[o.rest:])
			o.rest += n
			if about := models.RejectedError(nil); errors.As(err, &about) && about.Rejected() && o.rest < len(actions) {
				actions[o.rest].OnOutcome(models.Outcome{Reason: models.ReasonDocument, Err: err})
				o.rest++
				o.refused++
			} else if o.err, o.recalled = err, ctx.Err() != nil; err == nil {
				o.rest = len(actions)
			}
		}
		return func() { l.offerDone(o, of) }
	})
}

// offer is the result of an offer to the sender.
type offer struct {
	rest     int // index of the first action that was not accepted
	refused  int // number of earlier ones that the sender refused for their content
	err      error
	recalled bool
}

func (l *loop) offerDone(o offer, of []*flight) {
	l.recall = nil
	l.holds.withdraw = l.holds.withdraw || slices.ContainsFunc(of, func(f *flight) bool { return f.lease.GoesBack() })
	l.stats.Sent += int64(o.rest - o.refused)
	if o.err == nil {
		l.works(kindOffer)
		return
	}
	// If only some actions of a flight were accepted, the others end as if withdrawn: the whole row is exported again.
	var again []*flight
	for i := o.rest; i < len(of); i++ {
		f := of[i]
		if first := i == 0 || of[i-1] != f; first && len(f.actions) == f.left {
			again = append(again, f)
			l.offered(f, -len(f.actions))
			i += len(f.actions) - 1
			continue
		}
		l.outcome(f, models.Outcome{Reason: models.ReasonWithdrawn, Err: o.err})
	}
	l.flights.putBack(kindOffer, again)
	if l.r.to.Info().Closed {
		l.senderClosed()
	} else if l.asking.Err() == nil && !o.recalled {
		l.fails(kindOffer, slog.LevelWarn, "outbox: sender accepts no actions; rows wait", o.err)
	}
}

func (l *loop) senderClosed() {
	if l.failure == nil && !l.closing {
		l.failure = errSenderClosed
	}
}

// offered counts n more actions of a flight that the sender has.
func (l *loop) offered(f *flight, n int) {
	l.flights.offered += n
	l.holds.parts[f.lease.part].sent += n
}

// outcome records the outcome of an action; the flight ends with its last one.
func (l *loop) outcome(f *flight, o models.Outcome) {
	now := time.Now()
	l.offered(f, -1)
	if o.Unknown || o.Cut {
		l.holds.cut(f.lease, now)
	}
	if v := verdictOf(o); v >= f.verdict { // the worst outcome of a row's actions counts
		f.worst, f.verdict = o, v
	}
	if f.left--; f.left > 0 {
		return
	}
	if l.flights.release(f); f.entry == nil {
		return
	}
	if f.worst.Reason == models.ReasonWithdrawn && (l.closing || f.lease.GoesBack() || !l.r.terms.Lasts(&f.lease.Lease, now)) {
		f.verdict = relay.Returned // withdrawn by this relay
	}
	if f.worst.Reason == models.ReasonClosed {
		l.senderClosed()
	}
	switch f.verdict {
	case relay.Confirmed:
		l.stats.Folded += int64(len(f.rows) - 1)
	case relay.Failed:
		l.stats.Failed++
	}
	l.desk.end(f, f.verdict, f.worst, now)
}

// beginWithdraw takes back unsent actions of revoked leases from the sender.
func (l *loop) beginWithdraw(time.Time) {
	l.holds.withdraw = false
	l.beginWork(l.work, kindWithdraw, 0, func(context.Context) func() {
		l.r.to.Withdraw(func(_ string, tag any) bool {
			f, ours := tag.(*flight)
			return ours && f.lease.GoesBack()
		})
		return func() {}
	})
}
