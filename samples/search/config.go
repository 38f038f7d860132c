package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/samples/internal/declarations"
)

// config is what the flags and the environment say.
type config struct {
	root     string // of the source, for the emulator
	endpoint string // "" for the emulator
	apiKey   string // "" for Entra ID
	index    string
	json     bool
	question question
}

const usage = `Search finds declarations in the index of the quickstart.

    search [flags] words…

All words must match. "exact words", prefix*, -without and this|that work as the
simple query syntax of Azure AI Search says. A misspelled word is looked for
again, as what is spelled alike. Without words it asks for them on a terminal, and
otherwise demonstrates what it can. Without -endpoint it brings an emulated search
service of its own and fills it first, which takes some seconds.

Exit code 0: the service has answered, if only that there is nothing. 1: something
went wrong. 2: the command line. 130: Ctrl-C, which on a terminal ends a query first
if one is under way.

`

// kinds are what a declaration can be.
var kinds = []string{"func", "method", "type", "const", "var"}

// parseFlags returns the configuration. What is wrong with it was not printed;
// flag.ErrHelp was answered.
func parseFlags(args []string, getenv func(string) string, stdout io.Writer) (config, error) {
	var c config
	var kind string
	set := flag.NewFlagSet("search", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&c.endpoint, "endpoint", "", "search the service at `URL`, not the emulator (default: $AZURE_SEARCH_ENDPOINT)")
	set.StringVar(&c.apiKey, "api-key", "", "query or admin `KEY` of that service (default: $AZURE_SEARCH_API_KEY; Entra ID if there is none)")
	set.StringVar(&c.index, "index", "azsearch-quickstart", "`NAME` of the index")
	set.StringVar(&c.root, "root", declarations.StandardLibrary(), "fill the emulator with the Go source below `DIR`")
	set.StringVar(&c.question.pkg, "package", "", "only what `PATH` declares, with /... at the end also what is below")
	set.StringVar(&kind, "kind", "", "only some `KINDS`: "+strings.Join(kinds, ", ")+", with commas between them")
	set.BoolVar(&c.question.all, "all", false, "also what is not exported, and tests")
	set.IntVar(&c.question.top, "top", 10, fmt.Sprintf("show `N` results a page, at most %d", maxTop))
	set.IntVar(&c.question.page, "page", 1, "show page `N`")
	set.BoolVar(&c.json, "json", false, "print one JSON object")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, usage)
			set.SetOutput(stdout)
			set.PrintDefaults()
		}
		return c, err
	}
	c.question.words = strings.Join(set.Args(), " ")
	c.endpoint = cmp.Or(c.endpoint, getenv("AZURE_SEARCH_ENDPOINT"))

	var err error
	var errs []error
	if c.question.kinds, err = parseKinds(kind); err != nil {
		errs = append(errs, fmt.Errorf("-kind: %w", err))
	}
	if err := c.question.check(); err != nil {
		errs = append(errs, err)
	}
	if c.json && c.question.words == "" {
		errs = append(errs, errors.New("-json needs words to search for"))
	}
	switch {
	case c.endpoint != "":
		c.apiKey = cmp.Or(c.apiKey, getenv("AZURE_SEARCH_API_KEY"))
	case c.apiKey != "":
		errs = append(errs, errors.New("-api-key is for -endpoint: the emulator has its own"))
	case c.root == "":
		errs = append(errs, errors.New("this program does not know its GOROOT: name a folder with -root"))
	}
	return c, errors.Join(errs...)
}

// parseKinds splits a list of kinds.
func parseKinds(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	split := strings.Split(list, ",")
	for _, kind := range split {
		if !slices.Contains(kinds, kind) {
			return nil, fmt.Errorf("%q is none of %s", kind, strings.Join(kinds, ", "))
		}
	}
	return split, nil
}
