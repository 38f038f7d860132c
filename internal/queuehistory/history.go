package queuehistory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/bufferedsender/queue/queuetest"
)

// Program configures the histories that Check records.
type Program struct {
	// Histories is the number of histories. Defaults to 50.
	Histories int
	// Adders and Holders are the numbers of goroutines. Default to 2 and 3.
	Adders, Holders int
	// Phases is how often all clients start at once, and Calls the number of calls of each client in a phase. Time
	// passes between phases, so that leases run out, and stands still within a phase. Default to 4 and 4.
	Phases, Calls int
	// Keys is the number of keys. Defaults to 4.
	Keys int
	// Seed is the seed of the first history. Defaults to a random one. It determines the calls, but not their
	// interleaving.
	Seed uint64
	// Meanwhile runs on its own goroutine during the calls of each history, until done is closed, and Check waits for
	// it: a disturbance that the server must survive. May be nil.
	Meanwhile func(t *testing.T, h *queuetest.Harness, done <-chan struct{})
	// Timeout bounds the search for an order. Defaults to 20 s.
	Timeout time.Duration
}

// Check records histories and fails at the first one that no order explains. It also fails if the search timed out for
// more than a tenth of them, and logs how many that were.
func Check(t *testing.T, b queuetest.Backend, p Program) {
	t.Helper()
	calls, undecided, err := p.find(t, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d histories of %d calls, %d undecided", cmp.Or(p.Histories, 50), calls, undecided)
	if 10*undecided > cmp.Or(p.Histories, 50) {
		t.Errorf("the search did not end for %d histories", undecided)
	}
}

// find records histories until one has no order that explains it.
func (p Program) find(t *testing.T, b queuetest.Backend) (calls, undecided int, err error) {
	p.Histories, p.Adders, p.Holders = cmp.Or(p.Histories, 50), cmp.Or(p.Adders, 2), cmp.Or(p.Holders, 3)
	p.Phases, p.Calls, p.Keys = cmp.Or(p.Phases, 4), cmp.Or(p.Calls, 4), cmp.Or(p.Keys, 4)
	p.Seed, p.Timeout = cmp.Or(p.Seed, rand.Uint64()>>32+1), cmp.Or(p.Timeout, 20*time.Second)
	for i := range p.Histories {
		seed := p.Seed + uint64(i)
		var r *recorder
		b.Run(t, queuetest.Config{}, func(t *testing.T, h *queuetest.Harness) {
			r = &recorder{h: h, sharded: b.Sharded, rand: rand.New(rand.NewPCG(seed, seed))} //nolint:gosec // it has to be found again
			r.record(t, p)
		})
		if err := errors.Join(r.errs...); err != nil {
			return calls, undecided, fmt.Errorf("history %d of seed %d: %w", i+1, seed, err)
		}
		calls += len(r.history)
		// Outside of Run: in a bubble the time-out would not advance.
		switch porcupine.CheckOperationsTimeout(model(), r.history, p.Timeout) {
		case porcupine.Illegal:
			return calls, undecided, fmt.Errorf("history %d of seed %d: no order of the calls explains the answers:\n%s", i+1, seed, r)
		case porcupine.Unknown:
			undecided++
		}
	}
	return calls, undecided, nil
}

// recorder lets goroutines make calls and records the answers.
type recorder struct {
	h       *queuetest.Harness
	sharded bool
	rand    *rand.Rand
	clock   atomic.Int64 // rises with each event, because the clock of a bubble stands still

	mu      sync.Mutex
	history []porcupine.Operation
	errs    []error
}

// record records a history.
func (r *recorder) record(t *testing.T, p Program) {
	var keys []string
	if r.h.Together != nil {
		keys = r.h.Together(p.Keys)
	} else {
		for i := range p.Keys {
			keys = append(keys, fmt.Sprint("key-", i))
		}
	}
	done := make(chan struct{})
	var beside sync.WaitGroup
	if p.Meanwhile != nil {
		beside.Go(func() { p.Meanwhile(t, r.h, done) })
	}
	var clients []client
	for range p.Adders {
		clients = append(clients, &adder{id: queue.NewID(), keys: keys})
	}
	for i := range p.Holders {
		clients = append(clients, &holder{id: queue.NewID(), name: fmt.Sprint("process ", i+1), keys: keys})
	}
	notices := &holder{id: queue.NewID(), name: "the one that ends leases"}
	for range p.Phases {
		now := r.h.Now()
		var all sync.WaitGroup
		for i, c := range clients {
			draw := rand.New(rand.NewPCG(r.rand.Uint64(), 1)) //nolint:gosec // it has to be found again
			all.Go(func() {
				for range p.Calls {
					c.call(r, i, now, draw)
				}
			})
		}
		all.Wait()
		r.h.Sleep([]time.Duration{time.Second, 5 * time.Second, 20 * time.Second}[r.rand.IntN(3)])
		// Before anything is appended, because a receipt may count differently otherwise, see DESIGN.md.
		notices.reserve(r, len(clients), r.h.Now(), 1)
	}
	close(done)
	beside.Wait()
}

// made makes and records a call.
func (r *recorder) made(client int, c *call, do func(ctx context.Context) (answer, error)) {
	began := r.clock.Add(1)
	a, err := do(context.Background())
	ended := r.clock.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: %w", c, err))
		return
	}
	r.history = append(r.history, porcupine.Operation{ClientId: client, Input: c, Call: began, Output: a, Return: ended})
}

// String returns the history: a line for each call, with the events between which it happened.
func (r *recorder) String() string {
	history := slices.Clone(r.history)
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	for i := range history {
		o := &history[i]
		fmt.Fprintf(&b, "\t%4d–%4d client %d %s: %s\n", o.Call, o.Return, o.ClientId, o.Input, o.Output.(answer).text)
	}
	return b.String()
}
