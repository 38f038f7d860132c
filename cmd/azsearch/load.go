package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/jqfilter"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/load"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/terminal"
	"github.com/go-azsearch/azsearch/internal/disk"
	"github.com/go-azsearch/azsearch/models"
)

func newLoadCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:      "load",
		Usage:     "load files into an index; exit code 0 means every record is in it",
		ArgsUsage: "FILE...",
		Description: `FILE is JSON Lines, a JSON array, CSV or TSV, Parquet, or the rejects of an earlier load,
plain or compressed with gzip or zstd; a pattern such as 'data/*.csv.gz'; or - for the standard
input. Values are converted to the types of the index's fields. A record that does not fit, or
that the service rejects, is written to the file of rejects, which can be loaded again.

   azsearch load -index hotels hotels.jsonl
   azsearch load -index hotels -create hotels.json -map city=town -split 'tags=;' 'export/*.csv.gz'
   azsearch load -index hotels -resume state.json -rejects bad.jsonl huge.parquet
   azsearch load -index hotels -query 'SELECT id, name, to_json(tags) AS tags FROM hotels' postgres://app@db/shop

Exit codes: 0 every record is in the index; 1 some were rejected, or a file cannot be read; 2 usage;
3 service error; 130 interrupted: Ctrl-C waits for requests in flight, a second Ctrl-C ends at once.`,
		OnUsageError:              usageError,
		DisableSliceFlagSeparator: true, // -split 'tags=,' has a comma
		Flags: append(connect.Flags(),
			&cli.StringFlag{Name: "index", Usage: "load into the index `NAME`; with -create by default the name in the definition"},
			&cli.StringFlag{Name: "create", Usage: "create the index with the definition in `FILE` if it does not exist (azsearch infer prints one)"},
			queryFlag(),
			&cli.StringFlag{Name: "format", Usage: "read every file as `FORMAT`: " + strings.Join(source.Kinds, ", ") + "; by default from its name and content"},
			&cli.StringSliceFlag{Name: "map", Usage: "load a column into a field of another name, as `COLUMN=FIELD`; COLUMN= leaves the column out"},
			&cli.StringSliceFlag{Name: "split", Usage: "split text into the elements of a collection, as `FIELD=SEPARATOR`"},
			&cli.StringFlag{Name: "key", Usage: "use `COLUMN` as the key, encoded if it has characters that a key cannot have"},
			&cli.StringFlag{Name: "action", Usage: "send records that name no action as `ACTION`: upload, merge, mergeOrUpload or delete", Value: string(models.ActionTypeUpload)},
			&cli.StringFlag{Name: "action-column", Usage: "read the action of each record from `COLUMN`; by default from @search.action, if the record has it"},
			&cli.StringFlag{Name: "unknown", Usage: "apply `RULE` to columns that have no field: reject the record, or drop the column", Value: "reject"},
			&cli.StringFlag{Name: "jq", Usage: "replace each record with the results of the jq `EXPRESSION`"},
			&cli.StringFlag{Name: "rejects", Usage: "write records that were not loaded to `FILE`; by default rejects.jsonl, or rejects-2.jsonl and so on if it exists; dry-run-rejects.jsonl with -dry-run"},
			&cli.StringFlag{Name: "resume", Usage: "record progress in `FILE`, and continue from it after an interruption or a crash; later runs load what was appended to the files; the rows of -query are read in the order of their keys, and after the end none until FILE is removed"},
			&cli.StringFlag{Name: "queue", Usage: "send through the durable queue at `DIR` or redis://HOST:PORT/0?name=QUEUE"},
			&cli.IntFlag{Name: "in-flight", Usage: "send `N` requests concurrently", Value: 4},
			&cli.DurationFlag{Name: "patience", Usage: "give up if the service does not recover within `DURATION`", Value: 10 * time.Minute},
			&cli.BoolFlag{Name: "until-visible", Usage: "wait until queries return the last document, at most for -patience"},
			&cli.BoolFlag{Name: "dry-run", Usage: "convert all records and send nothing; with -create no service is needed"},
			&cli.BoolFlag{Name: "json", Usage: "print the report as JSON"},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress"},
		),
		Action: func(ctx context.Context, c *cli.Command) error {
			l := &loading{Command: c, stdout: stdout, stderr: terminal.Of(stderr)}
			report, err := l.run(ctx)
			if err = interrupted(ctx, err); report == nil {
				return err
			}
			report.Exit, report.Error = exit.Code(err), ""
			if err != nil {
				report.Error = err.Error()
			}
			return errors.Join(l.print(report), err)
		},
	}
}

// loading is one run of the command.
type loading struct {
	*cli.Command
	stdout io.Writer
	stderr terminal.Terminal

	service    *connect.Service // nil if the command needs no service
	definition models.SearchIndex
	missing    bool // there is no index yet; definition is that of -create
}

// lockCheckpoint keeps other loads from a checkpoint: two would drop rejects of each other.
func lockCheckpoint(path string) (unlock func() error, err error) {
	unlock, err = disk.Lock(path + ".lock")
	switch {
	case errors.As(err, new(*disk.LockedError)):
		return nil, fmt.Errorf("-resume %s: %w; wait until that load has ended", path, err)
	case err != nil: // of the folder; opening the checkpoint returns a better one
		return func() error { return nil }, nil
	}
	return unlock, nil
}

// run returns the report of a load that has begun, without the errors of what follows it: closing files, same and
// visible.
func (l *loading) run(ctx context.Context) (report *load.Report, err error) {
	o, convertOptions, err := l.options(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.connect(ctx); err != nil {
		return nil, err
	}
	if l.service != nil {
		defer func() { err = errors.Join(err, l.service.Close()) }()
	}
	if o.Plan, err = convert.NewPlan(&l.definition, convertOptions); err != nil {
		return nil, err
	}
	if !l.Bool("dry-run") {
		client, err := l.service.Client(l.definition.Name)
		if err != nil {
			return nil, err
		}
		o.Indexer = client
	}
	if path := l.String("resume"); path != "" {
		unlock, err := lockCheckpoint(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = unlock() }() // the process ends soon
		o.Source.OrderBy = o.Plan.KeyColumn()
		options, _ := json.Marshal([]any{convertOptions, l.String("jq"), l.String("format")}) // strings and maps of strings always marshal
		to := load.Destination{Endpoint: l.service.Endpoint(), Index: l.definition.Name, ETag: l.definition.ETag, Options: string(options)}
		if o.Checkpoint, err = load.OpenCheckpoint(path, o.Files, l.String("query"), to); err != nil {
			return nil, err
		}
	}
	o.Again = l.again()
	if o.Rejects, err = l.rejects(o.Checkpoint); err != nil {
		return nil, err
	}
	if where := l.String("queue"); where != "" {
		q, err := l.openQueue(where)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, q.Close()) }()
		o.Queue = q
	}
	if l.missing {
		if err := l.create(ctx, &o); err != nil {
			return nil, err
		}
	}
	// Most of the memory is buffers: collecting garbage twice as often costs little time and saves a quarter of the
	// memory.
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	result, err := load.Run(ctx, o)
	if closeErr := o.Rejects.Close(); err == nil && closeErr != nil {
		err = failed(closeErr)
	}
	if err == nil && !l.Bool("dry-run") {
		err = l.same(ctx, result)
	}
	if err == nil && l.Bool("until-visible") {
		err = l.visible(ctx, result)
	}
	return &result, err
}

// options reads the flags. The error lists every invalid flag.
func (l *loading) options(ctx context.Context) (load.Options, convert.Options, error) {
	o := load.Options{InFlight: l.Int("in-flight"), Patience: l.Duration("patience")}
	c := convert.Options{
		Key: l.String("key"), ActionColumn: l.String("action-column"), DropUnknown: l.String("unknown") == "drop",
	}
	var errs []error
	var err error
	note := func(err error) { errs = append(errs, err) }
	o.Files, o.Source, err = inputs(ctx, l.Command, l.Args().Slice())
	note(err)
	c.Map, err = pairs("map", l.StringSlice("map"), true)
	note(err)
	c.Split, err = pairs("split", l.StringSlice("split"), false)
	note(err)
	if c.Action, err = convert.Action(l.String("action")); err != nil {
		note(fmt.Errorf("-action: %w", err))
	}
	if what := l.String("unknown"); what != "drop" && what != "reject" {
		note(fmt.Errorf("-unknown %q: use reject or drop", what))
	}
	if expression := l.String("jq"); expression != "" {
		o.Filter, err = jqfilter.New(expression)
		note(err)
	}
	if o.InFlight < 1 || o.InFlight > 1000 {
		note(fmt.Errorf("-in-flight %d: use 1 to 1000", o.InFlight))
	}
	if o.Patience <= 0 {
		note(fmt.Errorf("-patience %v: use a duration such as 10m", o.Patience))
	}
	if kind := o.Source.Kind; kind != "" && !slices.Contains(source.Kinds, kind) {
		note(fmt.Errorf("-format %q: use one of %s", kind, strings.Join(source.Kinds, ", ")))
	}
	if l.String("index") == "" && l.String("create") == "" {
		note(errors.New("no index is named: use -index NAME, or -create DEFINITION for a new one"))
	}
	if l.Bool("dry-run") {
		for _, flag := range []string{"resume", "queue", "until-visible"} {
			if l.IsSet(flag) {
				note(fmt.Errorf("-dry-run sends nothing, so -%s has no effect: leave one out", flag))
			}
		}
	}
	if l.String("resume") != "" && l.String("endpoint") == "emulator" {
		note(errors.New("-resume: -endpoint emulator loses its data at the end of the command, so nothing can be resumed"))
	}
	if !l.Bool("quiet") {
		o.Watch = l.watch
	}
	return o, c, errors.Join(errs...)
}

// queryFlag returns the flag -query of commands that read their input with inputs.
func queryFlag() cli.Flag {
	return &cli.StringFlag{Name: "query", Usage: "read the rows of `SELECT` from the database named instead of files: " + database.Forms}
}

// inputs returns the files that a command reads, or with -query the database, and the options to read them.
func inputs(ctx context.Context, c *cli.Command, args []string) ([]string, source.Options, error) {
	o := source.Options{Kind: c.String("format"), Stdin: os.Stdin}
	if err := refuseURLs(c, args); err != nil {
		return nil, o, err
	}
	query := c.String("query")
	isDatabase := len(args) == 1 && database.Is(args[0])
	switch {
	case !isDatabase && slices.ContainsFunc(args, database.Is): // the error must not contain the URL, which may have a password
		return nil, o, errors.New("a database cannot be combined with other inputs: name only the database")
	case query == "" && isDatabase:
		return nil, o, errors.New("a database needs a query: add -query 'SELECT …'")
	case query == "":
		files, err := filesOf(args)
		return files, o, err
	case !isDatabase:
		return nil, o, errors.New("-query reads one database: name it as " + database.Forms)
	case o.Kind != "":
		return nil, o, errors.New("-format is for files, and -query for a database: leave one out")
	}
	place, err := database.Parse(args[0])
	o.Query = func(column, from string) (source.Rows, error) { return place.Rows(ctx, query, column, from) }
	return []string{place.String()}, o, err
}

// filesOf expands patterns, and refuses missing files and duplicates.
func filesOf(args []string) (files []string, err error) {
	if len(args) == 0 {
		return nil, errors.New("no file is named: name files, patterns in quotes, or - for the standard input")
	}
	var errs []error
	for _, arg := range args {
		if arg == source.Stdin {
			files = append(files, arg)
			continue
		}
		if _, err = os.Stat(arg); err == nil {
			files = append(files, arg)
			continue
		}
		found, globErr := filepath.Glob(arg)
		if globErr != nil || len(found) == 0 {
			errs = append(errs, err)
		}
		files = append(files, found...)
	}
	for i, name := range files {
		if slices.Contains(files[:i], name) {
			errs = append(errs, fmt.Errorf("%s is named twice", name))
		}
	}
	return files, errors.Join(errs...)
}

// pairs parses the values of a flag, each NAME=VALUE. VALUE may be "" only if empty is true.
func pairs(flag string, values []string, empty bool) (map[string]string, error) {
	m := map[string]string{}
	for _, v := range values {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" || value == "" && !empty {
			return nil, fmt.Errorf("-%s %q: use NAME=VALUE", flag, v)
		}
		if _, twice := m[name]; twice {
			return nil, fmt.Errorf("-%s: %q is given twice", flag, name)
		}
		m[name] = value
	}
	return m, nil
}

func (l *loading) openQueue(where string) (queue.Queue, error) {
	place, err := parsePlace(where, "")
	if err != nil {
		return nil, fmt.Errorf("-queue: %w", err)
	}
	q, err := place.open(making)
	if err != nil {
		return nil, fmt.Errorf("-queue: %w", err)
	}
	return q, nil
}

// watch prints the progress until ctx ends: on a terminal in one line, redrawn five times a second; otherwise as a
// new line every ten seconds.
func (l *loading) watch(ctx context.Context, now func() load.Progress) {
	every := 10 * time.Second
	if l.stderr.Live {
		every = 200 * time.Millisecond
		defer fmt.Fprint(l.stderr, terminal.Erased)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p := now()
		line := p.String()
		switch {
		case l.stderr.Live && p.Held != nil:
			fmt.Fprint(l.stderr, terminal.Redrawn(l.stderr.Red(line)))
		case l.stderr.Live:
			fmt.Fprint(l.stderr, terminal.Redrawn(line))
		default:
			fmt.Fprintln(l.stderr, "azsearch: "+line)
		}
	}
}

func (l *loading) print(r *load.Report) error {
	if l.Bool("json") {
		content, err := json.Marshal(r)
		if err == nil {
			_, err = fmt.Fprintln(l.stdout, string(content))
		}
		return err
	}
	if l.Bool("quiet") {
		return nil
	}
	for _, example := range r.Examples {
		fmt.Fprintln(l.stderr, l.stderr.Red("azsearch: rejected "+example))
	}
	_, err := fmt.Fprintln(l.stderr, "azsearch: "+r.String())
	return err
}
