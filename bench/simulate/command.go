// Package simulate shows the behavior of many senders together: a thousand processes share one search service for an
// hour of simulated time.
//
//	go run . simulate                              # five minutes of one core
//	go run . simulate -processes 100 -minute 10s   # ten minutes of simulated time
//	go run . simulate -policy fixed                # the same without tuning
//
// Each simulated process has a few real senders that share a real pool. All run in one program in one bubble of
// testing/synctest, whose clock jumps ahead when all goroutines wait. The service is a model: one queue with a
// constant rate (service.go). So the figures show what senders do to each other and to the service, and not what they
// cost.
package simulate

import (
	"context"
	"errors"
	"flag"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
	"github.com/go-azsearch/azsearch/bench/internal/measure"
)

// Command fails if a document is lost. It ends the process.
var Command = cli.Command{
	Name:  "simulate",
	About: "an hour of a thousand processes that share a service, in simulated time",
	Run: func(_ context.Context, args []string, s cli.Streams) error {
		p, err := parse(args, s)
		if err != nil {
			return err
		}
		// A bubble needs a *testing.T, and testing.Main is the stable way to get one outside of tests. Its flags are
		// not flags of this program.
		testing.Init()
		if err := flag.CommandLine.Parse(nil); err != nil {
			panic(err)
		}
		all := func(_, _ string) (bool, error) { return true, nil }
		testing.Main(all, []testing.InternalTest{{Name: "simulate", F: func(t *testing.T) { report(t, p, s.Out) }}}, nil, nil)
		return nil
	},
}

// report runs the plan and writes the results. It fails if a document was lost, not if a target was missed.
func report(t *testing.T, p *plan, w io.Writer) {
	runtime.GOMAXPROCS(p.procs)
	var clock measure.Clock
	clock.Start()
	var o *outcome
	synctest.Test(t, func(t *testing.T) {
		var err error
		if o, err = simulate(p); err != nil {
			t.Fatal(err)
		}
	})
	o.write(w, clock.Stop())
	if o.lost() != 0 || len(o.wrong) > 0 {
		t.Fail()
	}
}

// parse parses the flags.
func parse(args []string, s cli.Streams) (*plan, error) {
	p := &plan{indexes: 100, settle: time.Hour}
	set := cli.Flags("simulate", s)
	set.IntVar(&p.processes, "processes", 1000, "how many")
	set.IntVar(&p.senders, "senders", 3, "of a process")
	set.Float64Var(&p.capacity, "capacity", 0, "documents per second that the service takes; 0: 3 per process")
	set.IntVar(&p.buffered, "buffered", 300, "maximum number of documents that a process buffers")
	set.DurationVar(&p.flush, "flush", 5*time.Second, "AutoFlushInterval")
	set.Uint64Var(&p.seed, "seed", 1, "seed of the producers; the senders' random numbers differ in each run")
	minute := set.Duration("minute", time.Minute, "how long a minute of the hour is, whole seconds")
	policy := set.String("policy", "adaptive", "adaptive or fixed")
	spacing := set.Duration("spacing", 2*time.Second, "of adaptive; 0: its default")
	set.IntVar(&p.procs, "procs", 1, "GOMAXPROCS: 1 is the fastest, because all share one clock")
	err := cli.Parse(set, args, func() error { return p.check(*minute, *policy, *spacing) })
	return p, err
}

// check completes the parsed flags and returns every error.
func (p *plan) check(minute time.Duration, policy string, spacing time.Duration) error {
	var errs []error
	var err error
	if p.policy, p.named, err = policyOf(policy, spacing); err != nil {
		errs = append(errs, err)
	}
	if p.processes < 10 || p.senders < 1 || p.senders > p.indexes || minute < time.Second || minute%time.Second != 0 || p.buffered < p.senders || p.capacity < 0 {
		errs = append(errs, errors.New("use at least 10 processes, 1 to 100 senders, a buffer of one document for each, and whole seconds"))
	}
	if p.capacity == 0 {
		p.capacity = 3 * float64(p.processes)
	}
	p.phases = hour(minute)
	return errors.Join(errs...)
}
