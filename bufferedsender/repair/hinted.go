package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/internal/wholeindex"
)

// RunKeys looks at some keys in both sides and repairs those that differ, as Run does but at once: for keys that
// are known to differ, such as those of dead letters. It overwrites and deletes at most 10 000 in 24 hours, or as many
// as Options.AllowDeletes says. It does not count the index, so limits given as a share do not apply.
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

// keys repairs those of the keys that differ. All of them are looked at before the first is written.
func (p *pass) keys(ctx context.Context, keys []string, total *Report) error {
	c, some := changes{}, false
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
	for _, err := range p.source.Scan(ctx, "", "") {
		if err != nil {
			return fmt.Errorf("scan the source: %w", err)
		}
		some = true
		break
	}
	var err error
	if c.deletes > 0 && !some {
		err = fmt.Errorf("%w: none of %d keys was deleted", ErrNoRows, c.deletes)
	} else {
		err = p.charge(ctx, c, unknownRows)
	}
	if p.DryRun && refused(err) {
		total.Refused, err = err.Error(), nil
	}
	if err != nil {
		return err
	}
	surplus, _, err := p.differing(ctx, keys, total)
	if err == nil && len(surplus) > 0 && p.AllowDeletes >= 0 && !p.DryRun {
		if err = p.charge(ctx, changes{deletes: max(0, int64(len(surplus))-c.deletes)}, unknownRows); err == nil { // gone since
			err = p.remove(ctx, surplus, total)
		}
	}
	p.refund(ctx, c)
	return err
}

// differing repairs those of the keys that differ, but for those that are surplus, which it returns. unsettled are
// those that differ still.
func (p *pass) differing(ctx context.Context, keys []string, total *Report) (surplus, unsettled []string, err error) {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	for part := range slices.Chunk(keys, pageFound) {
		source, index, err := p.look(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		t := newTask(page{})
		found := differencesOf(part, source, index)
		for _, d := range found {
			if d.kind == Unreadable {
				p.unreadable(ctx, t, d.key, &d.source, &d.index)
				continue
			}
			t.count(d.kind, t.counter(d.kind), d.key)
		}
		act := p.repairable(t, found)
		if !p.DryRun {
			err = errors.Join(p.repair(ctx, t, act, false), p.verify(ctx, t, false))
		}
		done := t.snapshot()
		done.Hinted = int64(len(part))
		p.meters.add(&done)
		total.plus(&done)
		if err != nil {
			return nil, nil, err
		}
		surplus = append(surplus, t.surplus...)
		unsettled = append(unsettled, t.unsettled...)
	}
	return surplus, unsettled, nil
}

// hinted repairs the keys of the hints but for those that are surplus, which are deleted with the others when the
// guard has seen how many there are. The function that it returns is to be told whether everything was compared and
// deleted.
func (p *pass) hinted(ctx context.Context, total *Report) (everything func(ok bool), err error) {
	var whole, surplus, unsettled []hints.Batch
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
		settle(whole, ok && !p.resumed)            // what was compared before may be what the hint is about
		settle(surplus, ok && p.AllowDeletes >= 0) // there they are still
		settle(unsettled, false)
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
			gone, differ, err := p.differing(ctx, b.Keys, &counted)
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
			p.Hints.Done(without(b, append(gone, differ...)))
		}
	}
	return everything, nil
}

// only returns a batch with some of its keys, and without one with the others.
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
