package faults

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// stories is the number of seeds that the tests try.
const stories = 300

// The counterpart of TestPlantedErrorsAreFound: a checker that reports everything would pass that test.
func TestAnHonestStoryIsNotWrong(t *testing.T) {
	var twice, unknown, failures, unsents int
	for seed := range uint64(stories) {
		c := newStory(seed).check()
		require.Empty(t, c.Errors, "seed %d", seed)
		require.Zero(t, c.Wrong)
		require.Zero(t, c.Lost)
		twice += c.AppliedTwice
		unknown += c.Unknown
		failures += c.Failed
		unsents += c.Unsent
	}
	assert.NotZero(t, twice)
	assert.NotZero(t, unknown)
	assert.NotZero(t, failures)
	assert.NotZero(t, unsents)
}

// planted are false reports and mistakes of a sender. Each changes an honest story, and returns false if the story
// has no suitable action.
var planted = map[string]struct {
	plant func(*story) bool
	says  string // part of one of the errors
}{
	"a completed document is missing": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool {
			key := s.plan.actions[rev-1].key
			return a.outcome == completed && s.testimony.Index[s.plan.key(key)].exists() && !s.unknown(key)
		})
		if ok {
			delete(s.testimony.Index, s.plan.key(s.plan.actions[rev-1].key))
		}
		return ok
	}, "the reported outcomes allow only"},
	"a deleted document is still there": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool {
			action := s.plan.actions[rev-1]
			return a.outcome == completed && action.typ == models.ActionTypeDelete && !s.testimony.Index[s.plan.key(action.key)].exists() && !s.unknown(action.key)
		})
		if ok {
			s.testimony.Index[s.plan.key(s.plan.actions[rev-1].key)] = state{Rev: rev, Title: rev, Rank: rev}
		}
		return ok
	}, "the reported outcomes allow only"},
	"a field has the content of another action": {func(s *story) bool {
		for key, st := range s.testimony.Index {
			st.Rank += 1 << 40 // no action has this number
			s.testimony.Index[key] = st
			return true
		}
		return false
	}, "the reported outcomes allow only"},
	"a field that a merge must keep is missing": {func(s *story) bool {
		for key, st := range s.testimony.Index {
			if st.Body != 0 {
				st.Body = 0
				s.testimony.Index[key] = st
				return true
			}
		}
		return false
	}, "the applied actions give"},
	"a document that no producer added": {func(s *story) bool {
		s.testimony.Index["x"] = state{Rev: 1}
		return true
	}, "the index has x, which no producer added"},
	"completed, and never applied": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool { return a.outcome == completed })
		if ok {
			for _, c := range s.arrivals(rev) {
				c.Status = 0
			}
		}
		return ok
	}, "is completed and was never applied"},
	"failed for certain, and applied": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool { return a.outcome == completed })
		if ok {
			a := &s.ledger.accounts[rev-1]
			a.outcome, a.status = failed, 503
		}
		return ok
	}, "is failed for certain and was applied"},
	"unsent for certain, and applied": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool { return a.outcome == completed })
		if ok {
			s.ledger.accounts[rev-1].outcome = unsent
		}
		return ok
	}, "is unsent for certain and was applied"},
	"failed with a status that the service never sent": {func(s *story) bool {
		rev, ok := s.find(func(_ int64, a *account) bool { return a.outcome == failed })
		if ok {
			s.ledger.accounts[rev-1].status = 418
		}
		return ok
	}, "failed with status 418, which the service never answered"},
	"two outcomes": {func(s *story) bool {
		rev, ok := s.find(func(_ int64, a *account) bool { return a.outcome == completed })
		if ok {
			key := s.plan.key(s.plan.actions[rev-1].key)
			s.ledger.actionFailed(context.Background(), &events.ActionFailed[document]{
				Action: s.plan.send(rev), Key: key, Err: &bufferedsender.ActionError{Key: key, Status: 503},
			})
		}
		return ok
	}, "ended 2 times"},
	"the same outcome twice": {func(s *story) bool {
		rev, ok := s.find(func(_ int64, a *account) bool { return a.outcome == completed })
		if ok {
			s.ledger.actionCompleted(context.Background(), &events.ActionCompleted[document]{Action: s.plan.send(rev), Key: s.plan.key(s.plan.actions[rev-1].key)})
		}
		return ok
	}, "ended 2 times"},
	"no outcome": {func(s *story) bool {
		rev, ok := s.find(func(_ int64, a *account) bool { return a.outcome == completed })
		if ok {
			s.ledger.accounts[rev-1].ended, s.ledger.accounts[rev-1].outcome = 0, open
		}
		return ok
	}, "was accepted and ended 0 times"},
	"an outcome of an action that was refused": {func(s *story) bool {
		rev, ok := s.find(func(_ int64, a *account) bool { return !a.accepted })
		if ok {
			s.ledger.actionCompleted(context.Background(), &events.ActionCompleted[document]{Action: s.plan.send(rev), Key: s.plan.key(s.plan.actions[rev-1].key)})
		}
		return ok
	}, "was not accepted and still completed"},
	"an action that was refused is sent": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool {
			return !a.accepted && s.plan.actions[rev-1].typ != models.ActionTypeDelete
		})
		if ok {
			a := s.plan.actions[rev-1]
			s.ledger.accounts[rev-1].sent++
			s.testimony.Requests = append(s.testimony.Requests, received{ID: "r", Carried: []carried{{Key: s.plan.key(a.key), Action: a.typ, Rev: rev, Sets: a.sets}}})
		}
		return ok
	}, "was sent although it was not accepted"},
	"an event for an action that no producer added": {func(s *story) bool {
		s.ledger.actionCompleted(context.Background(), &events.ActionCompleted[document]{Action: s.plan.send(1), Key: "other"})
		return true
	}, "which no producer added"},
	"a request without an event": {func(s *story) bool {
		rev, ok := s.find(func(_ int64, a *account) bool { return a.outcome == completed })
		if ok {
			s.ledger.accounts[rev-1].sent = 0
		}
		return ok
	}, "the sender reported 0"},
	"a delete that was never sent": {func(s *story) bool {
		s.testimony.Requests = append(s.testimony.Requests, received{ID: "r", Carried: []carried{{Key: s.plan.key(0), Action: models.ActionTypeDelete}}})
		return true
	}, "which the sender did not report"},
	"an action that is sent with another type": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool { return a.sent > 0 && len(s.arrivals(rev)) > 0 })
		if ok {
			s.arrivals(rev)[0].Action = "mergeOrUploads"
		}
		return ok
	}, "which the sender did not report"},
	"an action that is sent without one of its fields": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool { return s.plan.actions[rev-1].sets != 0 && len(s.arrivals(rev)) > 0 })
		if ok {
			s.arrivals(rev)[0].Sets = 0
		}
		return ok
	}, "which the sender did not report"},
	"two actions of a key in the wrong order": {func(s *story) bool {
		first := map[int32]*carried{}
		for i := range s.plan.actions {
			at := s.arrivals(int64(i) + 1)
			if len(at) == 0 || at[0].Seq == 0 {
				continue
			}
			key := s.plan.actions[i].key
			if before := first[key]; before != nil {
				before.Seq, at[0].Seq = at[0].Seq, before.Seq
				return true
			}
			first[key] = at[0]
		}
		return false
	}, "which was accepted later"},
	"two actions of a key that settle in the wrong order": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool {
			return a.accepted && s.ledger.lastSettled[s.plan.actions[rev-1].key] > rev
		})
		if ok {
			a := &s.ledger.accounts[rev-1]
			a.ended = 0
			s.ledger.end(a, rev, a.outcome)
		}
		return ok
	}, "was settled after action"},
	"Stats that count one too few": {func(s *story) bool {
		s.final.stats.Completed--
		return true
	}, "Stats counts"},
	"Stats with something left": {func(s *story) bool {
		s.final.stats.PendingBytes = 1
		return true
	}, "after Close there are"},
	"an unreported failure": {func(s *story) bool {
		s.final.closeErr.Failed--
		return true
	}, "Flush and Close reported"},
	"an unsent action that Close kept to itself": {func(s *story) bool {
		s.final.closeErr.Unsent--
		return true
	}, "Flush and Close reported"},
	"a callback that did not return": {func(s *story) bool {
		s.final.closeErr.CallbackStuck = true
		return true
	}, "a callback did not return"},
	"a batch with inconsistent counts": {func(s *story) bool {
		s.ledger.batchCompleted(context.Background(), &events.Batch{Actions: 3, Succeeded: 2})
		return true
	}, "a request of 3 actions"},
	"the witness's report": {func(s *story) bool {
		s.testimony.Problems = []string{"on the wire: malformed"}
		return true
	}, "on the wire: malformed"},
	"an emulator that answers 404 to an upload": {func(s *story) bool {
		rev, ok := s.find(func(rev int64, a *account) bool {
			at := s.arrivals(rev)
			return s.plan.actions[rev-1].typ == models.ActionTypeUpload && len(at) > 0 && at[0].applied()
		})
		if ok {
			s.arrivals(rev)[0].Status = 404
		}
		return ok
	}, "which its own history does not allow"},
}

func TestPlantedErrorsAreFound(t *testing.T) {
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			reported := 0
			for seed := range uint64(stories) {
				s := newStory(seed)
				if !p.plant(s) {
					continue
				}
				reported++
				c := s.check()
				require.NotZero(t, c.Wrong, "seed %d", seed)
				require.Contains(t, strings.Join(c.Errors, "\n"), p.says, "seed %d", seed)
			}
			assert.NotZero(t, reported, "no story has a place for it")
		})
	}
}

// A failure is lost unless the row expects it, or it follows from an earlier failure of the same key.
func TestFailuresThatTheRowIsNotAboutAreLost(t *testing.T) {
	lost, consequences := 0, 0
	for seed := range uint64(stories) {
		s := newStory(seed)
		none := check(s.plan, s.ledger, s.testimony, s.final, nil)
		some := check(s.plan, s.ledger, s.testimony, s.final, func(_ *plan, _ action, status int) bool { return status == 503 })
		missing := 0
		for i := range s.ledger.accounts {
			missing += btoi(s.ledger.accounts[i].outcome == failed && s.ledger.accounts[i].status == 404)
		}
		require.Equal(t, none.Failed-missing, none.Lost, "a merge meets no document only after an earlier action has failed")
		require.LessOrEqual(t, some.Lost, none.Lost)
		lost += none.Lost
		consequences += missing
	}
	assert.NotZero(t, lost)
	assert.NotZero(t, consequences)
}
