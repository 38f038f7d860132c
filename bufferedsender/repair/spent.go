package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/internal/bound"
	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
)

// spent records the deletes and overwrites of an index that no AllowDeletes asked for, and the index's size. The bound
// applies to 24 hours and not to each pass: otherwise four passes of 4 % would delete 15 % of the documents.
type spent struct {
	// Format is 1.
	Format int `json:"format"`
	// Spent has at most one entry per hour.
	Spent []spending `json:"spent,omitempty"`
	// Ranges has the number of rows of each range at its last comparison, also of ranges of other processes.
	Ranges map[string]int64 `json:"ranges,omitempty"`

	also *spent // counts, too, but is kept elsewhere; nil: nothing
	copy *spent // gets what is added; nil: no copy
}

type spending struct {
	At          time.Time `json:"at"`
	Deleted     int64     `json:"deleted,omitempty"`
	Overwritten int64     `json:"overwritten,omitempty"`
}

// lately returns the sums of the last 24 hours, and drops older entries.
func (s *spent) lately(now time.Time) (deleted, overwritten int64) {
	deleted, overwritten = s.own(now)
	if s.also != nil {
		d, o := s.also.own(now)
		deleted, overwritten = deleted+d, overwritten+o
	}
	return deleted, overwritten
}

// own is lately without also.
func (s *spent) own(now time.Time) (deleted, overwritten int64) {
	// A wrong clock may have set times in the future.
	s.Spent = slices.DeleteFunc(s.Spent, func(e spending) bool { return now.Sub(e.At).Abs() >= bound.Within })
	for _, e := range s.Spent {
		deleted, overwritten = deleted+e.Deleted, overwritten+e.Overwritten
	}
	return deleted, overwritten
}

func (s *spent) add(now time.Time, deletes, overwrites int64) {
	if s.copy != nil {
		s.copy.add(now, deletes, overwrites)
	}
	if n := len(s.Spent); n > 0 && now.Sub(s.Spent[n-1].At).Abs() < time.Hour {
		e := &s.Spent[n-1]
		e.Deleted, e.Overwritten = e.Deleted+deletes, e.Overwritten+overwrites
		return
	}
	s.Spent = append(s.Spent, spending{now, deletes, overwrites})
}

// back takes back what was counted at a time, unless that was dropped. The entry that has it is corrected: a negative
// entry of now would outlive that one, and raise the bound.
func (s *spent) back(at time.Time, deletes, overwrites int64) {
	if s.copy != nil {
		s.copy.back(at, deletes, overwrites)
	}
	for i := range slices.Backward(s.Spent) {
		if e := &s.Spent[i]; !e.At.After(at) {
			e.Deleted, e.Overwritten = max(0, e.Deleted-deletes), max(0, e.Overwritten-overwrites)
			return
		}
	}
}

// take counts changes, or refuses them if they exceed the bound. rows is the number of documents of the index, -1 if it
// was not counted; then the bound is fixed.
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

// inMemory is the records of an index in this process: alone has passes without a Store and DeleteWhere, stored a copy
// of what passes with a Store have counted here. Each of the two kinds counts the other one, too.
type inMemory struct {
	alone, stored spent
	used          time.Time
}

var processSpent = struct {
	sync.Mutex
	of map[any]*inMemory
}{of: make(map[any]*inMemory)}

// inProcess calls change with the record of an index in this process, for passes without a Store and for DeleteWhere.
func inProcess(index Index, change func(*spent)) {
	withMemory(index, func(m *inMemory) {
		m.alone.also = &m.stored
		change(&m.alone)
	})
}

// withMemory calls do with the records of an index in this process. A lock is held meanwhile.
func withMemory(index Index, do func(*inMemory)) {
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
		do(&inMemory{}) // the index has no identity to keep a record by
		return
	}
	processSpent.Lock()
	defer processSpent.Unlock()
	m := processSpent.of[key]
	if m == nil { // those of indexes that are gone would stay for ever
		maps.DeleteFunc(processSpent.of, func(_ any, old *inMemory) bool { return time.Since(old.used).Abs() >= bound.Within })
		m = &inMemory{}
		processSpent.of[key] = m
	}
	m.used = time.Now()
	do(m)
}

// lockedFor is the wait for the record that is logged.
const lockedFor = 10 * time.Second

// withSpent calls change with the record of the index, and saves the record if change returns true.
func (p *pass) withSpent(ctx context.Context, change func(*spent) bool) (err error) {
	if p.Store == (memory{}) {
		inProcess(p.index, func(s *spent) { _ = change(s) }) // the record is changed in place
		return nil
	}
	name := p.what + " guard"
	if !p.DryRun {
		unlock, ok, err := p.Store.Lock(ctx, name)
		warn := time.Now().Add(lockedFor)
		for err == nil && !ok { // another process has the record for a moment
			if now := time.Now(); now.After(warn) {
				warn = now.Add(time.Hour)
				p.Logger.LogAttrs(ctx, slog.LevelWarn, "repair: another process keeps the guard's lock; waiting", slog.String("lock", name))
			}
			if err = sleep.For(ctx, 100*time.Millisecond); err == nil {
				unlock, ok, err = p.Store.Lock(ctx, name)
			}
		}
		if err != nil {
			return fmt.Errorf("count deletes and overwrites: %w", err)
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	s := &spent{Format: 1}
	text, err := p.Store.Load(ctx, name)
	if err != nil {
		return fmt.Errorf("count deletes and overwrites: %w", err)
	}
	if text != nil {
		if err := json.Unmarshal(text, s); err != nil || s.Format != 1 {
			return fmt.Errorf("the state of the guard is damaged or has another format (%d); delete it: %w", s.Format, err)
		}
	}
	changed := false
	withMemory(p.index, func(m *inMemory) {
		s.also, s.copy = &m.alone, &m.stored
		changed = change(s)
	})
	if !changed || p.DryRun {
		return nil
	}
	if text, err = json.Marshal(s); err != nil {
		return err
	}
	return p.Store.Save(ctx, name, text)
}
