package sendertest

import (
	"errors"
	"slices"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// ModelHolds returns the names of the features that a program of the model may have. Count them over many programs: a
// feature without a program is not tested.
func ModelHolds() []string {
	var names []string
	for _, h := range holds {
		names = append(names, h.name)
	}
	return names
}

// holds has for each feature a function that detects it at the end of a program.
var holds = []struct {
	name string
	in   func(s *schedule, stats *bufferedsender.Stats) bool
}{
	{"batch of several actions", func(s *schedule, _ *bufferedsender.Stats) bool { return s.observed.largest > 1 }},
	{"several requests at once", func(s *schedule, _ *bufferedsender.Stats) bool { return s.observed.atOnce > 1 }},
	{"several classes of service", func(s *schedule, _ *bufferedsender.Stats) bool {
		return slices.ContainsFunc(s.records, func(r *record) bool {
			return r.sent > 0 && slices.ContainsFunc(s.records, func(o *record) bool { return o.sent > 0 && o.class != r.class })
		})
	}},
	{"retry", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.Retries > 0 }},
	{"split", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.Splits > 0 }},
	{"throttled document", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.Throttled > 0 }},
	{"pause", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.Pauses > 0 }},
	{"open breaker", func(s *schedule, _ *bufferedsender.Stats) bool { return s.opened() > 0 }},
	{"two senders at an open breaker", func(s *schedule, _ *bufferedsender.Stats) bool { return s.shared && s.opened() > 0 }},
	{"open breaker of the service", func(s *schedule, _ *bufferedsender.Stats) bool {
		return s.whole != nil && s.whole.Status().Counts.Opened > 0
	}},
	{"request taken back", func(s *schedule, _ *bufferedsender.Stats) bool { return s.observed.notSent > 0 }},
	{"group held apart", func(s *schedule, _ *bufferedsender.Stats) bool { return s.observed.apart }},
	{"failed action", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.Failed > 0 }},
	{"purge", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.Purged > 0 }},
	{"hold of keys", func(s *schedule, _ *bufferedsender.Stats) bool { return s.observed.holds > 0 }},
	{"withdrawal", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.Withdrawn > 0 }},
	{"fold", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.Folded > 0 }},
	{"superseded version", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.Superseded > 0 }},
	{"Close that gave up", func(s *schedule, _ *bufferedsender.Stats) bool { return s.closeError().Unsent > 0 }},
	{"Close of unknown outcomes", func(s *schedule, _ *bufferedsender.Stats) bool { return s.closeError().Unknown > 0 }},
	{"dead letter", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.DeadLetters > 0 }},
	{"dead letter that was not taken", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.DeadLetterErrors > 0 }},
	{"panic of a hook", func(_ *schedule, stats *bufferedsender.Stats) bool { return stats.CallbackPanics > 0 }},
}

// held returns the features that the program had.
func (s *schedule) held() (names []string) {
	stats := s.sender.Stats()
	for _, h := range holds {
		if h.in(s, &stats) {
			names = append(names, h.name)
		}
	}
	return names
}

// opened returns how often the breaker has opened.
func (s *schedule) opened() uint64 {
	b := s.sender.Breaker()
	if b == nil {
		return 0
	}
	return b.Status().Counts.Opened
}

// closeError returns the CloseError of Close, a zero one without it.
func (s *schedule) closeError() bufferedsender.CloseError {
	var closed *bufferedsender.CloseError
	if !errors.As(s.closeErr, &closed) {
		return bufferedsender.CloseError{}
	}
	return *closed
}
