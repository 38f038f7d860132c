package bufferedsender_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"pgregory.net/rapid"
)

// TestModel runs random programs (callers, keys, actions, options, faults of
// the service, deadlines) against the emulator and compares with a naive model:
// accepted = completed + failed + unsent, one terminal event for each action,
// actions of a key in order, no request over its limits, one action of a key in
// flight, each failure reported once, and a final state of the index that the
// outcomes allow. synctest fails it if a goroutine is left, or if everything
// hangs.
//
// CI runs 10,000 schedules on each of two cores; for a soak use, for example,
//
//	go test ./bufferedsender -run TestModel -rapid.checks=500000 -timeout 0
func TestModel(t *testing.T) {
	for _, half := range []string{"one", "two"} { // a core each
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "n") }
				s := newSchedule(intn) // rapid's draws may end its goroutine, so not in the bubble
				synctest.Test(t, func(*testing.T) {
					s.start()
					s.run()
					s.check()
				})
				if len(s.errors) > 0 {
					rt.Fatalf("%s\n%s", s, strings.Join(s.errors, "\n"))
				}
			})
		})
	}
}

// modelDoc is sent by every schedule. Merges leave out a field.
type modelDoc struct {
	ID string  `json:"id" search:"key"`
	A  *string `json:"a,omitempty"`
	B  *int64  `json:"b,omitempty"`
}

const modelIndex = `{"name":"model","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"a","type":"Edm.String"},
	{"name":"b","type":"Edm.Int64"}]}`

// step is one thing that a caller does.
type step struct {
	kind    string // add, try, seq, wait, deleteKeys, flush, sleep, pause, limits, breaker
	limits  bufferedsender.Limits
	actions []models.IndexDocumentsAction[modelDoc]
	wait    time.Duration // of sleep; deadline of the others, 0: none
}

// record is all that is known of one action.
type record struct {
	id       int
	caller   int
	key      string
	action   models.IndexDocumentsAction[modelDoc]
	added    int
	sent     int
	accepted bool
	ended    []string // terminal events
	unknown  bool
	folded   bool
	dropped  bool // superseded
}

type schedule struct {
	intn    func(n int) int // draws while the schedule is made
	rnd     *rand.Rand      // draws while it runs; guarded by mu
	options bufferedsender.Options[modelDoc]
	server  *searchtest.Server
	sender  *bufferedsender.BufferedSender[modelDoc]
	callers [][]step
	closeAt time.Duration
	closeIn time.Duration         // Close's deadline, 0: none
	hidden  int64                 // size limit of the service
	largest bufferedsender.Limits // that were ever in force; guarded by mu

	mu          sync.Mutex
	records     []*record
	settleOrder map[string][]int // ids by key, in the order settled
	inFlight    map[string]int   // keys in requests, to find two at once
	faults      []string         // of the requests to come
	requests    int
	reported    int // failures that Flush and Close reported
	unsentSeen  int // of these, unsent ones in FlushErrors
	closeErr    error
	throttled   bool // some document was answered with 503
	errors      []string
}

func (s *schedule) String() string {
	o := &s.options
	return fmt.Sprintf("%d callers, breaker %t, overload %d, fold %t versions %t, merge missing %d, tuning %T, batch %d/%d, buffer %d/%d, in flight %d, auto flush %t %v, timeout %v, retry %+v, close at %v in %v, faults %q",
		len(s.callers), !o.DisableBreaker, o.Overload, o.Fold, o.Version != nil, o.OnMergeMissing, o.Tuning, o.MaxBatchActions, o.MaxBatchBytes, o.MaxBufferedActions, o.MaxBufferedBytes, o.MaxInFlight, !o.DisableAutoFlush,
		o.AutoFlushInterval, o.RequestTimeout, o.Retry, s.closeAt, s.closeIn, s.faults[:min(len(s.faults), s.requests)])
}

// errorf notes a failure. It is called with mu held, or when nothing runs.
func (s *schedule) errorf(format string, args ...any) {
	if len(s.errors) < 20 {
		s.errors = append(s.errors, fmt.Sprintf(format, args...))
	}
}

// fail is errorf for callers that do not hold mu.
func (s *schedule) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errorf(format, args...)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func newSchedule(intn func(int) int) *schedule {
	s := &schedule{intn: intn, rnd: rand.New(rand.NewPCG(uint64(intn(1<<20)), 0)), settleOrder: map[string][]int{}, inFlight: map[string]int{}}
	pick := func(from ...int) int { return from[intn(len(from))] }
	s.hidden = 16_000_000
	if intn(4) == 0 {
		s.hidden = int64(pick(60, 100, 150, 300)) // a limit the sender does not know of
	}
	o := &s.options
	o.Logger = slog.New(slog.DiscardHandler)
	o.MaxBatchActions = pick(1, 2, 3, 5, 8, 1000)
	o.MaxBatchBytes = pick(150, 300, 1000, 1_000_000)
	o.MaxBufferedActions = pick(1, 2, 5, 20, 1000)
	o.MaxBufferedBytes = int64(pick(o.MaxBatchBytes, 2*o.MaxBatchBytes, 1<<20))
	o.MaxInFlight = pick(1, 1, 2, 3, 8)
	o.DisableAutoFlush = intn(6) == 0
	o.AutoFlushInterval = []time.Duration{-1, time.Millisecond, 100 * time.Millisecond, 5 * time.Second}[intn(4)]
	o.RequestTimeout = []time.Duration{-1, 50 * time.Millisecond, time.Second, time.Minute}[intn(4)]
	o.Retry = retry.Options{MaxRetries: pick(-1, 1, 2, 3, 6), Delay: time.Duration(pick(1, 10, 800)) * time.Millisecond}
	if intn(2) == 0 {
		o.Retry.Jitter = -1
	}
	if o.DisableBreaker = intn(3) == 0; !o.DisableBreaker && !o.DisableAutoFlush {
		o.Overload = bufferedsender.Overload(intn(4))
		o.AllowLoss = o.Overload >= bufferedsender.OverloadPurgeOne
	}
	if o.Fold = intn(2) == 0; o.Fold && intn(2) == 0 {
		o.Version = func(doc modelDoc) int64 {
			if doc.B == nil {
				return 0
			}
			return *doc.B%7 + 1
		}
	}
	o.OnMergeMissing = bufferedsender.MergeMissing(intn(3))
	o.Tuning = []tuning.Policy{nil, nil, tuning.Adaptive(nil), erratic(intn(1 << 20))}[intn(4)]
	s.largest = bufferedsender.Limits{
		MaxBatchActions: o.MaxBatchActions, MaxBatchBytes: o.MaxBatchBytes, MaxInFlight: o.MaxInFlight,
		MaxBufferedActions: o.MaxBufferedActions, MaxBufferedBytes: o.MaxBufferedBytes,
	}
	o.Handlers = s.handlers()

	severity := pick(0, 1, 1, 3, 10) // how many of ten requests are troubled
	for range 60 {
		kind := ""
		if intn(10) < severity {
			kind = faultKinds[intn(len(faultKinds))]
		}
		if o.RequestTimeout < 0 && kind == "hang" {
			kind = "" // would hang for ever, as asked for
		}
		s.faults = append(s.faults, kind)
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

// start makes the service and the sender.
func (s *schedule) start() {
	s.server = searchtest.NewServer(&searchtest.Options{MaxBatchBytes: s.hidden})
	must(s.server.CreateIndex(json.RawMessage(modelIndex)))
	s.server.Intercept(s.intercept)
	client, err := search.NewClientWithKey(s.server.URL(), "model", azcore.NewKeyCredential(searchtest.AdminKey), &search.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: s.server},
	})
	must(err)
	s.sender, err = bufferedsender.New(client, &s.options)
	must(err)
}

func (s *schedule) newCaller(caller int, pick func(...int) int) (steps []step) {
	for range 1 + s.intn(12) {
		st := step{kind: []string{"add", "add", "add", "add", "seq", "try", "wait", "deleteKeys", "flush", "sleep", "pause", "limits", "breaker"}[s.intn(13)]}
		switch st.kind {
		case "limits":
			st.limits = bufferedsender.Limits{
				MaxBatchActions: pick(0, 1, 3, 100), MaxBatchBytes: pick(0, 150, 2000), MaxInFlight: pick(0, 1, 2, 9),
				MaxBufferedActions: pick(0, 1, 10, 2000), MaxBufferedBytes: int64(pick(0, 300, 1<<20)),
			}
		case "sleep", "pause", "breaker":
			st.wait = time.Duration(pick(1, 10, 100, 3000)) * time.Millisecond
		case "flush":
			st.wait = time.Duration(pick(0, 0, 1, 100, 10_000)) * time.Millisecond
		default:
			st.wait = time.Duration(pick(0, 0, 0, 5, 1000)) * time.Millisecond
			for range 1 + s.intn(pick(1, 3, 10, 40)) {
				st.actions = append(st.actions, s.newAction(caller, st.kind, pick))
			}
		}
		steps = append(steps, st)
	}
	return steps
}

// newAction makes an action of a key that only its caller uses, so that the
// order in which it was accepted is known.
func (s *schedule) newAction(caller int, kind string, pick func(...int) int) models.IndexDocumentsAction[modelDoc] {
	r := &record{id: len(s.records), caller: caller, key: fmt.Sprintf("c%d-%d", caller, s.intn(pick(1, 3, 30)))}
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
	s.records = append(s.records, r)
	return r.action
}

func (s *schedule) handlers() events.Handlers[modelDoc] {
	// Deletes by key carry no tag; they are found by key, oldest first.
	find := func(a models.IndexDocumentsAction[modelDoc], key string) *record {
		if r, ok := a.Tag.(*record); ok {
			return r
		}
		for _, r := range s.records {
			if r.key == key && r.action.Type == models.ActionDelete && len(r.ended) == 0 && r.byKey() {
				return r
			}
		}
		return nil
	}
	end := func(r *record, key, how string, unknown, folded, superseded bool) {
		if r == nil {
			s.errorf("%s of an action of key %q that nobody added", how, key)
			return
		}
		r.ended = append(r.ended, how)
		r.unknown, r.folded, r.dropped = unknown, folded, superseded
		s.settleOrder[key] = append(s.settleOrder[key], r.id)
	}
	return events.Handlers[modelDoc]{
		ActionSent: func(_ context.Context, e *events.ActionSent[modelDoc]) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if r, ok := e.Action.Tag.(*record); ok {
				r.sent++
			}
			// A busy service may turn the same document away again and again.
			if limit := s.options.Retry.MaxAttempts(); e.Attempt < 1 || e.Attempt > limit && !s.throttled {
				s.errorf("attempt %d of %d", e.Attempt, limit)
			}
		},
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[modelDoc]) {
			s.mu.Lock()
			defer s.mu.Unlock()
			end(find(e.Action, e.Key), e.Key, "completed", false, e.Folded, e.Superseded)
		},
		ActionFailed: func(_ context.Context, e *events.ActionFailed[modelDoc]) {
			s.mu.Lock()
			defer s.mu.Unlock()
			how := "failed"
			if errors.Is(e.Err, bufferedsender.ErrClosed) {
				how = "unsent"
			}
			if e.Unsent != (how == "unsent") {
				s.errorf("Unsent is %t: %v", e.Unsent, e.Err)
			}
			end(find(e.Action, e.Key), e.Key, how, e.Unknown, e.Folded, e.Superseded)
		},
	}
}

// byKey reports whether the action was added by DeleteDocumentsByKey.
func (r *record) byKey() bool { return r.added == 2 }

func (s *schedule) run() {
	var callers sync.WaitGroup
	for _, steps := range s.callers {
		callers.Go(func() {
			for _, st := range steps {
				s.do(st)
			}
		})
	}
	var closing sync.WaitGroup
	closing.Go(func() {
		time.Sleep(s.closeAt)
		ctx, cancel := context.Background(), context.CancelFunc(func() {})
		if s.closeIn > 0 {
			ctx, cancel = context.WithTimeout(ctx, s.closeIn)
		}
		defer cancel()
		began := time.Now()
		s.closeErr = s.sender.Close(ctx)
		if took := time.Since(began); s.closeIn > 0 && took > s.closeIn+3*time.Second {
			s.fail("Close took %v with a deadline of %v", took, s.closeIn)
		}
	})
	callers.Wait()
	closing.Wait()
	if again := s.sender.Close(context.Background()); again != s.closeErr { //nolint:errorlint // the very same value is promised
		s.errorf("a second Close returned %v, not %v", again, s.closeErr)
	}
	s.server.Close()
}

func (s *schedule) do(st step) {
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if st.wait > 0 && st.kind != "sleep" {
		ctx, cancel = context.WithTimeout(ctx, st.wait)
	}
	defer cancel()
	switch st.kind {
	case "sleep":
		time.Sleep(st.wait)
		return
	case "flush":
		s.flush(ctx)
		return
	case "pause":
		s.sender.Pause()
		time.Sleep(st.wait)
		s.sender.Resume()
		return
	case "breaker":
		if b := s.sender.Breaker(); b != nil {
			b.Disable()
			time.Sleep(st.wait)
			b.Enable()
		}
		return
	case "limits":
		s.setLimits(st.limits)
		return
	}
	s.mu.Lock()
	mine := make([]*record, len(st.actions))
	for i, a := range st.actions {
		mine[i] = a.Tag.(*record)
		mine[i].added = 1
		if st.kind == "deleteKeys" {
			mine[i].added = 2
		}
	}
	s.mu.Unlock()
	var err error
	switch st.kind {
	case "add":
		err = s.sender.IndexDocuments(ctx, st.actions...)
	case "wait":
		err = s.addAndWait(ctx, st.actions, mine)
	case "try":
		err = s.sender.TryIndexDocuments(st.actions...)
	case "seq":
		err = s.sender.IndexSeq(ctx, func(yield func(models.IndexDocumentsAction[modelDoc], error) bool) {
			for _, a := range st.actions {
				if !yield(a, nil) {
					return
				}
			}
		})
	case "deleteKeys":
		var keys []string
		for _, a := range st.actions {
			keys = append(keys, a.Document.ID)
		}
		err = s.sender.DeleteDocumentsByKey(ctx, keys...)
	}
	accepted := len(st.actions)
	if err != nil {
		var refusal *bufferedsender.AddError
		if !errors.As(err, &refusal) {
			s.fail("%s returned %T", st.kind, err)
			return
		}
		accepted = refusal.Accepted
		switch {
		case errors.Is(err, bufferedsender.ErrClosed), errors.Is(err, context.DeadlineExceeded),
			errors.Is(err, bufferedsender.ErrDocumentTooLarge):
		case errors.Is(err, bufferedsender.ErrBufferFull) && (st.kind == "try" || s.options.DisableAutoFlush):
		case errors.Is(err, bufferedsender.ErrBufferFull) && errors.Is(err, bufferedsender.ErrCircuitOpen) && s.options.Overload == bufferedsender.OverloadFail:
		default:
			s.fail("%s was refused: %v", st.kind, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range mine {
		if r.accepted = i < accepted; !r.accepted {
			r.added = 0
		}
	}
}

func (s *schedule) setLimits(l bufferedsender.Limits) {
	s.mu.Lock()
	s.largest.MaxBatchActions = max(s.largest.MaxBatchActions, l.MaxBatchActions)
	s.largest.MaxBatchBytes = max(s.largest.MaxBatchBytes, l.MaxBatchBytes)
	s.largest.MaxBufferedActions = max(s.largest.MaxBufferedActions, l.MaxBufferedActions)
	s.largest.MaxBufferedBytes = max(s.largest.MaxBufferedBytes, l.MaxBufferedBytes)
	s.mu.Unlock()
	if _, err := s.sender.SetLimits(l); err != nil {
		s.fail("SetLimits: %v", err)
	}
}

// addAndWait returns nil or the error of adding, and checks the rest.
func (s *schedule) addAndWait(ctx context.Context, actions []models.IndexDocumentsAction[modelDoc], mine []*record) error {
	results, err := s.sender.IndexDocumentsAndWait(ctx, actions...)
	var incomplete *bufferedsender.WaitError
	if err != nil && !errors.As(err, &incomplete) {
		s.fail("IndexDocumentsAndWait returned %T", err)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed, unsettled int
	for i, result := range results {
		r := mine[i]
		switch {
		case result.Key != r.key:
			s.errorf("result %d is about %q, not %q", i, result.Key, r.key)
		case len(r.ended) == 0 && result.StatusCode == 0 && incomplete != nil:
			unsettled++
		case len(r.ended) == 0:
			s.errorf("a result %+v of an action that is not settled", result)
		case r.ended[0] == "completed":
			if !result.Succeeded && s.options.OnMergeMissing != bufferedsender.MergeMissingIgnore {
				s.errorf("a completed action has the result %+v", result)
			}
		default:
			failed++
		}
	}
	if incomplete == nil {
		if len(results) != len(actions) || failed+unsettled > 0 {
			s.errorf("no error, %d results of %d, %d failed, %d unsettled", len(results), len(actions), failed, unsettled)
		}
		return nil
	}
	// An action may end between the look of the call and the one above.
	if incomplete.Failed > failed || incomplete.Failed != len(incomplete.Errors) || incomplete.Unsettled < unsettled {
		s.errorf("%+v says %d failed and %d are unsettled; %d and %d are", incomplete, incomplete.Failed, incomplete.Unsettled, failed, unsettled)
	}
	var refusal *bufferedsender.AddError
	if errors.As(incomplete.Err, &refusal) {
		if len(results) != refusal.Accepted {
			s.errorf("%d results, %d accepted", len(results), refusal.Accepted)
		}
		return incomplete.Err
	}
	if len(results) != len(actions) {
		s.errorf("%d results of %d", len(results), len(actions))
	}
	return nil
}

// erratic is a tuning policy without sense.
type erratic int

func (e erratic) New(tuning.Bounds) tuning.Controller {
	return &erraticController{rnd: rand.New(rand.NewPCG(uint64(e), 0))}
}

type erraticController struct {
	rnd    *rand.Rand
	limits tuning.Limits
}

func (e *erraticController) Limits() tuning.Limits { return e.limits }

func (e *erraticController) Observe(tuning.Observation) tuning.Limits {
	e.limits = tuning.Limits{
		BatchActions: e.rnd.IntN(5), BatchBytes: e.rnd.IntN(500), InFlight: e.rnd.IntN(4), Interval: time.Duration(e.rnd.IntN(3)) * 50 * time.Millisecond,
	}
	return e.limits
}

func (s *schedule) flush(ctx context.Context) {
	s.mu.Lock()
	before := slices.Clone(s.records)
	before = slices.DeleteFunc(before, func(r *record) bool { return !r.accepted })
	s.mu.Unlock()
	err := s.sender.Flush(ctx)
	var failed *bufferedsender.FlushError
	var closed *bufferedsender.CloseError
	switch {
	case errors.As(err, &failed):
	case err == nil, errors.As(err, &closed):
	case errors.Is(err, context.DeadlineExceeded):
		return
	default:
		s.fail("Flush returned %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if failed != nil {
		s.reported += failed.Count
		s.unsentSeen += failed.Unsent
	}
	for _, r := range before {
		if len(r.ended) == 0 {
			s.errorf("Flush returned (%v) before action %d of key %s was settled", err, r.id, r.key)
		}
	}
}
