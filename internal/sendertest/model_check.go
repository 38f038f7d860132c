package sendertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// check compares all records at the end of a run.
func (s *schedule) check() {
	stats := s.sender.Stats()
	var accepted, completed, failed, unsent int
	byKey := map[string][]*record{}
	for _, r := range s.records {
		if !r.accepted {
			if len(r.ended) > 0 {
				s.errorf("action %d of key %s was refused and still %v", r.id, r.key, r.ended)
			}
			continue
		}
		accepted++
		byKey[r.key] = append(byKey[r.key], r)
		if len(r.ended) != 1 {
			s.errorf("action %d of key %s ended %d times: %v", r.id, r.key, len(r.ended), r.ended)
			continue
		}
		if r.action.OnOutcome != nil && r.called != 1 {
			s.errorf("action %d of key %s had %d calls of OnOutcome", r.id, r.key, r.called)
		}
		if r.withdrawn && r.sent > r.banned {
			s.errorf("action %d of key %s was sent after it was withdrawn", r.id, r.key)
		}
		if r.givenUp && r.certain && (r.ended[0] == "completed" || r.unknown) {
			s.errorf("action %d of key %s: reported to its waiter as not applied; %v, unknown %t", r.id, r.key, r.ended, r.unknown)
		}
		if r.takenBack && !r.givenUp && r.action.Tag != nil && !takesBack(r.key) {
			s.errorf("action %d of key %s was withdrawn without a call of Withdraw", r.id, r.key)
		}
		switch r.ended[0] {
		case "completed":
			completed++
		case "failed":
			failed++
			if r.waited || r.takenBack {
				s.reported++ // reported to its waiter, or to the caller of Withdraw
			}
		case "unsent":
			unsent++
		}
	}
	if int64(accepted) != stats.Accepted || int64(completed) != stats.Completed || int64(failed) != stats.Failed || int64(unsent) != stats.Unsent {
		s.errorf("%d accepted, %d completed, %d failed, %d unsent; Stats says %+v", accepted, completed, failed, unsent, stats)
	}
	if stats.PendingActions != 0 || stats.PendingBytes != 0 || stats.InFlight != 0 || stats.BlockedProducers != 0 {
		s.errorf("after Close: %+v", stats)
	}
	var closed *bufferedsender.CloseError
	if errors.As(s.closeErr, &closed) {
		if closed.CallbackStuck || closed.Unsent+closed.Unknown != unsent || closed.Unknown != s.observed.unknown {
			s.errorf("Close says %v; %d actions are unsent, %d of them may have been applied", closed, unsent, s.observed.unknown)
		}
		s.reported += closed.Failed
	} else if unsent > 0 {
		s.errorf("Close returned %v; %d actions are unsent", s.closeErr, unsent)
	}
	if (closed != nil && closed.Handlers != nil) != s.observed.closedErr {
		s.errorf("Close returned %v; that the Closed handler failed is %t", s.closeErr, s.observed.closedErr)
	}
	if s.reported-s.unsentSeen < failed {
		s.errorf("Flush and Close reported %d failures (and %d unsent) of %d; Close: %v", s.reported-s.unsentSeen, s.unsentSeen, failed, s.closeErr)
	}
	for key, rs := range byKey {
		if !slices.Equal(rs, s.settleOrder[key]) {
			s.errorf("actions of key %s were accepted as %v and settled as %v", key, idsOf(rs), idsOf(s.settleOrder[key]))
		}
	}
	s.checkObserved(&stats)
	s.checkBreaker()
	s.checkState(byKey)
}

func idsOf(rs []*record) (ids []int) {
	for _, r := range rs {
		ids = append(ids, r.id)
	}
	return ids
}

// checkObserved compares the calls of the hooks with each other and with Stats.
func (s *schedule) checkObserved(stats *bufferedsender.Stats) {
	t := &s.observed
	if t.health != events.HealthStateClosed || !t.closed {
		s.errorf("at the end health is %v, and that Closed was called is %t", t.health, t.closed)
	}
	if int64(t.batches-t.notSent) != stats.Requests || len(t.cuts) != t.batches {
		s.errorf("%d requests were cut, %d answered, %d not sent; Stats says %+v", len(t.cuts), t.batches, t.notSent, stats)
	}
	if int64(t.panics) != stats.CallbackPanics {
		s.errorf("%d hooks panicked; Stats says %+v", t.panics, stats)
	}
	if int64(t.taken) != stats.DeadLetters || int64(t.notTaken) != stats.DeadLetterErrors {
		s.errorf("%d dead letters were taken, %d were not; Stats says %+v", t.taken, t.notTaken, stats)
	}
	for key, letters := range t.letters {
		if len(letters) > 0 {
			s.errorf("no event has followed the dead letters of key %s: %+v", key, letters)
		}
	}
	purged := int64(0)
	for key, n := range t.purged {
		purged += int64(n)
		if got := t.purgedKeys[key]; got != n {
			s.errorf("%d actions of key %s were purged; OnPurged got it %d times", n, key, got)
		}
	}
	if purged != stats.Purged {
		s.errorf("%d actions were purged; Stats says %+v", purged, stats)
	}
}

// checkBreaker checks that the unused breaker allows a request after its open time.
func (s *schedule) checkBreaker() {
	b := s.sender.Breaker()
	if b == nil {
		return
	}
	time.Sleep(20 * time.Minute)
	pass, err := b.Allow()
	if err != nil {
		s.errorf("the breaker is stuck: %v; %+v", err, b.Status())
		return
	}
	pass.Done(breaker.Result{})
}

// docState is the possible content of the index for a key.
type docState struct {
	exists bool
	a      string // "null" if it is null
	b      string
}

// checkState computes the states that the outcomes allow, and checks that the actual one is among them.
func (s *schedule) checkState(byKey map[string][]*record) {
	actual := s.server.Documents("model")
	for key, rs := range byKey {
		states := map[docState]bool{{}: true}
		for _, r := range rs {
			next := map[docState]bool{}
			for st := range states {
				action := r.action
				if s.options.OnMergeMissing == bufferedsender.MergeMissingUpload && action.Type == models.ActionTypeMerge {
					action.Type = models.ActionTypeMergeOrUpload
				}
				applied, possible := st.apply(action)
				switch ignored := s.options.OnMergeMissing == bufferedsender.MergeMissingIgnore; {
				case r.ended[0] != "completed", r.unknown, r.dropped:
					next[st] = true
				case !possible && (ignored || r.folded), // folded with the action that replaces it
					ignored && action.Type == models.ActionTypeMerge: // answered with a 404 of the fault script
					next[st] = true
				}
				if r.dropped {
					continue
				}
				if (r.ended[0] == "completed" || r.unknown) && possible {
					next[applied] = true
				}
			}
			states = next
		}
		var got docState
		if raw, ok := actual[key]; ok {
			var doc map[string]json.RawMessage
			orPanic(json.Unmarshal(raw, &doc))
			got = docState{true, string(doc["a"]), string(doc["b"])}
		}
		if !states[got] {
			s.errorf("key %s is %+v; its outcomes allow only %v", key, got, states)
		}
		delete(actual, key)
	}
	for key := range actual {
		if s.shared && strings.HasPrefix(key, otherPrefix) {
			continue
		}
		if !slices.ContainsFunc(s.records, func(r *record) bool { return r.key == key && r.accepted }) {
			s.errorf("the index has %s, which was never added", key)
		}
	}
}

func (st docState) apply(a models.IndexDocumentsAction[modelDoc]) (next docState, possible bool) {
	switch a.Type {
	case models.ActionTypeDelete:
		return docState{}, true
	case models.ActionTypeUpload:
		st = docState{true, "null", "null"}
	case models.ActionTypeMerge:
		if !st.exists {
			return st, false
		}
	case models.ActionTypeMergeOrUpload:
		if !st.exists {
			st = docState{true, "null", "null"}
		}
	}
	if a.Document.A != nil {
		st.a = fmt.Sprintf("%q", *a.Document.A)
	}
	if a.Document.B != nil {
		st.b = fmt.Sprint(*a.Document.B)
	}
	return st, true
}
