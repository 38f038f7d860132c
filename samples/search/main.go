// Command search queries the index that the quickstart fills: every name that the source of Go declares.
//
//	go run ./samples/search read file              # fills an emulated service first
//	go run ./samples/search -package net/... -kind func,method timeout
//	go run ./samples/search                        # some example queries
//	go run ./samples/search -endpoint https://NAME.search.windows.net -api-key QUERYKEY read file
//
// The last command reads an index that "go run ./samples/quickstart -endpoint …" has filled. find.go is the part to
// copy: filters, facets, highlights, paging, misspelled words, suggestions and completion.
package main

import (
	"context"
	"errors"
	"fmt"
	"go/doc"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/declarations"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("search", program) }

func program(p *stage.Program) func(context.Context) error {
	p.About, p.Args = `Search finds declarations in the index of the quickstart.

    search [flags] words…

All words must match. "exact words", prefix*, -without and this|that have their
meaning in the simple query syntax of Azure AI Search. If nothing matches, similar
spellings are found. Without words it runs some example queries. Without -endpoint
it first fills an emulated search service, which takes some seconds.

`, true
	at := p.Address("azsearch-quickstart")
	root := p.String("root", declarations.StandardLibrary(), "fill the emulator with the Go source below `DIR`")
	var q question
	p.StringVar(&q.pkg, "package", "", "only declarations of package `PATH`; with /... also of packages below it")
	kinds := p.String("kind", "", "only these `KINDS`, separated by commas: func, method, type, const, var")
	p.BoolVar(&q.all, "all", false, "include tests and unexported names")
	p.IntVar(&q.top, "top", 10, "show `N` results a page")
	p.IntVar(&q.page, "page", 1, "show page `N`")
	p.Check = func() error {
		q.words = strings.Join(p.FlagSet.Args(), " ")
		if *kinds != "" {
			q.kinds = strings.Split(*kinds, ",")
		}
		return q.check()
	}
	return func(ctx context.Context) error {
		service, err := at.Connect(&searchtest.Options{KeepChanges: -1})
		if err != nil {
			return err
		}
		defer service.Close()
		if service.Emulator != nil {
			if err := fill(ctx, service, *root, at.Index); err != nil {
				return fmt.Errorf("filling the emulator: %w", err)
			}
		}
		// A query key, or the role "Search Index Data Reader", is enough for the service.
		client, err := service.Indexes.Client(at.Index)
		if err != nil {
			return err
		}
		if q.words == "" {
			err = demonstrate(ctx, client, p.Out)
		} else {
			err = show(ctx, client, q, p.Out)
		}
		if errors.Is(err, search.ErrIndexNotFound) {
			return fmt.Errorf("there is no index %s at %s; fill it: go run ./samples/quickstart -endpoint %s -index %s", at.Index, at.Endpoint, at.Endpoint, at.Index)
		}
		return err
	}
}

// fill loads the index like the quickstart, without its checks.
func fill(ctx context.Context, service *stage.Service, root, index string) error {
	tree, err := declarations.Find(root)
	if err != nil {
		return err
	}
	definition, err := declarations.Index(index)
	if err != nil {
		return err
	}
	client, err := service.Open(ctx, definition)
	if err != nil {
		return err
	}
	sender, err := bufferedsender.New[declarations.Declaration](client, nil)
	if err != nil {
		return err
	}
	for _, folder := range tree.Packages {
		if err = sender.UploadDocuments(ctx, folder.Parse().Declarations...); err != nil {
			break
		}
	}
	return errors.Join(err, stage.Close(ctx, sender))
}

// demonstrate runs some example queries.
func demonstrate(ctx context.Context, client *search.Client, w io.Writer) error {
	for _, d := range []struct {
		command string
		q       question
	}{
		{"search read file", question{words: "read file"}},
		{"search -package net/... -kind method timeout", question{words: "timeout", pkg: "net/...", kinds: []string{"method"}}},
		{`search -kind type '"deadline exceeded" | cancel*'`, question{words: `"deadline exceeded" | cancel*`, kinds: []string{"type"}}},
		{"search unmarshl", question{words: "unmarshl"}},
	} {
		fmt.Fprintf(w, "$ %s\n", d.command)
		d.q.top, d.q.page = 3, 1
		if err := show(ctx, client, d.q, w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	names, err := question{words: "newre"}.complete(ctx, client)
	fmt.Fprintf(w, "newre may become: %s\n", stage.Line(strings.Join(names, ", ")))
	return err
}

// show prints the answer to a question.
func show(ctx context.Context, client *search.Client, q question, w io.Writer) error {
	a, err := find(ctx, client, q)
	if err != nil {
		return err
	}
	if a.fuzzy {
		fmt.Fprintf(w, "nothing matches %q; these are spelled alike\n", stage.Line(q.words))
	}
	if len(a.suggestions) > 0 {
		fmt.Fprintf(w, "did you mean %s?\n", stage.Line(strings.Join(a.suggestions, ", ")))
	}
	for _, r := range a.results {
		d := r.Document
		fmt.Fprintf(w, "%s\n    %s\n", stage.Line(fmt.Sprintf("%s %s %s:%d", d.Name, d.Package, d.File, d.Line)), stage.Line(d.Signature))
		text := append(slices.Clone(r.Highlights["doc"]), new(doc.Package).Synopsis(d.Doc))[0]
		if text != "" {
			fmt.Fprintf(w, "    %s\n", stage.Line(text))
		}
	}
	if len(a.results) == 0 {
		fmt.Fprintf(w, "nothing found on this page, %s in all\n", humanize.Comma(a.count))
		return nil
	}
	fmt.Fprintf(w, "%d to %d of %s\n", a.first, a.first+len(a.results)-1, humanize.Comma(a.count))
	printFacet(w, "kinds", a.kinds)
	printFacet(w, "packages", a.packages)
	return nil
}

func printFacet(w io.Writer, label string, values []models.ValueFacet[string]) {
	var counts []string
	for _, v := range values {
		counts = append(counts, v.Value+" "+humanize.Comma(v.Count))
	}
	fmt.Fprintf(w, "%-9s %s\n", label, stage.Line(strings.Join(counts, ", ")))
}
