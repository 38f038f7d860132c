package tuning

// Fixed returns a policy that never changes anything: the largest batches, the
// most requests in flight and the shortest interval of the bounds, always. It is
// for those who know the numbers, or measure.
func Fixed() Policy { return fixedPolicy{} }

type fixedPolicy struct{}

func (fixedPolicy) New(b Bounds) Controller {
	f := fixed(b.normalized().loosest())
	return &f
}

// fixed is the controller: the pace itself.
type fixed Pace

func (f *fixed) Pace() Pace { return Pace(*f) }

func (f *fixed) Observe(Observation) Pace { return Pace(*f) }

// Resize implements Resizer.
func (f *fixed) Resize(b Bounds) Pace {
	*f = fixed(b.normalized().loosest())
	return Pace(*f)
}
