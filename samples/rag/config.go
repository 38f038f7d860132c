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
	"github.com/go-azsearch/azsearch/search"
)

// config is what the flags and the environment say.
type config struct {
	root     string
	packages []string
	endpoint string // "" for the emulator
	apiKey   string // "" for Entra ID
	index    string
	ingest   bool

	question  string // "" for the story
	inPackage string // "" for all
	kind      string // "" for all
	top       int
}

const usage = `Rag puts the documentation of Go packages into an Azure AI Search index, passage by
passage and with vectors, and finds the passages that answer a question. Without
-q it tells its whole story, and measures how often it finds what it should.
Without -endpoint it brings an emulated search service of its own.

Exit code 0: all went well. 1: something went wrong, or too little was found. 2:
the command line. 130: Ctrl-C.

`

// maxTop is how many results the service gives at once.
const maxTop = 1000

const defaultPackages = "bufio,bytes,context,encoding/csv,encoding/json,errors,flag,fmt,io,io/fs,log/slog,maps,math/rand/v2,net/http,net/url," +
	"os,os/exec,os/signal,path,path/filepath,regexp,slices,sort,strconv,strings,sync,sync/atomic,text/template,time,unicode/utf8"

// parseFlags returns the configuration. What is wrong with it was not printed;
// flag.ErrHelp was answered.
func parseFlags(args []string, getenv func(string) string, stdout io.Writer) (config, error) {
	var c config
	var packages string
	set := flag.NewFlagSet("rag", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&c.root, "root", declarations.StandardLibrary(), "read packages below `DIR`")
	set.StringVar(&packages, "packages", defaultPackages, "the `FOLDERS` of the packages, with commas between them")
	set.StringVar(&c.endpoint, "endpoint", "", "use the service at `URL`, not the emulator (default: $AZURE_SEARCH_ENDPOINT)")
	set.StringVar(&c.apiKey, "api-key", "", "admin `KEY` of that service (default: $AZURE_SEARCH_API_KEY; Entra ID if there is none)")
	set.StringVar(&c.index, "index", "azsearch-rag", "`NAME` of the index; it is created if it does not exist")
	set.BoolVar(&c.ingest, "ingest", true, "read the packages first; -ingest=false asks an index that is filled")
	set.StringVar(&c.question, "q", "", "find passages for this `QUESTION`")
	set.StringVar(&c.inPackage, "package", "", "with -q: only passages from the package `PATH`")
	set.StringVar(&c.kind, "kind", "", "with -q: only passages about a `KIND`: package, func, method, type, const or var")
	set.IntVar(&c.top, "top", 5, "with -q: find `N` passages")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, usage)
			set.SetOutput(stdout)
			set.PrintDefaults()
		}
		return c, err
	}
	c.packages = strings.FieldsFunc(packages, func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(c.packages)
	c.packages = slices.Compact(c.packages) // twice would be too many to be counted
	c.endpoint = cmp.Or(c.endpoint, getenv("AZURE_SEARCH_ENDPOINT"))

	var errs []error
	if set.NArg() > 0 {
		errs = append(errs, fmt.Errorf("unknown argument %q", set.Arg(0)))
	}
	if c.root == "" {
		errs = append(errs, errors.New("this program does not know its GOROOT: name a folder with -root"))
	}
	if len(c.packages) == 0 {
		errs = append(errs, errors.New("-packages names none"))
	}
	if c.top < 1 || c.top > maxTop {
		errs = append(errs, fmt.Errorf("-top %d: the service gives 1 to %d passages", c.top, maxTop))
	}
	if c.question == "" && (c.inPackage != "" || c.kind != "") {
		errs = append(errs, errors.New("-package and -kind are for -q"))
	}
	if !c.ingest && (c.question == "" || c.endpoint == "") {
		errs = append(errs, errors.New("-ingest=false is for -q and -endpoint: there must be something to ask"))
	}
	switch {
	case c.endpoint != "":
		c.apiKey = cmp.Or(c.apiKey, getenv("AZURE_SEARCH_API_KEY"))
	case c.apiKey != "":
		errs = append(errs, errors.New("-api-key is for -endpoint: the emulator has its own"))
	}
	return c, errors.Join(errs...)
}

// filter is the condition on passages for -q.
func (c config) filter() search.Filter {
	var filter search.Filter
	if c.inPackage != "" {
		filter = search.And(filter, search.Eq("package", c.inPackage))
	}
	if c.kind != "" {
		filter = search.And(filter, search.Eq("kind", c.kind))
	}
	return filter
}
