package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry/breaker"
)

// Note is the document that callers write.
type Note struct {
	ID     string `json:"id" search:"key,filterable,sortable"`
	Author string `json:"author" search:"filterable"`
	Text   string `json:"text" search:"searchable"`
}

const (
	maxBody  = 1 << 20
	maxNotes = 100
)

// writeNotes reads a JSON array of notes, waits until each note has an outcome, and replies with the outcomes.
func (s *service) writeNotes(w http.ResponseWriter, r *http.Request) {
	notes, err := readNotes(w, r)
	if err != nil {
		reply(w, answer{Status: http.StatusBadRequest, Error: err.Error()})
		return
	}
	if s.full(len(notes)) {
		reply(w, answerTo(notes, nil, &bufferedsender.WaitError{Err: &bufferedsender.AddError{Err: bufferedsender.ErrBufferFull}}, time.Now()))
		return
	}
	// The context ends at the deadline or when the caller disconnects. Then unsent notes are withdrawn.
	ctx, cancel := context.WithTimeout(r.Context(), s.settings.deadline)
	defer cancel()
	actions := make([]models.IndexDocumentsAction[Note], len(notes))
	for i, n := range notes {
		actions[i] = models.UploadAction(n)
	}
	results, err := s.sender.IndexDocumentsAndWait(ctx, actions, nil)
	reply(w, answerTo(notes, results, err, time.Now()))
}

// full reports whether n more notes would block. Without this check they would block until their deadline and then be
// refused. It is only approximate: a concurrent caller may take the room.
func (s *service) full(n int) bool {
	stats := s.sender.Stats()
	return stats.BlockedProducers > 0 || stats.PendingActions+n > s.settings.buffer
}

func readNotes(w http.ResponseWriter, r *http.Request) ([]Note, error) {
	var notes []Note
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&notes); err != nil {
		return nil, fmt.Errorf("the body is not a JSON array of notes: %w", err)
	}
	if len(notes) == 0 || len(notes) > maxNotes {
		return nil, fmt.Errorf("%d notes: send 1 to %d", len(notes), maxNotes)
	}
	seen := map[string]bool{}
	for _, n := range notes {
		if seen[n.ID] {
			return nil, errors.New("two notes have the same id: which one is meant?")
		}
		seen[n.ID] = true
	}
	return notes, nil
}

func reply(w http.ResponseWriter, a answer) {
	body, err := json.Marshal(a)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if a.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int64(a.retryAfter/time.Second)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	_, _ = w.Write(append(body, '\n'))
}

// The outcomes of a note. The reply guarantees them.
const (
	indexed    = "indexed"     // the index has it
	rejected   = "rejected"    // the index does not have it, and will not accept it unchanged
	notApplied = "not applied" // the index does not and will not have it: send it again
	unknown    = "unknown"     // the index may have it: send it again, which is harmless
)

// answer is the status and body of a reply.
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

// answerTo converts the result of IndexDocumentsAndWait. Each note has its own outcome; the status is the worst of
// all notes.
//
//	200  all are indexed
//	400  the sender refused a note: its ID is not a legal key, or it is too large
//	422  the service rejected a note
//	429  the buffer stayed full until the deadline
//	503  sending is suspended, or the service failed a note
//	504  the deadline ended first
func answerTo(notes []Note, results []models.IndexingResult, err error, now time.Time) answer {
	a := answer{Status: http.StatusOK, Notes: make([]outcome, len(notes))}
	failed := map[string]*bufferedsender.ActionError{}
	var wait *bufferedsender.WaitError
	if errors.As(err, &wait) {
		for _, e := range wait.Errors {
			failed[e.Key] = e // keys differ: readNotes has checked that
		}
	}
	for i, n := range notes {
		o := outcome{ID: n.ID}
		e := failed[n.ID]
		o.Outcome = notApplied
		switch {
		case e == nil && i < len(results): // results has those of the accepted notes
			o.Outcome = indexed
		case e != nil && e.Unknown:
			o.Outcome = unknown
		case e != nil && e.Rejected():
			o.Outcome = rejected
		}
		switch {
		case e == nil || errors.Is(e, bufferedsender.ErrWithdrawn): // early sets status and error
		case e.Rejected():
			o.Message = e.Message
			a.worsen(http.StatusUnprocessableEntity, 0)
		default:
			// A conflict that does not end, a service that fails only for this note, an API key that has become
			// invalid: not the caller's fault.
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

// early sets status and error if the call returned before all notes had an outcome.
func (a *answer) early(err error, now time.Time) {
	var open *breaker.OpenError
	var refused *bufferedsender.AddError
	noRoom := errors.As(err, &refused) // the notes were not accepted
	switch {
	case noRoom && refused.Rejected(): // an illegal key, or too large; even if others then met the deadline or an outage
		a.worsen(http.StatusBadRequest, 0)
		a.Error = refused.Error()
	case errors.As(err, &open):
		a.worsen(http.StatusServiceUnavailable, max(time.Second, open.Status.Until.Sub(now)))
		a.Error = "the search service does not work at the moment"
	case errors.Is(err, bufferedsender.ErrPaused):
		a.worsen(http.StatusServiceUnavailable, 10*time.Second)
		a.Error = "writing is paused"
	case errors.Is(err, bufferedsender.ErrClosed):
		a.worsen(http.StatusServiceUnavailable, time.Second)
		a.Error = "this server is shutting down"
	case errors.Is(err, bufferedsender.ErrCircuitOpen): // the index refuses every document
		a.worsen(http.StatusServiceUnavailable, 10*time.Second)
		a.Error = "the search service does not take notes at the moment"
	case noRoom && (isContext(refused.Err) || errors.Is(err, bufferedsender.ErrBufferFull)):
		a.worsen(http.StatusTooManyRequests, time.Second)
		a.Error = "too many notes wait"
	case isContext(err):
		a.worsen(http.StatusGatewayTimeout, time.Second)
		a.Error = "the search service did not answer in time"
	default: // the sender refused a note: illegal key, too large
		a.worsen(http.StatusBadRequest, 0)
		a.Error = err.Error()
	}
}

func isContext(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// worsen raises the status and Retry-After, which it rounds up to seconds.
func (a *answer) worsen(status int, retryAfter time.Duration) {
	a.Status = max(a.Status, status)
	a.retryAfter = max(a.retryAfter, (retryAfter + time.Second - 1).Truncate(time.Second))
}

type sender = bufferedsender.BufferedSender[Note]

// settings are the durations and sizes of the service. Zero fields have defaults.
type settings struct {
	// deadline is how long a handler waits for the index. Defaults to 10 s.
	deadline time.Duration
	// requestTimeout ends a request to the index. Defaults to 3 s.
	requestTimeout time.Duration
	// buffer is the maximum number of buffered notes. Defaults to 5000.
	buffer int
	// drain is how long readiness is false before connections are refused. Defaults to 100 ms; a real load balancer
	// needs a few seconds.
	drain time.Duration
}

// shutdown limits the end of the handlers, and then the end of the sender.
const shutdown = 10 * time.Second

func (s settings) withDefaults() settings {
	s.deadline = cmp.Or(s.deadline, 10*time.Second)
	s.requestTimeout = cmp.Or(s.requestTimeout, 3*time.Second)
	s.buffer = cmp.Or(s.buffer, 5000)
	s.drain = cmp.Or(s.drain, 100*time.Millisecond)
	return s
}

// newSender returns a sender for request handlers. Its options favor latency, unlike those of a bulk load, for which
// no caller waits.
func newSender(indexer bufferedsender.Indexer, cfg settings, meters metric.MeterProvider, logger *slog.Logger) (*sender, error) {
	return bufferedsender.New(indexer, &bufferedsender.Options[Note]{
		Waiting: bufferedsender.Waiting{
			// A note waits this long for others that share its request. The wait is part of every reply's latency,
			// but a request costs the service more than a document, so a few milliseconds pay off with many handlers.
			// This is the default; tune it first.
			Interval: 5 * time.Millisecond,

			// During an outage the reply is 503 with Retry-After at once; handlers do not wait until their deadline.
			// Accepted and unsent notes are withdrawn, so the reply is true. After the breaker's open time one call
			// is let through as the probe.
			FailFast: true,
		},

		Limits: bufferedsender.Limits{
			// Requests overlap. With one at a time, each caller would also wait for the request before its own.
			MaxInFlight: 4,

			// Buffered notes lose time of their deadline. Refuse with 429 more than the service can index within a
			// deadline.
			MaxBufferedActions: cfg.buffer,
		},

		// Far below the handler's deadline: a hanging request is cut and sent again while the caller still waits. The
		// default of 60 s is longer than callers wait.
		RequestTimeout: cfg.requestTimeout,

		MeterProvider: meters,
		Logger:        logger,
	})
}
