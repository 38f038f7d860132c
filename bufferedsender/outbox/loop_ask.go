package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/models"
)

// beginLoad asks the Loader.
func (l *loop) beginLoad(time.Time) {
	flights := l.flights.cut(kindLoad, l.loads.Most(l.r.opts.maxBytes-l.flights.made))
	if len(flights) == 0 {
		return
	}
	keys := make([]string, len(flights))
	for i, f := range flights {
		keys[i] = f.entry.key
	}
	l.beginWork(l.asking, kindLoad, 0, func(ctx context.Context) func() {
		found, err := l.r.opts.Loader.ask(ctx, l.r.table, keys)
		return func() { l.loadDone(flights, keys, found, err) }
	})
}

func (l *loop) loadDone(flights []*flight, keys []string, found map[string]loaded, err error) {
	now := time.Now()
	if err != nil {
		l.loadFailed(flights, err, now)
		return
	}
	l.works(kindLoad)
	l.stats.Loaded += int64(len(keys))
	size := int64(0)
	for _, a := range found {
		size += int64(len(a.action.Document))
	}
	l.loads.Loaded(len(flights), size)
	for i, f := range flights {
		if f.entry == nil {
			continue
		}
		a := found[keys[i]]
		if a.err != nil {
			l.desk.end(f, relay.Refused, models.Outcome{Reason: models.ReasonDocument, Err: a.err}, now)
			continue
		}
		l.made(f, a.action)
	}
}

// loadFailed makes a key wait if the Loader fails for it alone, and all keys while it fails for each: a database that
// is down is asked for one key a second.
func (l *loop) loadFailed(flights []*flight, err error, now time.Time) {
	if l.asking.Err() != nil { // the relay is ending
		for _, f := range flights {
			l.desk.end(f, relay.Returned, models.Outcome{}, now)
		}
		return
	}
	down := l.loads.Failed(len(flights))
	message, attrs := "outbox: Loader failed; asking for fewer keys", []any(nil)
	if len(flights) == 1 && flights[0].entry != nil {
		message, attrs = "outbox: Loader failed for one key, which waits", []any{"seq", flights[0].seq}
		l.stats.Failed++
		l.desk.end(flights[0], relay.Failed, models.Outcome{}, now)
		flights = nil
	}
	l.flights.putBack(kindLoad, flights)
	if down {
		message = "outbox: Loader failing; retrying one key per second"
	}
	l.fails(kindLoad, slog.LevelError, message, err, attrs...)
	if l.jobs[kindLoad].retry.At = now; down {
		at := now.Add(time.Second)
		l.jobs[kindLoad].retry.At = at
		for _, f := range cut(&l.flights.next[kindLoad], l.r.opts.maxRows) { // the others may continue
			l.desk.wait(f, at)
		}
	}
}

// beginExport calls Export.
func (l *loop) beginExport(time.Time) {
	flights := l.flights.cut(kindExport, maxExport)
	if len(flights) == 0 {
		return
	}
	rows := make([]Row, len(flights))
	for i, f := range flights {
		rows[i] = f.rows[0].public()
	}
	l.beginWork(l.asking, kindExport, 0, func(ctx context.Context) func() {
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
					l.desk.end(f, relay.Returned, models.Outcome{}, time.Now())
				case errs[i] != nil:
					l.stats.Failed++
					l.r.log(slog.LevelError, "outbox: Export failed; row waits", errs[i], "seq", rows[i].Seq)
					l.desk.end(f, relay.Failed, models.Outcome{}, time.Now())
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
			err = fmt.Errorf("the Export function panicked: %v", v)
		}
	}()
	actions, err = l.r.opts.Export(ctx, r)
	return slices.Clone(actions), err
}
