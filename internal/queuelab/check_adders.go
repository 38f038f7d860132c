package queuelab

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

// record returns a random change.
func (w *world) record(key string, op models.ActionType) queue.Record {
	w.value++
	r := queue.Record{Key: key, Op: op}
	if op != "" {
		r.Body = fmt.Appendf(nil, "f%d=%d", w.rand.IntN(3), w.value)
	}
	if w.chance(15) {
		r.Class = uint8(w.rand.IntN(3)) //nolint:gosec // below 3
	}
	if w.chance(15) {
		r.Since = w.h.Now().Add(-pick(w, []time.Duration{-time.Minute, time.Millisecond, time.Second, 10 * time.Second, time.Minute, 48 * time.Hour}))
	}
	return r
}

func (w *world) append() error {
	a := pick(w, w.adders)
	ops := []models.ActionType{models.ActionTypeUpload, models.ActionTypeMerge, models.ActionTypeMerge, models.ActionTypeMergeOrUpload, models.ActionTypeDelete, ""}
	var records []queue.Record
	for range 1 + w.rand.IntN(3) {
		records = append(records, w.record(w.key(), pick(w, ops)))
	}
	return w.call(a, queue.Call{Records: records}, queue.Call{Records: records})
}

// burst appends a pile.
func (w *world) burst() error {
	key := w.key()
	var records []queue.Record
	for range queue.PileLimit + w.rand.IntN(3) {
		records = append(records, w.record(key, models.ActionTypeMerge))
	}
	c := queue.Call{Records: records}
	return w.call(pick(w, w.adders), c, c)
}

// fold folds a pile from an earlier answer.
func (w *world) fold() error {
	if len(w.piles) == 0 || w.unnoticed() {
		return nil
	}
	p := pick(w, w.piles)
	if w.chance(70) {
		w.piles = slices.DeleteFunc(w.piles, func(q pile) bool { return q.real.Key == p.real.Key })
	}
	real := foldOf(p.real)
	model := foldOf(p.model)
	return w.call(pick(w, w.adders), queue.Call{Folds: []queue.Fold{real}}, queue.Call{Folds: []queue.Fold{model}})
}

// foldOf folds all records of a pile into one, or into two if the first is not a whole document.
func foldOf(p queue.Pile) queue.Fold {
	f := queue.Fold{Key: p.Key, Count: len(p.Records), Last: p.Records[len(p.Records)-1].Seq}
	rest := p.Records
	if first := rest[0]; first.Op == "" || first.Op == models.ActionTypeDelete {
		f.Records = append(f.Records, queue.Record{Key: p.Key, Op: first.Op, Body: first.Body, Class: first.Class})
		rest = rest[1:]
	}
	all := document{}
	class := rest[0].Class
	for i := range rest {
		for name, value := range fields(rest[i].Body) {
			all[name] = value
		}
		class = min(class, rest[i].Class)
	}
	f.Records = append(f.Records, queue.Record{Key: p.Key, Op: rest[0].Op, Body: all.body(), Class: class})
	return f
}

// call makes an adder make a call.
func (w *world) call(a *adder, real, model queue.Call) error {
	a.number++
	real.Adder, real.Number, model.Adder, model.Number = a.id, a.number, a.id, a.number
	a.before, a.last = a.last, &twice{real, model}
	w.log("append %s", showCall(&real))
	unnoticed := w.unnoticed()
	receipt, err := w.h.Queue.Append(w.ctx, real)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	w.ledger.appended(w.h.Now(), &real)
	a.receipt = receipt
	receipt.Piles = slices.DeleteFunc(receipt.Piles, func(p queue.Pile) bool { // a key that is only folded may be returned again
		return !slices.ContainsFunc(real.Records, func(r queue.Record) bool { return r.Key == p.Key })
	})
	at := positions{real: receipt.Position}
	if w.model != nil {
		want, err := w.model.Append(w.h.Now(), model)
		if err != nil {
			return fmt.Errorf("append: the model says %w", err)
		}
		at.model = want.Position
		if err := sameReceipt(receipt, want, !unnoticed); err != nil {
			return err
		}
		for i := range min(len(receipt.Piles), len(want.Piles)) {
			w.piles = append(w.piles, pile{receipt.Piles[i], want.Piles[i]})
		}
	} else {
		for _, p := range receipt.Piles {
			w.piles = append(w.piles, pile{p, p})
		}
	}
	w.positions = append(w.positions, at)
	if w.chance(10) { // the answer is lost, and the adder repeats the call
		return w.again(a)
	}
	return nil
}

// unnoticed reports whether the model has expired leases that it has not ended yet. A back end may end them in calls
// for which the rules do not require it. Until then, nothing that depends on this is done or compared.
func (w *world) unnoticed() bool {
	if w.model == nil {
		return false
	}
	for _, e := range w.model.keys {
		if len(e.leased) > 0 && !e.until.After(w.h.Now()) {
			return true
		}
	}
	return false
}

func (w *world) again(a *adder) error {
	w.log("append again")
	receipt, err := w.h.Queue.Append(w.ctx, a.last.real)
	switch {
	case err != nil:
		return fmt.Errorf("append again: %w", err)
	case receipt.Position != a.receipt.Position || receipt.Replaced != a.receipt.Replaced || receipt.Folded != a.receipt.Folded:
		return fmt.Errorf("append again: the receipt was %+v, and is %+v", a.receipt, receipt)
	}
	return nil
}

// repeat makes an adder that has died in its call repeat that call, or an earlier one.
func (w *world) repeat() error {
	a := pick(w, w.adders)
	switch {
	case a.last == nil:
		return nil
	case a.before != nil && w.chance(30):
		w.log("append the call before the last one again")
		switch _, err := w.h.Queue.Append(w.ctx, a.before.real); {
		case err == nil:
			return errors.New("append of the call before the last one: it is accepted")
		case !errors.Is(err, queue.ErrTooOld):
			return fmt.Errorf("append of the call before the last one: %w", err)
		}
		return nil
	}
	return w.again(a)
}
