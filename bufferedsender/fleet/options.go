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

// Service is a search service, as far as a fleet needs it. See [From].
type Service interface {
	// Indexer returns what sends to an index. The index need not exist. It is called once for each sender.
	Indexer(index string) (bufferedsender.Indexer, error)
	// IndexNames yields the names of all indexes that there are, or an error, which is the last.
	IndexNames(ctx context.Context) iter.Seq2[string, error]
}

// From makes a Service of two functions, for example the methods of a *search.IndexClient:
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

// Options configures a Fleet. nil and the zero value are ready to use.
type Options struct {
	// Pool says how many requests may be under way, by class, and how much all senders keep together: 262,144 actions
	// and 256 MiB if it bounds neither. Fleet.Pool changes it later. Defaults to four slots for Expedited and four for
	// the other classes.
	Pool *pool.Options
	// Breaker configures the breakers of the indexes and of the service. The service's breaker stays open for at most
	// 5 s, or for OpenFor if that is longer. Defaults to that of a sender.
	Breaker *breaker.Options
	// Tuning finds out how many requests the service takes, and how large, with one controller for all. The number of
	// slots follows it. Defaults to tuning.Fixed().
	Tuning tuning.Policy
	// WhenFull is the policy for what is kept for failing indexes when there is no room for others. Defaults to Wait. A
	// sender's own full buffer is in its own options.
	WhenFull WhenFull
	// Hints gets the keys of what was purged, by index, for a repair. What Close and Drop leave unsent goes to
	// DeadLetters instead. Hints is not closed. PurgeSick needs it. Defaults to none.
	Hints *hints.Set

	// Logger is that of the fleet, and of senders that have no other. Defaults to slog.Default().
	Logger *slog.Logger
	// MeterProvider makes the metrics of the pool, and of senders that have no other. Defaults to the global one of
	// OpenTelemetry.
	MeterProvider metric.MeterProvider
}

// WhenFull is what a fleet does when a sender waits for room and others keep it although they cannot send.
type WhenFull uint8

const (
	// Wait gives up nothing.
	Wait WhenFull = iota
	// PurgeSick gives up what waits for an index whose breaker is open. The fleet checks once a second. If a sender
	// waits for room at two checks in a row, it purges one index: of those with something waiting, the one whose breaker
	// opened first. It needs Options.Hints.
	PurgeSick
)

// withDefaults returns a copy with the defaults filled in, or an error that names every problem.
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
		errs = append(errs, errors.New("PurgeSick gives up accepted actions: set Hints, which remembers what is to be repaired (new(hints.Set) if it need not outlive the process)"))
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
