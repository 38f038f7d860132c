package faults

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/wire"
)

// State is a script in force, with the counters of its rules.
type State struct {
	since time.Time // when the script came into force

	mu    sync.Mutex // guards everything below
	rules []ruleState
	rand  *rand.Rand
}

type ruleState struct {
	Rule
	matched int              // requests that matched the rule
	done    int              // requests that it was carried out on
	times   []map[string]int // by document rule: number of matches of each key
}

// NewState starts a script, which must not be changed afterwards.
func NewState(f *Script) *State {
	st := &State{since: time.Now(), rand: rand.New(rand.NewPCG(f.Seed, 0x5ea7c4))}
	for _, rule := range f.Rules {
		st.rules = append(st.rules, ruleState{Rule: rule, times: make([]map[string]int, len(rule.Documents))})
	}
	return st
}

// Choose returns the fault for a request, nil for none.
func (st *State) Choose(r *http.Request, rt routing.Route, body []byte) *Firing {
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
		f := &Firing{Rule: rule.Rule, state: st, at: i}
		if f.limitOnly() {
			f.Status = http.StatusRequestEntityTooLarge
		}
		return f
	}
	return nil
}

// inForce reports whether the rule is in force at this age of its script.
func (f *Rule) inForce(age time.Duration) bool {
	// A script set outside of a synctest bubble and used inside it has a start in the
	// future.
	age = max(0, age) - f.From
	return age >= 0 && (f.For == 0 || age < f.For)
}

// matches reports whether the rule matches the request.
func (f *Rule) matches(r *http.Request, rt routing.Route, body []byte) bool {
	if f.Operation != "" && f.Operation != rt.Operation || f.Method != "" && !strings.EqualFold(f.Method, r.Method) {
		return false
	}
	if f.OverBytes > 0 && int64(len(body)) <= f.OverBytes {
		return false
	}
	if f.Index != "" && !matchPattern(f.Index, rt.Index) || f.Path != "" && !matchPattern(f.Path, r.URL.Path) {
		return false
	}
	if f.Semantic != "" && (rt.Operation != ofSearches || !query.AsksForRanking(rt.Query, body)) {
		return false
	}
	return f.OverActions == 0 || countActions(body) > f.OverActions
}

func matchPattern(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// takesTurn counts a matching request and reports whether the rule is carried out on it.
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

// limitOnly reports whether the only effect of the rule is a limit.
func (f *Rule) limitOnly() bool {
	return (f.OverBytes > 0 || f.OverActions > 0) && f.Status == 0 && f.Cut == "" && f.Body == "" && f.Results == "" && f.Semantic == "" && len(f.Documents) == 0 &&
		f.Delay == 0 && f.ReplyDelay == 0
}

// Firing is a rule that is carried out on one request. Nil has no effect.
type Firing struct {
	Rule
	state *State
	at    int // index of the rule in its script
}

// refuse returns the answer of the fault to a document, and whether there is one.
func (f *Firing) refuse(key string) (batch.Result, bool) {
	if f == nil || len(f.Documents) == 0 {
		return batch.Result{}, false
	}
	f.state.mu.Lock()
	defer f.state.mu.Unlock()
	rule := &f.state.rules[f.at]
	for i := range rule.Documents {
		if d := &rule.Documents[i]; rule.takesDocument(i, key, f.state.rand) {
			r := batch.Result{Key: key, Status: d.Status, Message: d.Message}
			if r.Status == 0 {
				r.Status = http.StatusServiceUnavailable
			}
			if r.Message == "" {
				r.Message = batch.DocumentMessage(r.Status)
			}
			return r, true
		}
	}
	return batch.Result{}, false
}

// takesDocument reports whether document rule i refuses this occurrence of the key.
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

// FailsRanking returns the reason for which the ranking of a semantic query fails, "" for
// none.
func (f *Firing) FailsRanking() string {
	if f == nil {
		return ""
	}
	return f.Semantic
}

// Answer answers with the status of the fault.
func (f *Firing) Answer(w http.ResponseWriter, r *http.Request) {
	setRetryAfter(w.Header(), f.RetryAfter, f.RetryAfterForm)
	if f.Status < 300 {
		w.WriteHeader(f.Status)
		return
	}
	message := f.Message
	if message == "" {
		message = faultMessage(f.Status)
	}
	reply.WriteError(w, r, &reply.Error{Status: f.Status, Code: f.Code, Message: message})
}

// strangeKey is the key of results that belong to no document of the batch.
const strangeKey = "searchtest-unknown-key"

// Mangle damages the results of a batch.
func (f *Firing) Mangle(results []batch.Result) []batch.Result {
	if f == nil || len(results) == 0 {
		return results
	}
	switch f.Results {
	case resultsMissing:
		return results[:len(results)-1]
	case resultsExtra:
		return append(results, batch.Result{Key: strangeKey, Status: http.StatusOK})
	case resultsRepeated:
		return append(results, results[0])
	case resultsUnknownKey:
		results[0].Key = strangeKey
	case resultsShuffled:
		f.state.mu.Lock()
		defer f.state.mu.Unlock()
		f.state.rand.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	}
	return results
}

// setRetryAfter sets the header with the delay before a retry.
func setRetryAfter(h http.Header, after time.Duration, form string) {
	if after <= 0 {
		return
	}
	ms := strconv.FormatInt(after.Milliseconds(), 10)
	switch form {
	case retryAfterDate:
		h.Set("Retry-After", time.Now().Add(after).UTC().Format(http.TimeFormat))
	case retryAfterMS:
		h.Set("Retry-After-Ms", ms)
	case retryAfterXMS:
		h.Set("X-Ms-Retry-After-Ms", ms)
	default:
		h.Set("Retry-After", strconv.FormatInt(int64((after+time.Second-1)/time.Second), 10))
	}
}

// countActions counts the actions in a body, for rules with OverActions. It returns 0 for a
// body that is not a batch.
func countActions(body []byte) int {
	sc := wire.Scanner{Data: bytes.TrimPrefix(body, []byte("\ufeff"))}
	if !sc.Expect('{') {
		return 0
	}
	for {
		if sc.Peek() != '"' {
			return 0
		}
		name, _, ok := sc.Quoted()
		if !ok || !sc.Expect(':') {
			return 0
		}
		if !bytes.HasPrefix(name, []byte("@")) {
			if string(wire.AppendUnquoted(nil, name)) != "value" || !sc.Expect('[') || sc.Peek() == ']' {
				return 0
			}
			break
		}
		if !sc.Skip(1) || !sc.Expect(',') {
			return 0
		}
	}
	for n := 1; ; n++ {
		if !sc.Skip(2) || sc.Peek() != ',' {
			return n
		}
		sc.Pos++
	}
}

// faultMessage returns the default message of a status.
func faultMessage(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "The request is invalid. Details: something in it is." // the beginning of all messages about the content of a request
	case http.StatusServiceUnavailable:
		return "You are sending too many requests. Please try again later."
	case http.StatusTooManyRequests:
		return "You have exceeded the number of requests that this service can take at the moment. Please try again later."
	case http.StatusRequestEntityTooLarge:
		return reply.TooLarge
	case http.StatusConflict:
		return "Another update to the same resource is in progress. Please try again later."
	}
	return http.StatusText(status) + "."
}
