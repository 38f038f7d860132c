package retry_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-azsearch/azsearch/retry"
)

// A custom loop for one request: the buffered sender's retries without buffering. The service is busy twice, then
// accepts the batch.
func Example() {
	answers := []error{
		fmt.Errorf("index hotels: %w", busy{after: "2"}),
		fmt.Errorf("index hotels: %w", busy{}),
		nil,
	}
	send := func(attempt int) error { return answers[attempt-1] }

	policy := retry.Options{Jitter: -1} // full jitter is better, but has no fixed output
	for attempt := 1; ; attempt++ {
		err := send(attempt)
		decision, status := retry.ForError(err)
		if decision.Verdict != retry.Retry || attempt == policy.MaxAttempts() {
			fmt.Println("attempt", attempt, decision.Verdict)
			return
		}
		wait := policy.Wait(attempt)
		if hint := retry.RetryAfterError(nil); errors.As(err, &hint) {
			if asked, ok := hint.RetryAfter(); ok {
				wait = max(wait, asked) // a minimum: 0 does not mean at once
			}
		}
		fmt.Println("attempt", attempt, decision.Verdict, "after", status, "in", wait)
		// time.Sleep(wait)
	}
	// Output:
	// attempt 1 retry after 503 in 2s
	// attempt 2 retry after 503 in 1.6s
	// attempt 3 done
}

// busy is a 503 with or without Retry-After, like a *search.Error.
type busy struct{ after string }

func (busy) Error() string   { return "the service is busy" }
func (busy) HTTPStatus() int { return http.StatusServiceUnavailable }

func (b busy) RetryAfter() (time.Duration, bool) {
	return retry.RetryAfter(http.Header{"Retry-After": {b.after}}, time.Now())
}

func ExampleForDocument() {
	for _, status := range []int{201, 404, 409, 429, 503} {
		decision := retry.ForDocument(status)
		fmt.Println(status, decision.Verdict, "pause:", decision.Pause, "unknown:", decision.Unknown)
	}
	// Output:
	// 201 done pause: false unknown: false
	// 404 fail pause: false unknown: false
	// 409 retry pause: false unknown: false
	// 429 fail pause: false unknown: false
	// 503 retry pause: true unknown: true
}

func ExampleForRequest() {
	for _, status := range []int{207, 302, 400, 403, 413, 429, 502} {
		decision := retry.ForRequest(status)
		fmt.Println(status, decision.Verdict, "permanent:", decision.Permanent, "learn:", decision.TooLarge, "cut:", decision.NoAnswer)
	}
	// Output:
	// 207 done permanent: false learn: false cut: false
	// 302 fail permanent: true learn: false cut: false
	// 400 split permanent: false learn: false cut: false
	// 403 fail permanent: true learn: false cut: false
	// 413 split permanent: false learn: true cut: false
	// 429 retry permanent: false learn: false cut: false
	// 502 retry permanent: false learn: false cut: true
}

func ExampleForError() {
	for _, err := range []error{
		fmt.Errorf("index hotels: %w", busy{}),
		&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED},
		&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		backoff.Permanent(errors.New("the batch is out of date")),
	} {
		decision, status := retry.ForError(err)
		fmt.Println(decision.Verdict, "status:", status, "unknown:", decision.Unknown, "cut:", decision.NoAnswer)
	}
	// Output:
	// retry status: 503 unknown: true cut: false
	// retry status: 0 unknown: false cut: false
	// retry status: 0 unknown: true cut: true
	// fail status: 0 unknown: true cut: true
}

func ExampleVerdict_String() {
	fmt.Println(retry.Done, retry.Retry, retry.Split, retry.Fail)
	// Output: done retry split fail
}

func ExampleOptions_Wait() {
	policy := retry.Options{Delay: time.Second, MaxDelay: 10 * time.Second, Jitter: -1}
	for attempt := range 6 {
		fmt.Println(policy.Wait(attempt + 1))
	}
	// Output:
	// 1s
	// 2s
	// 4s
	// 8s
	// 10s
	// 10s
}

func ExampleOptions_MaxAttempts() {
	fmt.Println(retry.Options{}.MaxAttempts())
	fmt.Println(retry.Options{MaxRetries: 9}.MaxAttempts())
	fmt.Println(retry.Options{MaxRetries: -1}.MaxAttempts())
	// Output:
	// 4
	// 10
	// 1
}

func ExampleOptions_Validate() {
	fmt.Println(retry.Options{Delay: time.Hour, MaxDelay: time.Minute, Jitter: 20}.Validate())
	// Output:
	// retry: Jitter is 20: use a share between 0 and 1, or a negative number for none
	// retry: Delay 1h0m0s is above MaxDelay 1m0s: lower the one or raise the other
}

func ExampleRetryAfter() {
	now := time.Date(2026, time.July, 29, 12, 0, 0, 0, time.UTC)
	for _, h := range []http.Header{
		{"Retry-After": {"120"}},
		{"Retry-After": {"Wed, 29 Jul 2026 12:00:30 GMT"}},
		{"Retry-After": {"1"}, "X-Ms-Retry-After-Ms": {"350"}},
		{"Retry-After": {"soon"}},
	} {
		fmt.Println(retry.RetryAfter(h, now))
	}
	// Output:
	// 2m0s true
	// 30s true
	// 350ms true
	// 0s false
}
