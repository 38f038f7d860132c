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

// fixed is the controller: the limits themselves.
type fixed Limits

func (f *fixed) Limits() Limits { return Limits(*f) }

func (f *fixed) Observe(Observation) Limits { return Limits(*f) }

// Resize implements Resizer.
func (f *fixed) Resize(b Bounds) Limits {
	*f = fixed(b.normalized().loosest())
	return Limits(*f)
}
