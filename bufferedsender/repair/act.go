package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

const verifyTimes = 5 // repairs of a key that keeps differing

// look returns the rows of both sides by key.
func (p *pass) look(ctx context.Context, keys []string) (source, index map[string]*models.Row, err error) {
	if source, err = lookup(ctx, p.source, keys); err != nil {
		return nil, nil, fmt.Errorf("look up keys in the source: %w", err)
	}
	err = p.slot(ctx, func(ctx context.Context) error {
		index, err = lookup(ctx, p.index, keys)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("look up keys in the index: %w", err)
	}
	return source, index, nil
}

func lookup(ctx context.Context, in Index, keys []string) (map[string]*models.Row, error) {
	byKey := make(map[string]*models.Row, len(keys))
	for _, key := range keys {
		byKey[key] = nil
	}
	return byKey, lookupInto(ctx, byKey, in, keys)
}

// lookupInto enters the rows of some keys. If a source returns another spelling of a key, the asked key would seem
// absent, so it gets a row with a problem instead. Halves of the keys are looked up until that key is found.
func lookupInto(ctx context.Context, byKey map[string]*models.Row, in Index, keys []string) error {
	rows, err := in.Lookup(ctx, keys)
	if err == nil { // a Lookup cut off by ctx may lack rows
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	other, fit := "", 0
	for i := range rows {
		if _, asked := byKey[rows[i].Key]; asked {
			byKey[rows[i].Key] = &rows[i]
			fit++
		} else {
			other = rows[i].Key
		}
	}
	if _, is := in.(Source); !is || other == "" { // an index whose key field has a normalizer returns other spellings
		return nil
	}
	problem := fmt.Sprintf("Lookup has returned the key %q, which it was not asked for: keys are compared byte by byte, so without the blanks of CHAR(n), and not by a collation that ignores case", other)
	switch half := len(keys) / 2; {
	case fit == 0 && len(rows) > oddAtMost: // as in failing: the source is at fault, not its rows
		return errors.New(problem)
	case half > 0:
		if err := lookupInto(ctx, byKey, in, keys[:half]); err != nil {
			return err
		}
		return lookupInto(ctx, byKey, in, keys[half:])
	case byKey[keys[0]] == nil:
		byKey[keys[0]] = &models.Row{Key: keys[0], Problem: problem}
	}
	return nil
}

// differencesOf returns the differences of keys that were looked up.
func differencesOf(keys []string, source, index map[string]*models.Row) (found []difference) {
	for _, key := range keys {
		if kind := compareRows(source[key], index[key]); kind != "" {
			found = append(found, difference{key, kind, orZero(source[key]), orZero(index[key])})
		}
	}
	return found
}

// slot runs a query to the index in a slot of the pool, if there is a pool.
func (p *pass) slot(ctx context.Context, query func(ctx context.Context) error) error {
	if p.Member == nil {
		return query(ctx)
	}
	return p.Member.Do(ctx, models.ClassBestEffort, query)
}

// confirm looks differences up again. It returns and counts those that are of the same kind and have no pending writes.
func (p *pass) confirm(ctx context.Context, t *task, found []difference) (confirmed []difference, err error) {
	if len(found) == 0 {
		return nil, nil
	}
	keys := keysIn(found)
	pending, err := p.pending(ctx, keys) // before the look, which then shows whatever was settled in between
	if err != nil {
		return nil, err
	}
	source, index, err := p.look(ctx, keys)
	if err != nil {
		return nil, err
	}
	var other []string // keys that appear in only one of scan and lookup of the source
	for i, d := range found {
		s, x := source[d.key], index[d.key]
		switch {
		case appears(s) != appears(&d.source):
			other = append(other, d.key)
		case appears(s):
			p.agreed.Store(true)
		}
		switch {
		case pending[i]:
			t.count("", &t.Pending, "")
		case compareRows(s, x) == Unreadable:
			p.unreadable(ctx, t, d.key, s, x)
		case compareRows(s, x) != d.kind || markOf(d.index) != markOf(orZero(x)):
			t.count("", &t.Passing, "")
		case s != nil && d.kind != Surplus && p.knowsRejected(*s):
			t.count(Rejected, &t.Rejected, d.key)
		default:
			confirmed = append(confirmed, difference{d.key, d.kind, orZero(s), orZero(x)})
			t.count(d.kind, t.counter(d.kind), d.key)
		}
	}
	return confirmed, p.contradiction(ctx, other)
}

// unreadable counts a key that is left out because a row of one side has a problem.
func (p *pass) unreadable(ctx context.Context, t *task, key string, source, index *models.Row) {
	t.count(Unreadable, &t.Unreadable, key)
	t.leftNow(key)
	if p.odd.Add(1) <= mostKeysInReport {
		p.Logger.LogAttrs(ctx, slog.LevelWarn, "repair: row cannot be compared; key left out", slog.String("key", key),
			slog.String("problem", cmp.Or(orZero(source).Problem, orZero(index).Problem)))
	}
}

// counter returns the counter of a kind.
func (t *tally) counter(kind Kind) *int64 {
	switch kind {
	case Missing:
		return &t.Missing
	case Surplus:
		return &t.Surplus
	case Ahead:
		return &t.Ahead
	default:
		return &t.Different
	}
}

// pending reports which keys have unsettled writes.
func (p *pass) pending(ctx context.Context, keys []string) ([]bool, error) {
	pending := make([]bool, len(keys))
	add := func(who string, more []bool) error {
		if len(more) != len(keys) {
			return fmt.Errorf("%s has returned %d results for %d keys", who, len(more), len(keys))
		}
		for i := range more {
			pending[i] = pending[i] || more[i]
		}
		return nil
	}
	if p.to != nil {
		if err := add("Contains of the sender", p.to.Contains(keys...)); err != nil {
			return nil, err
		}
	}
	if p.Pending != nil {
		more, err := answer(ctx, p.guard, "Pending", func(ctx context.Context) ([]bool, error) { return p.Pending(ctx, keys) })
		if err != nil {
			return nil, fmt.Errorf("ask which keys are pending: %w", err)
		}
		if err := add("Pending", more); err != nil {
			return nil, err
		}
	}
	return pending, nil
}

// truth reads held keys from the source and returns the actions that bring the index to it.
func (p *pass) truth(ctx context.Context, t *task, part []difference, deletes bool) ([]models.RawAction, error) {
	keys := keysIn(part)
	rows, err := lookup(ctx, p.source, keys)
	if err != nil {
		return nil, fmt.Errorf("look up keys in the source: %w", err)
	}
	// Absent keys are read as well: a row that has come back since the lookup must not be deleted, nor one that a stale
	// lookup lacked.
	var read []string
	var gone []difference
	var actions []models.RawAction
	remove := func(d difference, row models.Row) {
		actions = append(actions, models.RawAction{Key: d.key, Type: models.ActionTypeDelete})
		t.wrote(difference{d.key, Surplus, row, d.index})
	}
	for _, d := range part {
		row := rows[d.key]
		there := row != nil && !row.Hidden
		switch {
		case orZero(row).Problem != "":
			p.unreadable(ctx, t, d.key, row, nil)
		case d.kind != Missing && !p.TrustSource && compareRows(row, &d.index) == Ahead:
			t.count(Ahead, &t.Ahead, d.key)
			t.leftNow(d.key)
		case there:
			read = append(read, d.key)
			t.wrote(difference{d.key, d.kind, *row, d.index})
		case deletes && row == nil:
			gone = append(gone, d)
		case deletes:
			remove(d, *row)
		case d.kind != Missing: // it is gone since it was confirmed
			t.surplusNow(d.key)
			t.count(Surplus, &t.Surplus, d.key)
		}
	}
	read = append(read, keysIn(gone)...)
	if len(read) == 0 {
		return actions, nil
	}
	documents, err := p.source.Read(ctx, read)
	if err == nil { // as in lookupInto
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("read documents of the source: %w", err)
	}
	for _, a := range documents {
		if !slices.Contains(read, a.Key) {
			return nil, fmt.Errorf("Read of the source got %d keys and returned another one, %q", len(read), a.Key)
		}
		if a.Type == models.ActionTypeDelete {
			return nil, fmt.Errorf("Read of the source returned a delete of %q: leave out documents that do not exist, or set Hidden in their rows, so that the guard counts them", a.Key)
		}
	}
	for _, d := range gone {
		if slices.ContainsFunc(documents, func(a models.RawAction) bool { return a.Key == d.key }) {
			t.wrote(difference{d.key, Different, models.Row{}, d.index})
		} else {
			remove(d, models.Row{})
		}
	}
	t.unreadNow(read[:len(read)-len(gone)], documents)
	return append(actions, documents...), nil
}

// verify looks up written keys, and repairs them again until both sides agree, at most verifyTimes.
func (p *pass) verify(ctx context.Context, t *task, deletes bool) error {
	first := 0
	for try := 1; ; try++ {
		wrote := t.takeWritten()
		if len(wrote) == 0 || p.Mark != nil {
			return nil
		}
		if err := sleep.For(ctx, time.Until(t.at.Add(p.pause()))); err != nil { // the time since the last repair counts
			return err
		}
		var again []difference
		for part := range slices.Chunk(wrote, pageFound) {
			keys := keysIn(part)
			pending, err := p.pending(ctx, keys)
			if err != nil {
				return err
			}
			source, index, err := p.look(ctx, keys)
			if err != nil {
				return err
			}
			for i, d := range part {
				s, x := source[d.key], index[d.key]
				kind := compareRows(s, x)
				if kind == "" || kind == Ahead || kind == Unreadable || pending[i] || t.isRejected(d.key) {
					continue
				}
				again = append(again, difference{d.key, kind, orZero(s), orZero(x)})
			}
		}
		if try == 1 {
			first = len(wrote)
		}
		if try == verifyTimes && len(again) == first && first >= keysAtOnce {
			if key, never := t.neverRead(again); never {
				return fmt.Errorf("%w: Lookup of the source finds %d keys, %q for example, but its Read, or Load, returns no document for them", ErrNothingSettles, first, key)
			}
			return fmt.Errorf("%w: %d documents were written %d times. Both sides must have the same versions, digests and filter, and Pause must be longer than the index takes to show a write", ErrNothingSettles, first, verifyTimes)
		}
		if try == verifyTimes {
			if key, never := t.neverRead(again); never {
				p.Logger.LogAttrs(ctx, slog.LevelWarn, "repair: Lookup finds keys that Read or Load lacks", slog.Int("keys", len(again)), slog.String("key", key))
			}
			for _, d := range again {
				t.count(Unsettled, &t.Unsettled, d.key)
				t.unsettled = append(t.unsettled, d.key)
			}
			return nil
		}
		if err := p.repair(ctx, t, again, deletes); err != nil {
			return err
		}
	}
}
