package sendertest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// Ending is a terminal event recorded by a [Ledger].
type Ending struct {
	Key, Kind                           string // Kind is "completed" or "failed"
	Type                                models.ActionType
	Tag                                 any // of the action
	Status, Attempts                    int // Status is 0 if the document was not answered
	Folded, Superseded, Unsent, Unknown bool
	Err                                 error
}

// Ledger records what a sender reports, in order. The zero value is ready to use.
type Ledger struct {
	mu     sync.Mutex
	ends   []Ending
	health []events.HealthChange
	purged []string
	order  []string // `sent k`, `completed k`, `failed k`, `letters k l`, `purged k l`, `health open`, `closed`
}

// Note adds a line.
func (l *Ledger) Note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order = append(l.order, fmt.Sprintf(format, args...))
}

// Handlers returns handlers for a sender of hotels that write to the ledger.
func (l *Ledger) Handlers() Handlers { return LedgerHandlers[Hotel](l) }

// LedgerHandlers returns handlers for a sender of any documents that write to a ledger: "sent", "completed" or "failed"
// with the key, "health" with the new state, "closed".
func LedgerHandlers[T any](l *Ledger) events.Handlers[T] {
	end := func(e Ending) {
		l.Note("%s %s", e.Kind, e.Key)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ends = append(l.ends, e)
	}
	return events.Handlers[T]{
		ActionSent: func(_ context.Context, e *events.ActionSent[T]) { l.Note("sent %s", e.Key) },
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[T]) {
			end(Ending{
				Key: e.Key, Kind: "completed", Type: e.Action.Type, Tag: e.Action.Tag, Status: e.Result.StatusCode, Attempts: e.Attempts,
				Folded: e.Folded, Superseded: e.Superseded,
			})
		},
		ActionFailed: func(_ context.Context, e *events.ActionFailed[T]) {
			failed := Ending{
				Key: e.Key, Kind: "failed", Type: e.Action.Type, Tag: e.Action.Tag, Attempts: e.Attempts,
				Folded: e.Folded, Superseded: e.Superseded, Unsent: e.Unsent, Unknown: e.Unknown, Err: e.Err,
			}
			if e.Result != nil {
				failed.Status = e.Result.StatusCode
			}
			end(failed)
		},
		HealthChanged: func(_ context.Context, h *events.HealthChange) {
			l.Note("health %s", h.To)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.health = append(l.health, *h)
		},
		Closed: func(context.Context) error { l.Note("closed"); return nil },
	}
}

// OnPurged is a function for Hold.OnPurged. It records "purged" with the keys.
func (l *Ledger) OnPurged(_ context.Context, keys []string) {
	l.Note("purged %s", strings.Join(keys, " "))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.purged = append(l.purged, keys...)
}

// Endings returns the terminal events so far, only those of key if that is not "".
func (l *Ledger) Endings(key string) (found []Ending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.ends {
		if key == "" || e.Key == key {
			found = append(found, e)
		}
	}
	return found
}

// Notes returns the lines so far that begin with one of the words, or all lines without words, in order.
func (l *Ledger) Notes(words ...string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.order {
		for _, word := range words {
			if strings.HasPrefix(line, word) {
				found = append(found, line)
			}
		}
		if len(words) == 0 {
			found = append(found, line)
		}
	}
	return found
}

// HealthStates returns the new states of all changes of health so far.
func (l *Ledger) HealthStates() (states []events.HealthState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.health {
		states = append(states, h.To)
	}
	return states
}

// HealthChanges returns the changes of health so far.
func (l *Ledger) HealthChanges() []events.HealthChange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]events.HealthChange(nil), l.health...)
}

// Purged returns all keys passed to OnPurged so far.
func (l *Ledger) Purged() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.purged...)
}

// Tags returns the tags of endings, in order.
func Tags(ends []Ending) (all []any) {
	for _, e := range ends {
		all = append(all, e.Tag)
	}
	return all
}

// Describe returns a text for each ending: tag, kind, and whether it was folded or superseded.
func Describe(ends []Ending) (all []string) {
	for _, e := range ends {
		text := fmt.Sprint(e.Tag, " ", e.Kind)
		if e.Folded {
			text += " folded"
		}
		if e.Superseded {
			text += " superseded"
		}
		all = append(all, text)
	}
	return all
}
