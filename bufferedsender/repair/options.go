package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/repair/digesttree"
	"github.com/go-azsearch/azsearch/internal/bound"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
)

// Defaults.
const (
	defaultPause     = 2 * time.Second
	defaultParallel  = 4
	defaultTreeEvery = 10 * time.Minute
)

// Options configures a Repairer. The zero value is ready to use.
type Options struct {
	// DryRun compares and confirms, but writes nothing except locks of the Store. Sender may be nil. If a real run would be
	// refused, Report.Refused has the reason and there is no error.
	DryRun bool
	// Pause is how long a difference must last to count. It must be longer than the index takes to show a write on all its
	// replicas; search.WaitVisible measures that. If it is too short, documents are written again needlessly. A random
	// addition of up to half of it spreads processes. Defaults to 2 s.
	Pause time.Duration

	// MaxShare is the share of the index's documents that may be overwritten, and the share that may be deleted, in 24
	// hours: by the passes of all processes with this Store and Name, and by those of this process without a Store, with
	// its DeleteWhere calls. Two Names, or two Stores, each have a bound of their own, as a Name may stand for a part of
	// the index. A pass that would exceed it writes only keys of Hints. It must be more than 0 and at most 1; 1 removes it.
	// Defaults to 0.05, at least one document and at most 10 000; see GUARDS.md.
	MaxShare float64
	// AllowDeletes lifts the bound on deletes for one pass. It must be the exact number of surplus documents that a dry run
	// has reported. If negative, surplus documents are reported and not deleted. A source without rows never causes a
	// delete. At most 200 000 documents of a range are deleted in a pass. Defaults to 0: MaxShare applies.
	AllowDeletes int64
	// SameIndex declares that Index and Sender use the same index, one of them by an alias: a search.Rows of the alias, for
	// example, with a sender that has a rebuild.Tap. Without it a Sender whose index has another name is refused.
	SameIndex bool
	// TrustSource lets the source overwrite documents that have a higher version in the index, for example after the source
	// was restored from a backup. Without it such documents are reported and left alone, because a lagging replica looks
	// the same.
	TrustSource bool

	// Splits divides the keys into ranges. Up to four ranges are compared at once by a process, and processes that share
	// the Store divide the ranges among them. Each range begins after one split and ends with the next. Splits must be
	// sorted by bytes and the same in all processes and at all times, because the bounds identify a range. Choose them so
	// that each range has some hundred thousand documents. Defaults to none: one range.
	Splits   []string
	parallel int // ranges that a process compares at once: 0 for four; tests lower it
	// Store, a FileStore or an SQLStore, keeps the rejected documents, and the progress of each range, so that an
	// interrupted pass resumes. It also locks each range for one process. The progress of another table, database, file or
	// index is refused; a pass starts over if its file was replaced, or the definition of its index, or the index itself.
	// Defaults to none: each pass starts over, and retries rejected documents.
	Store Store
	// Name distinguishes comparisons that share a Store. If the Index has a method String, its result is appended. Defaults
	// to "repair".
	Name string

	// Hints are keys known to differ, recorded there for the index HintsOf. A pass repairs them first and calls Done for
	// those that agree. Surplus ones are deleted at the end with all others. A hint to compare everything is Done when a
	// pass that was not resumed has compared all ranges without an error.
	Hints   *hints.Set
	HintsOf string

	// Tree lets Watch also call RunTree, every ten minutes between its passes, to find what a sender has lost. Run, RunKeys
	// and RunTree ignore it.
	Tree      *digesttree.Tree
	treeEvery time.Duration // 0 for ten minutes; tests shorten it

	// Mark hands over the keys that differ to a writer that reads the truth of each key itself, one at a time: IndexKeys of
	// a sender with a Queue, which needs DeleteMissing or surplus documents stay, or a transaction with outbox.WriteKeys.
	// Set Pending with it. Sender is then unused and may be nil. The next pass shows the result. Defaults to nil: Sender
	// writes.
	Mark func(ctx context.Context, keys []string) error
	// Pending reports which keys have unfinished work elsewhere: use the method Contains of a queue or an outbox. Such keys
	// are left out, like those pending in Sender. Defaults to nil: only Sender is asked.
	Pending func(ctx context.Context, keys []string) ([]bool, error)

	// Throttle is the wait before each key, by how many other actions the sender has not settled. Defaults to the steps of
	// Riak's Yokozuna: nothing below 500 actions, 10 ms from there, 50 ms from 1000, 250 ms from 5000, 1 s from 10 000, 3 s
	// from 50 000. An empty slice that is not nil turns it off.
	Throttle []Tier
	// Member makes queries to the index wait for a slot of its pool, in class BestEffort, which is also the class of all
	// writes. Pages that a search.Rows reads ahead take no slot of their own. Defaults to none.
	Member *pool.Member
	// MeterProvider receives the metrics of TELEMETRY.md. Defaults to otel.GetMeterProvider().
	MeterProvider metric.MeterProvider
	// Logger receives warnings: documents that cannot be sent, rows that cannot be compared, refusals of the guard, state
	// that cannot be saved, and errors of a Watch without a report function. Defaults to slog.Default().
	Logger *slog.Logger
}

// Tier is one step of Options.Throttle.
type Tier struct {
	// From is the number of unsettled actions from which the step applies.
	From int
	// Wait is the wait before each key.
	Wait time.Duration
}

var yokozuna = []Tier{
	{500, 10 * time.Millisecond}, {1000, 50 * time.Millisecond}, {5000, 250 * time.Millisecond}, {10_000, time.Second}, {50_000, 3 * time.Second},
}

// withDefaults returns a copy of o with every default filled in. The error names every invalid option.
func (o *Options) withDefaults() (Options, error) {
	c := *o
	var errs []error
	if c.Pause < 0 {
		errs = append(errs, fmt.Errorf("the Pause is %v: use a positive duration, or 0 for the default of %v", c.Pause, defaultPause))
	}
	if c.Pause == 0 {
		c.Pause = defaultPause
	}
	if !(c.MaxShare >= 0 && c.MaxShare <= 1) {
		errs = append(errs, fmt.Errorf("MaxShare is %v: use a share of the documents up to 1, or 0 for the default of %v", c.MaxShare, bound.Share))
	}
	if !slices.IsSorted(c.Splits) || len(slices.Compact(slices.Clone(c.Splits))) < len(c.Splits) || slices.Contains(c.Splits, "") {
		errs = append(errs, fmt.Errorf("the Splits are %q: sort them by bytes, each once, none empty", c.Splits))
	}
	c.Splits = slices.Clone(c.Splits)
	c.parallel = cmp.Or(c.parallel, defaultParallel)
	errs = append(errs, nilcheck.Refuse(nilcheck.Option{Name: "Store", Value: c.Store}, nilcheck.Option{Name: "MeterProvider", Value: c.MeterProvider}))
	if c.Store == nil {
		c.Store = memory{}
	}
	if c.Name == "" {
		c.Name = "repair"
	}
	if c.Hints != nil && c.HintsOf == "" {
		errs = append(errs, errors.New("HintsOf is empty: Hints need the name of their index"))
	}
	if c.treeEvery == 0 {
		c.treeEvery = defaultTreeEvery
	}
	if c.Throttle == nil {
		c.Throttle = yokozuna
	}
	for i, t := range c.Throttle {
		if t.From < 0 || t.Wait < 0 || i > 0 && t.From <= c.Throttle[i-1].From {
			errs = append(errs, fmt.Errorf("the Throttle is %v: use tiers whose From rises, without negative numbers", c.Throttle))
			break
		}
	}
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, errors.Join(errs...)
}

// waitFor returns the wait of the last tier that pending reaches.
func waitFor(tiers []Tier, pending int) (wait time.Duration) {
	for _, t := range tiers {
		if pending >= t.From {
			wait = t.Wait
		}
	}
	return wait
}
