package repair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// changes are the numbers of documents that the guard bounds. Additions have no bound.
type changes struct{ deletes, overwrites int64 }

// refused reports whether an error is that of a guard.
func refused(err error) bool {
	tooMany := (*DeletesError)(nil)
	return errors.Is(err, ErrNoRows) || errors.As(err, &tooMany)
}

// allow asks the guard about everything found, before the first write of a pass, and records its consent in the states.
func (p *pass) allow(ctx context.Context, sections []*section) (c changes, err error) {
	if len(sections) == 0 { // other processes have all ranges, so nothing is written or deleted
		return changes{}, nil
	}
	var total Report
	for _, s := range sections {
		total.plus(&s.state.Report)
		if s.state.Cleared {
			p.room.Add(s.state.Overwrites)                        // counted before the pass was interrupted
			c.deletes += s.state.Report.Surplus - s.state.Charged // found later, or with a negative AllowDeletes
			continue
		}
		c.deletes += s.state.Report.Surplus
		s.state.Overwrites = s.state.Report.Different
		if p.TrustSource {
			s.state.Overwrites += s.state.Report.Ahead
		}
		c.overwrites += s.state.Overwrites
	}
	_, hinted := p.surplus(sections)
	if c.deletes += hinted; p.AllowDeletes < 0 {
		c.deletes = 0
	}
	some := total.SourceRows > 0
	if c.deletes > 0 && !some && len(sections) <= len(p.Splits) { // all rows may be in ranges of other processes
		if _, some, err = p.sample(ctx); err != nil {
			return changes{}, err
		}
	}
	if c.deletes > 0 && !some {
		return changes{}, fmt.Errorf("%w: none of the %d documents of the index was deleted", ErrNoRows, total.IndexRows)
	}
	p.count(sections)
	if err := p.charge(ctx, c, p.indexRows, true); err != nil {
		return changes{}, err
	}
	p.room.Add(c.overwrites)
	if p.DryRun {
		return c, nil
	}
	for _, s := range sections {
		if s.state.Cleared && (p.AllowDeletes < 0 || s.state.Charged == s.state.Report.Surplus) || len(s.state.Spans)+len(s.state.Surplus) == 0 {
			continue
		}
		if s.state.Cleared = true; p.AllowDeletes >= 0 {
			s.state.Charged = s.state.Report.Surplus
		}
		if err := s.state.save(ctx, p.Store, s.name); err != nil {
			return c, s.named(err)
		}
	}
	return c, nil
}

// unknownRows is the row count for charge if the index was not counted.
func unknownRows(*spent) int64 { return -1 }

// count sets the rows of the ranges of this process: those compared, and the documents added since.
func (p *pass) count(sections []*section) {
	p.ranges = make(map[string]int64)
	for _, s := range sections {
		r := &s.state.Report
		p.ranges[s.name] = r.IndexRows + min(r.Missing, r.Repaired)
	}
}

// indexRows returns the number of documents of the whole index: counted now for the ranges of this process, the last
// known counts for those of other processes.
func (p *pass) indexRows(s *spent) (n int64) {
	known := make(map[string]int64)
	bounds := append(append([]string{""}, p.Splits...), "")
	for i := range len(bounds) - 1 {
		name := p.nameOf(bounds[i], bounds[i+1])
		if p.DryRun {
			name += " dry"
		}
		rows, is := p.ranges[name]
		if !is {
			rows, is = s.Ranges[p.nameOf(bounds[i], bounds[i+1])]
		}
		if is {
			known[p.nameOf(bounds[i], bounds[i+1])] = rows
			n += rows
		}
	}
	s.Ranges = known
	return n
}

// charge refuses changes over the bound, and counts the others against the next 24 hours. If c has all
// deletes of a pass, and AllowDeletes asks for that number, they are not counted. rows returns the size of the index,
// see spent.take.
func (p *pass) charge(ctx context.Context, c changes, rows func(*spent) int64, all bool) error {
	asked := int64(0)
	if all && p.AllowDeletes > 0 && c.deletes == p.AllowDeletes {
		asked, c.deletes = c.deletes, 0
	}
	var tooMany error
	err := p.withSpent(ctx, func(s *spent) bool {
		if p.DryRun {
			s = &spent{Spent: slices.Clone(s.Spent), Ranges: s.Ranges, also: s.also}
		}
		n := rows(s)
		if c == (changes{}) {
			return true
		}
		now := time.Now()
		if all {
			p.counted = now
		}
		tooMany = s.take(now, c.deletes, c.overwrites, n, p.MaxShare)
		return tooMany == nil
	})
	if e := (*DeletesError)(nil); errors.As(tooMany, &e) && !p.DryRun {
		e.Surplus += asked
		p.Logger.LogAttrs(ctx, slog.LevelWarn, "repair: too many deletes or overwrites; pass refused", slog.Int64("deletes", e.Surplus), slog.Int64("overwrites", e.Different),
			slog.Int64("deleted_in_24h", e.Deleted), slog.Int64("overwritten_in_24h", e.Overwritten), slog.Int64("limit", e.Most), slog.Int64("index_rows", e.IndexRows))
	}
	return errors.Join(err, tooMany)
}

// overwritten counts the differences whose repair overwrites a document.
func overwritten(all []difference) (n int64) {
	for _, d := range all {
		if d.kind != Missing && d.kind != Surplus {
			n++
		}
	}
	return n
}

// spend asks the guard for overwrites beyond those that it has counted. rows is as in charge.
func (p *pass) spend(ctx context.Context, all []difference, rows func(*spent) int64) error {
	n := overwritten(all)
	for n > 0 { // ranges that write at the same time share the room
		room := p.room.Load()
		used := min(n, room)
		if p.room.CompareAndSwap(room, room-used) {
			n -= used
			break
		}
	}
	if n == 0 {
		return nil
	}
	return p.charge(ctx, changes{overwrites: n}, rows, false)
}

// refund takes back what was counted and then not done.
func (p *pass) refund(ctx context.Context, c changes) {
	if c.deletes == p.AllowDeletes { // it was not counted
		c.deletes = 0
	} else {
		c.deletes = max(0, c.deletes-p.deleted.Load())
	}
	c.overwrites = max(0, c.overwrites-p.overwritten.Load())
	if c == (changes{}) || p.DryRun || p.Mark != nil {
		return
	}
	err := p.withSpent(context.WithoutCancel(ctx), func(s *spent) bool {
		s.back(p.counted, c.deletes, c.overwrites)
		return true
	})
	if err != nil {
		p.Logger.LogAttrs(ctx, slog.LevelWarn, "repair: unmade deletes stay counted for 24 h", slog.Any("error", err))
	}
}
