package faults

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bench/internal/measure"
	"github.com/go-azsearch/azsearch/bench/internal/slow"
	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// addTogether is the number of actions in one adding call.
const addTogether = 25

// memoryAllowance is the memory that a sender may use above its high-water mark, in bytes.
const memoryAllowance = 64_000_000

// result is one line of the table.
type result struct {
	Row  string `json:"row"`
	What string `json:"what"`
	tally

	Requests    int64          `json:"requests"`
	MemoryBytes int64          `json:"memoryBytes"` // peak of live memory above the baseline
	MemoryLimit int64          `json:"memoryLimit"`
	PeakRSS     int64          `json:"peakRSS,omitempty"` // of the whole process, with harness and garbage
	Recovered   *float64       `json:"recoveredSeconds,omitempty"`
	Drained     *float64       `json:"drainedSeconds,omitempty"`
	Seconds     float64        `json:"seconds"`
	Met         map[string]int `json:"met"`
	Failures    map[string]int `json:"failures,omitempty"`
	Examples    []string       `json:"examples,omitempty"`
	Problems    []string       `json:"problems,omitempty"` // why the row does not hold
}

func (r *result) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// run is a running row.
type run struct {
	row
	setting    setting
	service    *remote
	plan       *plan
	ledger     *ledger
	credential *azcore.KeyCredential
	sender     *bufferedsender.BufferedSender[document]
	letters    *letters // nil if the row has none
	started    time.Time

	mu       sync.Mutex // guards the fields below
	faultEnd time.Time  // zero before that
	problems []string
	blocked  int // maximum number of producers waiting at once
}

// execute runs a row against a new service. around, if not nil, wraps the client: tests use it to falsify calls.
func (r row) execute(ctx context.Context, s setting, service *remote, around func(bufferedsender.Indexer) bufferedsender.Indexer) (*result, error) {
	p := newPlan(r.shape)
	x := &run{row: r, setting: s, service: service, plan: p, ledger: newLedger(p), credential: azcore.NewKeyCredential(firstKey)}
	client, err := search.NewClientWithKey(service.Service, indexName, x.credential, nil)
	if err != nil {
		return nil, err
	}
	var indexer bufferedsender.Indexer = client
	if around != nil {
		indexer = around(client)
	}
	opts, err := s.options()
	if err != nil {
		return nil, err
	}
	if r.options != nil {
		r.options(opts)
	}
	opts.Handlers = x.ledger.handlers()
	if r.queued {
		closeQueue, err := giveQueue(opts)
		if err != nil {
			return nil, err
		}
		defer closeQueue()
	}
	if r.letters {
		x.letters = &letters{byKey: map[string]int{}}
		opts.DeadLetters = x.letters
	}
	watch := newWatch()
	var others *block
	if r.beside != nil {
		x.sender, others, err = moveIn(&r, s, indexer, opts)
	} else {
		x.sender, err = bufferedsender.New(indexer, opts)
	}
	if err != nil {
		return nil, err
	}
	x.started = time.Now()
	stopWatching := watch.start(x)
	stopPhases := x.runPhases(ctx)
	closing := x.closeEarly(ctx)
	x.produce(ctx)
	end := x.finish(ctx, closing)
	took := time.Since(x.started)
	stopPhases()
	stopWatching()
	neighboursMet := others.moveOut()

	testimony, err := service.testimony(ctx)
	if err != nil {
		return nil, err
	}
	c := check(p, x.ledger, testimony, end, r.mayFail)
	c.letters(x.letters)
	res := &result{
		Row: r.name, What: r.what, tally: c.tally,
		Requests: end.stats.Requests, MemoryBytes: watch.meter.above(), MemoryLimit: highWater(opts) + memoryAllowance, PeakRSS: measure.PeakRSS(),
		Seconds: took.Seconds(), Met: c.met, Failures: x.ledger.failures, Examples: x.ledger.examples, Problems: x.problems,
	}
	maps.Copy(res.Met, x.ledger.met)
	maps.Copy(res.Met, neighboursMet)
	for _, req := range testimony.Requests {
		res.Met["fault"] += btoi(req.Fault)
	}
	res.Met["producers blocked"], res.Met["unsent"], res.Met["not accepted"] = x.blocked, c.Unsent, len(p.actions)-c.Accepted
	x.measureRecovery(res, testimony, watch)
	x.judge(res)
	maps.DeleteFunc(res.Met, func(_ string, n int) bool { return n == 0 })
	return res, nil
}

// giveQueue gives the sender a file queue in its own folder.
func giveQueue(o *bufferedsender.Options[document]) (end func(), err error) {
	dir, err := os.MkdirTemp("", "faults-queue-")
	if err != nil {
		return nil, err
	}
	q, err := filequeue.Open(dir, nil)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	o.Queue = q
	return func() {
		_ = q.Close() // the sender is closed by then
		_ = os.RemoveAll(dir)
	}, nil
}

// options returns the options of a user who sets only what the flags say, with -fast on a shorter scale.
func (s setting) options() (*bufferedsender.Options[document], error) {
	opts := &bufferedsender.Options[document]{Logger: slog.New(slog.DiscardHandler), Limits: bufferedsender.Limits{MaxInFlight: s.inFlight}}
	if s.adaptive {
		opts.Tuning = tuning.Adaptive(nil)
	}
	if !s.fast {
		return opts, nil
	}
	return opts, s.shorten(opts)
}

// highWater is the number of bytes that the sender promises not to exceed.
func highWater(o *bufferedsender.Options[document]) int64 {
	if o.Limits.MaxBufferedBytes > 0 {
		return o.Limits.MaxBufferedBytes
	}
	return bufferedsender.DefaultMaxBufferedBytes
}

// runPhases runs the phases at their times. stop waits for the running phase. A phase that has not begun by then is a
// problem of the row.
func (r *run) runPhases(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		for _, ph := range r.phases {
			if !sleepUntil(ctx, r.started.Add(r.setting.span(ph.at))) {
				r.problem("the row was over before %v, when its next phase begins", r.setting.span(ph.at))
				return
			}
			if err := ph.do(ctx, r); err != nil {
				r.problem("phase at %v: %v", ph.at, err)
			}
			if ph.over {
				r.mu.Lock()
				r.faultEnd = time.Now()
				r.mu.Unlock()
			}
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}

func (r *run) problem(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// produce adds the documents, each producer its own share, and returns when all are added or the sender is closed.
func (r *run) produce(ctx context.Context) {
	var group sync.WaitGroup
	for p := range producers {
		ctx := ctx
		switch {
		case r.urgent && p == 0:
			ctx = models.WithClass(ctx, models.ClassExpedited)
		case r.urgent:
			ctx = models.WithClass(ctx, models.ClassBestEffort)
		}
		group.Go(func() { r.produceOne(ctx, r.plan.first[p], r.plan.first[p+1]) })
	}
	group.Wait()
}

func (r *run) produceOne(ctx context.Context, from, to int) {
	spread, begin := r.setting.span(r.spread), r.started.Add(r.setting.span(r.idle))
	actions := make([]models.IndexDocumentsAction[document], 0, addTogether)
	for next := from; next < to; {
		due := begin.Add(time.Duration(float64(spread) * float64(next-from) / float64(to-from)))
		if !sleepUntil(ctx, due) {
			return
		}
		actions = actions[:0]
		for i := next; i < min(next+addTogether, to); i++ {
			actions = append(actions, r.plan.send(int64(i)+1))
		}
		err := r.sender.IndexDocuments(ctx, actions...)
		accepted := len(actions)
		if refused := (*bufferedsender.AddError)(nil); errors.As(err, &refused) {
			accepted = refused.Accepted
		}
		for i := range accepted {
			r.ledger.accounts[next+i].accepted = true
		}
		next += len(actions)
		switch {
		case errors.Is(err, bufferedsender.ErrClosed) && r.closeAt > 0:
			// Continue: later calls must be refused too.
		case err != nil:
			r.problem("adding was refused: %v", err)
			return
		}
	}
}

// closeEarly closes the sender at closeAt, if the row has one.
func (r *run) closeEarly(ctx context.Context) (closed <-chan error) {
	if r.closeAt == 0 {
		return nil
	}
	result := make(chan error, 1)
	go func() {
		sleepUntil(ctx, r.started.Add(r.setting.span(r.closeAt)))
		deadline := r.setting.span(r.closeIn)
		ctx, cancel := context.WithTimeout(ctx, deadline)
		defer cancel()
		began := time.Now()
		err := r.sender.Close(ctx)
		if took := time.Since(began); took > deadline+time.Second {
			r.problem("Close took %v with a deadline of %v", took.Round(time.Millisecond), deadline)
		}
		result <- err
	}()
	return result
}

// finish waits until all actions are settled and closes the sender.
func (r *run) finish(ctx context.Context, closing <-chan error) (f final) {
	var err error
	if closing == nil {
		flush, cancel := context.WithDeadline(ctx, r.started.Add(r.limit))
		if err = r.sender.Flush(flush, nil); err != nil && !errors.As(err, &f.flushErr) {
			r.problem("not everything was settled within %v: %v", r.limit, err)
		}
		cancel()
		end, cancel := context.WithTimeout(ctx, 5*time.Second)
		err = r.sender.Close(end)
		cancel()
	} else {
		err = <-closing
	}
	if err != nil && !errors.As(err, &f.closeErr) {
		r.problem("Close returned %v", err)
	}
	f.stats = r.sender.Stats()
	return f
}

// measureRecovery computes the times from the end of the fault to the next applied action, and to the settlement of
// all actions accepted before that end.
func (r *run) measureRecovery(res *result, t *testimony, w *watch) {
	end := r.faultEnd
	if r.recovery == afterLastFault {
		for _, req := range t.Requests {
			if req.Fault && req.Ended.After(end) {
				end = req.Ended
			}
		}
	}
	if r.recovery == notMeasured || end.IsZero() {
		return
	}
	since := func(t time.Time) *float64 {
		s := t.Sub(end).Seconds()
		return &s
	}
	if applied, ok := t.firstApplied(end); ok {
		res.Recovered = since(applied)
	}
	if drained, ok := w.drained(end); ok {
		res.Drained = since(drained)
	}
}

// judge adds the reasons why a row does not hold.
func (r *run) judge(res *result) {
	if res.Wrong > 0 {
		res.problem("%d wrong, the first: %s", res.Wrong, res.Errors[0])
	}
	if res.Lost > 0 {
		res.problem("%d actions failed that should not have: %v", res.Lost, res.Failures)
	}
	if res.Unsent > 0 && r.closeAt == 0 {
		res.problem("%d actions were not sent", res.Unsent)
	}
	if res.MemoryBytes > res.MemoryLimit {
		res.problem("%d MB of memory, more than the high-water mark and 64 MB, which is %d MB", res.MemoryBytes/1e6, res.MemoryLimit/1e6)
	}
	if r.recovery != notMeasured && (res.Recovered == nil || res.Drained == nil) {
		res.problem("no recovery was seen")
	}
	r.judgeCost(res)
	for _, what := range slices.Sorted(maps.Keys(r.needs)) {
		if got, want := res.Met[what], r.needs[what]; got < want {
			res.problem("the row proves nothing: %q was met %d times, it takes %d", what, got, want)
		}
	}
}

// judgeCost compares the recovery and the requests with the bounds of the row.
func (r *run) judgeCost(res *result) {
	if most := r.setting.span(r.recoverWithin).Seconds(); most > 0 && res.Recovered != nil && *res.Recovered > most {
		res.problem("recovered %.2f s after the fault, later than %.2f s", *res.Recovered, most)
	}
	if r.mostRequests > 0 && !r.setting.adaptive && res.Requests > r.mostRequests {
		res.problem("%d requests, more than %d", res.Requests, r.mostRequests)
	}
}

// sleepUntil returns true at t, false if ctx ends first.
func sleepUntil(ctx context.Context, t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return ctx.Err() == nil
	}
	return slow.Wait(ctx, d) == nil
}
