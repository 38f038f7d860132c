package fleet

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// looks is the interval of checks for lacking room while a breaker is open.
const looks = time.Second

// Purge gives up waiting actions of the given indexes, or of all without arguments, and returns how many. It affects
// only indexes whose breaker, or that of the service, is not closed, see bufferedsender.BufferedSender.Purge. The
// keys go to Options.Hints. It returns an error that names an index without a sender, and then gives up nothing. It
// waits for a running callback until ctx ends: in a callback pass a context that ends.
func (f *Fleet) Purge(ctx context.Context, indexes ...string) (int, error) {
	chosen := f.sick()
	if len(indexes) > 0 {
		for _, index := range indexes {
			if e := f.find(index); e == nil || e.get() == nil {
				return 0, fmt.Errorf("fleet: purge: there is no sender of index %q", index)
			}
		}
		chosen = slices.DeleteFunc(chosen, func(e *entry) bool { return !slices.Contains(indexes, e.name) })
	}
	var wait sync.WaitGroup
	var n atomic.Int64
	for _, e := range chosen {
		wait.Go(func() { n.Add(int64(e.get().Purge(ctx, 0))) })
	}
	wait.Wait()
	return int(n.Load()), nil
}

// Returns the entries to which nothing is sent because their breaker or that of the service is not closed, by time of
// opening.
func (f *Fleet) sick() []*entry {
	down := int64(0)
	if f.down() {
		down = cmp.Or(f.downSince.Load(), math.MaxInt64) // disabled
	}
	type since struct {
		*entry
		opened int64
	}
	var sick []since
	for _, e := range f.all() {
		if opened := cmp.Or(e.opened.Load(), down); opened != 0 && e.get() != nil {
			sick = append(sick, since{e, opened})
		}
	}
	slices.SortStableFunc(sick, func(a, b since) int { return cmp.Compare(a.opened, b.opened) })
	entries := make([]*entry, len(sick))
	for i := range sick {
		entries[i] = sick[i].entry
	}
	return entries
}

// alsoRemember returns a function that calls own, which may be nil, and adds the keys to the hints.
func (f *Fleet) alsoRemember(index string, own func(context.Context, []string)) func(context.Context, []string) {
	return func(ctx context.Context, keys []string) {
		defer f.remember(index, keys) // also if own panics
		if own != nil {
			own(ctx, keys)
		}
	}
}

// remember adds the keys of purged actions to the hints.
func (f *Fleet) remember(index string, keys []string) {
	if err := f.options.Hints.Add(index, keys...); err != nil {
		f.options.Logger.LogAttrs(context.Background(), slog.LevelError, "azsearch: keys of purged documents not all remembered",
			slog.String("index", index), slog.Int("keys", len(keys)), slog.Any("error", err))
	}
}

// purgeSoon starts checking for lacking room, for as long as a breaker is open.
func (f *Fleet) purgeSoon() {
	if f.options.WhenFull != PurgeSick || f.purging.Swap(true) {
		return
	}
	go func() {
		ticker := time.NewTicker(looks)
		defer ticker.Stop()
		for waited := false; ; {
			select {
			case <-f.ended:
				return
			case <-ticker.C:
			}
			if f.idle() {
				f.purging.Store(false)
				if f.idle() || f.purging.Swap(true) {
					return // or another call has taken over
				}
			}
			lacks := f.pool.Stats().WaitingForRoom > 0
			if lacks && waited {
				f.purgeOne()
			}
			waited = lacks
		}
	}()
}

// idle reports whether there is nothing to check: no breaker is open, of the service neither.
func (f *Fleet) idle() bool { return !f.down() && f.held.Load() == 0 }

// purgeOne purges the index whose breaker opened first and that has waiting actions, a batch at a time, until no member
// of the pool waits for room. It gives up nothing that is more urgent than what waits, and skips an index whose running
// handler delays Purge.
func (f *Fleet) purgeOne() {
	batch := f.pool.Options().FloorActions
	for _, e := range f.sick() {
		left := e.get().Stats().PendingActions // not also what callers add meanwhile
		for purged := false; ; purged = true {
			s := f.pool.Stats()
			if s.WaitingForRoom == 0 || purged && left <= 0 {
				return
			}
			ctx, cancel := context.WithTimeout(models.WithClass(context.Background(), s.WaitingClass), looks)
			n := e.get().Purge(ctx, batch)
			cancel()
			left -= n
			if n == 0 && purged {
				return
			}
			if n == 0 {
				break
			}
		}
	}
}
