package breaker

// Randomly replaces the source of chance, which returns numbers in [0, 1), so
// that a test can say when the probe goes. b must not be in use yet.
func (b *Breaker) Randomly(random func() float64) { b.random = random }
