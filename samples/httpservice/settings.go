package main

import (
	"cmp"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

type sender = bufferedsender.BufferedSender[Note]

// settings are the times and sizes of the service. Zero fields have defaults.
type settings struct {
	// deadline is how long a handler waits for the index. Defaults to 10 s.
	deadline time.Duration
	// requestTimeout ends a request to the index. Defaults to 3 s.
	requestTimeout time.Duration
	// buffer is how many notes may wait. Defaults to 5000.
	buffer int
	// drain is how long the readiness is false before connections are refused.
	// Defaults to 100 ms; a real load balancer wants a few seconds.
	drain time.Duration
	// shutdown is how long handlers may take to end, and the sender after them.
	// Defaults to 10 s for each.
	shutdown time.Duration
}

func (s settings) withDefaults() settings {
	s.deadline = cmp.Or(s.deadline, 10*time.Second)
	s.requestTimeout = cmp.Or(s.requestTimeout, 3*time.Second)
	s.buffer = cmp.Or(s.buffer, 5000)
	s.drain = cmp.Or(s.drain, 100*time.Millisecond)
	s.shutdown = cmp.Or(s.shutdown, 10*time.Second)
	return s
}

// newSender returns a sender for request handlers, whose callers wait. Its options
// differ from those for a load in bulk, which nobody waits for.
func newSender(indexer bufferedsender.Indexer, cfg settings, meters metric.MeterProvider, logger *slog.Logger) (*sender, error) {
	return bufferedsender.New(indexer, &bufferedsender.Options[Note]{
		Waiting: bufferedsender.Waiting{
			// A note waits this long for others that can share its request. It is added
			// to every reply, and a request costs the service more than a document: a few
			// milliseconds are a good price when handlers are many. The default, said
			// here because it is the first thing to tune.
			Interval: 5 * time.Millisecond,

			// An outage is answered at once, with 503 and the time to come back, and
			// not by holding every handler until its deadline. What the sender has
			// accepted and not sent is withdrawn, so that the answer is the truth.
			// The first call after the breaker's open time is let through: it finds out
			// whether the service works again.
			FailFast: true,
		},

		Limits: bufferedsender.Limits{
			// While one request is under way others can start. With one at a time each
			// caller would wait for the request before its own as well.
			MaxInFlight: 4,

			// What waits in the buffer waits at the expense of its deadline. More than
			// the service can take within a deadline is better refused with 429.
			MaxBufferedActions: cfg.buffer,
		},

		// Far below the deadline of a handler: a request that hangs is then ended
		// and sent again while there is still somebody to tell. The default of 60 s
		// is longer than callers wait.
		RequestTimeout: cfg.requestTimeout,

		MeterProvider: meters,
		Logger:        logger,
	})
}
