// Command rag is the retrieval half of retrieval-augmented generation: it keeps
// the documentation of Go packages in an index, in passages, and finds those that
// a language model would need to answer a question.
//
//	go run ./samples/rag                 # needs nothing: the service is emulated, and the whole story runs
//	go run ./samples/rag -q 'How do I read a file line by line?'
//	go run ./samples/rag -endpoint https://NAME.search.windows.net
//
// The story is in store.go: how passages get into the index, are replaced when
// their source changes, and are found by text and vector together. No model takes
// part: the vectors are made by embed.go, which knows how words are spelled and
// not what they mean. A program puts the embeddings of a model in its place, and
// gives the passages that it prints to another one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("rag", program) }

// config is what the flags and the environment say.
type config struct {
	*stage.Address

	root     string
	packages []string
	ingest   bool

	question  string // "" for the story
	inPackage string // "" for all
	kind      string // "" for all
	top       int
}

// maxTop is how many results the service gives at once.
const maxTop = 1000

const defaultPackages = "bufio,bytes,context,encoding/csv,encoding/json,errors,flag,fmt,io,io/fs,log/slog,maps,math/rand/v2,net/http,net/url," +
	"os,os/exec,os/signal,path,path/filepath,regexp,slices,sort,strconv,strings,sync,sync/atomic,text/template,time,unicode/utf8"

func program(p *stage.Program) func(context.Context) error {
	p.About = `Rag puts the documentation of Go packages into an Azure AI Search index, passage by
passage and with vectors, and finds the passages that answer a question. Without
-q it tells its whole story, and measures how often it finds what it should.
Without -endpoint it brings an emulated search service of its own.

Exit code 0: all went well. 1: something went wrong, or too little was found. 2:
the command line. 130: Ctrl-C.

`
	c := &config{Address: p.Address("azsearch-rag")}
	p.StringVar(&c.root, "root", declarations.StandardLibrary(), "read packages below `DIR`")
	packages := p.String("packages", defaultPackages, "the `FOLDERS` of the packages, with commas between them")
	p.BoolVar(&c.ingest, "ingest", true, "read the packages first; -ingest=false asks an index that is filled")
	p.StringVar(&c.question, "q", "", "find passages for this `QUESTION`")
	p.StringVar(&c.inPackage, "package", "", "with -q: only passages from the package `PATH`")
	p.StringVar(&c.kind, "kind", "", "with -q: only passages about a `KIND`: package, func, method, type, const or var")
	p.IntVar(&c.top, "top", 5, "with -q: find `N` passages")
	p.Check = func() error {
		c.packages = strings.FieldsFunc(*packages, func(r rune) bool { return r == ',' || r == ' ' })
		slices.Sort(c.packages)
		c.packages = slices.Compact(c.packages) // twice would be too many to be counted
		return c.check()
	}
	return func(ctx context.Context) error {
		return tell(ctx, c, p.Out)
	}
}

func (c *config) check() error {
	var errs []error
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
	if !c.ingest && (c.question == "" || c.Endpoint == "" && os.Getenv("AZURE_SEARCH_ENDPOINT") == "") {
		errs = append(errs, errors.New("-ingest=false is for -q and -endpoint: there must be something to ask"))
	}
	return errors.Join(errs...)
}

// filter is the condition on passages for -q.
func (c *config) filter() search.Filter {
	var filter search.Filter
	if c.inPackage != "" {
		filter = search.And(filter, search.Eq("package", c.inPackage))
	}
	if c.kind != "" {
		filter = search.And(filter, search.Eq("kind", c.kind))
	}
	return filter
}

// tell ingests, and answers the question that was asked or tells the story.
func tell(ctx context.Context, cfg *config, w io.Writer) (err error) {
	service, err := cfg.Connect(&searchtest.Options{KeepChanges: -1})
	if err != nil {
		return err
	}
	defer service.Close()
	s, err := openStore(ctx, service, cfg.Index, hashing{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()

	story := &story{w: w, store: s, cfg: cfg, tree: os.DirFS(cfg.root)}
	fmt.Fprintf(w, "index %s of %s; vectors of %d dimensions made by hashing, not by a model\n", cfg.Index, service.Name, dimensions)
	if cfg.ingest {
		if err := story.ingest(ctx); err != nil {
			return err
		}
	}
	if cfg.question != "" {
		return story.ask(ctx, cfg.question, cfg.filter(), cfg.top)
	}
	return story.tell(ctx)
}
