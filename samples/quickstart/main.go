// Command quickstart is the main job of this module in one program: it parses a tree of Go source, by default that of
// Go itself, and puts every declaration into an index through one BufferedSender; then it asks the service whether
// everything is there.
//
//	go run ./samples/quickstart              # needs nothing: the service is emulated
//	go run ./samples/quickstart -faults      # the same while the service misbehaves
//	go run ./samples/quickstart -endpoint https://NAME.search.windows.net
//
// load.go is the part that your program would have as well. report.go has the figures, and
// samples/internal/declarations turns source into documents, which samples/search finds again.
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

// config is what the flags say.
type config struct {
	*stage.Address
	root         string
	faults, json bool
	logger       *slog.Logger
}

func program(p *stage.Program) func(context.Context) error {
	p.About = `Quickstart puts every declaration of a tree of Go source, by default the standard
library and the Go tools, into an Azure AI Search index, and checks that it got
there. Without -endpoint it brings an emulated search service of its own.

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
		c.Endpoint = "" // the environment gives way to what was asked for
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

// faultScript is everything that -faults does to a run. The rules are tried in order and the first that fits is
// carried out.
func faultScript() []searchtest.Fault {
	return []searchtest.Fault{
		// A limit on the size of a request that is not documented: 413.
		{OverBytes: 250_000},
		// Out of order for a moment, and throttled with a header to obey.
		{After: 3, Every: 23, Status: 503},
		{After: 5, Every: 61, Status: 429, RetryAfter: searchtest.Duration(time.Second)},
		// Connections that break. After the second kind the documents are in the index, and only the answer that
		// says so is lost.
		{After: 7, Every: 29, Cut: searchtest.CutBeforeCommit},
		{After: 11, Every: 31, Cut: searchtest.CutAfterCommit},
		{After: 13, Every: 37, ReplyDelay: searchtest.Duration(400 * time.Millisecond)},
		// Answers with status 207 in which single documents were refused.
		{After: 1, Every: 5, Documents: []searchtest.DocumentFault{
			{Ratio: 0.01, Status: 503},
			{Ratio: 0.01, Status: 409},
			{Ratio: 0.01, Status: 422},
		}},
	}
}
