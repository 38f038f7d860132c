package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender/hints"
)

// RepairKeys looks at some keys in both sides and repairs those that differ, as Run does but at once: for keys that are known to differ, such as those of dead
// letters. At most as many are deleted as Run deletes of a large index: 10 000, or exactly Options.AllowDeletes.
func RepairKeys(ctx context.Context, source Source, index Index, to Sender, opts *Options, keys ...string) (Report, error) {
	began := time.Now()
	p, err := newPass(source, index, to, opts)
	if err != nil {
		return Report{}, fmt.Errorf("repair: nothing was compared: %w", err)
	}
	total := Report{Began: began, DryRun: p.DryRun}
	err = p.keys(ctx, keys, &total)
	total.Took = time.Since(began)
	if err != nil {
		err = fmt.Errorf("repair: %w", err)
	}
	return total, err
}

// keys repairs those of the keys that differ.
func (p *pass) keys(ctx context.Context, keys []string, total *Report) error {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	var surplus []string
	for part := range slices.Chunk(keys, pageFound) {
		source, index, err := p.look(ctx, part)
		if err != nil {
			return err
		}
		t := newTask(page{})
		var found []difference
		for _, key := range part {
			kind := compareRows(source[key], index[key])
			if kind == "" {
				continue
			}
			t.count(kind, t.counter(kind), key)
			switch {
			case kind == Surplus:
				t.surplusNow(key)
			case kind != Ahead || p.TrustSource:
				found = append(found, difference{key, kind, orZero(source[key]), orZero(index[key])})
			}
		}
		if !p.DryRun {
			err = errors.Join(p.repair(ctx, t, found, false), p.verify(ctx, t, false))
		}
		done := t.snapshot()
		done.Hinted = int64(len(part))
		p.meters.add(&done)
		total.plus(&done)
		if err != nil {
			return err
		}
		surplus = append(surplus, t.surplus...)
	}
	if len(surplus) == 0 || p.DryRun || p.KeepSurplus {
		return nil
	}
	some := false
	for _, err := range p.source.Scan(ctx, "", "") {
		if err != nil {
			return fmt.Errorf("scan the source: %w", err)
		}
		some = true
		break
	}
	if !some {
		return fmt.Errorf("%w: none of %d keys was deleted", ErrNoRows, len(surplus))
	}
	if err := p.guard(int64(len(surplus)), mostDeletes*shareOf); err != nil {
		return err
	}
	return p.remove(ctx, surplus, total)
}

// hinted repairs the keys of the hints. The function that it returns is to be told whether everything was compared.
func (p *pass) hinted(ctx context.Context, total *Report) (everything func(ok bool), err error) {
	var whole []hints.Batch
	everything = func(ok bool) {
		for _, b := range whole {
			if ok {
				p.Hints.Done(b)
			} else {
				p.Hints.Back(b)
			}
		}
	}
	if p.Hints == nil || p.DryRun {
		return everything, nil
	}
	left, all := p.Hints.Len(p.HintsOf)
	if all {
		left++
	}
	for left > 0 {
		b := p.Hints.Take(p.HintsOf, hints.MaxTake)
		switch {
		case b.Empty():
			return everything, nil
		case b.Everything:
			whole = append(whole, b)
			left--
		default:
			left -= len(b.Keys)
			if err := p.keys(ctx, b.Keys, total); err != nil {
				p.Hints.Back(b)
				everything(false)
				return func(bool) {}, fmt.Errorf("keys of the hints: %w", err)
			}
			p.Hints.Done(b)
		}
	}
	return everything, nil
}
