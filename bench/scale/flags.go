package scale

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

// commandLine has the values of the flags.
type commandLine struct {
	documents []int // ascending, like the next two
	producers []int
	inFlight  []int
	latencies []time.Duration
	rounds    int
	svg       string
	timeout   time.Duration
}

// The sizes with -fast.
const (
	fastDocuments = "5e3,2e4,5e4"
	fastRounds    = 1
)

// maxDocuments keeps the keys of every step distinct: a step with sixteen requests in flight sends more documents
// than -docs.
const maxDocuments = 50_000_000

func (c *commandLine) parse(args []string, s cli.Streams) error {
	set := cli.Flags("scale", s)
	documents := set.String("docs", "1e5,1e6,1e7", "how many documents to send: `numbers`, separated by commas")
	producers := set.String("producers", "1,4,16", "goroutines that add documents: `numbers`, separated by commas")
	inFlight := set.String("in-flight", "1,2,4,8,16", "requests at once: `numbers`, separated by commas")
	latencies := set.String("latency", "0,100ms", "how long a request takes at least: `durations`, separated by commas")
	set.IntVar(&c.rounds, "rounds", 5, "`rounds`; each step runs once per round")
	fast := set.Bool("fast", false, "-docs "+fastDocuments+" -rounds "+strconv.Itoa(fastRounds)+", unless these are set: a few seconds, and figures that mean little")
	set.StringVar(&c.svg, "svg", "", "draw the chart into this `file`")
	set.DurationVar(&c.timeout, "timeout", 15*time.Minute, "of one run")
	return cli.Parse(set, args, func() error {
		given := map[string]bool{}
		set.Visit(func(f *flag.Flag) { given[f.Name] = true })
		if *fast && !given["docs"] {
			*documents = fastDocuments
		}
		if *fast && !given["rounds"] {
			c.rounds = fastRounds
		}
		return c.check(*documents, *producers, *inFlight, *latencies)
	})
}

// check completes the parsed flags and returns every error.
func (c *commandLine) check(documents, producers, inFlight, latencies string) error {
	var errs []error
	for _, list := range []struct {
		flag string
		text string
		most int
		into *[]int
	}{
		{"-docs", documents, maxDocuments, &c.documents},
		{"-producers", producers, 1000, &c.producers},
		{"-in-flight", inFlight, 16, &c.inFlight},
	} {
		var err error
		if *list.into, err = numbers(list.text, list.most); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", list.flag, err))
		}
	}
	for text := range strings.SplitSeq(latencies, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < 0 {
			errs = append(errs, fmt.Errorf("-latency %s: use durations such as 0,100ms", text))
		}
		c.latencies = append(c.latencies, d)
	}
	if c.rounds < 1 {
		errs = append(errs, fmt.Errorf("-rounds %d: use at least 1", c.rounds))
	}
	return errors.Join(errs...)
}

// numbers returns the numbers of a list, sorted and without duplicates. It accepts 1e6.
func numbers(list string, most int) ([]int, error) {
	var all []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || n < 1 || n > float64(most) || n != math.Trunc(n) {
			return nil, fmt.Errorf("%q: use whole numbers from 1 to %d", text, most)
		}
		all = append(all, int(n))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
