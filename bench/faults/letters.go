package faults

import (
	"context"
	"sync"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
)

// This is a deadletter.Sink that counts dead letters by key.
type letters struct {
	mu    sync.Mutex // guards byKey
	byKey map[string]int
}

func (l *letters) Write(_ context.Context, written []deadletter.Letter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range written {
		l.byKey[written[i].Key]++
	}
	return nil
}

// This compares the sink with the outcomes: each failed or unsent action is one dead letter.
func (c *checker) letters(l *letters) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	due := map[string]int{}
	for i := range c.plan.actions {
		if a := &c.ledger.accounts[i]; a.outcome == failed || a.outcome == unsent {
			due[c.plan.key(c.plan.actions[i].key)]++
		}
	}
	for key, n := range due {
		if l.byKey[key] != n {
			c.wrong("document %s has %d dead letters; %d of its actions were given up", key, l.byKey[key], n)
		}
	}
	for key, n := range l.byKey {
		if due[key] == 0 {
			c.wrong("document %s has %d dead letters; none of its actions was given up", key, n)
		}
	}
}
