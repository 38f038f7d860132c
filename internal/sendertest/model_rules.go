package sendertest

import (
	"cmp"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// rules are the limits that a request must keep.
type rules struct {
	bufferedsender.Limits
	paused   bool
	disabled bool // the breaker
	since    time.Time
	hook     bool // changed by a hook, so in force at once
}

// cut is a request whose actions have been chosen.
type cut struct {
	rules          []rules // it must keep one of these
	actions, bytes int     // set when it reaches the service
}

// change changes the rules of later requests. how runs with mu held, so that changes are recorded in the order in which
// they were made.
func (s *schedule) change(hook bool, how func(*rules)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rules[len(s.rules)-1]
	how(&r)
	r.since, r.hook = time.Now(), hook
	s.rules = append(s.rules, r)
}

func (s *schedule) pause(hook bool) {
	s.change(hook, func(r *rules) { s.sender.Pause(); r.paused = true })
}

func (s *schedule) resume() {
	s.change(false, func(r *rules) { s.sender.Resume(); r.paused = false })
}

func (s *schedule) setLimits(hook bool, l bufferedsender.Limits) {
	s.change(hook, func(r *rules) {
		least := cmp.Or(l.MinBatchActions, r.MinBatchActions)
		if l.MinBatchActions == 0 && l.MaxBatchActions > 0 && r.MinBatchActions == r.MaxBatchActions {
			least = l.MaxBatchActions
		}
		old, err := s.sender.SetControl(bufferedsender.Control{Limits: l})
		refused := least > cmp.Or(l.MaxBatchActions, r.MaxBatchActions)
		if (err != nil) != refused || old.Limits != r.Limits {
			s.errorf("SetControl(%+v) returns %+v, %v; they were %+v", l, old.Limits, err, r.Limits)
		}
		if refused {
			return
		}
		r.MinBatchActions = least
		set := func(limit *int, value int) {
			if value != 0 {
				*limit = value
			}
		}
		set(&r.MaxBatchActions, l.MaxBatchActions)
		set(&r.MaxBatchBytes, l.MaxBatchBytes)
		set(&r.MaxInFlight, l.MaxInFlight)
		set(&r.MaxBufferedActions, l.MaxBufferedActions)
		if l.MaxBufferedBytes != 0 {
			r.MaxBufferedBytes = l.MaxBufferedBytes
		}
		if now := s.sender.Control().Limits; now != r.Limits {
			s.errorf("Control returns %+v; they are %+v", now, r.Limits)
		}
		s.largest = bufferedsender.Limits{
			MaxBatchActions:    max(s.largest.MaxBatchActions, r.MaxBatchActions),
			MaxBatchBytes:      max(s.largest.MaxBatchBytes, r.MaxBatchBytes),
			MaxInFlight:        max(s.largest.MaxInFlight, r.MaxInFlight),
			MaxBufferedActions: max(s.largest.MaxBufferedActions, r.MaxBufferedActions),
			MaxBufferedBytes:   max(s.largest.MaxBufferedBytes, r.MaxBufferedBytes),
		}
	})
}

// cutNow records a request that the sender has just made. It may follow the previous rules and those set by other
// callers at this very moment, but no older ones. The caller has mu.
func (s *schedule) cutNow(id, key string) {
	from := len(s.rules) - 1
	for from > 0 && !s.rules[from].hook && !s.rules[from].since.Before(time.Now()) {
		from--
	}
	c := &cut{}
	out := len(s.observed.cuts) - s.observed.batches + 1
	s.observed.atOnce = max(s.observed.atOnce, out)
	// The sender checks pause and breaker one after the other, and again before the request leaves.
	going, enabled := false, false
	for _, r := range s.rules[from:] {
		going, enabled = going || !r.paused, enabled || !r.disabled
	}
	for _, r := range s.rules[from:] {
		if going && enabled && out <= r.MaxInFlight {
			c.rules = append(c.rules, r)
		}
	}
	if len(c.rules) == 0 {
		s.errorf("a request leaves as number %d under way; the rules are %+v", out, s.rules[from:])
	}
	s.observed.cuts[id], s.observed.cutOf[key] = c, c
}

// arrives checks the size of a request. The caller has mu.
func (s *schedule) arrives(key string, actions, bytes int) {
	c := s.observed.cutOf[key]
	if c == nil {
		s.errorf("no ActionSent event announced a request that begins with key %s", key)
		return
	}
	c.actions, c.bytes = actions, bytes
	for _, r := range c.rules {
		// An action accepted under wider limits is sent alone.
		if actions <= r.MaxBatchActions && (bytes <= r.MaxBatchBytes || actions == 1) {
			return
		}
	}
	s.errorf("a request has %d actions and %d bytes; the rules were %+v", actions, bytes, c.rules)
}
