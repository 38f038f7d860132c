package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/amount"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/listing"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search"
)

func newDeleteCommand(stdout, stderr io.Writer) *cli.Command {
	return serviceCommand(stdout, stderr, cli.Command{
		Name:      "delete",
		Usage:     "delete the documents that match a filter, and print a receipt",
		ArgsUsage: "INDEX",
		Description: `Without -yes nothing is deleted: the command counts the matching documents and prints some keys.
The receipt has the number of deleted documents, the time of a last query that found no match,
and the digest of the keys. If the key field is not filterable and sortable, it has all keys
instead of the digest, and 1000 documents are deleted at a time.

   azsearch delete hotels -filter "country eq 'XX'"
   azsearch delete hotels -filter "country eq 'XX'" -yes
   azsearch delete hotels -filter 'closed lt 2020-01-01T00:00:00Z' -yes -expect 1200 -json > receipt.json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "filter", Usage: "delete documents that match the OData `EXPRESSION`"},
			&cli.BoolFlag{Name: "yes", Usage: "delete"},
			&cli.Int64Flag{Name: "expect", Usage: "delete only if exactly `N` documents match, as counted by an earlier run", HideDefault: true},
			&cli.DurationFlag{Name: "timeout", Usage: "give up after `DURATION`", Value: time.Hour},
			&cli.BoolFlag{Name: "json", Usage: "print the receipt as JSON"},
		},
	}, 1, 1, runDelete)
}

func runDelete(ctx context.Context, c *serviceCall) error {
	filter := search.RawFilter(c.String("filter"))
	var errs []error
	switch {
	case filter.IsZero():
		errs = append(errs, errors.New("-filter is missing: without one every document would match"))
	case filter.Err() != nil:
		errs = append(errs, fmt.Errorf("-filter: %w", filter.Err()))
	}
	if n := c.Int64("expect"); c.IsSet("expect") && n < 1 {
		errs = append(errs, fmt.Errorf("-expect %d: use the number counted by a run without -yes", n))
	}
	client, err := c.service.Client(c.args[0])
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.Duration("timeout"), fmt.Errorf("gave up after -timeout %v", c.Duration("timeout")))
	defer cancel()
	d := deletion{serviceCall: c, client: client, filter: filter}
	receipt, err := d.count(limited)
	if err != nil {
		return answered(err)
	}
	want, n := c.Int64("expect"), receipt.Matched
	switch {
	case want > 0 && n != want && n > 0:
		err = failed(fmt.Errorf("-expect is %d, and the filter matches %s: nothing was deleted; check the filter", want, amount.Of(n, "document")))
	case c.Bool("yes") && n > 0:
		receipt, err = d.delete(limited, receipt)
	}
	return errors.Join(d.report(receipt), err)
}

// deletion is one run of the command.
type deletion struct {
	*serviceCall
	client  *search.Client
	filter  search.Filter
	limited bool // the key field is not filterable and sortable: search.DeleteMatching deletes
}

// These end a deletion whose matches are not those that were counted.
var (
	errMoreMatch = errors.New("more documents match than were counted, so no more were deleted; run it again")
	errChanged   = errors.New("the number of matching documents changed since the count, so nothing was deleted; run it again")
)

// count returns a receipt with the number of matching documents and some of their keys. It deletes nothing.
func (d *deletion) count(ctx context.Context) (repair.Receipt, error) {
	rows, err := search.NewRows(d.client, &search.RowsOptions{Filter: d.filter})
	if err != nil {
		return repair.Receipt{}, err
	}
	receipt, err := repair.DeleteWhere(ctx, rows, nil, &repair.DeleteOptions{DryRun: true, Total: d.total})
	receipt.Refused = "" // delete allows as many as were counted
	if !errors.Is(err, search.ErrNotScannable) {
		return receipt, err
	}
	d.limited = true
	if receipt.Total, err = d.total(ctx); err != nil {
		return receipt, err
	}
	counted := errors.New("counted")
	_, err = search.DeleteMatching(keyrange.Before(ctx, func(n int64, keys []string) error {
		receipt.Matched, receipt.Keys = n, keys[:min(len(keys), 100)]
		return counted
	}), d.client, "", d.filter, nil)
	if errors.Is(err, counted) {
		err = nil
	}
	return receipt, err
}

func (d *deletion) total(ctx context.Context) (int64, error) { return keyrange.Count(ctx, d.client) }

// delete deletes the documents that were counted. If it ends before it knows more of them, its receipt says that these
// matched, and that none was deleted.
func (d *deletion) delete(ctx context.Context, counted repair.Receipt) (r repair.Receipt, err error) {
	n := counted.Matched
	r = repair.Receipt{Began: time.Now(), Ended: time.Now(), Total: counted.Total, Matched: n, Unsent: n}
	if d.limited {
		first := true
		var asked []string // the documents of the last pass, which are deleted next
		r.Keys, err = search.DeleteMatching(keyrange.Before(ctx, func(now int64, found []string) error {
			changed := first && now != n
			if first = false; changed {
				return errChanged
			}
			if now > n {
				return fmt.Errorf("%w: counted %d, then %s", errMoreMatch, n, amount.Of(now, "document"))
			}
			asked = found
			return nil
		}), d.client, "", d.filter, &search.DeleteMatchingOptions{Expect: n})
		if r.Deleted, r.Ended = int64(len(r.Keys)), time.Now(); err == nil {
			r.NoneLeftAt = r.Ended
		}
		r.Unsent, r.Unknown = max(0, n-r.Deleted), unknown(err, asked, r.Keys)
		if errors.Is(err, errMoreMatch) || errors.Is(err, errChanged) {
			return r, failed(err)
		}
		return r, answered(err)
	}
	rows, err := search.NewRows(d.client, &search.RowsOptions{Filter: d.filter})
	if err != nil {
		return r, err
	}
	sender, err := bufferedsender.New(d.client, &bufferedsender.Options[json.RawMessage]{
		Limits: bufferedsender.Limits{MaxInFlight: 4}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return r, err
	}
	r, err = repair.DeleteWhere(ctx, rows, sender.Raw(), &repair.DeleteOptions{AllowDeletes: n, Total: d.total})
	if err != nil && r.Matched == 0 { // the scan failed, or found none and could not be confirmed
		r.Matched, r.Unsent, r.Total = n, n, counted.Total
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if closed := sender.Close(closing); err == nil {
		err = closed
	}
	var others *repair.DeletesError
	var action *bufferedsender.ActionError
	switch {
	case errors.As(err, &others):
		err = failed(errChanged)
	case errors.As(err, &action), errors.Is(err, repair.ErrMatchesLeft):
		err = failed(err)
	default:
		err = answered(err)
	}
	return r, err
}

// unknown returns how many of the asked documents, without the deleted ones, may be deleted although the call that
// deletes them ended with err.
func unknown(err error, asked, deleted []string) (n int64) {
	var said *search.Error
	var partly *search.IndexingError
	switch {
	case err == nil, errors.As(err, &said) && said.StatusCode != 0 && !retry.ForRequest(said.StatusCode).Unknown:
		return 0
	case errors.As(err, &partly):
		asked = nil
		for _, f := range partly.Failed {
			if f.StatusCode == 0 {
				asked = append(asked, f.Key)
			}
		}
	}
	for _, key := range asked {
		if !slices.Contains(deleted, key) {
			n++
		}
	}
	return n
}

// report prints a receipt.
func (d *deletion) report(r repair.Receipt) error {
	if d.Bool("json") {
		return d.print(r, true)
	}
	shown := make([]string, min(len(r.Keys), 10))
	for i := range shown {
		shown[i] = listing.Safe(r.Keys[i])
	}
	keys := ""
	if len(shown) > 0 {
		keys = ": " + strings.Join(shown, ", ")
		if int64(len(shown)) < max(r.Matched, r.Deleted) {
			keys += ", …"
		}
	}
	switch {
	case r.Matched == 0 && r.Deleted == 0:
		return d.say("no document of %s matches; nothing was deleted", humanize.Comma(r.Total))
	case r.DryRun:
		if err := d.say("would delete %s of %s%s", amount.Of(r.Matched, "document"), humanize.Comma(r.Total), keys); err != nil || d.Bool("yes") {
			return err
		}
		return d.say("nothing was deleted; add -yes to delete them, -expect %d to delete exactly as many", r.Matched)
	}
	line := fmt.Sprintf("deleted %s of %s that matched%s", amount.Of(r.Deleted, "document"), humanize.Comma(r.Matched), keys)
	for _, part := range []struct {
		n    int64
		what string
	}{{r.Changed, "no longer matched"}, {r.Failed, "failed"}, {r.Unsent, "not deleted"}, {r.Unknown, "of these may be deleted"}, {r.Left, "match still, or again"}} {
		if part.n > 0 {
			line += fmt.Sprintf("; %s %s", humanize.Comma(part.n), part.what)
		}
	}
	if err := d.say("%s", line); err != nil {
		return err
	}
	if !r.NoneLeftAt.IsZero() {
		if err := d.say("a query at %s found no match left", r.NoneLeftAt.UTC().Format(time.RFC3339)); err != nil {
			return err
		}
	}
	if r.Digest != "" {
		return d.say("sha256 of the keys %s", r.Digest)
	}
	return nil
}
