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
	// DryRun compares and confirms, and writes nothing but locks of the Store: the Sender may be nil. What a run
	// would refuse to delete is no error, but Report.Refused.
	DryRun bool
	// Pause is how long a difference must have lasted to count: longer than the index takes to show what was written,
	// on all of its replicas; search.WaitVisible measures that. If it is too short documents are written again for nothing.
	// Up to half as much again is added by chance. Defaults to 2 s.
	Pause time.Duration

	// MaxShare is how large a share of the documents of the index may be overwritten and deleted in 24 hours, by all
	// passes and DeleteWhere together, or a pass writes nothing. It is more than 0 and at most 1, which is no bound. See
	// GUARDS.md. Defaults to 0.05, one document at least, and no more than 10 000.
	MaxShare float64
	// AllowDeletes lifts the bound on deletes once: it is exactly the number of surplus documents that a dry run has
	// reported; negative: nothing is deleted, and the report says what is surplus. A source without any row deletes
	// nothing whatever this is. Of one range at most 200 000 are deleted in a pass. Defaults to 0: MaxShare decides.
	AllowDeletes int64
	// SameIndex says that the index that is read and that of the sender are one although they have different names,
	// because one is an alias: of a sender with a rebuild.Tap, for example, beside a search.Rows of the alias.
	// Without it such a sender is refused.
	SameIndex bool
	// TrustSource writes what the source has also where the version of the index is larger: after the source was
	// restored from a backup, for example. Without it such documents are reported and left alone, because a replica
	// that lags looks the same.
	TrustSource bool

	// Splits cuts the keys into ranges, which are compared by themselves, four at a time, and by as many
	// processes as share the Store: each begins behind the one and ends with the next. They must be sorted by bytes,
	// and the same in all processes and at all times: a range is known by its bounds. Any keys that cut the documents
	// into parts of some hundred thousand will do. Defaults to none: one range.
	Splits   []string
	parallel int // ranges that a process compares at once: 0 for four; tests lower it
	// Store, a FileStore or a SQLStore, keeps how far the ranges are, so that a pass that was killed goes on, and
	// what the service has rejected, and says which process has a range. Defaults to none: a pass begins anew, and
	// tries again what was rejected.
	Store Store
	// Name tells comparisons apart that share a Store; that of the index, if it has a String, is added. Defaults to
	// "repair".
	Name string

	// Hints are keys that are known to differ, of the index HintsOf there: they are repaired first, and Done when
	// they are as they should be. Those that are surplus are deleted at the end, with the others. When it says that
	// everything is to be compared, that is done when a pass has ended without an error.
	Hints   *hints.Set
	HintsOf string

	// Tree has Watch find what a sender has lost by RunTree as well, each ten minutes, between its passes. Others do
	// not use it.
	Tree      *digesttree.Tree
	treeEvery time.Duration // 0 for ten minutes; tests shorten it

	// Mark has keys written by who reads what is true of them itself, one at a time: IndexKeys of a sender with a
	// Queue, and with DeleteMissing, or surplus documents stay; or a transaction with outbox.WriteKeys. Set Pending
	// with it. The sender is not used then, and may be nil. What becomes of the keys the next pass sees.
	Mark func(ctx context.Context, keys []string) error
	// Pending says of which keys something waits to be written elsewhere: in a queue or an outbox, which have a
	// method Contains. They are left out. The sender's own are always.
	Pending func(ctx context.Context, keys []string) ([]bool, error)

	// Throttle is how long to wait for each key before it is written, by how much the sender has to do beside it.
	// Defaults to that of Yokozuna: nothing below 500 actions, 10 ms from there, 50 ms from 1000, 250 ms from 5000, 1
	// s from 10 000, 3 s from 50 000. An empty slice that is not nil turns it off.
	Throttle []Tier
	// Member has queries to the index wait for a slot of its pool, in the class BestEffort, which everything is
	// written in too. Pages that a search.Rows reads ahead have no slot of their own. Defaults to none.
	Member *pool.Member
	// MeterProvider gets the metrics, see TELEMETRY.md. Defaults to otel.GetMeterProvider().
	MeterProvider metric.MeterProvider
	// Logger gets a line for each document that cannot be sent, one for each dry run with a sender that would be
	// refused, and the errors of Watch if nobody else does. Defaults to slog.Default().
	Logger *slog.Logger
}

// Tier is a step of Options.Throttle.
type Tier struct {
	// From is how many actions the sender has not settled, at least.
	From int
	// Wait is how long to wait for each key.
	Wait time.Duration
}

var yokozuna = []Tier{
	{500, 10 * time.Millisecond}, {1000, 50 * time.Millisecond}, {5000, 250 * time.Millisecond}, {10_000, time.Second}, {50_000, 3 * time.Second},
}

// withDefaults returns a copy of o with every default filled in. The error names every problem.
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
		errs = append(errs, errors.New("the Hints need HintsOf, the name of the index there"))
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

// waitFor returns how long to wait for a key when the sender has so much to do.
func waitFor(tiers []Tier, pending int) (wait time.Duration) {
	for _, t := range tiers {
		if pending >= t.From {
			wait = t.Wait
		}
	}
	return wait
}
