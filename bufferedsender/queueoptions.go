package bufferedsender

import (
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
)

// checkQueue sets the defaults for a durable queue and refuses the options that conflict with one. DESIGN.md has a
// table of all options.
func (o *settings) checkQueue() (errs []error) {
	if nilcheck.IsNil(o.Queue) {
		o.Queue = nil
		if o.loads || o.DeleteMissing {
			errs = append(errs, errors.New("the options Loader and DeleteMissing require a Queue: set one, or remove them"))
		}
		return errs
	}
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(o.RequestTimeout < 0, "RequestTimeout is off: with a Queue a request that hangs would have its keys forever")
	refuse(o.DisableAutoFlush, "DisableAutoFlush would keep leases until Flush is called: with a Queue use Pause, of the sender or of the queue")
	refuse(o.versioned, "Folding.Version compares what is in the buffer: a Queue folds by the order of arrival before that")
	hold := o.held()
	refuse(hold.Breaker == nil, "FailSoon fails what a Queue is there to keep: use Hold")
	errs = append(errs, hold.WhenFull.withQueue())
	return errs
}
