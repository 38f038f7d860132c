package outbox

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// plan makes flights of what is ready, as long as there is room for their actions.
func (l *loop) plan() {
	if l.closing {
		return
	}
	most := l.r.opts.MaxRows
	shortest := l.shortest()
	var state [ranges]int8
	open := func(part uint8) bool {
		if state[part] == 0 {
			if state[part] = -1; l.holds.open(part, shortest) {
				state[part] = 1
			}
		}
		return state[part] > 0
	}
	for l.underway+len(l.toOffer)+len(l.toLoad)+len(l.toFetch)+len(l.toExport) < most {
		f := l.desk.next(open)
		if f == nil {
			return
		}
		f.lease = l.holds.parts[f.entry.part].lease
		switch f.step {
		case stepSend:
			l.made(f, l.desk.make(f, l.r.table.key(f.entry.key)))
		case stepFetch:
			l.toFetch = append(l.toFetch, f)
		case stepLoad:
			l.toLoad = append(l.toLoad, f)
		case stepExport:
			l.toExport = append(l.toExport, f)
		}
	}
}

// made has an action of a flight sent.
func (l *loop) made(f *flight, actions ...models.RawAction) {
	f.actions, f.left = actions, len(actions)
	if field := l.r.opts.SeqField; field != "" {
		for i := range actions {
			actions[i].Document = withNumber(actions[i].Document, field, f.seq)
		}
	}
	if len(actions) == 0 {
		l.desk.end(f, confirmed, models.Outcome{}, time.Now())
		return
	}
	l.toOffer = append(l.toOffer, f)
}

// withNumber adds a field to the JSON of a document. A delete has none.
func withNumber(doc json.RawMessage, field string, n int64) json.RawMessage {
	end := bytes.LastIndexByte(doc, '}')
	if end < 0 {
		return doc
	}
	name, _ := json.Marshal(field) // a string always has a form
	with := make([]byte, 0, len(doc)+len(name)+24)
	with = append(with, doc[:end]...)
	if b := bytes.TrimSpace(with); len(b) > 0 && b[len(b)-1] != '{' {
		with = append(with, ',')
	}
	with = append(append(with, name...), ':')
	return append(strconv.AppendInt(with, n, 10), '}')
}

// alive drops flights that were forgotten.
func alive(flights []*flight) []*flight {
	return slices.DeleteFunc(flights, func(f *flight) bool { return f.entry == nil })
}

// some cuts the first so many off, and copies them.
func some(flights *[]*flight, n int) []*flight {
	*flights = alive(*flights)
	n = min(n, len(*flights))
	taken := slices.Clone((*flights)[:n])
	*flights = slices.Delete(*flights, 0, n)
	return taken
}

// beginFetch reads bodies that were dropped.
func (l *loop) beginFetch(now time.Time) {
	if l.busy[kindFetch] || len(l.toFetch) == 0 || now.Before(l.fetchAt) {
		return
	}
	flights := some(&l.toFetch, maxLoad)
	if len(flights) == 0 {
		return
	}
	var rows []row
	for _, f := range flights {
		for _, r := range f.needed() {
			if r.light {
				rows = append(rows, r)
			}
		}
		if len(rows) >= maxLoad { // few are that long
			break
		}
	}
	l.beginWork(kindFetch, statement, l.work, func(ctx context.Context) func() {
		var bodies map[int64][]byte
		err := onConn(ctx, l.r.db, l.r.table.data, func(c *sql.Conn) (err error) {
			bodies, err = l.read.bodies(ctx, c, rows)
			return err
		})
		return func() {
			if err != nil {
				l.toFetch = append(flights, l.toFetch...)
				l.fetchAt = time.Now().Add(time.Second)
				l.r.log(slog.LevelWarn, "rows could not be read", err)
				return
			}
			asked := make(map[int64]bool, len(rows))
			for _, r := range rows {
				asked[r.seq] = true
			}
			for _, f := range flights {
				l.desk.fetched(f, bodies, asked)
			}
		}
	})
}

// beginLoad asks the Loader.
func (l *loop) beginLoad(now time.Time) {
	if l.busy[kindLoad] || len(l.toLoad) == 0 || now.Before(l.loadAt) || l.closing {
		return
	}
	flights := some(&l.toLoad, maxLoad)
	if len(flights) == 0 {
		return
	}
	keys := make([]string, len(flights))
	for i, f := range flights {
		keys[i] = f.entry.key
	}
	l.beginWork(kindLoad, 0, l.asking, func(ctx context.Context) func() {
		found, err := l.r.opts.Loader.ask(ctx, l.r.table, keys)
		return func() { l.loadDone(flights, keys, found, err) }
	})
}

func (l *loop) loadDone(flights []*flight, keys []string, found map[string]loaded, err error) {
	now := time.Now()
	if err != nil {
		// All together and ever later: a database that is down is not asked for each key.
		l.loadAt = now.Add(min(backOff(l.loadsFailed+1), time.Minute))
		if l.loadsFailed == 0 && l.asking.Err() == nil {
			l.r.log(slog.LevelError, "the Loader has failed: its keys wait", err)
		}
		l.loadsFailed++
		l.toLoad = append(flights, l.toLoad...)
		return
	}
	l.loadsFailed = 0
	l.r.stats.loaded.Add(int64(len(keys)))
	for i, f := range flights {
		if f.entry == nil {
			continue
		}
		a := found[keys[i]]
		if a.err != nil {
			l.desk.end(f, refused, models.Outcome{Reason: models.ReasonDocument, Err: a.err}, now)
			continue
		}
		l.made(f, a.action)
	}
}

// beginExport asks Export.
func (l *loop) beginExport() {
	if l.busy[kindExport] || len(l.toExport) == 0 || l.closing {
		return
	}
	flights := some(&l.toExport, maxExport)
	if len(flights) == 0 {
		return
	}
	rows := make([]Row, len(flights))
	for i, f := range flights {
		rows[i] = f.rows[0].public()
	}
	l.beginWork(kindExport, 0, l.asking, func(ctx context.Context) func() {
		actions, errs := make([][]models.RawAction, len(rows)), make([]error, len(rows))
		for i, r := range rows {
			if actions[i], errs[i] = l.export(ctx, r); errs[i] != nil && ctx.Err() != nil {
				break
			}
		}
		return func() {
			for i, f := range flights {
				switch {
				case f.entry == nil:
				case l.closing:
					l.desk.end(f, returned, models.Outcome{}, time.Now())
				case errs[i] != nil:
					l.r.stats.failed.Add(1)
					l.r.log(slog.LevelError, fmt.Sprintf("Export has failed for row %d: it waits", rows[i].Seq), errs[i])
					l.desk.end(f, failed, models.Outcome{}, time.Now())
				default:
					l.made(f, actions[i]...)
				}
			}
		}
	})
}

func (l *loop) export(ctx context.Context, r Row) (actions []models.RawAction, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("Export panicked: %v", v)
		}
	}()
	actions, err = l.r.opts.Export(ctx, r)
	return slices.Clone(actions), err
}

// beginOffer hands actions to the sender, which may make it wait for room.
func (l *loop) beginOffer(now time.Time) {
	if l.busy[kindOffer] || len(l.toOffer) == 0 || now.Before(l.offerAt) || l.closing {
		return
	}
	flights := some(&l.toOffer, maxOffer)
	var actions []models.RawAction
	var of []*flight
	for i, f := range flights {
		if i > 0 && len(actions)+len(f.actions) > maxOffer {
			l.toOffer = append(slices.Clone(flights[i:]), l.toOffer...)
			flights = flights[:i]
			break
		}
		f.loop = l
		note := func(o models.Outcome) { l.inbox.outcome(f, o) }
		for _, a := range f.actions {
			a.Tag, a.OnOutcome, a.Until = f, note, f.lease.until
			actions, of = append(actions, a), append(of, f)
		}
	}
	if len(actions) == 0 {
		return
	}
	l.underway += len(actions)
	l.beginWork(kindOffer, 0, l.asking, func(ctx context.Context) func() {
		var offered offer
		for at := 0; at < len(actions); {
			n, err := l.r.to.Offer(ctx, actions[at:])
			at += n
			if err == nil {
				break
			}
			if about := (interface{ Rejected() bool })(nil); errors.As(err, &about) && about.Rejected() && at < len(actions) {
				offered.refused = append(offered.refused, ended{of[at], models.Outcome{Reason: models.ReasonDocument, Err: err}})
				at++
				continue
			}
			offered.rest, offered.err = at, err
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
}

func (l *loop) offerDone(o offer, of []*flight) {
	now := time.Now()
	l.r.stats.sent.Add(int64(o.rest - len(o.refused)))
	for _, e := range o.refused {
		l.outcome(e)
	}
	if o.err == nil {
		l.offersFailed = 0
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
	if l.asking.Err() != nil {
		return
	}
	if l.offersFailed == 0 {
		l.r.log(slog.LevelWarn, "the sender does not accept actions: they wait", o.err)
	}
	l.offerAt = now.Add(retryAfter(l.offersFailed, 5*time.Second))
	l.offersFailed++
}

// outcome notes how an action has ended; the flight ends with its last one.
func (l *loop) outcome(e ended) {
	f, o := e.flight, e.outcome
	l.underway--
	f.left--
	if o.Unknown && f.lease != nil {
		if p := &l.holds.parts[f.lease.part]; p.lease == f.lease {
			p.cut = time.Now()
		}
	}
	if severity(o) >= severity(f.worst) {
		f.worst = o
	}
	if f.left > 0 || f.entry == nil {
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

// beginFinish deletes what was confirmed and moves what was refused.
func (l *loop) beginFinish(now time.Time) {
	d := l.desk
	if l.busy[kindFinish] || now.Before(l.finishAt) || len(d.done)+len(d.dead)+len(d.tried) == 0 {
		return
	}
	f := &finishing{done: cut(&d.done, maxDelete), dead: cut(&d.dead, maxBury), tried: cut(&d.tried, maxDelete), marks: l.letters || len(d.dead) > 0}
	var parts [ranges]bool
	for _, r := range f.done {
		parts[r.part] = true
	}
	for _, r := range f.dead {
		parts[r.part] = true
	}
	for i := range parts {
		if p := l.holds.parts[i].lease; parts[i] && p != nil {
			f.parts, f.epochs = append(f.parts, int64(i)), append(f.epochs, p.epoch)
		}
	}
	f.gens = l.holds.gens
	l.letters = l.letters || len(f.dead) > 0
	l.now = f
	l.beginWork(kindFinish, statement, l.work, func(ctx context.Context) func() {
		err := l.finish.run(ctx, l.r.db, l.r.owner, f)
		return func() { l.finishDone(f, err) }
	})
}

func cut[T any](from *[]T, n int) []T {
	n = min(n, len(*from))
	taken := slices.Clone((*from)[:n])
	*from = slices.Delete(*from, 0, n)
	return taken
}

func (l *loop) finishDone(f *finishing, err error) {
	d := l.desk
	l.now = nil
	if err != nil {
		if l.finishFailed == 0 {
			l.r.log(slog.LevelWarn, "confirmed rows could not be deleted: they wait", err)
		}
		held := func(r row) bool { return l.holds.gens[r.part] == f.gens[r.part] && f.gens[r.part] != 0 }
		d.done = append(slices.DeleteFunc(f.done, func(r row) bool { return !held(r) }), d.done...)
		d.dead = append(slices.DeleteFunc(f.dead, func(x letter) bool { return !held(x.row) }), d.dead...)
		if len(d.tried) < maxAside {
			d.tried = append(f.tried, d.tried...)
		}
		l.finishAt = time.Now().Add(retryAfter(l.finishFailed, 5*time.Second))
		l.finishFailed++
		return
	}
	l.finishFailed = 0
	d.deleted(f.done, &f.gens)
	for _, x := range f.dead {
		d.deleted([]row{x.row}, &f.gens)
	}
	c := &l.r.stats
	c.deleted.Add(f.deleted)
	c.dead.Add(f.buried)
	if missing := int64(len(f.done)) - f.deleted; missing > 0 {
		c.stale.Add(missing)
		l.tickAt = time.Now() // was a lease lost? Or were they purged?
	}
	for _, x := range f.dead {
		l.r.buried(x)
	}
}

// beginWithdraw takes back what the sender has not sent of leases that are revoked.
func (l *loop) beginWithdraw() {
	if !l.withdraw || l.busy[kindWithdraw] {
		return
	}
	l.withdraw = false
	l.beginWork(kindWithdraw, 0, l.work, func(context.Context) func() {
		l.r.to.Withdraw(func(_ string, tag any) bool {
			f, ours := tag.(*flight)
			return ours && f.loop == l && f.lease.revoked.Load()
		})
		return func() {}
	})
}

// close begins to end the relay: nothing is read or handed over any more.
func (l *loop) close(now time.Time) {
	if l.closing {
		return
	}
	l.closing, l.closeBy = true, now.Add(l.r.info.RequestTimeout+l.r.margin)
	l.stop()
	l.r.state.Store(&state{err: errors.New("the relay ends")})
	for i := range l.holds.parts {
		if l.holds.parts[i].lease != nil {
			l.holds.drain(i)
		}
	}
	l.withdraw = true
}

// finished reports whether nothing is under way any more, or it takes too long.
func (l *loop) finished(now time.Time) bool {
	if !now.Before(l.closeBy) {
		return true
	}
	return l.underway == 0 && !slices.Contains(l.busy[:], true) && !l.withdraw &&
		(len(l.desk.done)+len(l.desk.dead) == 0 || l.finishFailed > 3)
}

// leave gives all leases away of which nothing is under way.
func (l *loop) leave() {
	ctx, cancel := context.WithTimeout(l.work, 5*time.Second)
	defer cancel()
	now := time.Now()
	for i := range l.holds.parts {
		if p := &l.holds.parts[i]; p.lease != nil && (l.underway == 0 || !l.sending(p.lease)) {
			l.giveAway(i, now)
		}
	}
	err := l.leases.givenAway(ctx, l.r.db, l.gifts)
	if err == nil {
		err = l.leases.leave(ctx, l.r.db)
	}
	if err != nil {
		l.r.log(slog.LevelWarn, "leases could not be given away: they run out", err)
	}
}

// sending reports whether an action under a lease has no outcome.
func (l *loop) sending(of *lease) bool {
	for _, e := range l.desk.entries {
		if e.part == of.part && e.flight != nil && e.flight.left > 0 {
			return true
		}
	}
	return false
}
