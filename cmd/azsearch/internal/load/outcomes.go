package load

import (
	"errors"
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/models"
)

// settled receives the outcome of each document, on the sender's callback goroutine.
func (r *run) settled(o models.Outcome) {
	record := o.Tag.(*record)
	switch {
	case o.Completed():
		r.completed.Add(1)
		if record.deletes {
			r.deleted.Add(1)
			r.lastDelete = o.Key
			if r.firstKey == o.Key {
				r.firstKey = ""
			}
			if r.lastKey == o.Key {
				r.lastKey = ""
			}
		} else {
			if r.lastKey = o.Key; r.firstKey == "" {
				r.firstKey = o.Key
			}
			if r.lastDelete == o.Key {
				r.lastDelete = ""
			}
		}
		r.release(record.job)
		return
	case unsent(o):
		r.unsent.Add(1)
		if o.Unknown {
			r.unknown.Add(1)
		}
		if o.Reason == models.ReasonQuota {
			r.stop(exit.With(exit.Service, fmt.Errorf("%w; delete documents or choose a larger tier, then run it again", errQuota)))
		}
		return
	}
	reject := record.reject(&convert.Problem{Kind: KindService, Message: message(o)})
	reject.Status, reject.Key = o.Status, o.Key
	if elsewhere(o.Err) {
		reject.Kind = KindElsewhere
	}
	if err := r.reject(&reject, record.job); err != nil {
		r.stop(err) // not released, so the checkpoint stays below the record
	}
}

// elsewhere reports whether the queue keeps the action but this process will not send it: another process leases its
// key, or it is parked.
func elsewhere(err error) bool {
	return errors.Is(err, bufferedsender.ErrElsewhere) || errors.Is(err, bufferedsender.ErrParked)
}

// unsent reports whether an outcome says nothing about the document. Such a document is not a reject.
func unsent(o models.Outcome) bool {
	switch o.Reason {
	case models.ReasonClosed, models.ReasonWithdrawn, models.ReasonPurged, models.ReasonCredentials, models.ReasonNoIndex,
		models.ReasonClient, models.ReasonQuota:
		return !elsewhere(o.Err)
	}
	return false
}

func message(o models.Outcome) string {
	var failed *bufferedsender.ActionError
	switch {
	case errors.As(o.Err, &failed) && failed.Message != "":
		return failed.Message
	case failed != nil && failed.Err != nil:
		return failed.Err.Error()
	}
	return o.Err.Error()
}
