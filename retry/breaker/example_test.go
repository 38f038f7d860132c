package breaker_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// A custom loop: the service fails, the breaker opens, and the loop sleeps until a notification allows a probe.
func Example() {
	b, err := breaker.New(&breaker.Options{Failures: 2, OpenFor: 20 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	changed := make(chan struct{}, 1) // one signal is enough: the loop checks again
	cancel := b.Subscribe(func(breaker.Change) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer cancel()

	answers := []error{nil, busy{}, busy{}, nil, nil} // the replies of the service
	for len(answers) > 0 {
		permit, err := b.Allow()
		if err != nil {
			<-changed
			continue
		}
		err, answers = answers[0], answers[1:]
		permit.Done(breaker.Result{Outcome: outcome(err), Err: err})
		fmt.Printf("probe: %t, answer: %v\n", permit.Probe(), err)
	}
	// Output:
	// probe: false, answer: <nil>
	// probe: false, answer: busy
	// probe: false, answer: busy
	// probe: true, answer: <nil>
	// probe: false, answer: <nil>
}

// outcome classifies an error of a request by the table of package retry.
func outcome(err error) breaker.Outcome {
	switch decision, _ := retry.ForError(err); {
	case decision.Permanent:
		return breaker.Trip
	case decision.Pause:
		return breaker.Failure
	}
	return breaker.Success // the service answers; the error is about documents
}

type busy struct{}

func (busy) Error() string   { return "busy" }
func (busy) HTTPStatus() int { return 503 }

func ExampleNew() {
	_, err := breaker.New(&breaker.Options{Window: -time.Second, OpenFor: time.Nanosecond})
	fmt.Println(err)
	// Output:
	// breaker: Window is -1s: use a positive time, or 0 for the default of 5s
	// OpenFor is 1ns: use at least 1ms, or 0 for the default of 1s
}

// A refusal has its cause.
func ExampleBreaker_Allow() {
	b, _ := breaker.New(&breaker.Options{Jitter: -1})
	permit, err := b.Allow()
	if err != nil {
		fmt.Println(err)
		return
	}
	permit.Done(breaker.Result{Outcome: breaker.Trip, Err: errors.New("403 Forbidden")})

	_, err = b.Allow()
	var open *breaker.OpenError
	if errors.As(err, &open) {
		fmt.Println(open.Status.State, "because of", open.Status.Err)
		fmt.Println("probe after", open.Status.Until.Sub(open.Status.Since))
	}
	// Output:
	// open because of 403 Forbidden
	// probe after 1s
}

// The service may ask for more time than the breaker would wait.
func ExamplePermit_Done() {
	b, _ := breaker.New(nil)
	for range 3 {
		if permit, err := b.Allow(); err == nil {
			permit.Done(breaker.Result{Outcome: breaker.Failure, RetryAfter: 2 * time.Minute})
		}
	}
	s := b.Status()
	fmt.Println(s.State, "for", s.Until.Sub(s.Since).Round(time.Second))
	// Output: open for 2m0s
}

func ExampleBreaker_Subscribe() {
	b, _ := breaker.New(&breaker.Options{OpenFor: time.Millisecond})
	woken := make(chan struct{})
	cancel := b.Subscribe(func(c breaker.Change) {
		fmt.Println(c.From, "→", c.To, c.Err)
		if c.To == breaker.HalfOpen {
			close(woken)
		}
	})
	if permit, err := b.Allow(); err == nil {
		permit.Done(breaker.Result{Outcome: breaker.Trip, Err: errors.New("no such index")})
	}
	<-woken // without any call
	cancel()
	// Output:
	// closed → open no such index
	// open → half-open no such index
}

// An administrator stops all requests to an index, for example during a rebuild, and resumes them.
func ExampleBreaker_Disable() {
	b, _ := breaker.New(nil)
	b.Disable()
	b.Reset() // has no effect
	_, err := b.Allow()
	fmt.Println(b.Status().State, errors.Is(err, breaker.ErrOpen))
	b.Enable()
	_, err = b.Allow()
	fmt.Println(b.Status().State, err)
	// Output:
	// disabled true
	// closed <nil>
}

// After a repair an operator need not wait for the probe.
func ExampleBreaker_Reset() {
	b, _ := breaker.New(nil)
	if permit, err := b.Allow(); err == nil {
		permit.Done(breaker.Result{Outcome: breaker.Trip})
	}
	fmt.Println(b.Status().State)
	b.Reset()
	fmt.Println(b.Status().State)
	// Output:
	// open
	// closed
}

func ExampleBreaker_Status() {
	b, _ := breaker.New(nil)
	for _, outcome := range []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Trip, breaker.Success} {
		if permit, err := b.Allow(); err == nil {
			permit.Done(breaker.Result{Outcome: outcome})
		}
	}
	s := b.Status()
	fmt.Printf("%v, %+v\n", s.State, s.Counts)
	// Output: open, {Allowed:3 Refused:1 Successes:1 Failures:2 Ignored:0 Opened:1}
}
