package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/jqfilter"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/ledger"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/sink"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/verify"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func newCopyCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "copy",
		Usage:     "copy the documents of an index to another index, in the same or another service",
		ArgsUsage: "FROM TO",
		Description: `If TO does not exist, it is created with the definition of FROM or -create; otherwise it must be
empty. At the end both are compared by digests, unless -jq changes the documents.

   azsearch copy hotels hotels-copy
   azsearch copy -to-endpoint https://other.search.windows.net hotels hotels
   azsearch copy -resume state hotels hotels-copy
   azsearch copy -create new.json -jq 'del(.rating)' -filter 'stars ge 3' hotels hotels-v2

Exit codes: 0 every document is in TO, with equal digests; 1 some were rejected or differ;
2 usage, or TO has documents; 3 service error; 130 interrupted.`,
		Flags: append(connect.ToFlags("TO"),
			&cli.StringFlag{Name: "create", Usage: "create TO with the definition in `FILE` if it does not exist"},
			&cli.StringFlag{Name: "filter", Usage: "copy only documents that match the OData `EXPRESSION`"},
			&cli.StringFlag{Name: "jq", Usage: "replace each document with the results of the jq `EXPRESSION`"},
			&cli.StringFlag{Name: "resume", Usage: "record progress in `FILE`, and continue from it after an interruption or a crash"},
			&cli.BoolFlag{Name: "overwrite", Usage: "add to TO even if it has documents"},
			&cli.IntFlag{Name: "in-flight", Usage: "read up to `N` key ranges and send up to N requests concurrently; fewer while a service is busy or slows down", Value: 32},
			&cli.DurationFlag{Name: "patience", Usage: "give up if the service does not recover within `DURATION`", Value: 10 * time.Minute},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress"},
		),
	}, 2, 2, func(ctx context.Context, c *serviceCall) error {
		l := &copying{serviceCall: c, names: [2]string(c.args), inFlight: c.Int("in-flight"), patience: c.Duration("patience"), quiet: c.Bool("quiet")}
		err := l.run(ctx)
		if err != nil && ctx.Err() != nil {
			how := map[bool]string{true: "with -overwrite", false: "to continue"}[c.String("resume") == ""]
			return exit.With(exit.Interrupted, fmt.Errorf("interrupted; run it again %s", how))
		}
		return err
	})
}

// copying copies the documents of one index into another one.
type copying struct {
	*serviceCall
	names    [2]string // of the source and target index
	inFlight int
	patience time.Duration
	quiet    bool

	jq     *jqfilter.Filter // nil without -jq
	from   *keyrange.Index
	to     *keyrange.Index
	fields [2][]models.SearchField // of both indexes; nil with -jq
	done   *ledger.Ledger          // of -resume; nil without it
	read   atomic.Int64
}

func (l *copying) run(ctx context.Context) (err error) {
	if err := l.between("in-flight", 1, 1000); err != nil {
		return err
	}
	if l.jq, err = jqfilter.New(l.String("jq")); err != nil {
		return err
	}
	target := l.service
	if l.String("to-endpoint") != "" {
		if target, err = connect.OpenTo(l.Command); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, target.Close()) }()
	}
	if path := l.String("resume"); path != "" {
		job := fmt.Sprintf("%q", []string{"copy", l.service.Endpoint(), l.names[0], target.Endpoint(), l.names[1], l.String("filter"), l.jq.String()})
		if l.done, err = ledger.Open(path, job); err != nil {
			return err
		}
	}
	if err := l.open(ctx, target); err != nil {
		return err
	}
	if err := l.documents(ctx); err != nil {
		return err
	}
	if l.done != nil {
		if err := errors.Join(l.done.Close(), l.done.Remove()); err != nil {
			return err
		}
	}
	if l.jq != nil {
		return nil
	}
	for _, field := range l.to.Hidden {
		if !slices.Contains(l.from.Hidden, field) {
			l.note("not compared: field %s, which index %s does not return", field, l.names[1])
		}
	}
	unseen := slices.Concat(l.fields[0], l.fields[1])
	from := without(verify.Index{Index: l.from, InFlight: l.inFlight}, l.fields[0], unseen)
	to := without(verify.Index{Index: l.to, InFlight: l.inFlight}, l.fields[1], unseen)
	result, err := verify.Until(ctx, looks, from, to, l.from.Key())
	if err != nil {
		return connect.Failed(err)
	}
	return l.report(result)
}

// looks is the maximum number of comparisons of two indexes. An index shows documents some seconds after they were
// sent, so the first comparison may find differences.
const looks = 6

// open opens both indexes. It creates the target if that does not exist, and returns an error if the target has
// documents but neither -overwrite nor a resumed -resume file allows it. A target that it created and refuses is
// deleted again.
func (l *copying) open(ctx context.Context, target *connect.Service) (err error) {
	from, to := l.names[0], l.names[1]
	if from == to && l.service.Endpoint() == target.Endpoint() {
		return errors.New("FROM and TO are the same index: choose another TO, or another service with -to-endpoint")
	}
	filter := search.Filter{}
	if text := l.String("filter"); text != "" {
		filter = search.RawFilter(text)
	}
	x, definition, err := openIndex(ctx, l.service, from, filter, nil)
	if err != nil {
		return err
	}
	for _, field := range x.Hidden {
		l.note("left out: values of field %s, which the service does not return", field)
	}
	if err := reached(ctx, x, from); err != nil {
		return err
	}
	l.from = x
	_, err = target.GetIndex(ctx, to, nil)
	if said := (*search.Error)(nil); errors.As(err, &said) && said.StatusCode == http.StatusNotFound {
		var created *models.SearchIndex
		if created, err = l.toCreate(definition, to); err != nil {
			return err
		}
		if l.done != nil { // a disk that is full must not leave an empty index
			if err := l.done.Begin(); err != nil {
				return err
			}
			if !l.done.Resumed {
				defer func() {
					if err != nil { // nothing was copied, and without the file the next run looks for documents of others
						err = errors.Join(err, l.done.Close(), l.done.Remove())
					}
				}()
			}
		}
		var made models.SearchIndex
		if made, err = target.CreateIndex(ctx, *created, nil); err == nil {
			defer func() {
				if err != nil {
					err = errors.Join(err, target.Withdraw(ctx, to, made.ETag))
				}
			}()
		}
	}
	if err != nil {
		return connect.Failed(err)
	}
	into, there, err := openIndex(ctx, target, to, filter, nil)
	if err != nil {
		return err
	}
	l.to = into
	if l.jq == nil {
		if err := l.fits(definition, there); err != nil {
			return err
		}
	}
	n, err := l.to.Count(ctx)
	if err != nil {
		return connect.Failed(err)
	}
	if n == 0 && l.done != nil {
		clear(l.done.Done) // these ranges were in an index that has been deleted
	}
	if n > 0 && !l.Bool("overwrite") && (l.done == nil || !l.done.Resumed) {
		return fmt.Errorf("index %s has %s; nothing was copied; -overwrite adds to them", to, amount.Of(n, "document"))
	}
	return nil
}

// toCreate returns the definition of a new index: that of -create, or that of the index to copy.
func (l *copying) toCreate(from *definitions.Definition, name string) (*models.SearchIndex, error) {
	if path := l.String("create"); path != "" {
		index, err := readDefinition(path, name)
		if err == nil {
			index.Name = name
		}
		return index, err
	}
	content, err := from.Expand(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	index := &models.SearchIndex{}
	err = json.Unmarshal(content, index)
	index.Name = name
	return index, err
}

// fits reads the fields of both indexes. It returns an error if documents have fields that the target lacks: the
// service would reject every document.
func (l *copying) fits(from, to *definitions.Definition) (err error) {
	for i, d := range []*definitions.Definition{from, to} {
		if l.fields[i], err = fieldsOf(d); err != nil {
			return err
		}
	}
	var lacks []string
	for _, f := range l.fields[0] {
		if returned(&f) && !slices.ContainsFunc(l.fields[1], func(other models.SearchField) bool { return other.Name == f.Name }) {
			lacks = append(lacks, f.Name)
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%s has no field %s; leave them out with -jq 'del(.%s)'", to, strings.Join(lacks, ", "), strings.Join(lacks, ", ."))
	}
	return nil
}

// documents copies the documents, and prints how many.
func (l *copying) documents(ctx context.Context) error {
	gaps, err := []keyrange.Range{{}}, error(nil)
	note, noted := func(keyrange.Range) {}, func() error { return nil }
	if l.done != nil {
		if gaps, err = l.left(); err != nil {
			return err
		}
		var finished chan<- string
		finished, noted = l.done.Noting()
		note = func(r keyrange.Range) { finished <- fmt.Sprintf("%q %q", r.After, r.Through) }
	}
	out, err := sink.Open(ctx, l.to.Client, l.inFlight, l.patience)
	if err != nil {
		return err
	}
	began := time.Now()
	stop := progress(l.stderr, l.quiet, func() string { return share(out.Completed.Load(), 0, "copied", began) })
	reading := keyrange.Whole(ctx)
	err = keyrange.Each(reading, l.inFlight, l.ranges(reading, gaps), func(ctx context.Context, r keyrange.Range) error {
		part := out.Part(func() { note(r) })
		for document, err := range l.from.Documents(ctx, r) {
			if err != nil {
				return connect.Failed(err)
			}
			l.read.Add(1)
			if err := l.send(ctx, part, document); err != nil {
				key, _ := l.from.KeyOf(document) // the service returned the document by this key, so it has one
				return sink.Of(key, err)
			}
		}
		part.End()
		return nil
	})
	closed := out.Close()
	stop()
	if err == nil {
		err = closed
	}
	err = errors.Join(err, noted())
	if err == nil && !l.quiet {
		l.note("copied to %s: %s of %s", l.names[1], humanize.Comma(out.Completed.Load()), amount.Of(l.read.Load(), "document"))
	}
	return err
}

// left returns the key ranges that the file of -resume does not list as copied.
func (l *copying) left() ([]keyrange.Range, error) {
	var done []keyrange.Range
	for line := range l.done.Done {
		var r keyrange.Range
		if _, err := fmt.Sscanf(line, "%q %q", &r.After, &r.Through); err != nil {
			return nil, fmt.Errorf("%s: %q is not a range of keys: %w", l.String("resume"), line, err)
		}
		done = append(done, r)
	}
	if done != nil {
		l.note("continuing; copied already: %s", amount.Of(len(done), "key range"))
	}
	return keyrange.Gaps(done), l.done.Begin()
}

// ranges splits key ranges into ranges of about keyrange.Size documents.
func (l *copying) ranges(ctx context.Context, all []keyrange.Range) iter.Seq2[keyrange.Range, error] {
	return func(yield func(keyrange.Range, error) bool) {
		for _, gap := range all {
			for r, err := range l.from.Split(ctx, gap, keyrange.Size) {
				if !yield(r, connect.Failed(err)) {
					return
				}
			}
		}
	}
}

// send sends a document, or the results of -jq for it.
func (l *copying) send(ctx context.Context, to *sink.Part, document json.RawMessage) error {
	add := func(document []byte) error {
		key, err := l.to.KeyOf(document)
		if err != nil {
			return err
		}
		return to.Add(key, document, nil)
	}
	if l.jq == nil {
		return add(document)
	}
	return l.jq.JSON(ctx, document, add)
}
