package corpus

import (
	"errors"
	"sync"
)

// Produce splits the numbers below n into one range per producer, and calls add for each range in its own goroutine.
func Produce(producers, n int, add func(from, to int) error) error {
	errs := make([]error, producers)
	var running sync.WaitGroup
	for p := range producers {
		running.Go(func() { errs[p] = add(p*n/producers, (p+1)*n/producers) })
	}
	running.Wait()
	return errors.Join(errs...)
}
