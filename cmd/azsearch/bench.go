package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/load"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/table"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/trial"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func newBenchCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:  "bench",
		Usage: "measure the best batch size and number of concurrent requests for a service",
		Description: `The command asks first, then creates an index with a random name, loads it with one setting after
another, and deletes it, also after an error or Ctrl-C. The last lines are Go code: the options for
a sender. While it runs, other programs have less of the service.

   azsearch bench
   azsearch bench -for 30s -yes
   azsearch bench -index hotels
   azsearch bench -index hotels -docs sample.jsonl -for 1m -yes -json > bench.json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "index", Usage: "use the definition of the index `NAME`, which itself is not changed; by default an index of five fields"},
			&cli.StringFlag{Name: "docs", Usage: "send the first documents of `FILE`, in any format of azsearch load; by default generated documents"},
			&cli.DurationFlag{Name: "for", Usage: "measure for at most `DURATION`", Value: 2 * time.Minute},
			&cli.BoolFlag{Name: "yes", Usage: "create the index without asking"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
	}, 0, 0, runBench)
}

func runBench(ctx context.Context, c *serviceCall) (err error) {
	if len(c.args) > 0 {
		return fmt.Errorf("unknown argument %q (see %s -help)", shown(c.args[0]), c.FullName())
	}
	if c.Duration("for") < time.Second {
		return fmt.Errorf("-for %v: at least 1s", c.Duration("for"))
	}
	window := c.Duration("for") / (trial.Runs + 1) // one window is left for creating the index and for requests still in flight
	scratch, err := c.scratch(ctx)
	if err != nil {
		return err
	}
	documents, err := c.benchDocuments(ctx, &scratch)
	if err != nil {
		return err
	}
	if !c.Bool("yes") {
		if err := c.confirm(ctx, fmt.Sprintf("create the index %s (%s) at %s, fill it for up to %v, and delete it?", scratch.Name, amount.Of(len(scratch.Fields), "field"), c.service.Endpoint(), c.Duration("for"))); err != nil {
			return err
		}
	}
	client, err := c.service.Client(scratch.Name)
	if err != nil {
		return err
	}
	_, err = c.service.CreateIndex(ctx, scratch, nil)
	var said *search.Error
	if errors.As(err, &said) && said.StatusCode < http.StatusInternalServerError {
		return answered(err)
	}
	defer func() { err = errors.Join(err, c.drop(ctx, scratch.Name)) }() // without a reply it may exist
	if err != nil {
		return answered(err)
	}
	runs, best, err := trial.Find(documents.Size, func(s trial.Setting) (trial.Run, error) {
		r, err := trial.Measure(ctx, client, documents, s, window)
		fmt.Fprintf(c.stderr, "azsearch: %s per request, %s at a time: %s documents/s\n", amount.Of(s.Batch, "document"), amount.Of(s.InFlight, "request"), humanize.Comma(int64(r.Rate)))
		return r, err
	})
	if err != nil {
		return answered(err)
	}
	return c.benchResult(runs, best, documents.Size)
}

// scratch returns the definition of the index to create: that of -index, or five fields, under a new random name.
func (c *serviceCall) scratch(ctx context.Context) (x models.SearchIndex, err error) {
	x.Fields = []models.SearchField{
		{Name: "id", Type: models.DataTypeString, Key: new(true)}, {Name: "title", Type: models.DataTypeString}, {Name: "text", Type: models.DataTypeString},
		{Name: "stars", Type: models.DataTypeInt32}, {Name: "tags", Type: models.Collection(models.DataTypeString)},
	}
	if name := c.String("index"); name != "" {
		if x, err = c.service.GetIndex(ctx, name, nil); err != nil {
			return x, answered(err)
		}
	}
	x.ETag, x.Name = "", "azsearch-bench-"+strings.ToLower(rand.Text()[:10])
	return x, nil
}

func (c *serviceCall) benchDocuments(ctx context.Context, index *models.SearchIndex) (*trial.Documents, error) {
	file := c.String("docs")
	if file == "" {
		some, err := trial.Generate(index.Fields)
		if err != nil {
			return nil, err
		}
		return trial.NewDocuments(keyField(index.Fields), some)
	}
	var some []json.RawMessage
	errEnough := errors.New("enough")
	err := c.eachDocument(ctx, index, []string{file}, nil, func(a models.RawAction) error {
		if len(some) == trial.Kept {
			return errEnough
		}
		some = append(some, append(json.RawMessage(nil), a.Document...))
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("-docs: %w", err)
	}
	return trial.NewDocuments(keyField(index.Fields), some)
}

// eachDocument calls take with each document of the files in args, or of the database with -query, as azsearch load
// would send it. columns is as for -map of load. A record that fits no document is an error.
func (c *serviceCall) eachDocument(ctx context.Context, index *models.SearchIndex, args []string, columns map[string]string, take func(models.RawAction) error) (err error) {
	files, options, err := inputs(ctx, c.Command, args)
	if err != nil {
		return err
	}
	plan, err := convert.NewPlan(index, convert.Options{Action: models.ActionTypeUpload, Map: columns})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "azsearch")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	rejects, err := load.OpenRejects(filepath.Join(dir, "rejects"), nil)
	if err != nil {
		return err
	}
	report, err := load.Run(ctx, load.Options{Files: files, Source: options, Plan: plan, Rejects: rejects, Take: take})
	closed := rejects.Close()
	if report.Rejected > 0 {
		return failed(fmt.Errorf("%s of %s cannot be in the index, such as %s; azsearch load -dry-run lists all", humanize.Comma(report.Rejected), amount.Of(report.Records, "record"), strings.Join(report.Examples, "; ")))
	}
	return errors.Join(err, closed)
}

// confirm asks a question on stderr and returns an error unless the answer on stdin is y or yes.
func (c *serviceCall) confirm(ctx context.Context, question string) error {
	fmt.Fprint(c.stderr, question+" [y/N] ")
	in := source.Released(ctx, os.Stdin)
	defer in.Close()
	line, err := bufio.NewReader(in).ReadString('\n') // the end of input counts as no
	if err != nil && ctx.Err() != nil {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was done: answer y, or use -yes")
}

// drop deletes an index, even if ctx has ended. It takes at most 30 seconds.
func (c *serviceCall) drop(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := c.service.DeleteIndex(ctx, name, nil); err != nil && !errors.Is(err, search.ErrIndexNotFound) {
		return answered(fmt.Errorf("index %s was not deleted, delete it: %w", name, err))
	}
	return nil
}

func (c *serviceCall) benchResult(runs []trial.Run, best trial.Run, size int) error {
	if c.Bool("json") {
		return c.print(struct {
			Runs         []trial.Run `json:"runs"`
			Best         trial.Run   `json:"best"`
			DocumentSize int         `json:"documentSize"`
			Options      string      `json:"options"`
		}{runs, best, size, trial.Options(best.Setting, size)}, true)
	}
	t := table.New(c.stdout)
	t.Row("", "documents per request", "concurrent requests", "documents/s", "MB/s", "median reply", "sent again")
	for _, r := range runs {
		mark := ""
		if r.Setting == best.Setting {
			mark = "→"
		}
		t.Row(mark, humanize.Comma(int64(r.Batch)), fmt.Sprint(r.InFlight), humanize.Comma(int64(r.Rate)), fmt.Sprintf("%.1f", r.Rate*float64(size)/1e6), r.Reply.String(), humanize.Comma(r.Retries))
	}
	if err := t.Flush(); err != nil {
		return failed(err)
	}
	return c.say("\n%s", trial.Options(best.Setting, size))
}

func keyField(fields []models.SearchField) string {
	for _, f := range fields {
		if f.Key != nil && *f.Key {
			return f.Name
		}
	}
	return ""
}
