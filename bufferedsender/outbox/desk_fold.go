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

// land ends the flight of a key, and reports whether the key still had this flight.
func (d *desk) land(f *flight) bool {
	e := f.entry
	if e == nil || e.flight != f { // the key was dropped meanwhile
		return false
	}
	e.flight = nil
	return true
}

// needed returns the rows of a group whose bodies matter: those from the last replacing row on.
func (f *flight) needed() []row {
	for i := len(f.rows) - 1; i > 0; i-- {
		if f.rows[i].replaces() {
			return f.rows[i:]
		}
	}
	return f.rows
}

// foldable returns how many rows may become one action: all up to the last replacing row, and as many of the merges
// behind it as are worth a try.
func foldable(rows []row) int {
	last := len(rows) - 1
	for last > 0 && !rows[last].replaces() {
		last--
	}
	return min(len(rows), last+maxFold)
}

// maxFold is the maximum number of merges folded into one action.
const maxFold = 256

// make makes the action of a group whose bodies are read. Rows that cannot be folded into it are left for the next
// action.
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

// encoded returns an action in the form that package fold needs.
func encoded(typ models.ActionType, body []byte) []byte {
	if typ == models.ActionTypeDelete {
		body = []byte("{}")
	}
	text, err := models.AppendEncoded(nil, typ, body)
	if err != nil {
		return nil // it folds with nothing, so it is refused alone
	}
	return text
}
