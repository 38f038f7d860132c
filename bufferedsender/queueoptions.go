package bufferedsender

import (
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/internal/nilcheck"
)

// checkQueue fills in the defaults of the options about a durable queue, and says which
// options it makes no sense with. DESIGN.md has the table of all of them.
func (o *settings) checkQueue() (errs []error) {
	if nilcheck.IsNil(o.Queue) {
		o.Queue = nil
		if o.loads || o.DeleteMissing {
			errs = append(errs, errors.New("the options Loader and DeleteMissing are about a Queue: give one"))
		}
		return errs
	}
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(o.RequestTimeout < 0, "RequestTimeout is off: with a Queue a request that hangs would have its keys for ever")
	refuse(o.DisableAutoFlush, "DisableAutoFlush would keep leases for as long as nobody calls Flush: with a Queue use Pause, of the sender or of the queue")
	refuse(o.versioned, "Folding.Version compares what is in the buffer: a Queue folds by the order of arrival before that")
	hold := o.held()
	refuse(hold.Breaker == nil, "FailSoon fails what a Queue is there to keep: use Hold")
	errs = append(errs, hold.WhenFull.withQueue())
	return errs
}
