package tuning

// Fixed returns a policy that never changes anything: the largest batches, the
// most requests in flight and the shortest interval of the bounds, always. It is
// for those who know the numbers, or measure.
func Fixed() Policy { return fixedPolicy{} }

type fixedPolicy struct{}

func (fixedPolicy) New(b Bounds) Controller { return fixed(b.normalized().loosest()) }

// fixed is the controller: the limits themselves.
type fixed Limits

func (f fixed) Limits() Limits { return Limits(f) }

func (f fixed) Observe(Observation) Limits { return Limits(f) }
