package corpus

import (
	"errors"
	"sync"
)

// Produce splits the numbers below n into as many ranges as there are producers,
// and calls add for each in a goroutine of its own.
func Produce(producers, n int, add func(from, to int) error) error {
	errs := make([]error, producers)
	var running sync.WaitGroup
	for p := range producers {
		running.Go(func() { errs[p] = add(p*n/producers, (p+1)*n/producers) })
	}
	running.Wait()
	return errors.Join(errs...)
}
