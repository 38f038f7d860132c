package sendertest

import (
	"context"
	"strings"
	"sync"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
)

// DeadLetters is a deadletter.Sink that keeps its dead letters. Writes of the zero value always succeed.
type DeadLetters struct {
	// Ledger records each Write as `letters` and the keys, in order with what the sender reports. May be nil.
	Ledger *Ledger
	// Fail returns the error of a Write, which then keeps nothing. Defaults to success. After New set it by FailWith.
	Fail func() error

	mu      sync.Mutex
	writes  int
	letters []deadletter.Letter
}

// Write implements deadletter.Sink.
func (s *DeadLetters) Write(_ context.Context, letters []deadletter.Letter) error {
	var keys []string
	for _, l := range letters {
		keys = append(keys, l.Key)
	}
	if s.Ledger != nil {
		s.Ledger.Note("letters %s", strings.Join(keys, " "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.Fail != nil {
		return s.Fail()
	}
	s.letters = append(s.letters, letters...)
	return nil
}

// FailWith sets the result of later Writes; nil means success.
func (s *DeadLetters) FailWith(f func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Fail = f
}

// Writes returns the number of Write calls.
func (s *DeadLetters) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// All returns the dead letters kept, in order.
func (s *DeadLetters) All() []deadletter.Letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]deadletter.Letter(nil), s.letters...)
}
