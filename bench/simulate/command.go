// Package simulate is for whoever wants to know how the sender behaves beyond one machine: a
// thousand processes that share one search service, for an hour of simulated time.
//
//	go run . simulate                              # five minutes of one core
//	go run . simulate -processes 100 -minute 10s   # ten minutes of simulated time
//	go run . simulate -policy fixed                # the same without tuning
//
// The processes have real senders, a few each, which share a real pool; there is one program,
// one bubble of testing/synctest, and so one clock, which jumps ahead when all are waiting. The
// service is a model: one queue that is served at a constant rate (service.go). So the figures
// say what the senders do to each other and to a service, and not what they cost.
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

// Command fails if something was lost. It ends the process.
var Command = cli.Command{
	Name:  "simulate",
	About: "an hour of a thousand processes that share a service, in simulated time",
	Run: func(_ context.Context, args []string, s cli.Streams) error {
		p, err := parse(args, s)
		if err != nil {
			return err
		}
		// A bubble needs a *testing.T, and Main is the way to one that is kept for programs that
		// are no tests. Its own flags are none of this program's.
		testing.Init()
		if err := flag.CommandLine.Parse(nil); err != nil {
			panic(err)
		}
		all := func(_, _ string) (bool, error) { return true, nil }
		testing.Main(all, []testing.InternalTest{{Name: "simulate", F: func(t *testing.T) { report(t, p, s.Out) }}}, nil, nil)
		return nil
	},
}

// report runs the plan and writes what it has come to. It fails if something was lost, not if a
// target was missed.
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

// parse reads the flags.
func parse(args []string, s cli.Streams) (*plan, error) {
	p := &plan{indexes: 100, settle: time.Hour}
	set := cli.Flags("simulate", s)
	set.IntVar(&p.processes, "processes", 1000, "how many")
	set.IntVar(&p.senders, "senders", 3, "of a process")
	set.Float64Var(&p.capacity, "capacity", 0, "documents a second that the service takes; 0: 3 for each process")
	set.IntVar(&p.buffered, "buffered", 300, "documents that a process buffers at the most")
	set.DurationVar(&p.flush, "flush", 5*time.Second, "AutoFlushInterval")
	set.Uint64Var(&p.seed, "seed", 1, "of when what is added; the senders draw anew each time")
	minute := set.Duration("minute", time.Minute, "how long a minute of the hour is, whole seconds")
	policy := set.String("policy", "adaptive", "adaptive or fixed")
	spacing := set.Duration("spacing", 2*time.Second, "of adaptive; 0: its default")
	set.IntVar(&p.procs, "procs", 1, "GOMAXPROCS: one is the fastest, because there is one clock")
	err := cli.Parse(set, args, func() error { return p.check(*minute, *policy, *spacing) })
	return p, err
}

// check completes what the flags say.
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
