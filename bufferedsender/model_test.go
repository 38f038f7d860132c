package bufferedsender_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/go-azsearch/azsearch/bufferedsender"
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
// CI runs 10,000 schedules; for a soak use, for example,
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
	kind    string // add, try, seq, deleteKeys, flush, sleep
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
}

type schedule struct {
	intn    func(n int) int // draws while the schedule is made
	rnd     *rand.Rand      // draws while it runs; guarded by mu
	options bufferedsender.Options[modelDoc]
	server  *searchtest.Server
	sender  *bufferedsender.BufferedSender[modelDoc]
	callers [][]step
	closeAt time.Duration
	closeIn time.Duration // Close's deadline, 0: none
	hidden  int64         // size limit of the service

	mu          sync.Mutex
	records     []*record
	settleOrder map[string][]int // ids by key, in the order settled
	inFlight    map[string]int   // keys in requests, to find two at once
	faults      []string         // of the requests to come
	requests    int
	reported    int // failures that Flush and Close reported
	unsentSeen  int // of these, unsent ones in FlushErrors
	closeErr    error
	errors      []string
}

func (s *schedule) String() string {
	o := &s.options
	return fmt.Sprintf("%d callers, batch %d/%d, buffer %d/%d, in flight %d, auto flush %t %v, timeout %v, retry %+v, close at %v in %v, faults %q",
		len(s.callers), o.MaxBatchActions, o.MaxBatchBytes, o.MaxBufferedActions, o.MaxBufferedBytes, o.MaxInFlight, !o.DisableAutoFlush,
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
		st := step{kind: []string{"add", "add", "add", "add", "seq", "try", "deleteKeys", "flush", "sleep"}[s.intn(9)]}
		switch st.kind {
		case "sleep":
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
	end := func(r *record, key, how string, unknown bool) {
		if r == nil {
			s.errorf("%s of an action of key %q that nobody added", how, key)
			return
		}
		r.ended = append(r.ended, how)
		r.unknown = unknown
		s.settleOrder[key] = append(s.settleOrder[key], r.id)
	}
	return events.Handlers[modelDoc]{
		ActionSent: func(_ context.Context, e *events.ActionSent[modelDoc]) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if r, ok := e.Action.Tag.(*record); ok {
				r.sent++
			}
			if limit := s.options.Retry.MaxAttempts(); e.Attempt < 1 || e.Attempt > limit {
				s.errorf("attempt %d of %d", e.Attempt, limit)
			}
		},
		ActionCompleted: func(_ context.Context, e *events.ActionCompleted[modelDoc]) {
			s.mu.Lock()
			defer s.mu.Unlock()
			end(find(e.Action, e.Key), e.Key, "completed", false)
		},
		ActionFailed: func(_ context.Context, e *events.ActionFailed[modelDoc]) {
			s.mu.Lock()
			defer s.mu.Unlock()
			how := "failed"
			if errors.Is(e.Err, bufferedsender.ErrClosed) {
				how = "unsent"
			}
			end(find(e.Action, e.Key), e.Key, how, e.Unknown)
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
	if again := s.sender.Close(context.Background()); again != s.closeErr {
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
				applied, possible := st.apply(r.action)
				if r.ended[0] != "completed" || r.unknown {
					next[st] = true
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

// faultKinds are the troubles that intercept knows to make.
var faultKinds = []string{
	"408", "413", "429", "429 wait", "500", "502", "503", "504", "400", "400 named", "401", "403", "404", "409",
	"cut before", "cut after", "refused", "hang", "slow", "slow after",
	"empty", "rubbish", "truncated", "missing", "extra", "repeated", "contradicting", "shuffled", "wrong status",
	"doc 400", "doc 404", "doc 409", "doc 422", "doc 429", "doc 503", "doc 500",
}

type result struct {
	Key          string  `json:"key"`
	Status       bool    `json:"status"`
	ErrorMessage *string `json:"errorMessage"`
	StatusCode   int     `json:"statusCode"`
}

var errReset = errors.New("connection reset by peer")

// intercept plays the service in trouble, and checks each request.
func (s *schedule) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/docs/search.index") {
		return next(req)
	}
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var body struct{ Value []map[string]json.RawMessage }
	if err := json.Unmarshal(raw, &body); err != nil {
		s.fail("a request is not JSON: %v in %q", err, raw)
		return nil, err
	}
	keys := s.enter(raw, body.Value)
	defer s.leave(keys)

	s.mu.Lock()
	kind := ""
	if s.requests < len(s.faults) {
		kind = s.faults[s.requests]
	}
	s.requests++
	lucky := s.rnd.IntN(max(1, len(body.Value)))
	s.mu.Unlock()

	forward := func(value []map[string]json.RawMessage) (*http.Response, []result, error) {
		again, err := json.Marshal(map[string]any{"value": value})
		if err != nil {
			return nil, nil, err
		}
		r := req.Clone(req.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(again)), int64(len(again))
		if kind == "" {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		}
		resp, err := next(r)
		if err != nil || resp.StatusCode > 207 {
			return resp, nil, err
		}
		defer resp.Body.Close()
		var reply struct{ Value []result }
		err = json.NewDecoder(resp.Body).Decode(&reply)
		return resp, reply.Value, err
	}
	answer := func(status int, text string, headers ...string) *http.Response {
		resp := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
			Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text))}
		for i := 0; i < len(headers); i += 2 {
			resp.Header.Set(headers[i], headers[i+1])
		}
		return resp
	}
	oops := func(message string) string { return fmt.Sprintf(`{"error":{"code":"","message":%q}}`, message) }

	switch kind {
	case "408", "413", "429", "500", "502", "503", "504", "400", "401", "403", "404", "409":
		var status int
		fmt.Sscan(kind, &status)
		return answer(status, oops("model says "+kind)), nil
	case "429 wait":
		return answer(429, oops("wait"), "Retry-After", "2"), nil
	case "400 named":
		return answer(400, oops(fmt.Sprintf("The request is invalid. Details: actions : %d: bad.", lucky))), nil
	case "cut before", "refused":
		return nil, errReset
	case "hang":
		<-req.Context().Done()
		return nil, req.Context().Err()
	case "slow":
		select {
		case <-time.After(300 * time.Millisecond):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	value := body.Value
	var refusal *result
	if status, ok := strings.CutPrefix(kind, "doc "); ok {
		message := "model says " + status
		refusal = &result{Key: keys[lucky], ErrorMessage: &message}
		fmt.Sscan(status, &refusal.StatusCode)
		value = slices.Delete(slices.Clone(value), lucky, lucky+1)
	}
	var resp *http.Response
	var results []result
	if len(value) > 0 {
		resp, results, err = forward(value)
		if err != nil || resp.StatusCode > 207 {
			return resp, err
		}
	}
	if refusal != nil {
		results = slices.Insert(results, lucky, *refusal)
	}
	switch kind {
	case "cut after":
		return nil, errReset
	case "slow after":
		select {
		case <-time.After(300 * time.Millisecond):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	case "empty":
		return answer(200, ""), nil
	case "rubbish":
		return answer(200, "<html>OK</html>"), nil
	case "missing":
		results = slices.Delete(results, lucky, lucky+1)
	case "extra":
		results = append(results, result{Key: "nobody", Status: true, StatusCode: 200})
	case "repeated":
		results = append(results, results[lucky])
	case "contradicting":
		other := results[lucky]
		other.Status, other.StatusCode = !other.Status, 700-other.StatusCode
		results = append(results, other)
	case "wrong status":
		results[lucky].Status = !results[lucky].Status
	case "shuffled":
		s.mu.Lock()
		s.rnd.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
		s.mu.Unlock()
	}
	text, err := json.Marshal(map[string]any{"value": results})
	if err != nil {
		return nil, err
	}
	if kind == "truncated" {
		text = text[:len(text)/2]
	}
	status := 200
	if slices.ContainsFunc(results, func(r result) bool { return !r.Status }) {
		status = 207
	}
	return answer(status, string(text)), nil
}

// enter checks a request and notes its keys.
func (s *schedule) enter(raw []byte, value []map[string]json.RawMessage) (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(raw) > s.options.MaxBatchBytes || len(value) > s.options.MaxBatchActions || len(value) == 0 {
		s.errorf("a request has %d actions and %d bytes", len(value), len(raw))
	}
	for _, v := range value {
		var key string
		if err := json.Unmarshal(v["id"], &key); err != nil {
			s.errorf("a document has no key: %v", v)
		}
		keys = append(keys, key)
		if s.inFlight[key]++; s.inFlight[key] > 1 {
			s.errorf("two actions of key %s are in flight", key)
		}
	}
	if st := s.sender.Stats(); st.PendingActions > s.options.MaxBufferedActions || st.PendingBytes > s.options.MaxBufferedBytes {
		s.errorf("over the high-water mark: %+v", st)
	} else if st.Accepted != st.Completed+st.Failed+st.Unsent+int64(st.PendingActions) {
		s.errorf("an inconsistent snapshot: %+v", st)
	}
	return keys
}

func (s *schedule) leave(keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		s.inFlight[key]--
	}
}
