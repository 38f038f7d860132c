package tuning

// Fixed returns a policy that never changes anything: always the largest batches, the most requests in flight and the
// shortest interval within the bounds. It is for known limits, and for measurements.
func Fixed() Policy { return fixedPolicy{} }

type fixedPolicy struct{}

func (fixedPolicy) New(b Bounds) Controller {
	f := fixed(b.normalized().loosest())
	return &f
}

// fixed is the controller of Fixed; its value is the pace.
type fixed Pace

func (f *fixed) Pace() Pace { return Pace(*f) }

func (f *fixed) Observe(Observation) Pace { return Pace(*f) }

// Resize implements Resizer.
func (f *fixed) Resize(b Bounds) Pace {
	*f = fixed(b.normalized().loosest())
	return Pace(*f)
}
