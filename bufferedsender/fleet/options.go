package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/hints"
	"github.com/go-azsearch/azsearch/bufferedsender/pool"
	"github.com/go-azsearch/azsearch/bufferedsender/tuning"
	"github.com/go-azsearch/azsearch/internal/nilcheck"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Service is a fleet's interface to a search service. See [From].
type Service interface {
	// Indexer returns the client for an index, which need not exist. It is called once for each sender.
	Indexer(index string) (bufferedsender.Indexer, error)
	// IndexNames yields the names of all existing indexes. An error ends the sequence.
	IndexNames(ctx context.Context) iter.Seq2[string, error]
}

// From makes a Service from two functions, for example methods of a *search.IndexClient:
//
//	fleet.From(client.Client, func(ctx context.Context) iter.Seq2[string, error] { return client.ListIndexNames(ctx, nil) })
//
// names may be nil if Discover is not used.
func From[C bufferedsender.Indexer](indexer func(index string) (C, error), names func(ctx context.Context) iter.Seq2[string, error]) Service {
	return functions[C]{indexer, names}
}

type functions[C bufferedsender.Indexer] struct {
	indexer func(index string) (C, error)
	names   func(ctx context.Context) iter.Seq2[string, error]
}

func (f functions[C]) Indexer(index string) (bufferedsender.Indexer, error) {
	c, err := f.indexer(index)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (f functions[C]) IndexNames(ctx context.Context) iter.Seq2[string, error] {
	if f.names == nil {
		return func(yield func(string, error) bool) {
			yield("", errors.New("the service of the fleet was made without a function that lists the indexes: give it to From"))
		}
	}
	return f.names(ctx)
}

// Defaults of Options.Pool.
const (
	defaultBufferedActions = 1 << 18
	defaultBufferedBytes   = 256 << 20
)

// Options configures a Fleet. nil and the zero value are valid.
type Options struct {
	// Pool configures the number of requests in flight, by class (with late ones at most twice the slots and senders
	// together, see pool.Stats.Late), and how much all senders buffer together: 262,144 actions
	// and 256 MiB if it bounds neither. Fleet.Pool changes it later. Defaults to four slots for Expedited and four for the
	// other classes.
	Pool *pool.Options
	// Breaker configures the breakers of the indexes and of the service. The service breaker stays open for at most 5 s, or
	// for OpenFor if that is longer. Defaults to the defaults of a sender.
	Breaker *breaker.Options
	// Tuning adapts the number and size of requests to the service, with one controller for all senders. It sets the number
	// of slots. Defaults to tuning.Fixed().
	Tuning tuning.Policy
	// WhenFull decides about actions of failing indexes while other indexes lack room. Defaults to Wait. For a full buffer
	// of one sender see its own options.
	WhenFull WhenFull
	// Hints receives the keys of purged actions, by index, for a repair. Actions that Close and Drop leave unsent go to
	// DeadLetters instead. The fleet does not close Hints. PurgeSick requires it. Defaults to none.
	Hints *hints.Set

	// Logger is for the fleet, and for senders without their own. Defaults to slog.Default().
	Logger *slog.Logger
	// MeterProvider creates the metrics of the pool, and of senders without their own. Defaults to OpenTelemetry's global
	// one.
	MeterProvider metric.MeterProvider
}

// WhenFull is the policy for a sender that lacks room while other senders that cannot send occupy it.
type WhenFull uint8

const (
	// Wait gives up nothing.
	Wait WhenFull = iota
	// PurgeSick gives up waiting actions of an index whose breaker, or that of the service, is open. The fleet checks once
	// a second. If a sender lacks room at two consecutive checks, one index is purged: among those with waiting actions the
	// one whose breaker opened first. It loses the oldest actions of the least urgent class, none more urgent than the most
	// urgent call that waits, as many as pool.Options.FloorActions and again until no call waits. PurgeSick requires
	// Options.Hints.
	PurgeSick
)

// withDefaults returns a copy with all defaults set, or an error that names every problem.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	errs := []error{nilcheck.Refuse(nilcheck.Option{Name: "Tuning", Value: c.Tuning}, nilcheck.Option{Name: "MeterProvider", Value: c.MeterProvider})}
	var p pool.Options
	if c.Pool != nil {
		p = *c.Pool
	}
	if p.BufferedActions == 0 && p.BufferedBytes == 0 {
		p.BufferedActions, p.BufferedBytes = defaultBufferedActions, defaultBufferedBytes
	}
	c.Pool = &p
	if c.WhenFull > PurgeSick {
		errs = append(errs, fmt.Errorf("there is no WhenFull %d: use Wait or PurgeSick", c.WhenFull))
	}
	if c.WhenFull == PurgeSick && c.Hints == nil {
		errs = append(errs, errors.New("PurgeSick gives up accepted actions: set Hints, which keeps the keys to repair (new(hints.Set) if it need not outlive the process)"))
	}
	if c.Tuning == nil {
		c.Tuning = tuning.Fixed()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	return c, errors.Join(errs...)
}
