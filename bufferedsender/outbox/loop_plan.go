package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/internal/relay"
	"github.com/go-azsearch/azsearch/internal/sqlkit"
	"github.com/go-azsearch/azsearch/models"
)

// plan makes flights of ready rows, as long as there is room for their actions.
func (l *loop) plan(now time.Time) {
	if l.closing {
		return
	}
	var state [ranges]int8
	open := func(part uint8) bool {
		if state[part] == 0 {
			if state[part] = -1; l.holds.open(part, now) {
				state[part] = 1
			}
		}
		return state[part] > 0
	}
	for l.flights.planned() < l.r.opts.maxRows {
		f := l.desk.next(open)
		if f == nil {
			return
		}
		if f.lease = l.holds.parts[f.entry.part].lease; f.step == kindOffer {
			l.made(f, l.desk.make(f, l.r.table.keyOrNone(f.entry.key)))
		} else {
			l.flights.next[f.step] = append(l.flights.next[f.step], f)
		}
	}
}

// made schedules the actions of a flight for sending.
func (l *loop) made(f *flight, actions ...models.RawAction) {
	f.actions, f.left = actions, len(actions)
	if f.step != kindOffer {
		for i := range actions {
			f.made += int64(len(actions[i].Document))
		}
		l.flights.made += f.made
	}
	if field := l.r.opts.SeqField; field != "" {
		for i := range actions {
			actions[i].Document = withNumber(actions[i], field, f.seq)
		}
	}
	if len(actions) == 0 {
		l.desk.end(f, relay.Confirmed, models.Outcome{}, time.Now())
		return
	}
	l.flights.next[kindOffer] = append(l.flights.next[kindOffer], f)
}

// withNumber sets a field in the document of an action, replacing a value that is already there. A delete has no field.
func withNumber(a models.RawAction, field string, n int64) json.RawMessage {
	if a.Type == models.ActionTypeDelete {
		return a.Document
	}
	name, _ := json.Marshal(field) // a string can always be encoded
	number := encoded(models.ActionTypeMerge, []byte(fmt.Sprintf("{%s:%d}", name, n)))
	if _, with, ok := fold.Actions(a.Type, encoded(a.Type, a.Document), models.ActionTypeMerge, number); ok {
		return json.RawMessage(document(with))
	}
	return a.Document // the malformed action will be refused
}

// beginFetch reads bodies that were dropped.
func (l *loop) beginFetch(time.Time) {
	room := min(maxReadBytes, l.r.opts.maxBytes-l.desk.size())
	var rows []row
	flights := l.flights.cut(kindFetch, relay.MaxLoad)
	n := 0
	for _, f := range flights {
		size := int64(0)
		for _, r := range f.needed() {
			size += int64(r.size)
		}
		if n > 0 && (size > room || len(rows) >= relay.MaxLoad) {
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
	if l.flights.putBack(kindFetch, flights[n:]); n == 0 {
		return
	}
	flights = flights[:n]
	lost := func(err error) {
		l.flights.putBack(kindFetch, flights)
		l.fails(kindFetch, slog.LevelWarn, "outbox: rows cannot be read again", err)
	}
	l.ask(kindFetch, statement, func(ctx context.Context) func() {
		var bodies map[int64][]byte
		err := sqlkit.OnConn(ctx, l.r.db, func(c *sql.Conn) (err error) {
			bodies, err = l.read.bodies(ctx, c, rows)
			return err
		})
		return func() {
			if err != nil {
				lost(err)
				return
			}
			l.works(kindFetch)
			for _, f := range flights {
				l.desk.fetched(f, bodies)
			}
		}
	}, lost)
}
