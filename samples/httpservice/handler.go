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

// Note is what callers write.
type Note struct {
	ID     string `json:"id" search:"key,filterable,sortable"`
	Author string `json:"author" search:"filterable"`
	Text   string `json:"text" search:"searchable"`
}

const (
	maxBody  = 1 << 20
	maxNotes = 100
)

// writeNotes takes a JSON array of notes, waits until the index has them or
// certainly has not, and says so.
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
	// The context ends with the deadline, or when the caller hangs up: then
	// nobody wants the notes written any more, and what was not sent is withdrawn.
	ctx, cancel := context.WithTimeout(r.Context(), s.settings.deadline)
	defer cancel()
	actions := make([]models.IndexDocumentsAction[Note], len(notes))
	for i, n := range notes {
		actions[i] = models.UploadAction(n)
	}
	results, err := s.sender.IndexDocumentsAndWait(ctx, actions, nil)
	reply(w, answerTo(notes, results, err, time.Now()))
}

// full reports whether n more notes would have to wait for room. Without this
// question they would, as long as their deadline allows, and be refused then. It
// is not exact: whoever asks at the same moment may get the room.
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
		o.Outcome = notApplied
		switch {
		case e == nil && i < len(results): // results are those of the accepted notes
			o.Outcome = indexed
		case e != nil && e.Unknown:
			o.Outcome = unknown
		case e != nil && e.Rejected():
			o.Outcome = rejected
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

type sender = bufferedsender.BufferedSender[Note]

// settings are the times and sizes of the service. Zero fields have defaults.
type settings struct {
	// deadline is how long a handler waits for the index. Defaults to 10 s.
	deadline time.Duration
	// requestTimeout ends a request to the index. Defaults to 3 s.
	requestTimeout time.Duration
	// buffer is how many notes may wait. Defaults to 5000.
	buffer int
	// drain is how long the readiness is false before connections are refused.
	// Defaults to 100 ms; a real load balancer wants a few seconds.
	drain time.Duration
}

// shutdown is how long handlers may take to end, and the sender after them.
const shutdown = 10 * time.Second

func (s settings) withDefaults() settings {
	s.deadline = cmp.Or(s.deadline, 10*time.Second)
	s.requestTimeout = cmp.Or(s.requestTimeout, 3*time.Second)
	s.buffer = cmp.Or(s.buffer, 5000)
	s.drain = cmp.Or(s.drain, 100*time.Millisecond)
	return s
}

// newSender returns a sender for request handlers, whose callers wait. Its options
// differ from those for a load in bulk, which nobody waits for.
func newSender(indexer bufferedsender.Indexer, cfg settings, meters metric.MeterProvider, logger *slog.Logger) (*sender, error) {
	return bufferedsender.New(indexer, &bufferedsender.Options[Note]{
		Waiting: bufferedsender.Waiting{
			// A note waits this long for others that can share its request. It is added
			// to every reply, and a request costs the service more than a document: a few
			// milliseconds are a good price when handlers are many. The default, said
			// here because it is the first thing to tune.
			Interval: 5 * time.Millisecond,

			// An outage is answered at once, with 503 and the time to come back, and
			// not by holding every handler until its deadline. What the sender has
			// accepted and not sent is withdrawn, so that the answer is the truth.
			// The first call after the breaker's open time is let through: it finds out
			// whether the service works again.
			FailFast: true,
		},

		Limits: bufferedsender.Limits{
			// While one request is under way others can start. With one at a time each
			// caller would wait for the request before its own as well.
			MaxInFlight: 4,

			// What waits in the buffer waits at the expense of its deadline. More than
			// the service can take within a deadline is better refused with 429.
			MaxBufferedActions: cfg.buffer,
		},

		// Far below the deadline of a handler: a request that hangs is then ended
		// and sent again while there is still somebody to tell. The default of 60 s
		// is longer than callers wait.
		RequestTimeout: cfg.requestTimeout,

		MeterProvider: meters,
		Logger:        logger,
	})
}
