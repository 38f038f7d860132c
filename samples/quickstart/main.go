// Command quickstart is the main job of this module in one program: it parses
// a tree of Go source, by default that of Go itself, and puts every declaration
// into an index through one BufferedSender; then it asks the service whether
// everything is there.
//
//	go run ./samples/quickstart              # needs nothing: the service is emulated
//	go run ./samples/quickstart -faults      # the same while the service misbehaves
//	go run ./samples/quickstart -endpoint https://NAME.search.windows.net
//
// load.go is the part that your program would have as well. report.go has the
// figures, and samples/internal/declarations turns source into documents, which
// samples/search finds again.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// countPatience is how long the service may take to show what it has accepted.
const countPatience = 60 * time.Second

func main() { stage.Main("quickstart", program) }

// config is what the flags say.
type config struct {
	*stage.Address
	root         string
	faults, json bool
	inFlight     int
	closeTimeout time.Duration
	logger       *slog.Logger
}

func program(p *stage.Program) func(context.Context) error {
	p.About = `Quickstart puts every declaration of a tree of Go source, by default the standard
library and the Go tools, into an Azure AI Search index, and checks that it got
there. Without -endpoint it brings an emulated search service of its own.

Exit code 0: everything is accounted for. 1: something is not, or went wrong, or
(without -faults) a document failed. 2: the command line. 130: Ctrl-C.

`
	c := config{Address: p.Address("azsearch-quickstart"), logger: p.Logger()}
	p.StringVar(&c.root, "root", declarations.StandardLibrary(), "parse the Go source below `DIR`")
	p.BoolVar(&c.faults, "faults", false, "let the emulator misbehave")
	p.BoolVar(&c.json, "json", false, "print the figures as one JSON object on the last line as well")
	p.IntVar(&c.inFlight, "in-flight", 2, "have up to `N` requests under way at once")
	timeout := p.Positive("close-timeout", 10*time.Second, "after Ctrl-C, send for at most this `DURATION`")
	p.Check = func() (err error) {
		c.closeTimeout = *timeout
		if c.root == "" {
			err = errors.Join(err, errors.New("this program does not know its GOROOT: name a folder with -root"))
		}
		if c.inFlight < 1 {
			err = errors.Join(err, fmt.Errorf("-in-flight %d: at least one request must be possible", c.inFlight))
		}
		if c.faults && p.Given("endpoint") {
			err = errors.Join(err, errors.New("-faults is for the emulator: it cannot be combined with -endpoint"))
		}
		return err
	}
	return func(ctx context.Context) error {
		if c.faults {
			c.Endpoint = "" // the environment gives way to what was asked for
		}
		tree, err := declarations.Find(c.root)
		if err == nil && len(tree.Packages) == 0 {
			err = fmt.Errorf("there is no Go source in %s", c.root)
		}
		if err != nil {
			return p.UsageError(fmt.Errorf("-root: %w", err))
		}
		// The emulator's records of requests are for the report on faults. What happened to each of some hundred
		// thousand keys is not asked for.
		service, err := c.Connect(&searchtest.Options{KeepRequests: 10_000, KeepChanges: -1})
		if err != nil {
			return p.UsageError(err)
		}
		defer service.Close()
		if c.faults {
			service.Name += ", misbehaving"
			service.Emulator.SetFaults(faultScript())
		}
		return quickstart(ctx, c, service, tree, p)
	}
}

// quickstart loads the tree, checks the index and prints the report.
func quickstart(ctx context.Context, c config, service *stage.Service, tree declarations.Tree, p *stage.Program) error {
	definition, err := declarations.Index(c.Index)
	if err != nil {
		return err
	}
	client, err := service.Open(ctx, definition)
	if err != nil {
		return err
	}
	before, err := client.DocumentCount(ctx, nil)
	if err != nil {
		return fmt.Errorf("counting documents: %w", err)
	}
	met := newSurvived()
	l := &loader{tree: tree}
	if l.sender, err = newSender(met.through(client), c, &l.outcomes, met); err != nil {
		return err
	}
	fmt.Fprintf(p.Err, "%d packages below %s go to index %s of %s\n", len(tree.Packages), c.root, c.Index, service.Name)
	stopProgress := stage.Progress(p.Err, l.progress)
	began := time.Now()
	l.load(ctx, c.closeTimeout, func() {
		stopProgress() // one writer at a time
		fmt.Fprintf(p.Err, "\ninterrupted: sending what was accepted for at most %v more; again to stop at once\n", c.closeTimeout)
	})
	stopProgress()

	r := &report{Service: service.Name, Index: c.Index, Count: -1, Problems: []string{}, Seconds: time.Since(began).Seconds()}
	r.Interrupted = ctx.Err() != nil
	r.parsed(l)
	r.account(l.sender.Stats(), &l.outcomes, l.accepted.Load())
	if service.Emulator != nil {
		met.emulatorSaw(service.Emulator.Requests())
	}
	r.RequestFaults, r.DocumentFaults = met.requests, met.documents
	if !r.Interrupted {
		patience := countPatience
		if service.Emulator != nil {
			patience = 0 // it counts at once
		}
		r.verify(ctx, client, before, patience, l.samples)
	}
	if r.Failed > 0 && !c.faults {
		r.problem("%d documents failed", r.Failed)
	}
	r.OK = len(r.Problems) == 0 && !r.Interrupted
	if err := r.print(p.Out, c.json); err != nil {
		return err
	}
	switch {
	case r.OK:
		return nil
	case r.Interrupted && len(r.Problems) == 0:
		return stage.Exit(stage.ExitInterrupted)
	}
	return stage.Exit(stage.ExitProblem)
}

// slowReply is how long a slow reply of the script takes.
const slowReply = 400 * time.Millisecond

// faultScript is everything that -faults does to a run. The rules are tried in
// order and the first that fits is carried out.
func faultScript() *searchtest.Faults {
	batches := func(f searchtest.Fault) searchtest.Fault {
		f.Operation = searchtest.OpIndexDocuments
		return f
	}
	return &searchtest.Faults{
		Seed: 1,
		Rules: []searchtest.Fault{
			// A limit on the size of a request that is not documented: 413.
			batches(searchtest.Fault{OverBytes: 250_000}),
			// Out of order for a moment, and throttled with a header to obey.
			batches(searchtest.Fault{After: 3, Every: 23, Status: 503}),
			batches(searchtest.Fault{After: 5, Every: 61, Status: 429, RetryAfter: searchtest.Duration(time.Second)}),
			// Connections that break. After the second kind the documents are in
			// the index, and only the answer that says so is lost.
			batches(searchtest.Fault{After: 7, Every: 29, Cut: searchtest.CutBeforeCommit}),
			batches(searchtest.Fault{After: 11, Every: 31, Cut: searchtest.CutAfterCommit}),
			batches(searchtest.Fault{After: 13, Every: 37, ReplyDelay: searchtest.Duration(slowReply)}),
			// Answers with status 207 in which single documents were refused.
			batches(searchtest.Fault{After: 1, Every: 5, Documents: []searchtest.DocumentFault{
				{Ratio: 0.01, Status: 503},
				{Ratio: 0.01, Status: 409},
				{Ratio: 0.01, Status: 422},
			}}),
		},
	}
}
