package corpus

import (
	"errors"
	"sync"
)

// Produce calls add from that many goroutines, each with a part of the numbers
// below n.
func Produce(producers, n int, add func(from, to int) error) error {
	errs := make([]error, producers)
	var running sync.WaitGroup
	for p := range producers {
		running.Go(func() { errs[p] = add(p*n/producers, (p+1)*n/producers) })
	}
	running.Wait()
	return errors.Join(errs...)
}
