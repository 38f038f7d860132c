package tuning

import "time"

// AdaptiveOptions configures Adaptive. nil and the zero value are ready to use.
type AdaptiveOptions struct{}

// Adaptive returns a policy that finds out what the service takes.
func Adaptive(_ *AdaptiveOptions) Policy { return adaptivePolicy{} }

type adaptivePolicy struct{}

func (adaptivePolicy) New(b Bounds) Controller {
	b = b.normalized()
	return &adaptive{bounds: b, limits: b.loosest()}
}

// adaptive is the controller: additive increase, multiplicative decrease of the
// batch, then of the pace.
type adaptive struct {
	bounds Bounds
	limits Limits
	since  time.Duration // of the last decrease
}

func (a *adaptive) Limits() Limits { return a.limits }

func (a *adaptive) Observe(o Observation) Limits {
	l := &a.limits
	switch {
	case o.Broken:
	case o.Throttled > 0 || o.Refused:
		if o.Started < a.since {
			break // sent before the last decrease: not news
		}
		a.since = o.Now
		if l.BatchActions > a.bounds.Min.BatchActions {
			l.BatchActions = max(l.BatchActions/2, a.bounds.Min.BatchActions)
		} else {
			l.Interval = min(max(2*l.Interval, 10*time.Millisecond), a.bounds.Max.Interval)
		}
	case o.Backlog > 0:
		if l.Interval > a.bounds.Min.Interval {
			l.Interval = max(l.Interval-l.Interval/8-time.Millisecond, a.bounds.Min.Interval)
		} else {
			l.BatchActions = min(l.BatchActions+max(1, a.bounds.Max.BatchActions/50), a.bounds.Max.BatchActions)
		}
	}
	return *l
}
