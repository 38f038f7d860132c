package bufferedsender_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

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
		switch r.ended[0] {
		case "completed":
			completed++
		case "failed":
			failed++
		case "unsent":
			unsent++
		}
	}
	if int64(accepted) != stats.Accepted || int64(completed) != stats.Completed || int64(failed) != stats.Failed || int64(unsent) != stats.Unsent {
		s.errorf("%d accepted, %d completed, %d failed, %d unsent; Stats says %+v", accepted, completed, failed, unsent, stats)
	}
	if stats.PendingActions != 0 || stats.PendingBytes != 0 || stats.InFlight != 0 || stats.BlockedAdders != 0 {
		s.errorf("after Close: %+v", stats)
	}
	var closed *bufferedsender.CloseError
	if errors.As(s.closeErr, &closed) {
		if closed.CallbackStuck || closed.Unsent+closed.Unknown != unsent {
			s.errorf("Close says %v; %d actions are unsent", closed, unsent)
		}
		s.reported += closed.Failed
	} else if unsent > 0 {
		s.errorf("Close returned %v; %d actions are unsent", s.closeErr, unsent)
	}
	if s.reported-s.unsentSeen != failed {
		s.errorf("Flush and Close reported %d failures (and %d unsent) of %d; Close: %v", s.reported-s.unsentSeen, s.unsentSeen, failed, s.closeErr)
	}
	for key, rs := range byKey {
		var ids []int
		for _, r := range rs {
			ids = append(ids, r.id)
		}
		if !slices.Equal(ids, s.settleOrder[key]) {
			s.errorf("actions of key %s were accepted as %v and settled as %v", key, ids, s.settleOrder[key])
		}
	}
	s.checkState(byKey)
}

// docState is what the index may hold for a key: nil for nothing.
type docState struct {
	exists bool
	a      string // "null" if it is
	b      string
}

// checkState computes the states that the outcomes allow and finds the actual
// one among them.
func (s *schedule) checkState(byKey map[string][]*record) {
	actual := s.server.Documents("model")
	for key, rs := range byKey {
		states := map[docState]bool{{}: true}
		for _, r := range rs {
			next := map[docState]bool{}
			for st := range states {
				action := r.action
				if s.options.OnMergeMissing == bufferedsender.MergeMissingUpload && action.Type == models.ActionMerge {
					action.Type = models.ActionMergeOrUpload
				}
				applied, possible := st.apply(action)
				switch ignored := s.options.OnMergeMissing == bufferedsender.MergeMissingIgnore; {
				case r.ended[0] != "completed", r.unknown, r.dropped:
					next[st] = true
				case !possible && (ignored || r.folded), // folded with what replaces it
					ignored && action.Type == models.ActionMerge: // answered with a 404 of the fault script
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
			must(json.Unmarshal(raw, &doc))
			got = docState{true, string(doc["a"]), string(doc["b"])}
		}
		if !states[got] {
			s.errorf("key %s is %+v; its outcomes allow only %v", key, got, states)
		}
		delete(actual, key)
	}
	for key := range actual {
		if !slices.ContainsFunc(s.records, func(r *record) bool { return r.key == key && r.accepted }) {
			s.errorf("the index has %s, which nobody added", key)
		}
	}
}

func (st docState) apply(a models.IndexDocumentsAction[modelDoc]) (next docState, possible bool) {
	switch a.Type {
	case models.ActionDelete:
		return docState{}, true
	case models.ActionUpload:
		st = docState{true, "null", "null"}
	case models.ActionMerge:
		if !st.exists {
			return st, false
		}
	case models.ActionMergeOrUpload:
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
