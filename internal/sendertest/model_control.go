package sendertest

import (
	"cmp"
	"context"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Policies of a full buffer while sending is suspended.
const (
	waits          = ""
	rejects        = "reject"
	purgesTheFirst = "purge the oldest"
	purgesAll      = "purge all"
)

var policies = []string{waits, rejects, purgesTheFirst, purgesAll}

func (s *schedule) whenFull(onPurged func(context.Context, []string)) bufferedsender.WhenFull {
	return whenFull(s.policy, onPurged)
}

func whenFull(policy string, onPurged func(context.Context, []string)) bufferedsender.WhenFull {
	switch policy {
	case rejects:
		return bufferedsender.Reject()
	case purgesTheFirst:
		return bufferedsender.PurgeOldest(onPurged)
	case purgesAll:
		return bufferedsender.PurgeAll(onPurged)
	}
	return bufferedsender.WhenFull{}
}

// modelControl are the run-time settings other than limits.
type modelControl struct {
	interval time.Duration // 0: unchanged
	policy   string
	breaker  breaker.Options
}

const asItIs = "as it is" // a policy that changes nothing

// setControl changes the interval, the policy and the breaker. If a setting does not apply to the sender, the call must
// fail and change nothing.
func (s *schedule) setControl(c modelControl) {
	if b := s.sender.Breaker(); b != nil {
		if _, err := b.SetOptions(c.breaker); err != nil {
			s.fail("SetOptions(%+v): %v", c.breaker, err)
		}
	}
	set := bufferedsender.Control{AutoFlushInterval: c.interval}
	if c.policy == waits {
		set.WhenFull = bufferedsender.WaitForRoom()
	} else if c.policy != asItIs {
		set.WhenFull = whenFull(c.policy, s.onPurged)
	}
	timer, policy := !s.options.DisableAutoFlush, !s.failSoon && !s.options.DisableAutoFlush
	refused := c.interval != 0 && !timer || c.policy != asItIs && !policy
	s.mu.Lock()
	defer s.mu.Unlock()
	said := func(c bufferedsender.Control) modelControl {
		now := modelControl{interval: c.AutoFlushInterval, policy: s.control.policy}
		if !timer {
			now.interval = s.control.interval // Control returns 0
		}
		if policy {
			now.policy = map[string]string{"wait": waits, "reject": rejects, "purge oldest": purgesTheFirst, "purge all": purgesAll}[c.WhenFull.String()]
		}
		return now
	}
	old, err := s.sender.SetControl(set)
	if (err != nil) != refused || said(old) != s.control {
		s.errorf("SetControl(%+v) returns %+v, %v; it was %+v", set, old, err, s.control)
	}
	if !refused {
		s.control.interval = cmp.Or(c.interval, s.control.interval)
		if c.policy != asItIs {
			s.control.policy = c.policy
		}
		s.rejects = s.rejects || c.policy == rejects
	}
	if now := s.sender.Control(); said(now) != s.control {
		s.errorf("Control returns %+v; it is %+v", now, s.control)
	}
}

// mayReject reports whether the policy may have refused a call.
func (s *schedule) mayReject() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rejects
}
