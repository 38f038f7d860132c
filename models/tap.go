package models

import "context"

// Tap is informed of the keys that a buffered sender writes, and can delay their requests. For example, an index that
// is being rebuilt must miss none of them, see search/rebuild. Both methods are called on the goroutine of a request,
// within its RequestTimeout, and concurrently for concurrent requests. Their wait is part of the time of the request.
// A panic counts as a lost connection.
type Tap interface {
	// Before is called before each request, with the keys of its actions, without duplicates. If it returns an error, the
	// request is not sent and no attempt is used. The whole sender pauses for at most a second and calls it again. keys
	// belong to the sender, and are valid until Before returns.
	Before(ctx context.Context, keys []string) error
	// Confirm is called after the service has applied the actions of these keys, before they are reported as completed.
	// If again is true, they are sent again at once; after an error, they are sent again after a pause of the whole
	// sender, which grows from a second to 30, but not beyond the time for which Confirm has failed. Neither uses an
	// attempt. If Close gives up meanwhile, they end as unsent and Unknown. keys belong to the sender, and are valid
	// until Confirm returns.
	Confirm(ctx context.Context, keys []string) (again bool, err error)
}
