package sendertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

//archtest:long owed: one draw after the other
func newSchedule(intn func(int) int) *schedule {
	s := &schedule{intn: intn, rnd: rand.New(rand.NewPCG(uint64(intn(1<<20)), 0)), settleOrder: map[string][]*record{}, inFlight: map[string]int{}, observed: newObserved()}
	pick := func(from ...int) int { return from[intn(len(from))] }
	s.hidden = 16_000_000
	if intn(4) == 0 {
		s.hidden = int64(pick(60, 100, 150, 300)) // a limit unknown to the sender
	}
	o := &s.options
	o.Logger = slog.New(slog.DiscardHandler)
	o.Limits.MaxBatchActions = pick(1, 2, 3, 5, 8, 1000)
	o.Limits.MaxBatchBytes = pick(150, 300, 1000, 1_000_000)
	o.Limits.MaxBufferedActions = pick(1, 2, 5, 20, 1000)
	o.Limits.MaxBufferedBytes = int64(pick(o.Limits.MaxBatchBytes, 2*o.Limits.MaxBatchBytes, 1<<20))
	o.Limits.MaxInFlight = pick(1, 1, 2, 3, 8)
	o.DisableAutoFlush = intn(6) == 0
	o.AutoFlushInterval = []time.Duration{-1, time.Millisecond, 100 * time.Millisecond, 5 * time.Second}[intn(4)]
	o.RequestTimeout = []time.Duration{-1, 50 * time.Millisecond, time.Second, time.Minute}[intn(4)]
	o.Retry = retry.Options{MaxRetries: pick(-1, 1, 2, 3, 6), Delay: time.Duration(pick(1, 10, 800)) * time.Millisecond}
	if intn(2) == 0 {
		o.Retry.Jitter = -1
	}
	if s.failSoon = intn(3) == 0; s.failSoon {
		o.Outage = bufferedsender.FailSoon{}
	} else if !o.DisableAutoFlush {
		s.policy = policies[intn(4)]
	}
	if intn(2) == 0 {
		s.breaker = breaker.Options{
			Failures: pick(1, 2, 3), OpenFor: time.Duration(pick(1, 50, 1000)) * time.Millisecond,
		}
	}
	s.twoBreakers = !s.failSoon && intn(3) == 0
	if intn(2) == 0 {
		o.DeadLetters = modelSink{s}
	}
	s.misbehaving = pick(0, 0, 20, 100)
	s.shared = intn(3) == 0
	if intn(2) == 0 {
		o.Folding = &bufferedsender.Folding[modelDoc]{}
		if intn(2) == 0 {
			o.Folding.Version = func(doc modelDoc) int64 {
				if doc.B == nil {
					return 0
				}
				return *doc.B%7 + 1
			}
		}
	}
	o.OnMergeMissing = bufferedsender.MergeMissing(intn(3))
	o.Tuning = []tuning.Policy{nil, nil, tuning.Adaptive(nil), erratic(intn(1 << 20))}[intn(4)]
	if s.largest = o.Limits; intn(2) == 0 {
		o.Limits.MinBatchActions = 1 + intn(o.Limits.MaxBatchActions)
	}
	s.largest.MinBatchActions = cmp.Or(o.Limits.MinBatchActions, o.Limits.MaxBatchActions)
	s.rules = []rules{{Limits: s.largest}}
	s.control, s.rejects = modelControl{interval: o.AutoFlushInterval, policy: s.policy}, s.policy == rejects
	o.Handlers = s.handlers()

	severity := pick(0, 1, 1, 3, 10) // how many of ten requests fail
	for range 60 {
		kind := ""
		if intn(10) < severity {
			kind = faultKinds[intn(len(faultKinds))]
		}
		if o.RequestTimeout < 0 && kind == "hang" {
			kind = "" // would hang forever, as configured
		}
		s.faults = append(s.faults, kind)
	}
	if intn(6) == 0 { // long enough, and with enough keys, that actions are set apart
		s.lacksFrom = intn(10)
		s.lacksTo = s.lacksFrom + pick(10, 50, 200)
	}
	for caller := range 1 + intn(4) {
		s.callers = append(s.callers, s.newCaller(caller, pick))
	}
	s.closeAt = time.Duration(pick(0, 1, 50, 1000, 100_000)) * time.Millisecond
	if intn(2) == 0 {
		s.closeIn = time.Duration(pick(1, 20, 500, 5000)) * time.Millisecond
	}

	return s
}

// start creates the service and the senders.
func (s *schedule) start() {
	s.server = searchtest.NewServer(&searchtest.Options{MaxBatchBytes: s.hidden})
	orPanic(s.server.CreateIndex(json.RawMessage(modelIndex)))
	s.server.Intercept(s.intercept)
	client, err := search.NewClientWithKey(s.server.URL(), "model", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: s.server},
	})
	orPanic(err)
	var indexer bufferedsender.Indexer = client
	if s.wrap != nil {
		indexer = s.wrap(client)
	}
	hold := bufferedsender.Hold{WhenFull: s.whenFull(s.onPurged)}
	if !s.failSoon {
		hold.Breaker, err = breaker.New(&s.breaker) // in the bubble
		orPanic(err)
		if s.twoBreakers {
			hold.Service, err = breaker.New(&s.breaker)
			orPanic(err)
			s.whole = hold.Service
		}
		s.options.Outage = hold
	}
	s.sender, err = bufferedsender.New(indexer, &s.options)
	orPanic(err)
	if s.shared {
		o := s.options
		o.Handlers, o.DeadLetters = events.Handlers[modelDoc]{}, nil
		if !s.failSoon {
			hold.WhenFull = s.whenFull(bufferedsender.AllowLoss)
			o.Outage = hold
		}
		s.other, err = bufferedsender.New(indexer, &o)
		orPanic(err)
	}
}

func (s *schedule) newCaller(caller int, pick func(...int) int) (steps []step) {
	for range 1 + s.intn(12) {
		st := step{kind: []string{"add", "add", "add", "add", "seq", "try", "wait", "deleteKeys", "flush", "sleep", "pause", "limits", "breaker", "reset", "trip", "withdraw", "hold", "control"}[s.intn(18)]}
		switch st.kind {
		case "limits":
			st.limits = bufferedsender.Limits{
				MinBatchActions: pick(0, 0, 1, 2, 50), MaxBatchActions: pick(0, 1, 3, 100), MaxBatchBytes: pick(0, 150, 2000), MaxInFlight: pick(0, 1, 2, 9),
				MaxBufferedActions: pick(0, 1, 10, 2000), MaxBufferedBytes: int64(pick(0, 300, 1<<20)),
			}
		case "control":
			st.control.interval = []time.Duration{0, -1, time.Millisecond, time.Second, time.Hour}[s.intn(5)]
			st.control.policy = append([]string{asItIs}, policies...)[s.intn(5)]
			st.control.breaker = breaker.Options{
				Failures: pick(0, 1, 2, 5), Window: time.Duration(pick(0, 1, 60)) * time.Second,
				OpenFor: time.Duration(pick(0, 0, 1, 50)) * time.Millisecond,
			}
		case "sleep", "pause", "breaker":
			st.wait = time.Duration(pick(1, 10, 100, 3000)) * time.Millisecond
		case "flush":
			st.wait = time.Duration(pick(0, 0, 1, 100, 10_000)) * time.Millisecond
		default:
			st.wait = time.Duration(pick(0, 0, 0, 5, 1000)) * time.Millisecond
			st.class = models.Class(pick(0, 0, 0, 1, 2, int(models.ClassBestEffort))) //nolint:gosec // small
			most := pick(1, 3, 10, 40)
			if s.lacksTo > 0 {
				most = 40
			}
			for range 1 + s.intn(most) {
				st.actions = append(st.actions, s.newAction(caller, st.kind, pick))
			}
		}
		steps = append(steps, st)
	}
	return steps
}

// newAction creates an action of a key that only its caller uses, so that the order of acceptance is known.
func (s *schedule) newAction(caller int, kind string, pick func(...int) int) models.IndexDocumentsAction[modelDoc] {
	keys := pick(1, 3, 30)
	if s.lacksTo > 0 {
		keys = 30
	}
	r := &record{id: len(s.records), caller: caller, key: fmt.Sprintf("c%d-%d", caller, s.intn(keys))}
	doc := modelDoc{ID: r.key}
	a, b := strings.Repeat(string(rune('a'+s.intn(26))), pick(0, 1, 5, 30)), int64(r.id)
	var action models.IndexDocumentsAction[modelDoc]
	switch n := s.intn(6); {
	case kind == "deleteKeys" || n == 0:
		action = models.DeleteAction(doc)
	case n == 1:
		doc.A = &a
		action = models.MergeAction(doc)
	case n == 2:
		doc.B = &b
		action = models.MergeOrUploadAction(doc)
	default:
		doc.A, doc.B = &a, &b
		action = models.UploadAction(doc)
	}
	r.action = action.WithTag(r)
	if kind != "deleteKeys" {
		r.action = r.action.WithCallback(func(o models.Outcome) { s.outcome(r, o) })
	}
	s.records = append(s.records, r)
	return r.action
}

// erratic is a tuning policy that chooses at random.
type erratic int

func (e erratic) New(tuning.Bounds) tuning.Controller {
	return &erraticController{rnd: rand.New(rand.NewPCG(uint64(e), 0))}
}

type erraticController struct {
	rnd  *rand.Rand
	pace tuning.Pace
}

func (e *erraticController) Pace() tuning.Pace { return e.pace }

func (e *erraticController) Observe(tuning.Observation) tuning.Pace {
	e.pace = tuning.Pace{
		BatchActions: e.rnd.IntN(5), BatchBytes: e.rnd.IntN(500), InFlight: e.rnd.IntN(4), Interval: time.Duration(e.rnd.IntN(3)) * 50 * time.Millisecond,
	}
	return e.pace
}
