package breaker

import "cmp"

// Randomly replaces the random source, which returns numbers in [0, 1), so that a test controls the time of the
// probe. b must not be in use yet.
func (b *Breaker) Randomly(random func() float64) { b.random = random }

// OpensInARow returns a copy of o that opens after n consecutive failures; a negative n disables this rule.
func (o Options) OpensInARow(n int) *Options {
	o.inARow = n
	return &o
}

// InARow returns the number of consecutive failures that open the breaker.
func (o Options) InARow() int { return cmp.Or(o.inARow, o.Failures) }
