package wholeindex

import "context"

type checkKey struct{}

// Check judges a pass of search.DeleteMatching: n is the number of documents that the call will have deleted after the
// pass, or more if not all matches are in keys, which are those that it found.
type Check func(n int64, keys []string) error

// Before returns a context in which search.DeleteMatching calls check before each pass, and ends with its error.
func Before(ctx context.Context, check Check) context.Context {
	return context.WithValue(ctx, checkKey{}, check)
}

// Checked calls the check of Before, if there is one.
func Checked(ctx context.Context, n int64, keys []string) error {
	if check, is := ctx.Value(checkKey{}).(Check); is {
		return check(n, keys)
	}
	return nil
}
