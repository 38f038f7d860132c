package breaker

import "cmp"

// Randomly replaces the source of chance, which returns numbers in [0, 1), so
// that a test can say when the probe goes. b must not be in use yet.
func (b *Breaker) Randomly(random func() float64) { b.random = random }

// OpensInARow returns o, changed to open after n consecutive failures; negative: never for that reason.
func (o Options) OpensInARow(n int) *Options {
	o.inARow = n
	return &o
}

// InARow returns that number.
func (o Options) InARow() int { return cmp.Or(o.inARow, o.Failures) }
