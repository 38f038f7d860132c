package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
)

// RunKeys compares the given keys and repairs those that differ, like Run, but at once, without confirming after a
// pause: for keys known to differ, such as those of dead letters. In 24 hours at most 10 000 documents are overwritten
// and at most 10 000 deleted; AllowDeletes lifts the bound on deletes, MaxShare 1 removes both. A smaller MaxShare has
// no effect, because the index is not counted.
func (r *Repairer) RunKeys(ctx context.Context, keys ...string) (Report, error) {
	began, ctx := time.Now(), wholeindex.Require(ctx)
	p, err := r.newPass()
	if err != nil {
		return Report{}, fmt.Errorf("repair: nothing was compared: %w", err)
	}
	total := Report{Began: began, DryRun: p.DryRun}
	err = p.keys(ctx, keys, &total)
	total.Took, total.Complete = time.Since(began), err == nil
	if err != nil {
		err = fmt.Errorf("repair: %w", err)
	}
	return total, err
}

// keys compares all keys before the first write, asks the guard, and repairs those that differ.
func (p *pass) keys(ctx context.Context, keys []string, total *Report) error {
	c := changes{}
	for part := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(keys))), pageFound) {
		source, index, err := p.look(ctx, part)
		if err != nil {
			return err
		}
		for _, d := range differencesOf(part, source, index) {
			switch {
			case d.kind == Surplus && p.AllowDeletes >= 0:
				c.deletes++
			case d.kind == Different, d.kind == Ahead && p.TrustSource:
				c.overwrites++
			}
		}
	}
	_, some, err := p.sample(ctx)
	switch {
	case err != nil:
		return err
	case c.deletes > 0 && !some:
		err = fmt.Errorf("%w: none of %d keys was deleted", ErrNoRows, c.deletes)
	default:
		err = p.charge(ctx, c, unknownRows, true)
	}
	if p.DryRun && refused(err) {
		total.Refused, err = err.Error(), nil
	}
	if err != nil {
		return err
	}
	p.room.Store(c.overwrites)
	surplus, _, _, err := p.differing(ctx, keys, total, func(more []difference) error { return p.spend(ctx, more, unknownRows) })
	if err == nil && len(surplus) > 0 && p.AllowDeletes >= 0 && !p.DryRun {
		if err = p.charge(ctx, changes{deletes: max(0, int64(len(surplus))-c.deletes)}, unknownRows, false); err == nil { // gone since
			err = p.remove(ctx, surplus, total)
		}
	}
	p.refund(ctx, c)
	return err
}

// differing repairs the keys that differ, except surplus ones, which it returns. unsettled are keys that still differ
// afterwards, left those that cannot be repaired: ahead, rejected or unreadable. spend asks the guard before each
// write; hints have no bound on overwrites.
func (p *pass) differing(ctx context.Context, keys []string, total *Report, spend func([]difference) error) (surplus, unsettled, left []string, err error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for part := range slices.Chunk(keys, pageFound) {
		source, index, err := p.look(ctx, part)
		if err != nil {
			return nil, nil, nil, err
		}
		t := newTask(page{})
		found := differencesOf(part, source, index)
		for _, d := range found {
			if d.kind == Unreadable {
				p.unreadable(ctx, t, d.key, &d.source, &d.index)
				continue
			}
			t.count(d.kind, t.counter(d.kind), d.key)
			if d.kind == Ahead && !p.TrustSource {
				t.leftNow(d.key)
			}
		}
		act := p.repairable(t, found)
		if !p.DryRun {
			if err = spend(act); err == nil {
				err = errors.Join(p.repair(ctx, t, act, false), p.verify(ctx, t, false))
			}
		}
		done := t.snapshot()
		done.Hinted = int64(len(part))
		p.meters.add(&done)
		total.plus(&done)
		if err != nil {
			return nil, nil, nil, err
		}
		surplus = append(surplus, t.surplus...)
		unsettled = append(unsettled, t.unsettled...)
		left = slices.AppendSeq(append(left, t.left...), maps.Keys(t.rejectedSoFar()))
	}
	return surplus, unsettled, left, nil
}

// hinted repairs the keys of the hints, except surplus ones, which are deleted at the end of the pass, after the guard
// has counted them. Call the returned function at the end of the pass with ok if everything was compared and deleted.
func (p *pass) hinted(ctx context.Context, total *Report) (everything func(ok bool), err error) {
	var whole, surplus, unsettled, others []hints.Batch
	everything = func(ok bool) {
		settle := func(all []hints.Batch, done bool) {
			for _, b := range all {
				if done {
					p.Hints.Done(b)
				} else {
					p.Hints.Back(b)
				}
			}
		}
		settle(whole, ok && !p.resumed)            // a hint may be about pages compared before it
		settle(surplus, ok && p.AllowDeletes >= 0) // otherwise they still exist
		settle(unsettled, false)
		settle(others, ok && !p.resumed) // then the report of the pass has them
	}
	if p.Hints == nil || p.DryRun {
		return everything, nil
	}
	stats := p.Hints.Stats()
	left := stats.Keys[p.HintsOf]
	if stats.Everything[p.HintsOf] {
		left++
	}
	for left > 0 {
		b := p.Hints.Take(p.HintsOf, left)
		switch {
		case len(b.Keys) == 0 && !b.Everything:
			return everything, nil
		case b.Everything:
			whole = append(whole, b)
			left--
		default:
			left -= len(b.Keys)
			var counted Report
			gone, differ, unfit, err := p.differing(ctx, b.Keys, &counted, func([]difference) error { return nil })
			counted.Missing, counted.Surplus, counted.Different, counted.Ahead = 0, 0, 0, 0
			for _, kind := range []Kind{Missing, Surplus, Different, Ahead} {
				delete(counted.Keys, kind)
			}
			total.plus(&counted)
			if err != nil {
				p.Hints.Back(b)
				everything(false)
				return func(bool) {}, fmt.Errorf("keys of the hints: %w", err)
			}
			p.gone = append(p.gone, gone...)
			surplus, unsettled = append(surplus, only(b, gone)), append(unsettled, only(b, differ))
			others = append(others, only(b, unfit))
			p.Hints.Done(without(b, slices.Concat(gone, differ, unfit)))
		}
	}
	return everything, nil
}

// only returns a batch with just the given keys, without one with all but these.
func only(b hints.Batch, keys []string) hints.Batch {
	b.Keys = slices.Clone(keys)
	return b
}

func without(b hints.Batch, keys []string) hints.Batch {
	drop := make(map[string]bool, len(keys))
	for _, key := range keys {
		drop[key] = true
	}
	b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(key string) bool { return drop[key] })
	return b
}
