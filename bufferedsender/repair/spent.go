package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/bound"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

// spent is what was deleted and overwritten of an index without being asked for, and how large the index is. The bound
// is on all that happens in 24 hours: four passes that delete 4 % each would have deleted 145 of 1000.
type spent struct {
	// Format is 1.
	Format int `json:"format"`
	// Spent has an entry for each hour, at most.
	Spent []spending `json:"spent,omitempty"`
	// Ranges has the rows of each range when it was compared last: others may have it.
	Ranges map[string]int64 `json:"ranges,omitempty"`
}

type spending struct {
	At          time.Time `json:"at"`
	Deleted     int64     `json:"deleted,omitempty"`
	Overwritten int64     `json:"overwritten,omitempty"`
}

// lately returns how much of that is not too long ago.
func (s *spent) lately(now time.Time) (deleted, overwritten int64) {
	for len(s.Spent) > 0 && now.Sub(s.Spent[0].At) >= bound.Within {
		s.Spent = s.Spent[1:]
	}
	for _, e := range s.Spent {
		deleted, overwritten = deleted+e.Deleted, overwritten+e.Overwritten
	}
	return deleted, overwritten
}

func (s *spent) add(now time.Time, deletes, overwrites int64) {
	if n := len(s.Spent); n > 0 && now.Sub(s.Spent[n-1].At) < time.Hour {
		e := &s.Spent[n-1]
		e.Deleted, e.Overwritten = e.Deleted+deletes, e.Overwritten+overwrites
		return
	}
	s.Spent = append(s.Spent, spending{now, deletes, overwrites})
}

// take refuses what is over the bound, and counts what is not. rows is how many documents were counted, -1 for an
// index that was not: then no share of it is known.
func (s *spent) take(now time.Time, deletes, overwrites, rows int64, share float64) error {
	deleted, overwritten := s.lately(now)
	most := int64(bound.Keys)
	if rows >= 0 {
		rows += deleted
		most = bound.Most(rows, share)
	}
	tooMany := deletes > 0 && deletes+deleted > most || overwrites > 0 && overwrites+overwritten > most
	if tooMany && share < 1 {
		return &DeletesError{Surplus: deletes, Different: overwrites, Deleted: deleted, Overwritten: overwritten, Most: most, IndexRows: max(rows, 0)}
	}
	s.add(now, deletes, overwrites)
	return nil
}

// processSpent is that of the indexes of this process, for passes without a Store and for DeleteWhere.
var processSpent = struct {
	sync.Mutex
	of map[any]*spent
}{of: make(map[any]*spent)}

// inProcess calls change with what was spent of an index.
func inProcess(index Index, change func(*spent)) {
	if g, guarded := index.(guardedIndex); guarded {
		index = g.Index
	}
	var key any
	named, can := index.(models.IndexNamer)
	at, also := index.(models.EndpointNamer)
	switch {
	case can && also && named.IndexName() != "":
		key = [2]string{at.Endpoint(), named.IndexName()}
	case reflect.ValueOf(index).Comparable():
		key = index
	default:
		change(&spent{}) // it cannot be told from others
		return
	}
	processSpent.Lock()
	defer processSpent.Unlock()
	s := processSpent.of[key]
	if s == nil {
		s = &spent{Format: 1}
		processSpent.of[key] = s
	}
	change(s)
}

// withSpent calls change with what was spent of the index, and keeps what it has changed if it returns true.
func (p *pass) withSpent(ctx context.Context, change func(*spent) bool) (err error) {
	if p.Store == (memory{}) {
		inProcess(p.index, func(s *spent) { _ = change(s) }) // it is kept where it is
		return nil
	}
	name := p.what + " guard"
	if !p.DryRun {
		unlock, ok, err := p.Store.Lock(ctx, name)
		for err == nil && !ok { // another process counts, which takes a moment
			if err = sleep.For(ctx, 100*time.Millisecond); err == nil {
				unlock, ok, err = p.Store.Lock(ctx, name)
			}
		}
		if err != nil {
			return fmt.Errorf("count what is deleted: %w", err)
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	s := &spent{Format: 1}
	text, err := p.Store.Load(ctx, name)
	if err != nil {
		return fmt.Errorf("count what is deleted: %w", err)
	}
	if text != nil {
		if err := json.Unmarshal(text, s); err != nil || s.Format != 1 {
			return fmt.Errorf("the state of the guard is damaged, or of another version (format %d): remove it: %w", s.Format, err)
		}
	}
	if !change(s) || p.DryRun {
		return nil
	}
	if text, err = json.Marshal(s); err != nil {
		return err
	}
	return p.Store.Save(ctx, name, text)
}
