package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
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
	if f.step == stepLoad || f.step == stepExport {
		for i := range actions {
			f.made += int64(len(actions[i].Document))
		}
		l.madeBytes += f.made
	}
	if field := l.r.opts.SeqField; field != "" {
		for i := range actions {
			actions[i].Document = withNumber(actions[i], field, f.seq)
		}
	}
	if len(actions) == 0 {
		l.desk.end(f, confirmed, models.Outcome{}, time.Now())
		return
	}
	l.toOffer = append(l.toOffer, f)
}

// withNumber sets a field in the document of an action, which may have it already. A delete has
// none.
func withNumber(a models.RawAction, field string, n int64) json.RawMessage {
	if a.Type == models.ActionTypeDelete {
		return a.Document
	}
	name, _ := json.Marshal(field) // a string always has a form
	number := encoded(models.ActionTypeMerge, []byte(fmt.Sprintf("{%s:%d}", name, n)))
	if _, with, ok := fold.Actions(a.Type, encoded(a.Type, a.Document), models.ActionTypeMerge, number); ok {
		return json.RawMessage(document(with))
	}
	return a.Document // it is refused for what is wrong with it
}

// alive drops flights that were forgotten.
func (l *loop) alive(flights []*flight) []*flight {
	return slices.DeleteFunc(flights, func(f *flight) bool {
		if f.entry == nil {
			l.madeBytes -= f.made
			f.made = 0
		}
		return f.entry == nil
	})
}

// some cuts the first so many off, and copies them.
func (l *loop) some(flights *[]*flight, n int) []*flight {
	*flights = l.alive(*flights)
	n = min(n, len(*flights))
	taken := slices.Clone((*flights)[:n])
	*flights = slices.Delete(*flights, 0, n)
	return taken
}

// beginFetch reads bodies that were dropped.
func (l *loop) beginFetch(now time.Time) {
	if l.busy[kindFetch] || len(l.toFetch) == 0 || now.Before(l.fetchAt) || l.closing {
		return
	}
	l.toFetch = l.alive(l.toFetch)
	room := min(maxReadBytes, l.r.opts.MaxBytes-l.desk.bytes)
	if len(l.toFetch) == 0 || room <= 0 && l.underway+len(l.toOffer) > 0 {
		return
	}
	var rows []row
	n := 0
	for _, f := range l.toFetch {
		size := int64(0)
		for _, r := range f.needed() {
			size += int64(r.size)
		}
		if n > 0 && (size > room || len(rows) >= maxLoad) {
			break
		}
		room -= size
		n++
		for _, r := range f.needed() {
			if r.light {
				rows = append(rows, r)
			}
		}
	}
	flights := l.some(&l.toFetch, n)
	l.beginWork(l.work, kindFetch, statement, func(ctx context.Context) func() {
		var bodies map[int64][]byte
		err := sqlkit.OnConn(ctx, l.r.db, func(c *sql.Conn) (err error) {
			bodies, err = l.read.bodies(ctx, c, rows)
			return err
		})
		return func() {
			if err != nil {
				l.toFetch = append(flights, l.toFetch...)
				l.fetchAt = time.Now().Add(time.Second)
				l.fails(kindFetch, slog.LevelWarn, "rows cannot be read again", err)
				return
			}
			l.works(kindFetch)
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
