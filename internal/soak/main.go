// Command soak runs random tests for as long as you want, to find faults that an hour of CI may miss:
//
//	go run ./internal/soak                            # list the soaks
//	go run ./internal/soak sender -for 1h
//	go run ./internal/soak sender -seed 1 -rounds 20000
//
// Each round has its own seed, one more than the round before. The first failure ends the soak with exit code 1, and
// prints the seed of that round and the command that repeats it. At the end soak prints how often the rounds had each
// feature; a feature with count 0 was not tested.
//
// Without -seed the first seed is random. -rounds makes the result independent of the machine's speed, for CI.
//
// To add a soak write a file like sender.go, and add it to the table soaks.
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

// soak is a random test that can run for any time.
type soak struct {
	name  string
	about string // in one sentence
	rounds
}

// rounds is a way to run rounds.
type rounds interface {
	// run returns when no further round must begin, or one has failed. name is the name of the soak.
	run(ctx context.Context, name string, p *plan) error
}

// soaks are all soaks.
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

// command returns the exit code: 0, 1 if a round has failed, 2 for invalid arguments.
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
