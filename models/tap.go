package models

import "context"

// Tap lets somebody know of the keys that a buffered sender writes, and has a say in it: for
// example because an index is being rebuilt and must miss none of them, see search/rebuild.
// Both methods are called on the goroutine of a request, within its RequestTimeout, and from
// as many goroutines at once as there are requests. What they wait for is added to the time of
// the request. A panic counts as a lost connection.
type Tap interface {
	// Before is called before each request, with the keys of its actions, each once. With
	// an error the request is not sent: no attempt is used, the whole sender pauses, and
	// asks again after a second, then twice as long each time, as after a 503.
	// keys belong to the sender, and are valid until Before returns.
	Before(ctx context.Context, keys []string) error
	// Confirm is called when the service has applied the actions of these keys, before they
	// are reported as completed. If again is true they are sent again at once; with an error
	// they are sent again after a pause of the whole sender. Neither uses an attempt. When
	// Close gives up meanwhile, they end as unsent and Unknown.
	// keys belong to the sender, and are valid until Confirm returns.
	Confirm(ctx context.Context, keys []string) (again bool, err error)
}
