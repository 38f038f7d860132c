package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/sorted"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func newIndexRepairCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "repair",
		Usage:     "make an index equal to files or a database: write missing and different documents, delete surplus ones",
		ArgsUsage: "FILE...",
		Description: `Without -yes nothing is written: the command prints the differences. The files together hold all
documents that the index should have, in any format of azsearch load. Documents are whole: a missing
field is null. Documents that other programs write meanwhile may be replaced by those of the files.
It deletes or overwrites more than 5 % of the documents, or more than 10 000, only if -allow-deletes
or -max-share permits. After an interruption, run it again: only what still differs is written.

   azsearch repair -index hotels hotels.jsonl
   azsearch repair -index hotels -yes hotels.jsonl
   azsearch repair -index hotels -yes -allow-deletes 1200 'export/*.csv.gz'
   azsearch repair -index hotels -query 'SELECT id, name FROM hotels' sqlite:shop.db`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "index", Usage: "repair the index `NAME`"},
			queryFlag(),
			&cli.BoolFlag{Name: "yes", Usage: "write and delete"},
			&cli.Int64Flag{Name: "allow-deletes", Usage: "delete the surplus documents if there are exactly `N`, as counted by an earlier run; 0 leaves the limit to -max-share, -1 deletes none", HideDefault: true},
			&cli.FloatFlag{Name: "max-share", Usage: "overwrite and delete at most `SHARE` of the documents: 0.05 is 5 %, 1 is all", Value: 0.05},
			&cli.StringFlag{Name: "version", Usage: "compare only the number or time in `FIELD`; by default all fields that can be read back"},
			&cli.DurationFlag{Name: "pause", Usage: "compare again after `DURATION`, the time until the index shows all written documents", Value: 2 * time.Second},
			&cli.BoolFlag{Name: "json", Usage: "print the report as JSON"},
		},
	}, 1, 0, runRepair)
}

func runRepair(ctx context.Context, c *serviceCall) (err error) {
	var errs []error
	if c.String("index") == "" {
		errs = append(errs, errors.New("no index is named: use -index NAME"))
	}
	if share := c.Float("max-share"); share <= 0 || share > 1 {
		errs = append(errs, fmt.Errorf("-max-share %v: use more than 0, and at most 1", share))
	}
	if c.Duration("pause") <= 0 {
		errs = append(errs, fmt.Errorf("-pause %v: use a duration such as 2s", c.Duration("pause")))
	}
	if n := c.Int64("allow-deletes"); n < -1 {
		errs = append(errs, fmt.Errorf("-allow-deletes %d: use the number counted by a run without -yes, or -1", n))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	index, err := c.service.GetIndex(ctx, c.String("index"), nil)
	if err != nil {
		return answered(err)
	}
	client, err := c.service.Client(index.Name)
	if err != nil {
		return err
	}
	x, err := keyrange.Of(client, &index, search.Filter{}, nil)
	if err != nil {
		return err
	}
	if x.Unscannable != "" {
		return fmt.Errorf("index %s: %s, so its documents cannot be read in order", index.Name, x.Unscannable)
	}
	dir, err := os.MkdirTemp("", "azsearch")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "documents.jsonl")
	if err := c.sort(ctx, &index, path); err != nil {
		return err
	}
	compared, left := comparable(index.Fields)
	rows, lines := &search.RowsOptions{DigestOf: compared}, &repair.JSONLOptions{Key: x.Key(), DigestOf: compared}
	if version := c.String("version"); version != "" {
		rows, lines = &search.RowsOptions{Version: version}, &repair.JSONLOptions{Key: x.Key(), Version: version}
	} else if len(left) > 0 {
		fmt.Fprintf(c.stderr, "azsearch: not compared, because the service does not return them exactly: %s; written documents have their values from the files\n", strings.Join(left, ", "))
	}
	source, err := repair.OpenJSONL(path, lines)
	if err != nil {
		return failed(err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	indexed, err := search.NewRows(client, rows)
	if err != nil {
		return err
	}
	return c.repair(ctx, client, source, indexed)
}

// sort writes the documents of the files to path as JSON Lines, sorted by key.
func (c *serviceCall) sort(ctx context.Context, index *models.SearchIndex, path string) (err error) {
	documents, err := sorted.New(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, documents.Close()) }()
	err = c.eachDocument(ctx, index, c.args, nil, func(a models.RawAction) error {
		if a.Type != models.ActionTypeUpload {
			return failed(fmt.Errorf("the record with key %q has action %s: repair needs whole documents", a.Key, a.Type))
		}
		return documents.Add(a.Key, a.Document)
	})
	if err != nil {
		return err
	}
	return failed(documents.Write(path))
}

// comparable returns the fields whose values the service returns exactly as written, and the remaining fields.
func comparable(fields []models.SearchField) (compared, left []string) {
	for _, f := range fields {
		if exact(&f) {
			compared = append(compared, f.Name)
		} else {
			left = append(left, f.Name)
		}
	}
	return compared, left
}

func exact(f *models.SearchField) bool {
	for i := range f.Fields {
		if !exact(&f.Fields[i]) {
			return false
		}
	}
	return returned(f) && !f.Type.IsVector()
}

// repair compares, writes the differences unless it is a dry run, and prints the report.
func (c *serviceCall) repair(ctx context.Context, client *search.Client, source *repair.JSONL, indexed *search.Rows) error {
	discard := slog.New(slog.DiscardHandler)
	sender, err := bufferedsender.New(client, &bufferedsender.Options[json.RawMessage]{Limits: bufferedsender.Limits{MaxInFlight: 4}, Logger: discard})
	if err != nil {
		return err
	}
	options := repair.Options{
		DryRun: !c.Bool("yes"), AllowDeletes: c.Int64("allow-deletes"), Pause: c.Duration("pause"), Logger: discard,
	}
	if c.IsSet("max-share") { // without the flag the limit also is 10 000 documents
		options.MaxShare = c.Float("max-share")
	}
	report, err := (&repair.Repairer{Source: source, Index: indexed, Sender: sender.Raw(), Options: options}).Run(ctx)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if closed := sender.Close(closing); err == nil {
		err = closed
	}
	var guard *repair.DeletesError
	switch {
	case errors.As(err, &guard):
		err = failed(errors.New(asFlags.Replace(err.Error())))
	case errors.Is(err, repair.ErrNoRows), errors.Is(err, repair.ErrNothingSettles):
		err = failed(err)
	case err != nil:
		err = answered(err)
	case report.Rejected+report.Failed+report.Unsettled+report.Unreadable+report.Ahead > 0:
		err = failed(errors.New("the index still differs"))
	}
	if err != nil && report.SourceRows+report.IndexRows == 0 {
		return err // nothing was compared
	}
	return errors.Join(c.repaired(&report), err)
}

// asFlags replaces the names of options in texts of the package repair.
var asFlags = strings.NewReplacer("AllowDeletes", "-allow-deletes", "MaxShare", "-max-share")

// repaired prints a report.
func (c *serviceCall) repaired(r *repair.Report) error {
	if c.Bool("json") {
		return c.print(r, true)
	}
	if err := c.say("compared %s with %s of the index", amount.Of(r.SourceRows, "document"), humanize.Comma(r.IndexRows)); err != nil {
		return err
	}
	different := r.Missing + r.Surplus + r.Different
	for _, x := range []struct {
		kind repair.Kind
		n    int64
	}{
		{repair.Missing, r.Missing}, {repair.Surplus, r.Surplus}, {repair.Different, r.Different}, {repair.Ahead, r.Ahead},
		{repair.Rejected, r.Rejected}, {repair.Unreadable, r.Unreadable}, {repair.Unsettled, r.Unsettled},
	} {
		if x.n == 0 {
			continue
		}
		keys := r.Keys[x.kind]
		shown := make([]string, min(len(keys), 10))
		for i := range shown {
			shown[i] = listing.Safe(keys[i])
		}
		if x.n > int64(len(shown)) {
			shown = append(shown, "…")
		}
		if err := c.say("  %s %s: %s", humanize.Comma(x.n), x.kind, strings.Join(shown, ", ")); err != nil {
			return err
		}
	}
	switch {
	case !r.DryRun:
		return c.say("wrote %s, deleted %s", humanize.Comma(r.Repaired), humanize.Comma(r.Deleted))
	case r.Refused != "":
		return c.say("nothing was written, and -yes would be refused: %s", listing.Printable(asFlags.Replace(r.Refused)))
	case different > 0:
		return c.say("nothing was written; add -yes to repair")
	}
	return nil
}
