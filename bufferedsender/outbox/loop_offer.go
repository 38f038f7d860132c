package outbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// beginOffer hands actions to the sender, which may make it wait for room.
func (l *loop) beginOffer(now time.Time) {
	if l.busy[kindOffer] || len(l.toOffer) == 0 || now.Before(l.offerAt) || l.closing {
		return
	}
	flights := l.some(&l.toOffer, maxOffer)
	var actions []models.RawAction
	var of []*flight
	for i, f := range flights {
		if f.lease.revoked.Load() { // what is offered now is not withdrawn any more
			l.madeBytes -= f.made
			f.made = 0
			l.desk.end(f, returned, models.Outcome{}, now)
			continue
		}
		if i > 0 && len(actions)+len(f.actions) > maxOffer {
			l.toOffer = append(slices.Clone(flights[i:]), l.toOffer...)
			break
		}
		f.loop = l
		note := func(o models.Outcome) { l.inbox.outcome(f, o) }
		for _, a := range f.actions {
			a.Tag, a.OnOutcome, a.Until = f, note, f.lease.until
			actions, of = append(actions, a), append(of, f)
		}
		l.sent[f.lease.part] += len(f.actions)
	}
	if len(actions) == 0 {
		return
	}
	l.underway += len(actions)
	waits, recall := context.WithCancel(l.asking)
	l.recall = recall
	l.beginWork(waits, kindOffer, 0, func(ctx context.Context) func() {
		defer recall()
		var offered offer
		for at := 0; at < len(actions); {
			n, err := l.r.to.Offer(ctx, actions[at:])
			at += n
			if err == nil {
				break
			}
			if about := models.RejectedError(nil); errors.As(err, &about) && about.Rejected() && at < len(actions) {
				offered.refused = append(offered.refused, ended{of[at], models.Outcome{Reason: models.ReasonDocument, Err: err}})
				at++
				continue
			}
			offered.rest, offered.err, offered.recalled = at, err, ctx.Err() != nil
			return func() { l.offerDone(offered, of) }
		}
		offered.rest = len(actions)
		return func() { l.offerDone(offered, of) }
	})
}

// offer is what has become of one.
type offer struct {
	refused []ended // by the sender, for what they are
	rest    int     // those from here on were not accepted
	err     error

	recalled bool
}

func (l *loop) offerDone(o offer, of []*flight) {
	now := time.Now()
	l.recall = nil
	l.withdraw = l.withdraw || slices.ContainsFunc(of, func(f *flight) bool { return f.lease.revoked.Load() })
	l.r.stats.sent.Add(int64(o.rest - len(o.refused)))
	for _, e := range o.refused {
		l.outcome(e)
	}
	if o.err == nil {
		l.offersFailed = 0
		l.works(kindOffer)
		return
	}
	// An action of a flight whose others were accepted ends as if it had been taken back: all
	// of its row is exported again.
	var again []*flight
	for i := o.rest; i < len(of); i++ {
		f := of[i]
		if first := i == 0 || of[i-1] != f; first && len(f.actions) == f.left {
			again = append(again, f)
			l.underway -= len(f.actions)
			l.sent[f.lease.part] -= len(f.actions)
			i += len(f.actions) - 1
			continue
		}
		l.outcome(ended{f, models.Outcome{Reason: models.ReasonWithdrawn, Err: o.err}})
	}
	l.toOffer = append(again, l.toOffer...)
	if l.r.to.Info().Closed {
		if l.failure == nil && !l.closing {
			l.failure = errSenderClosed
		}
		return
	}
	if l.asking.Err() != nil || o.recalled {
		return
	}
	l.fails(kindOffer, slog.LevelWarn, "the sender does not accept actions: they wait", o.err)
	l.offerAt = now.Add(retryAfter(l.offersFailed, 5*time.Second))
	l.offersFailed++
}

// outcome notes how an action has ended; the flight ends with its last one.
func (l *loop) outcome(e ended) {
	f, o := e.flight, e.outcome
	l.underway--
	l.sent[f.lease.part]--
	f.left--
	if o.Unknown || o.Cut {
		if p := &l.holds.parts[f.lease.part]; p.lease == f.lease {
			p.cut = time.Now()
		}
	}
	if severity(o) >= severity(f.worst) {
		f.worst = o
	}
	if f.left > 0 {
		return
	}
	l.madeBytes -= f.made
	f.made = 0
	if f.entry == nil {
		return
	}
	v := verdictOf(f.worst)
	if f.worst.Reason == models.ReasonWithdrawn && (l.closing || f.lease.revoked.Load() || f.lease.until() < l.shortest()) {
		v = returned // this relay has taken it back
	}
	if f.worst.Reason == models.ReasonClosed && l.failure == nil && !l.closing {
		l.failure = errSenderClosed
	}
	switch v {
	case confirmed:
		l.r.stats.folded.Add(int64(len(f.rows) - 1))
	case failed:
		l.r.stats.failed.Add(1)
	}
	l.desk.end(f, v, f.worst, time.Now())
}

// severity orders outcomes: of several actions of a row the worst counts.
func severity(o models.Outcome) int {
	switch verdictOf(o) {
	case refused:
		return 3
	case failed:
		return 2
	case returned:
		return 1
	default:
		return 0
	}
}
