package searchtest

import (
	"math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
)

// faultState is a script in force: its rules and how often each had its turn.
type faultState struct {
	since time.Time // when the script came into force

	mu    sync.Mutex // guards everything below
	rules []ruleState
	rand  *rand.Rand
}

type ruleState struct {
	Fault
	matched int              // requests that the rule could have been carried out on
	done    int              // and that it was
	times   []map[string]int // by document rule: how often each key was met
}

// newFaultState starts a script. It must not be changed afterwards.
func newFaultState(f *Faults) *faultState {
	st := &faultState{since: time.Now(), rand: rand.New(rand.NewPCG(f.Seed, 0x5ea7c4))}
	for _, rule := range f.Rules {
		st.rules = append(st.rules, ruleState{Fault: rule, times: make([]map[string]int, len(rule.Documents))})
	}
	return st
}

// choose returns what goes wrong with a request.
func (st *faultState) choose(r *http.Request, rt routing.Route, body []byte) *firing {
	if st == nil {
		return nil
	}
	age := time.Since(st.since)
	st.mu.Lock()
	defer st.mu.Unlock()
	for i := range st.rules {
		rule := &st.rules[i]
		if !rule.inForce(age) || !rule.matches(r, rt, body) || !rule.takesTurn(st.rand) {
			continue
		}
		f := &firing{Fault: rule.Fault, state: st, rule: i}
		if f.limitOnly() {
			f.Status = http.StatusRequestEntityTooLarge
		}
		return f
	}
	return nil
}

// inForce reports whether the rule is when its script has been for that long.
func (f *Fault) inForce(age time.Duration) bool {
	// The script may have been set outside of the synctest bubble that it is used
	// in, and then seem to come from the future.
	age = max(0, age) - time.Duration(f.From)
	return age >= 0 && (f.For == 0 || age < time.Duration(f.For))
}

// matches reports whether the rule is about the request.
func (f *Fault) matches(r *http.Request, rt routing.Route, body []byte) bool {
	if f.Operation != "" && string(f.Operation) != rt.Operation || f.Method != "" && !strings.EqualFold(f.Method, r.Method) {
		return false
	}
	if f.OverBytes > 0 && int64(len(body)) <= f.OverBytes {
		return false
	}
	if f.Index != "" && !matchPattern(f.Index, rt.Index) || f.Path != "" && !matchPattern(f.Path, r.URL.Path) {
		return false
	}
	if f.Semantic != "" && (rt.Operation != string(OpSearch) || !query.AsksForRanking(rt.Query, body)) {
		return false
	}
	return f.OverActions == 0 || countActions(body) > f.OverActions
}

func matchPattern(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// takesTurn counts a request that matches and reports whether the rule is
// carried out on it.
func (s *ruleState) takesTurn(random *rand.Rand) bool {
	if s.Count > 0 && s.done >= s.Count {
		return false
	}
	s.matched++
	n := s.matched - s.After
	if n < 1 || s.Every > 1 && (n-1)%s.Every != 0 {
		return false
	}
	if s.Probability > 0 && random.Float64() >= s.Probability {
		return false
	}
	s.done++
	return true
}

// limitOnly reports whether the rule does nothing but set a limit.
func (f *Fault) limitOnly() bool {
	return (f.OverBytes > 0 || f.OverActions > 0) && f.Status == 0 && f.Cut == "" && f.Body == "" && f.Results == "" && f.Semantic == "" && len(f.Documents) == 0 &&
		f.Delay == 0 && f.ReplyDelay == 0
}

// firing is a rule being carried out on one request. A nil one does nothing.
type firing struct {
	Fault
	state *faultState
	rule  int
}

// refuse returns the answer of the fault to a document, if it has one.
func (f *firing) refuse(key string) (result, bool) {
	if f == nil || len(f.Documents) == 0 {
		return result{}, false
	}
	f.state.mu.Lock()
	defer f.state.mu.Unlock()
	rule := &f.state.rules[f.rule]
	for i := range rule.Documents {
		if d := &rule.Documents[i]; rule.takesDocument(i, key, f.state.rand) {
			r := result{key: key, status: d.Status, message: d.Message}
			if r.status == 0 {
				r.status = http.StatusServiceUnavailable
			}
			if r.message == "" {
				r.message = documentMessage(r.status)
			}
			return r, true
		}
	}
	return result{}, false
}

// takesDocument reports whether document rule i refuses the key this time.
func (s *ruleState) takesDocument(i int, key string, random *rand.Rand) bool {
	d := &s.Documents[i]
	if len(d.Keys) > 0 {
		found := false
		for _, pattern := range d.Keys {
			found = found || matchPattern(pattern, key)
		}
		if !found {
			return false
		}
	}
	if d.Ratio > 0 && random.Float64() >= d.Ratio {
		return false
	}
	if d.Nth == 0 && d.Times == 0 {
		return true
	}
	if s.times[i] == nil {
		s.times[i] = make(map[string]int)
	}
	s.times[i][key]++
	n := s.times[i][key]
	return (d.Nth == 0 || n == d.Nth) && (d.Times == 0 || n <= d.Times)
}

// failsRanking returns why the ranking of a semantic query fails, "" if it does not.
func (f *firing) failsRanking() SemanticFault {
	if f == nil {
		return ""
	}
	return f.Semantic
}

// strangeKey is the key of results that belong to no document.
const strangeKey = "searchtest-unknown-key"

// mangleResults damages the results of a batch.
func (f *firing) mangleResults(results []result) []result {
	if f == nil || len(results) == 0 {
		return results
	}
	switch f.Results {
	case ResultsMissing:
		return results[:len(results)-1]
	case ResultsExtra:
		return append(results, result{key: strangeKey, status: http.StatusOK})
	case ResultsRepeated:
		return append(results, results[0])
	case ResultsUnknownKey:
		results[0].key = strangeKey
	case ResultsShuffled:
		f.state.mu.Lock()
		defer f.state.mu.Unlock()
		f.state.rand.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	}
	return results
}

// setRetryAfter writes the header that says when to come back.
func setRetryAfter(h http.Header, after time.Duration, form RetryAfterForm) {
	if after <= 0 {
		return
	}
	ms := strconv.FormatInt(after.Milliseconds(), 10)
	switch form {
	case RetryAfterDate:
		h.Set("Retry-After", time.Now().Add(after).UTC().Format(http.TimeFormat))
	case RetryAfterMS:
		h.Set("Retry-After-Ms", ms)
	case RetryAfterXMS:
		h.Set("X-Ms-Retry-After-Ms", ms)
	default:
		h.Set("Retry-After", strconv.FormatInt(int64((after+time.Second-1)/time.Second), 10))
	}
}
