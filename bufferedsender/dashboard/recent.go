package dashboard

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/internal/harmless"
	"github.com/go-azsearch/azsearch/events"
)

// Limits of the data kept for a sender.
const (
	keptRequests = 256
	keptExamples = 5 // of each reason
)

// Recent keeps the latest reports of the senders of a process: durations of requests, and failures by reason with the
// last five of each. The zero value is valid. It is safe for concurrent use.
type Recent struct {
	mu      sync.Mutex // guards the fields below
	senders map[string]*reported
}

// reported holds the recent requests and failures of one sender.
type reported struct {
	took     [keptRequests]time.Duration // a ring
	requests int                         // total number
	failures map[string]*failures
}

// failures are the failures with one reason.
type failures struct {
	Reason   string    `json:"reason"`
	Count    int64     `json:"count"`
	Last     time.Time `json:"last"`
	Examples []failure `json:"examples"` // newest first
}

// failure is a failed document, without its content.
type failure struct {
	Key        string    `json:"key,omitempty"`
	Action     string    `json:"action"`
	Time       time.Time `json:"time"`
	Status     int       `json:"status,omitempty"`
	Attempts   int       `json:"attempts"`
	Why        string    `json:"why,omitempty"`
	Unknown    bool      `json:"unknown,omitempty"`
	DeadLetter bool      `json:"deadLetter,omitempty"`
}

// latency summarizes the durations of the last requests.
type latency struct {
	Requests int     `json:"requests"`
	P50      float64 `json:"p50Millis"`
	P95      float64 `json:"p95Millis"`
	Longest  float64 `json:"longestMillis"`
}

// Watch returns handlers that record a sender's reports in r. name is its name in Options.Senders, or for a sender of
// a fleet the fleet's name in Options.Fleets, a slash and the index: "shop/hotels". Combine them with your own handlers
// by events.Multi.
func Watch[T any](r *Recent, name string) events.Handlers[T] {
	return events.Handlers[T]{
		BatchCompleted: func(_ context.Context, b *events.Batch) {
			if !errors.Is(b.Err, bufferedsender.ErrNotSent) { // not a request
				r.request(name, b.Duration)
			}
		},
		ActionFailed: func(_ context.Context, e *events.ActionFailed[T]) {
			r.failed(name, e.Key, string(e.Action.Type), e.Err)
		},
	}
}

// of returns the data kept for a sender. mu must be held.
func (r *Recent) of(name string) *reported {
	s := r.senders[name]
	if s == nil {
		s = &reported{failures: make(map[string]*failures)}
		if r.senders == nil {
			r.senders = make(map[string]*reported)
		}
		r.senders[name] = s
	}
	return s
}

func (r *Recent) request(name string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.of(name)
	s.took[s.requests%keptRequests] = took
	s.requests++
}

func (r *Recent) failed(name, key, action string, err error) {
	f := failure{Key: key, Action: action, Time: time.Now()}
	reason := "unknown"
	if said := (*bufferedsender.ActionError)(nil); errors.As(err, &said) {
		reason = said.Reason.String()
		f.Status, f.Attempts, f.Unknown, f.DeadLetter = said.Status, said.Attempts, said.Unknown, said.DeadLetter
		f.Why = cmp.Or(harmless.Reason(said.Status, said.Message), harmless.Words(said.Status, said.Err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.of(name)
	of := s.failures[reason]
	if of == nil {
		of = &failures{Reason: reason}
		s.failures[reason] = of
	}
	of.Count++
	of.Last = f.Time
	of.Examples = slices.Insert(of.Examples[:min(len(of.Examples), keptExamples-1)], 0, f)
}

// read returns copies of the data kept for a sender, the most frequent reason first.
func (r *Recent) read(name string, hideKeys bool) (l *latency, fs []failures) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fs = []failures{}
	s := r.senders[name]
	if s == nil {
		return nil, fs
	}
	for _, f := range s.failures {
		one := *f
		one.Examples = slices.Clone(f.Examples)
		for i := range one.Examples {
			if hideKeys {
				one.Examples[i].Key = ""
			}
		}
		fs = append(fs, one)
	}
	slices.SortFunc(fs, func(a, b failures) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason)) })
	n := min(s.requests, keptRequests)
	if n == 0 {
		return nil, fs
	}
	took := slices.Sorted(slices.Values(s.took[:n]))
	millis := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return &latency{Requests: n, P50: millis(took[(n-1)/2]), P95: millis(took[(n-1)*95/100]), Longest: millis(took[n-1])}, fs
}
