// Command quickstart parses a tree of Go source (default: the source of Go itself), uploads every declaration to an
// index through one BufferedSender, and then checks that the index contains them all.
//
//	go run ./samples/quickstart              # starts its own emulated service
//	go run ./samples/quickstart -faults      # the same, with a failing service
//	go run ./samples/quickstart -endpoint https://NAME.search.windows.net
//
// load.go is the part to copy. report.go prints and checks the figures, samples/internal/declarations turns source
// into documents, and samples/search queries the same index.
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

func main() { stage.Main("quickstart", program) }

// config has the values of the flags.
type config struct {
	*stage.Address
	root         string
	faults, json bool
	logger       *slog.Logger
}

func program(p *stage.Program) func(context.Context) error {
	p.About = `Quickstart indexes every declaration of a tree of Go source (default: the standard
library and the Go tools) in Azure AI Search, and checks that the index has them
all. Without -endpoint it starts an emulated search service.

`
	c := config{Address: p.Address("azsearch-quickstart"), logger: p.Logger()}
	p.StringVar(&c.root, "root", declarations.StandardLibrary(), "parse the Go source below `DIR`")
	p.BoolVar(&c.faults, "faults", false, "let the emulator misbehave")
	p.BoolVar(&c.json, "json", false, "print the figures as one JSON object on the last line as well")
	p.Check = func() error {
		if c.faults && p.Given("endpoint") {
			return errors.New("-faults is for the emulator: it cannot be combined with -endpoint")
		}
		return nil
	}
	return func(ctx context.Context) error { return quickstart(ctx, c, p) }
}

// quickstart loads the tree, checks the index and prints the report.
func quickstart(ctx context.Context, c config, p *stage.Program) error {
	tree, err := declarations.Find(c.root)
	if err != nil {
		return err
	}
	if c.faults {
		c.Endpoint = "" // -faults needs the emulator, also if AZURE_SEARCH_ENDPOINT is set
	}
	service, err := c.Connect(&searchtest.Options{KeepChanges: -1})
	if err != nil {
		return err
	}
	defer service.Close()
	if c.faults {
		service.Faults(faultScript()...)
	}
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
	l := &loader{tree: tree}
	if l.sender, err = newSender(client, c, &l.outcomes); err != nil {
		return err
	}
	fmt.Fprintf(p.Err, "%d packages below %s go to index %s of %s\n", len(tree.Packages), c.root, c.Index, service.Name)
	began := time.Now()
	l.load(ctx)
	r := &report{Service: service.Name, Index: c.Index, Count: -1, Problems: []string{}, Seconds: time.Since(began).Seconds()}
	r.account(l, l.sender.Stats())
	if ctx.Err() == nil {
		r.verify(ctx, client, before, service.Patience(), l.samples)
	}
	if r.Failed > 0 && !c.faults {
		r.problem("%d documents failed", r.Failed)
	}
	if r.OK = len(r.Problems) == 0 && ctx.Err() == nil; r.OK {
		return r.print(p.Out, c.json)
	}
	return errors.Join(r.print(p.Out, c.json), errors.New("not everything is in the index: see the report"))
}

// faultScript returns the faults of -faults. The emulator tries the rules in order and applies the first that
// matches.
func faultScript() []searchtest.Fault {
	return []searchtest.Fault{
		// The service limits the size of a request and does not document the limit: 413.
		{OverBytes: 250_000},
		// Short unavailability, and throttling with a Retry-After header.
		{After: 3, Every: 23, Status: 503},
		{After: 5, Every: 61, Status: 429, RetryAfter: searchtest.Duration(time.Second)},
		// Broken connections. CutAfterCommit indexes the documents and loses only the reply.
		{After: 7, Every: 29, Cut: searchtest.CutBeforeCommit},
		{After: 11, Every: 31, Cut: searchtest.CutAfterCommit},
		{After: 13, Every: 37, ReplyDelay: searchtest.Duration(400 * time.Millisecond)},
		// Replies with status 207 in which single documents failed.
		{After: 1, Every: 5, Documents: []searchtest.DocumentFault{
			{Ratio: 0.01, Status: 503},
			{Ratio: 0.01, Status: 409},
			{Ratio: 0.01, Status: 422},
		}},
	}
}
