package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// beginLoad asks the Loader.
func (l *loop) beginLoad(now time.Time) {
	if l.busy[kindLoad] || len(l.toLoad) == 0 || now.Before(l.loadAt) || l.closing {
		return
	}
	room := l.r.opts.MaxBytes - l.madeBytes
	if room <= 0 && l.underway+len(l.toOffer) > 0 { // documents that were read wait for the sender
		return
	}
	flights := l.some(&l.toLoad, int(min(int64(l.loadMost), max(1, room/max(1, l.loadedSize)))))
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
	l.loadMost = min(2*l.loadMost, maxLoad)
	l.loadsFailed = 0
	l.r.stats.loaded.Add(int64(len(keys)))
	size := int64(0)
	for _, a := range found {
		size += int64(len(a.action.Document))
	}
	l.loadedSize = max(l.loadedSize/2, size/int64(len(flights)))
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

// probes is how often a Loader can fail, asked for half as many keys each time, before it is not the keys but the
// Loader.
const probes = 12

// loadFailed finds out which keys a Loader fails for, by asking for half of them: one that is alone waits alone.
// If it fails whatever it is asked for, it is asked for one key a second: a database that is down is not asked for
// each.
func (l *loop) loadFailed(flights []*flight, err error, now time.Time) {
	if l.asking.Err() != nil { // it has been stopped
		for _, f := range flights {
			l.desk.end(f, returned, models.Outcome{}, now)
		}
		return
	}
	l.loadsFailed++
	l.loadMost = max(1, len(flights)/2)
	what := "the Loader has failed: it is asked for fewer keys"
	if len(flights) == 1 && flights[0].entry != nil {
		what = fmt.Sprintf("the Loader has failed for the key of row %d alone, which waits", flights[0].seq)
		l.r.stats.failed.Add(1)
		l.desk.end(flights[0], failed, models.Outcome{}, now)
		flights = nil
	}
	flights = append(flights, l.toLoad...)
	if l.loadsFailed <= probes {
		l.toLoad = flights
		l.fails(kindLoad, slog.LevelError, what, err)
		return
	}
	l.toLoad = nil
	l.loadAt = now.Add(time.Second)
	l.fails(kindLoad, slog.LevelError, "the Loader has failed again and again: it is asked for one key a second", err)
	for _, f := range flights { // others may go on
		l.desk.wait(f, l.loadAt)
	}
}

// beginExport asks Export.
func (l *loop) beginExport() {
	if l.busy[kindExport] || len(l.toExport) == 0 || l.closing {
		return
	}
	waiting := 0 // a row may become any number of actions
	for _, f := range l.toOffer {
		if waiting += len(f.actions); waiting >= l.r.opts.MaxRows {
			return // an Offer is under way, or comes
		}
	}
	flights := l.some(&l.toExport, maxExport)
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
			err = fmt.Errorf("the Export function panicked: %v", v)
		}
	}()
	actions, err = l.r.opts.Export(ctx, r)
	return slices.Clone(actions), err
}
