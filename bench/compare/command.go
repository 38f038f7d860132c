// Package compare measures the cost of the sender. It sends the same documents to a sink on loopback with the sender,
// with the bulk indexers of Elasticsearch and OpenSearch, with the official JavaScript library if it is installed,
// and with net/http alone.
//
//	go run . compare                              # five rounds
//	go run . compare -only '^ours|floor' -rounds 1
//	go run . compare -latency 0,10ms,100ms -shapes small,default,vector,html -faults
//
// Each contestant and each sink runs in its own process, so that processor time, allocations and memory are the
// contestant's alone.
package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/bench/internal/cli"
)

// Command fails if a run gives no figures.
var Command = cli.Command{
	Name:  "compare",
	About: "what a document costs with the sender, with others' bulk indexers and with nothing but net/http",
	Run: func(ctx context.Context, args []string, s cli.Streams) error {
		var c commandLine
		if err := c.parse(args, s); err != nil {
			return err
		}
		return c.compare(ctx, s.Out, s.Err)
	},
	Tasks: map[string]cli.Task{"task": cli.TaskOf(executeTask)},
}

// commandLine has the values of the flags.
type commandLine struct {
	documents  int
	rounds     int
	latencies  []time.Duration
	shapes     []shape
	faults     bool
	only       *regexp.Regexp
	json       bool
	javaScript string
	profile    string
	timeout    time.Duration
	batchBytes int
}

func (c *commandLine) parse(args []string, s cli.Streams) error {
	c.batchBytes = 1_000_000
	set := cli.Flags("compare", s)
	set.IntVar(&c.documents, "docs", 300_000, "`documents` of the default shape to send; other shapes send the same number of bytes")
	set.IntVar(&c.rounds, "rounds", 5, "`rounds`; each contestant runs once per round")
	latencies := set.String("latency", "0", "how long a request takes at least: `durations`, separated by commas, one table each")
	names := set.String("shapes", defaultShape, "`shapes` of the documents, separated by commas, one table each: small, default, vector, html")
	set.BoolVar(&c.faults, "faults", false, "also count documents lost to faults; up to four minutes more")
	only := set.String("only", "", "run only contestants that match this `regexp`")
	set.BoolVar(&c.json, "json", false, "write JSON, with every round, instead of tables")
	set.StringVar(&c.javaScript, "js", ".", "`folder` in which @azure/search-documents is installed with npm")
	set.StringVar(&c.profile, "profile", "", "write a CPU and an allocation profile of each contestant's last round to this `folder`; the figures then include the profiling")
	set.DurationVar(&c.timeout, "timeout", 10*time.Minute, "of one run")
	return cli.Parse(set, args, func() error { return c.check(*latencies, *names, *only) })
}

// check completes the parsed flags and returns every error.
func (c *commandLine) check(latencies, names, only string) error {
	var errs []error
	if c.documents < 1 || c.documents > 10_000_000 {
		errs = append(errs, fmt.Errorf("-docs %d: use a number from 1 to 10,000,000", c.documents))
	}
	if c.rounds < 1 {
		errs = append(errs, fmt.Errorf("-rounds %d: use at least 1", c.rounds))
	}
	for text := range strings.SplitSeq(latencies, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < 0 {
			errs = append(errs, fmt.Errorf("-latency %s: use durations such as 0,10ms", text))
		}
		c.latencies = append(c.latencies, d)
	}
	for name := range strings.SplitSeq(names, ",") {
		s, err := shapeNamed(strings.TrimSpace(name))
		if err != nil {
			errs = append(errs, fmt.Errorf("-shapes: %w", err))
		}
		c.shapes = append(c.shapes, s)
	}
	var err error
	if c.only, err = regexp.Compile(only); err != nil {
		errs = append(errs, fmt.Errorf("-only: %w", err))
	}
	if c.profile != "" {
		if err := os.MkdirAll(c.profile, 0o755); err != nil {
			errs = append(errs, fmt.Errorf("-profile: %w", err))
		}
	}
	return errors.Join(errs...)
}

// chosen returns the contestants that match -only.
func (c *commandLine) chosen(withJavaScript bool) []contestant {
	var chosen []contestant
	for _, who := range contestants {
		if c.only.MatchString(who.name) && (who.family != javaScript || withJavaScript) {
			chosen = append(chosen, who)
		}
	}
	return chosen
}
