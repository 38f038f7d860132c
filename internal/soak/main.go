// Command soak is for whoever wants to be surer than CI can be in an hour: it runs
// what is random by nature for as long as it is given.
//
//	go run ./internal/soak                            # what there is
//	go run ./internal/soak sender -for 1h
//	go run ./internal/soak sender -seed 1 -rounds 20000
//
// Each round has a seed of its own, the next number after that of the round before.
// The first failure ends it, with exit code 1, the seed of that round, and the
// command that runs this round again. A count of what the rounds held comes last:
// what none of them held was not tested.
//
// Without -seed it draws one; with -rounds, which is for CI, whether it succeeds
// does not depend on how fast the machine is.
//
// To add a soak write a file like sender.go, and a line into the table soaks.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/go-azsearch/azsearch/internal/queuefiles"
)

// soak is something random that can go on for ever.
type soak struct {
	name  string
	about string // in a sentence
	rounds
}

// rounds runs rounds, in the ways that there are to run one.
type rounds interface {
	// run returns when no round is to begin any more, or one has failed. name is that
	// of the soak.
	run(ctx context.Context, name string, p *plan) error
}

// soaks are all there is.
var soaks = []soak{
	sender,
	fleets,
	queue,
	files,
	kills,
	outbox,
	repairs,
	rebuilds,
	concurrent,
	faults,
	fuzz,
}

func main() {
	queuefiles.Main()
	if len(os.Args) == 3 && os.Args[1] == "worker" {
		work(os.Args[2], os.Stdin)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command returns the exit code: 0, 1 if a round has failed, 2 for a mistake in the
// arguments.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		for _, s := range soaks {
			fmt.Fprintf(stdout, "%-12s %s\n", s.name, s.about)
		}
		return 0
	}
	s := find(args[0])
	if s == nil {
		fmt.Fprintf(stderr, "soak: nothing is called %q; without arguments it lists the names\n", args[0])
		return 2
	}
	p := plan{out: stdout, began: time.Now()}
	set := flag.NewFlagSet("soak "+s.name, flag.ContinueOnError)
	set.SetOutput(stderr)
	lasts := set.Duration("for", 0, "begin no round after this `time` (default a minute, unless -rounds is given)")
	set.IntVar(&p.rounds, "rounds", 0, "`number` of rounds (default as many as there is time for)")
	set.Uint64Var(&p.seed, "seed", uint64(rand.Uint32()), "of the first `round` (default drawn)")
	set.IntVar(&p.times, "times", 1, "run each round so often: `number` of times, because goroutines do not always meet")
	switch err := set.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case set.NArg() > 0 || p.rounds < 0 || p.times < 1 || *lasts < 0:
		fmt.Fprintln(stderr, "soak: after the name come flags, whose numbers are positive")
		return 2
	}
	if *lasts == 0 && p.rounds == 0 {
		*lasts = time.Minute
	}
	if *lasts > 0 {
		p.until = p.began.Add(*lasts)
	}
	fmt.Fprintf(stdout, "%s: the first seed is %d\n", s.name, p.seed)
	if err := s.run(ctx, s.name, &p); err != nil {
		fmt.Fprintf(stderr, "soak %s: %v\n", s.name, err)
		return 1
	}
	return 0
}

func find(name string) *soak {
	i := slices.IndexFunc(soaks, func(s soak) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return &soaks[i]
}
