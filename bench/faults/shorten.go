package faults

import (
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// fastBatch is the batch size with -fast, small enough for many requests in a tenth of the time.
const fastBatch = 100

// shorten scales the durations of the default options like those of the rows.
func (s setting) shorten(o *bufferedsender.Options[document]) error {
	o.Limits.MaxBatchActions = fastBatch
	o.AutoFlushInterval = s.span(bufferedsender.DefaultAutoFlushInterval)
	o.RequestTimeout = s.span(bufferedsender.DefaultRequestTimeout)
	o.UnknownWait = s.span(bufferedsender.DefaultUnknownWait)
	o.Retry = retry.Options{Delay: s.span(retry.DefaultDelay), MaxDelay: s.span(retry.DefaultMaxDelay)}
	b, err := breaker.New(s.breaker())
	o.Outage = bufferedsender.Hold{Breaker: b}
	return err
}

// breaker returns the default options of a breaker with scaled durations.
func (s setting) breaker() *breaker.Options {
	return &breaker.Options{
		Window:     s.span(5 * time.Second),
		OpenFor:    s.span(time.Second),
		MaxOpenFor: s.span(30 * time.Second),
	}
}
