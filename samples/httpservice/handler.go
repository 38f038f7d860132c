package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

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
		reply(w, refusal(notes))
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
