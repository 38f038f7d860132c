package outbox

import (
	"slices"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/models"
)

// plan makes a flight of the first rows of a key.
func (d *desk) plan(e *entry) *flight {
	f := &flight{entry: e, step: kindOffer}
	e.flight = f
	rows, n := e.rows[:e.front()], 1
	switch loads := slices.IndexFunc(rows, func(r row) bool { return r.op == "" }); {
	case len(rows) == 0:
		f.step = kindRefill
		return f
	case d.exports:
		f.step = kindExport
	case rows[0].seq <= e.apart:
		if rows[0].op == "" {
			f.step = kindLoad
		}
	case loads >= 0:
		n, f.step = len(rows), kindLoad
	default:
		n = foldable(rows)
	}
	f.rows = slices.Clone(rows[:n])
	f.seq = f.rows[n-1].seq
	if f.step != kindLoad && slices.ContainsFunc(f.needed(), func(r row) bool { return r.light }) {
		f.step = kindFetch
	}
	return f
}

// land takes a flight off its key, and reports whether it was still the key's.
func (d *desk) land(f *flight) bool {
	e := f.entry
	if e == nil || e.flight != f { // it was dropped meanwhile
		return false
	}
	e.flight = nil
	return true
}

// needed are the rows of a group whose bodies count: from the last one on that replaces
// the others.
func (f *flight) needed() []row {
	for i := len(f.rows) - 1; i > 0; i-- {
		if f.rows[i].replaces() {
			return f.rows[i:]
		}
	}
	return f.rows
}

// foldable returns how many rows may become one action: all up to the last one that replaces
// the others, and of the merges behind it as many as are worth a try.
func foldable(rows []row) int {
	last := len(rows) - 1
	for last > 0 && !rows[last].replaces() {
		last--
	}
	return min(len(rows), last+maxFold)
}

// maxFold is how many merges are folded into one action at the most.
const maxFold = 256

// make makes the action of a group whose bodies are there. What cannot be folded into it is
// left for the next one.
func (d *desk) make(f *flight, key string) models.RawAction {
	rows := f.needed()
	before := len(f.rows) - len(rows)
	typ, body := rows[0].op, rows[0].body
	n := 1
	if len(rows) > 1 {
		text := encoded(typ, body)
		for ; n < len(rows); n++ {
			folded, more, ok := fold.Actions(typ, text, rows[n].op, encoded(rows[n].op, rows[n].body))
			if !ok || len(more) > maxBody {
				break
			}
			typ, text = folded, more
		}
		if n > 1 {
			body = []byte(document(text))
		}
	}
	f.rows = f.rows[:before+n]
	f.seq = f.rows[len(f.rows)-1].seq
	if typ == models.ActionTypeDelete {
		body = nil
	}
	return models.RawAction{Key: key, Type: typ, Document: body}
}

// encoded is an action as the folding wants it.
func encoded(typ models.ActionType, body []byte) []byte {
	if typ == models.ActionTypeDelete {
		body = []byte("{}")
	}
	text, err := models.AppendEncoded(nil, typ, body)
	if err != nil {
		return nil // which folds with nothing: it is refused by itself
	}
	return text
}
