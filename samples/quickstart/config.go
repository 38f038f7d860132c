package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/go-azsearch/azsearch/samples/internal/declarations"
)

// config is what the flags and the environment say.
type config struct {
	root         string
	endpoint     string // "" for the emulator
	apiKey       string // "" for Entra ID
	index        string
	faults       bool
	json         bool
	verbose      bool
	inFlight     int
	closeTimeout time.Duration
}

const usage = `Quickstart puts every declaration of a tree of Go source, by default the standard
library and the Go tools, into an Azure AI Search index, and checks that it got
there. Without -endpoint it brings an emulated search service of its own.

Exit code 0: everything is accounted for. 1: something is not, or went wrong, or
(without -faults) a document failed. 2: the command line. 130: Ctrl-C.

`

// parseFlags returns the configuration. What is wrong with it was not printed;
// flag.ErrHelp was answered.
func parseFlags(args []string, getenv func(string) string, stdout io.Writer) (config, error) {
	var c config
	set := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&c.root, "root", declarations.StandardLibrary(), "parse the Go source below `DIR`")
	set.StringVar(&c.endpoint, "endpoint", "", "send to the service at `URL`, not to the emulator (default: $AZURE_SEARCH_ENDPOINT)")
	set.StringVar(&c.apiKey, "api-key", "", "admin `KEY` of that service (default: $AZURE_SEARCH_API_KEY; Entra ID if there is none)")
	set.StringVar(&c.index, "index", "azsearch-quickstart", "`NAME` of the index; it is created if it does not exist")
	set.BoolVar(&c.faults, "faults", false, "let the emulator misbehave")
	set.BoolVar(&c.json, "json", false, "print the figures as one JSON object on the last line as well")
	set.BoolVar(&c.verbose, "v", false, "log what the sender logs, on stderr")
	set.IntVar(&c.inFlight, "in-flight", 2, "have up to `N` requests under way at once")
	set.DurationVar(&c.closeTimeout, "close-timeout", 10*time.Second, "after Ctrl-C, send for at most this `DURATION`")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, usage)
			set.SetOutput(stdout)
			set.PrintDefaults()
		}
		return c, err
	}

	var errs []error
	if set.NArg() > 0 {
		errs = append(errs, fmt.Errorf("unknown argument %q", set.Arg(0)))
	}
	if c.root == "" {
		errs = append(errs, errors.New("this program does not know its GOROOT: name a folder with -root"))
	}
	if c.index == "" {
		errs = append(errs, errors.New("-index must not be empty"))
	}
	if c.inFlight < 1 {
		errs = append(errs, fmt.Errorf("-in-flight %d: at least one request must be possible", c.inFlight))
	}
	if c.closeTimeout <= 0 {
		errs = append(errs, fmt.Errorf("-close-timeout %v is not positive", c.closeTimeout))
	}
	switch {
	case c.faults && c.endpoint != "":
		errs = append(errs, errors.New("-faults is for the emulator: it cannot be combined with -endpoint"))
	case c.faults:
		// The environment gives way to what was asked for.
	case c.endpoint == "":
		c.endpoint = getenv("AZURE_SEARCH_ENDPOINT")
	}
	switch {
	case c.apiKey != "" && c.endpoint == "":
		errs = append(errs, errors.New("-api-key is for -endpoint: the emulator has its own"))
	case c.apiKey == "" && c.endpoint != "":
		c.apiKey = getenv("AZURE_SEARCH_API_KEY")
	}
	return c, errors.Join(errs...)
}
