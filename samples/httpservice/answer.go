package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// What became of a note. These are promises.
const (
	indexed    = "indexed"     // the index has it
	rejected   = "rejected"    // the index has not, and will not take it as it is
	notApplied = "not applied" // the index has not, and will not get it: send it again
	unknown    = "unknown"     // the index may have it: send it again, which does no harm
)

// answer is the body of a reply, and its status.
type answer struct {
	Status int       `json:"-"`
	Notes  []outcome `json:"notes,omitempty"`
	Error  string    `json:"error,omitempty"`

	retryAfter time.Duration
}

type outcome struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	Message string `json:"message,omitempty"`
}

// answerTo makes an answer of what IndexDocumentsAndWait has returned. Each note
// has an outcome of its own; the status is that of the note that is worst off.
//
//	200  all are indexed
//	400  the sender refuses a note: its id is not a legal key, it is too large
//	422  the service rejects a note
//	429  there was no room until the deadline
//	503  nothing is sent at the moment, or the service has failed this note
//	504  the deadline ended first
func answerTo(notes []Note, results []models.IndexingResult, err error, now time.Time) answer {
	a := answer{Status: http.StatusOK, Notes: make([]outcome, len(notes))}
	failed := map[string]*bufferedsender.ActionError{}
	var wait *bufferedsender.WaitError
	if errors.As(err, &wait) {
		for _, e := range wait.Errors {
			failed[e.Key] = e // keys differ: readNotes has seen to that
		}
	}
	for i, n := range notes {
		o := outcome{ID: n.ID}
		e := failed[n.ID]
		switch {
		case e == nil && i < len(results):
			o.Outcome = indexed
		case e == nil: // results are those of the accepted notes
			o.Outcome = notApplied
		case e.Unknown:
			o.Outcome = unknown
		case e.Rejected():
			o.Outcome = rejected
		default:
			o.Outcome = notApplied
		}
		switch {
		case e == nil || errors.Is(e, bufferedsender.ErrWithdrawn): // early says why
		case e.Rejected():
			o.Message = e.Message
			a.worsen(http.StatusUnprocessableEntity, 0)
		default:
			// Conflicts that never ended, a service that fails with this note only,
			// an API key that has become invalid: not the caller's fault.
			o.Message = "the search service failed: " + e.Reason.String()
			a.worsen(http.StatusServiceUnavailable, time.Second)
		}
		a.Notes[i] = o
	}
	if wait != nil && wait.Err != nil {
		a.early(wait.Err, now)
	}
	return a
}

// early takes account of why the call returned before all notes had an outcome.
func (a *answer) early(err error, now time.Time) {
	var open *breaker.OpenError
	var refused *bufferedsender.AddError
	noRoom := errors.As(err, &refused) // it was not accepted
	switch {
	case errors.As(err, &open):
		a.worsen(http.StatusServiceUnavailable, max(time.Second, open.Status.Until.Sub(now)))
		a.Error = "the search service does not work at the moment"
	case errors.Is(err, bufferedsender.ErrPaused):
		a.worsen(http.StatusServiceUnavailable, 10*time.Second)
		a.Error = "writing is paused"
	case errors.Is(err, bufferedsender.ErrClosed):
		a.worsen(http.StatusServiceUnavailable, time.Second)
		a.Error = "this server is shutting down"
	case errors.Is(err, bufferedsender.ErrCircuitOpen): // the index refuses everything
		a.worsen(http.StatusServiceUnavailable, 10*time.Second)
		a.Error = "the search service does not take notes at the moment"
	case noRoom && (isContext(err) || errors.Is(err, bufferedsender.ErrBufferFull)):
		a.worsen(http.StatusTooManyRequests, time.Second)
		a.Error = "too many notes wait"
	case isContext(err):
		a.worsen(http.StatusGatewayTimeout, time.Second)
		a.Error = "the search service did not answer in time"
	default: // what the sender says about a note: a bad key, too large
		a.worsen(http.StatusBadRequest, 0)
		a.Error = err.Error()
	}
}

func isContext(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// worsen raises the status, and the time to come back, rounded up to seconds.
func (a *answer) worsen(status int, retryAfter time.Duration) {
	a.Status = max(a.Status, status)
	a.retryAfter = max(a.retryAfter, (retryAfter + time.Second - 1).Truncate(time.Second))
}

// refusal is the answer to notes that meet a full buffer.
func refusal(notes []Note) answer {
	a := answerTo(notes, nil, nil, time.Time{})
	a.worsen(http.StatusTooManyRequests, time.Second)
	a.Error = "too many notes wait"
	return a
}
