package faults

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
)

// tally counts the outcomes of a row, from the events, and the findings of the check.
type tally struct {
	Accepted  int `json:"accepted"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Unsent    int `json:"unsent"`
	Unknown   int `json:"unknown"` // of failed and unsent: may have been applied

	// Lost counts the failed actions that should not have failed.
	Lost int `json:"lost"`
	// AppliedTwice counts applications of an action after the first, the cost of at-least-once. Resent counts
	// arrivals of an action after the first, refused ones included.
	AppliedTwice int `json:"appliedTwice"`
	Resent       int `json:"resent"`

	// Wrong counts false statements and broken promises of the sender. Errors describes the first of them.
	Wrong  int      `json:"wrong"`
	Errors []string `json:"errors,omitempty"`
}

// final has the final statistics and errors of the sender, besides its events.
type final struct {
	stats    bufferedsender.Stats
	flushErr *bufferedsender.FlushError
	closeErr *bufferedsender.CloseError
}

// checker compares the sender's reports with the service's record.
type checker struct {
	plan      *plan
	ledger    *ledger
	testimony *testimony
	// mayFail reports whether the row expects a failure.
	mayFail func(p *plan, a action, status int) bool

	tally
	met    map[string]int // counts of faults, by kind
	visits [][]visit      // by number of the action, minus one
}

// visit is one arrival of an action at the service.
type visit struct {
	request *received
	carried *carried
}

// check checks a row.
func check(p *plan, l *ledger, t *testimony, f final, mayFail func(*plan, action, int) bool) *checker {
	c := &checker{plan: p, ledger: l, testimony: t, mayFail: mayFail, met: map[string]int{}, visits: make([][]visit, len(p.actions))}
	for _, problem := range l.problems {
		c.wrong("%s", problem)
	}
	for _, problem := range t.Problems {
		c.wrong("%s", problem)
	}
	c.arrivals()
	keys := c.byKey()
	for key, revs := range keys {
		c.history(int32(key), revs)
		c.outcomes(int32(key), revs)
	}
	for key := range t.Index {
		if n, ok := p.keyNumber(key); !ok || len(keys[n]) == 0 {
			c.wrong("the index has %s, which no producer added", key)
		}
	}
	c.count()
	c.balance(f)
	return c
}

func (c *checker) wrong(format string, args ...any) {
	c.Wrong++
	if len(c.Errors) < maxProblems {
		c.Errors = append(c.Errors, fmt.Sprintf(format, args...))
	}
}

// arrivals assigns each received document to its action.
func (c *checker) arrivals() {
	type where struct{ batch, key string }
	deletes := make(map[where]int64, len(c.ledger.deletes))
	for _, d := range c.ledger.deletes {
		deletes[where{d.batch, c.plan.key(c.plan.actions[d.rev-1].key)}] = d.rev
	}
	for i := range c.testimony.Requests {
		r := &c.testimony.Requests[i]
		decided := false
		for j := range r.Carried {
			v := &r.Carried[j]
			decided = decided || v.Status != 0
			if v.Status >= 300 {
				c.met[fmt.Sprintf("document %d", v.Status)]++
			}
			rev := v.Rev
			if v.Action == models.ActionTypeDelete {
				rev = deletes[where{r.ID, v.Key}]
			}
			a, ok := c.plan.action(rev)
			if !ok || c.plan.key(a.key) != v.Key || a.typ != v.Action || a.sets != v.Sets {
				c.wrong("request %s carries a %s of document %s, number %d, which the sender did not report", r.ID, v.Action, v.Key, rev)
				continue
			}
			c.visits[rev-1] = append(c.visits[rev-1], visit{r, v})
		}
		if r.Broken && decided {
			c.met["answer lost after the batch was applied"]++
		}
	}
	for i, visits := range c.visits {
		account := &c.ledger.accounts[i]
		if len(visits) > int(account.sent) {
			c.wrong("action %d arrived %d times; the sender reported %d", i+1, len(visits), account.sent)
		}
		if len(visits) > 0 && !account.accepted {
			c.wrong("action %d was sent although it was not accepted", i+1)
		}
		c.Resent += max(len(visits)-1, 0)
		applied := 0
		for _, v := range visits {
			applied += btoi(v.carried.applied())
		}
		c.AppliedTwice += max(applied-1, 0)
	}
}

// byKey lists the accepted actions of each key in the order of acceptance. That is the order of their numbers,
// because one producer adds all actions of a key.
func (c *checker) byKey() [][]int64 {
	keys := make([][]int64, c.plan.keys)
	for i := range c.plan.actions {
		if account := &c.ledger.accounts[i]; account.accepted {
			key := c.plan.actions[i].key
			keys[key] = append(keys[key], int64(i)+1)
		} else if account.ended > 0 {
			c.wrong("action %d was not accepted and still %v", i+1, account.outcome)
		}
	}
	return keys
}

// history replays the decisions of the service about a key. The actions must arrive in order, and their result must
// be the document in the index.
func (c *checker) history(key int32, revs []int64) {
	type decision struct {
		*carried
		rev int64
	}
	var decisions []decision
	for _, rev := range revs {
		for _, v := range c.visits[rev-1] {
			if v.carried.Status != 0 {
				decisions = append(decisions, decision{v.carried, rev})
			}
		}
	}
	slices.SortFunc(decisions, func(a, b decision) int { return cmp.Compare(a.Seq, b.Seq) })
	var now state
	last, dropped := int64(0), c.testimony.Dropped
	for _, d := range decisions {
		if dropped > 0 && d.Seq > dropped {
			now, dropped = state{}, 0
		}
		if d.rev < last {
			c.wrong("document %s: action %d reached the index after action %d, which was accepted later", d.Key, d.rev, last)
		}
		last = d.rev
		next, possible := now.after(c.plan.actions[d.rev-1], d.rev, c.plan.text)
		if d.applied() && !possible || d.Status == 404 && possible {
			c.wrong("document %s: the emulator answered %d to action %d, which its own history does not allow", d.Key, d.Status, d.rev)
		}
		if d.applied() {
			now = next
		}
	}
	if dropped > 0 {
		now = state{}
	}
	if got := c.testimony.Index[c.plan.key(key)]; got != now {
		c.wrong("document %s is %+v in the index; the applied actions give %+v", c.plan.key(key), got, now)
	}
}

// outcomes compares the reported outcomes of a key's actions with the service's record.
func (c *checker) outcomes(key int32, revs []int64) {
	possible := map[state]bool{{}: true}
	troubled := false // an earlier action of the key did not complete
	for _, rev := range revs {
		a, account := c.plan.actions[rev-1], &c.ledger.accounts[rev-1]
		applied, kept, answered := false, false, false
		for _, v := range c.visits[rev-1] {
			applied = applied || v.carried.applied()
			kept = kept || v.carried.applied() && v.carried.Seq > c.testimony.Dropped
			answered = answered || v.carried.Status == int(account.status) || v.request.Status == int(account.status)
		}
		switch {
		case account.ended != 1:
			c.wrong("action %d was accepted and ended %d times", rev, account.ended)
		case account.outcome == completed && !applied:
			c.wrong("action %d (%s of %s) is completed and was never applied", rev, a.typ, c.plan.key(key))
		case account.outcome != completed && applied && !account.unknown:
			c.wrong("action %d (%s of %s) is %v for certain and was applied", rev, a.typ, c.plan.key(key), account.outcome)
		case account.outcome == failed && account.status != 0 && !answered && !c.testimony.elsewhere(c.plan, key):
			c.wrong("action %d (%s of %s) failed with status %d, which the service never answered", rev, a.typ, c.plan.key(key), account.status)
		}
		if account.outcome == failed {
			consequence := account.status == 404 && troubled
			if !consequence && (c.mayFail == nil || !c.mayFail(c.plan, a, int(account.status))) {
				c.Lost++
			}
		}
		troubled = troubled || account.outcome != completed
		next := map[state]bool{}
		for s := range possible {
			after, can := s.after(a, rev, c.plan.text)
			if account.outcome != completed {
				next[s] = true
			}
			if (account.outcome == completed || account.unknown) && can {
				next[after] = true
			}
			if applied && !kept {
				next[state{}] = true // the index was dropped with it
			}
		}
		possible = next
	}
	if got := c.testimony.Index[c.plan.key(key)]; !possible[got] {
		c.wrong("document %s is %+v in the index; the reported outcomes allow only %v", c.plan.key(key), got, possible)
	}
}

// elsewhere reports whether a firewall or gateway in front of the emulator refuses the document.
func (t *testimony) elsewhere(p *plan, key int32) bool {
	return p.key(key) == t.Firewall || t.Named > 0 && int(key)%t.Named == 0
}

// count counts the outcomes.
func (c *checker) count() {
	for i := range c.ledger.accounts {
		account := &c.ledger.accounts[i]
		if !account.accepted {
			continue
		}
		c.Accepted++
		switch account.outcome {
		case completed:
			c.Completed++
		case failed:
			c.Failed++
		case unsent:
			c.Unsent++
		}
		c.Unknown += btoi(account.unknown)
	}
}

// balance compares the events with Stats, Flush and Close.
func (c *checker) balance(f final) {
	if c.Accepted != c.Completed+c.Failed+c.Unsent {
		c.wrong("%d accepted, but %d completed, %d failed and %d unsent", c.Accepted, c.Completed, c.Failed, c.Unsent)
	}
	s := &f.stats
	if s.Accepted != int64(c.Accepted) || s.Completed != int64(c.Completed) || s.Failed != int64(c.Failed) || s.Unsent != int64(c.Unsent) {
		c.wrong("Stats counts %d accepted, %d completed, %d failed, %d unsent; the events %d, %d, %d, %d",
			s.Accepted, s.Completed, s.Failed, s.Unsent, c.Accepted, c.Completed, c.Failed, c.Unsent)
	}
	if s.PendingActions != 0 || s.PendingBytes != 0 || s.InFlight != 0 || s.BlockedProducers != 0 {
		c.wrong("after Close there are %d actions (%d bytes) pending, %d requests in flight, %d producers blocked", s.PendingActions, s.PendingBytes, s.InFlight, s.BlockedProducers)
	}
	reported, gaveUp := 0, 0
	if f.flushErr != nil {
		reported += f.flushErr.Count - f.flushErr.Unsent
	}
	if f.closeErr != nil {
		reported += f.closeErr.Failed
		gaveUp = f.closeErr.Unsent + f.closeErr.Unknown
		if f.closeErr.CallbackStuck {
			c.wrong("Close says that a callback did not return")
		}
	}
	if reported != c.Failed || gaveUp != c.Unsent {
		c.wrong("Flush and Close reported %d failed and %d unsent; the events %d and %d", reported, gaveUp, c.Failed, c.Unsent)
	}
}
