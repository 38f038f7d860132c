package main

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
)

// healthHandler serves what health returns, sender.Health for example, as JSON:
//
//	{"state":"circuit open","since":"2026-02-10T12:00:00Z","reason":"…"}
//
// with status 200 while the sender sends, if slowly, and 503 while it does not.
//
// That is a readiness: whoever feeds the program should feed it less. Never make
// it a liveness probe. A program that is restarted because the service is away
// loses what it has accepted, and the service is no nearer.
func healthHandler(health func() bufferedsender.Health) http.Handler {
	type report struct {
		State  string    `json:"state"`
		Since  time.Time `json:"since"`
		Reason string    `json:"reason,omitempty"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := health()
		body, err := json.Marshal(report{h.State.String(), h.Since, h.Reason})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if h.State != events.HealthStateHealthy && h.State != events.HealthStateThrottled {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(append(body, '\n'))
	})
}
