package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/table"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func newSearchCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "search",
		Usage:     "query an index by text, filter and vector, with facets",
		ArgsUsage: "INDEX [TEXT]",
		Description: `Without TEXT every document matches. TEXT and -vector together are a hybrid query.

   azsearch search hotels 'wifi pool' -filter 'stars ge 4' -select name,stars -top 20
   azsearch search hotels -facet tags,count:20 -facet stars,interval:1 -top 0
   azsearch search hotels 'quiet rooms' -vector query.json -o jsonl | jq .name`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "filter", Usage: "return only documents that match the OData `EXPRESSION`"},
			selectFlag(),
			&cli.StringSliceFlag{Name: "order", Usage: "order by `FIELD`, \"FIELD desc\" or an expression; repeat for a second order"},
			&cli.IntFlag{Name: "top", Usage: "print at most `N` documents", Value: 10},
			&cli.StringSliceFlag{Name: "facet", Usage: "count documents by the values of `FIELD`; options follow, as in tags,count:20; repeat for more fields"},
			&cli.StringFlag{Name: "vector", Usage: "search for the vector in `FILE`, a JSON array of numbers; - is the standard input"},
			&cli.StringFlag{Name: "vector-field", Usage: "search for the vector in `FIELD`; by default the only vector field of the index"},
			outputFlag(asTable),
			&cli.BoolFlag{Name: "json", Usage: "print JSON, as with -o json"},
		},
	}, 1, 2, runSearch)
}

func runSearch(ctx context.Context, c *serviceCall) error {
	o, err := c.output()
	if err := errors.Join(err, c.between("top", 0, math.MaxInt32)); err != nil {
		return err
	}
	text := ""
	if len(c.args) == 2 {
		text = c.args[1]
	}
	opts := &search.SearchOptions{
		Filter: search.RawFilter(c.String("filter")), OrderBy: c.StringSlice("order"), Select: c.list("select"),
		Top: new(c.Int("top")), IncludeTotalCount: true,
	}
	for _, f := range c.StringSlice("facet") {
		opts.Facets = append(opts.Facets, search.RawFacet(f))
	}
	if path := c.String("vector"); path != "" {
		query, err := c.vector(ctx, path)
		if err != nil {
			return err
		}
		opts.VectorQueries = []search.VectorQuery{query}
	} else if c.IsSet("vector-field") {
		return errors.New("-vector-field needs -vector FILE")
	}
	client, err := c.service.Client(c.args[0])
	if err != nil {
		return err
	}
	pager := search.NewSearchPager[json.RawMessage](client, text, opts)
	var all models.SearchDocumentsResult[json.RawMessage]
	for first := true; first || pager.More(); first = false {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return answered(err)
		}
		if o == asLines {
			for _, r := range page.Results {
				if err := c.print(r.Document, false); err != nil {
					return err
				}
			}
			continue
		}
		if first {
			all = page
			continue
		}
		all.Results = append(all.Results, page.Results...)
	}
	switch o {
	case asJSON:
		all.NextLink, all.NextPageParameters = "", nil
		return c.print(all, true)
	case asTable:
		return c.results(&all, text != "" || opts.VectorQueries != nil)
	}
	return nil
}

// vector returns a query for the vector in a file, or on stdin for "-". The field is that of -vector-field, or the
// only vector field of the index; it is an error if there is not exactly one.
func (c *serviceCall) vector(ctx context.Context, path string) (q search.VectorQuery, err error) {
	read := func() ([]byte, error) { return os.ReadFile(path) }
	if path == "-" {
		in := source.Released(ctx, os.Stdin)
		defer in.Close()
		read = func() ([]byte, error) { return io.ReadAll(in) }
	}
	content, err := read()
	if err != nil {
		return q, fmt.Errorf("-vector: %w", err)
	}
	var elements []float32
	if err := json.Unmarshal(content, &elements); err != nil || len(elements) == 0 {
		return q, fmt.Errorf("-vector %s: want a JSON array of numbers such as [0.25,-1]", path)
	}
	q = search.VectorQuery{Vector: models.VectorOf(elements), Fields: []string{c.String("vector-field")}, K: max(c.Int("top"), 1)}
	if q.Fields[0] != "" {
		return q, nil
	}
	index, err := c.service.GetIndex(ctx, c.args[0], nil)
	if err != nil {
		return q, answered(fmt.Errorf("finding the vector field: %w", err))
	}
	q.Fields = nil
	for _, f := range index.Fields {
		if f.Type.IsVector() {
			q.Fields = append(q.Fields, f.Name)
		}
	}
	if len(q.Fields) != 1 {
		return q, fmt.Errorf("index %q has %s (%s): choose one with -vector-field", c.args[0], amount.Of(len(q.Fields), "vector field"), strings.Join(q.Fields, ", "))
	}
	return q, nil
}

// results prints all results as text: a table of documents, the facets, and a line with counts and scores.
func (c *serviceCall) results(all *models.SearchDocumentsResult[json.RawMessage], scored bool) error {
	documents := make([]json.RawMessage, len(all.Results))
	for i, r := range all.Results {
		documents[i] = r.Document
	}
	if err := c.table(documents); err != nil {
		return err
	}
	if len(all.Facets) > 0 {
		t := table.New(c.stdout)
		for _, field := range slices.Sorted(maps.Keys(all.Facets)) {
			for _, bucket := range all.Facets[field] {
				count := ""
				if bucket.Count != nil {
					count = humanize.Comma(*bucket.Count)
				}
				t.Row(field, bucketName(bucket), count)
				field = ""
			}
		}
		if err := t.Flush(); err != nil {
			return failed(err)
		}
	}
	line := amount.Of(len(documents), "document")
	if all.Count != nil {
		line = fmt.Sprintf("%d of %s", len(documents), amount.Of(*all.Count, "document"))
	}
	if scored && len(all.Results) > 0 {
		line += fmt.Sprintf(", scores %.3g to %.3g", all.Results[0].Score, all.Results[len(all.Results)-1].Score)
	}
	if all.Partial() {
		line += " (incomplete result, according to the service)"
	}
	return c.say("%s", line)
}

func bucketName(b models.FacetResult) string {
	switch {
	case !b.From.IsZero() || !b.To.IsZero():
		return strings.TrimSpace(b.From.String() + " to " + b.To.String())
	case b.Value.IsZero():
		return "(all)"
	}
	return b.Value.String()
}
