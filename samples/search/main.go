// Command search is a search engine for the terminal, over the index that the
// quickstart fills: every name that the source of Go declares.
//
//	go run ./samples/search read file              # needs nothing: the service is emulated, and filled first
//	go run ./samples/search -package net/... -kind func,method timeout
//	go run ./samples/search                        # asks for words, with completion, on a terminal
//	go run ./samples/search -endpoint https://NAME.search.windows.net -api-key QUERYKEY read file
//
// The last one reads the index that "go run ./samples/quickstart -endpoint …" has
// filled. find.go is the part that your program would have as well; page.go
// shows what it finds, converse.go is the terminal.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("search", program) }

// config is what the flags and the environment say.
type config struct {
	*stage.Address

	root     string // of the source, for the emulator
	json     bool
	question question
}

func program(p *stage.Program) func(context.Context) error {
	p.About, p.Args = `Search finds declarations in the index of the quickstart.

    search [flags] words…

All words must match. "exact words", prefix*, -without and this|that work as the
simple query syntax of Azure AI Search says. A misspelled word is looked for
again, as what is spelled alike. Without words it asks for them on a terminal, and
otherwise demonstrates what it can. Without -endpoint it brings an emulated search
service of its own and fills it first, which takes some seconds.

Exit code 0: the service has answered, if only that there is nothing. 1: something
went wrong. 2: the command line. 130: Ctrl-C.

`, true
	var kind string
	c := &config{Address: p.Address("azsearch-quickstart")}
	p.StringVar(&c.root, "root", declarations.StandardLibrary(), "fill the emulator with the Go source below `DIR`")
	p.StringVar(&c.question.pkg, "package", "", "only what `PATH` declares, with /... at the end also what is below")
	p.StringVar(&kind, "kind", "", "only some `KINDS`: "+strings.Join(kinds, ", ")+", with commas between them")
	p.BoolVar(&c.question.all, "all", false, "also what is not exported, and tests")
	p.IntVar(&c.question.top, "top", 10, fmt.Sprintf("show `N` results a page, at most %d", maxTop))
	p.IntVar(&c.question.page, "page", 1, "show page `N`")
	p.BoolVar(&c.json, "json", false, "print one JSON object")
	p.Check = func() (err error) {
		c.question.words = strings.Join(p.FlagSet.Args(), " ")
		if c.question.kinds, err = parseKinds(kind); err != nil {
			err = fmt.Errorf("-kind: %w", err)
		}
		err = errors.Join(err, c.question.check())
		if c.json && c.question.words == "" {
			err = errors.Join(err, errors.New("-json needs words to search for"))
		}
		if c.root == "" {
			err = errors.Join(err, errors.New("this program does not know its GOROOT: name a folder with -root"))
		}
		return err
	}
	return func(ctx context.Context) error {
		client, service, err := connect(ctx, c, p.Err)
		if err != nil {
			return err
		}
		defer service.Close()
		err = answerAll(ctx, c, client, p.In, p.Out, os.Getenv("NO_COLOR") == "")
		if errors.Is(err, search.ErrIndexNotFound) {
			return fmt.Errorf("there is no index %s at %s; fill it: go run ./samples/quickstart -endpoint %s -index %s", c.Index, c.Endpoint, c.Endpoint, c.Index)
		}
		return err
	}
}

// kinds are what a declaration can be.
var kinds = []string{"func", "method", "type", "const", "var"}

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

// connect returns a client for the index, of the service or of an emulator that
// it fills first. A query key, or the role "Search Index Data Reader", is enough
// for the service.
func connect(ctx context.Context, c *config, stderr io.Writer) (*search.Client, *stage.Service, error) {
	service, err := c.Connect(&searchtest.Options{KeepChanges: -1})
	if err != nil {
		return nil, nil, err
	}
	if service.Emulator == nil {
		client, err := service.Indexes.Client(c.Index)
		return client, service, err
	}
	began := time.Now()
	n, err := fill(ctx, service, c.root, c.Index)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("filling the emulator: %w", err), service.Close())
	}
	fmt.Fprintf(stderr, "%s declarations below %s are in an emulated index, after %.1f s\n", humanize.Comma(int64(n)), c.root, time.Since(began).Seconds())
	client, err := search.NewClientWithKey(service.Emulator.URL(), c.Index, azcore.NewKeyCredential(searchtest.QueryKey), stage.Inside(service.Emulator))
	return client, service, err
}

// fill does what the quickstart does, which also shows how it goes and checks
// that all is there.
func fill(ctx context.Context, service *stage.Service, root, index string) (int, error) {
	tree, err := declarations.Find(root)
	if err != nil {
		return 0, err
	}
	definition, err := declarations.Index(index)
	if err != nil {
		return 0, err
	}
	client, err := service.Open(ctx, definition)
	if err != nil {
		return 0, err
	}
	sender, err := bufferedsender.New[declarations.Declaration](client, nil)
	if err != nil {
		return 0, err
	}
	closing, cancel := stage.Soon(ctx)
	defer cancel()
	n := 0
	for _, folder := range tree.Packages {
		found := folder.Parse().Declarations
		if err := sender.UploadDocuments(ctx, found...); err != nil {
			return 0, errors.Join(err, sender.Close(closing))
		}
		n += len(found)
	}
	return n, sender.Close(closing)
}

// answerAll answers the question on the command line, those that somebody types,
// or, without a terminal, a few of its own.
func answerAll(ctx context.Context, c *config, client *search.Client, stdin io.Reader, stdout io.Writer, mayColor bool) error {
	out := &page{w: stdout, color: mayColor && stage.IsTerminal(stdout)}
	if c.question.words == "" && stage.IsTerminal(stdin) && stage.IsTerminal(stdout) {
		return converse(ctx, client, c.question, stdin, out)
	}
	buffered := bufio.NewWriter(stdout) // which remembers if the disk is full
	out.w = buffered
	return errors.Join(answerOnce(ctx, c, client, out), buffered.Flush())
}

// answerOnce answers the question on the command line, or those of the
// demonstration.
func answerOnce(ctx context.Context, c *config, client *search.Client, out *page) error {
	if c.question.words == "" {
		return demonstrate(ctx, client, c.question, out)
	}
	a, err := find(ctx, client, c.question)
	if err != nil {
		return err
	}
	if c.json {
		return out.printJSON(a)
	}
	out.print(a)
	return nil
}

// demonstrate asks a few questions, for those who look without a terminal.
func demonstrate(ctx context.Context, client *search.Client, like question, out *page) error {
	like.top, like.page = 3, 1
	for _, d := range []struct {
		command string
		change  func(*question)
	}{
		{"search read file", func(q *question) { q.words = "read file" }},
		{"search -package net/... -kind method timeout", func(q *question) { q.words, q.pkg, q.kinds = "timeout", "net/...", []string{"method"} }},
		{`search -kind type '"deadline exceeded" | cancel*'`, func(q *question) { q.words, q.kinds = `"deadline exceeded" | cancel*`, []string{"type"} }},
		{"search unmarshl", func(q *question) { q.words = "unmarshl" }},
	} {
		q := like
		d.change(&q)
		fmt.Fprintf(out.w, "$ %s\n", d.command)
		a, err := find(ctx, client, q)
		if err != nil {
			return err
		}
		out.print(a)
		fmt.Fprintln(out.w)
	}
	q := like
	q.words = "newre"
	fmt.Fprintln(out.w, "search> newre and the Tab key")
	return out.printCompletions(q.complete(ctx, client))
}
