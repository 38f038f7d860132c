package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// story is the state of the run.
type story struct {
	w       io.Writer
	service *stage.Service
	sender  *sender
	health  http.Handler
	sent    int
}

func (s *story) tell(ctx context.Context) error {
	for _, chapter := range []func(context.Context) error{s.calm, s.busy, s.gone, s.paused} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) calm(ctx context.Context) error {
	err := s.send(ctx, 2000)
	return errors.Join(err, s.look(ctx, "all is well", http.StatusOK))
}

func (s *story) busy(ctx context.Context) error {
	s.service.Faults(searchtest.Fault{Documents: []searchtest.DocumentFault{{Ratio: 0.2, Status: http.StatusServiceUnavailable, Nth: 1}, {Ratio: 0.1, Status: http.StatusConflict, Nth: 1}}})
	err := s.send(ctx, 1000)
	s.service.Faults()
	if s.sender.Stats().Throttled == 0 {
		err = errors.Join(err, errors.New("the service was busy, but Stats().Throttled is 0"))
	}
	return errors.Join(err, s.look(ctx, "the service was busy for a while", http.StatusOK))
}

func (s *story) gone(ctx context.Context) error {
	s.service.Faults(searchtest.Fault{Status: http.StatusBadGateway})
	err := errors.Join(s.add(ctx, 1000), s.until(ctx, events.HealthStateCircuitOpen), s.look(ctx, "the service is gone", http.StatusServiceUnavailable))
	s.service.Faults()
	// Flush waits for the probe that closes the breaker.
	return errors.Join(err, s.sender.Flush(ctx, nil), s.look(ctx, "the service is back, and has all that waited", http.StatusOK))
}

func (s *story) paused(ctx context.Context) error {
	s.sender.Pause()
	err := errors.Join(s.add(ctx, 500), s.until(ctx, events.HealthStatePaused), s.look(ctx, "the sender was paused", http.StatusServiceUnavailable))
	s.sender.Resume()
	return errors.Join(err, s.sender.Flush(ctx, nil), s.look(ctx, "and resumed it", http.StatusOK))
}

// end prints the state after Close and the metrics, and checks that the metrics have the counts of the run.
func (s *story) end(ctx context.Context, metrics string) error {
	if err := s.look(ctx, "the sender is closed", http.StatusServiceUnavailable); err != nil {
		return err
	}
	fmt.Fprintf(s.w, "\n%s", metrics)
	for _, want := range []string{
		fmt.Sprintf("azsearch_sender_items_added_total %d\n", s.sender.Stats().Accepted),
		fmt.Sprintf("azsearch_sender_item_settle_duration_seconds_count{azsearch_outcome=\"completed\"} %d\n", s.sent),
	} {
		if !strings.Contains(metrics, want) {
			return fmt.Errorf("%d readings were sent, and the metrics do not say %s", s.sent, want)
		}
	}
	return nil
}

// add adds n readings. They have 10 000 different keys, so that few share one.
func (s *story) add(ctx context.Context, n int) error {
	readings := make([]Reading, n)
	for i := range readings {
		readings[i] = Reading{ID: fmt.Sprintf("r-%d", (s.sent+i)%10_000), Station: "Zugspitze", Celsius: -4.5}
	}
	s.sent += n
	return s.sender.UploadDocuments(ctx, readings...)
}

// send adds readings and waits until they are in the index.
func (s *story) send(ctx context.Context, n int) error {
	if err := s.add(ctx, n); err != nil {
		return err
	}
	return s.sender.Flush(ctx, nil)
}

// until waits until the sender reports a state.
func (s *story) until(ctx context.Context, state events.HealthState) error {
	err := stage.Until(ctx, 30*time.Second, time.Millisecond, func() (bool, error) { return s.sender.Health().State == state, nil })
	if err != nil {
		return fmt.Errorf("the sender did not become %s: %w", state, err)
	}
	return nil
}

// look requests /health, as a load balancer does, and prints the reply.
func (s *story) look(ctx context.Context, when string, want int) error {
	reply := httptest.NewRecorder()
	s.health.ServeHTTP(reply, httptest.NewRequestWithContext(ctx, http.MethodGet, "/health", nil))
	var health struct{ State string }
	if err := json.Unmarshal(reply.Body.Bytes(), &health); err != nil {
		return err
	}
	if reply.Code != want {
		return fmt.Errorf("%s, and /health answers %d: %s", when, reply.Code, reply.Body)
	}
	stats := s.sender.Stats()
	fmt.Fprintf(s.w, "%-45s %d %-13s %5d accepted %5d completed %4d waiting\n", when, reply.Code, health.State, stats.Accepted, stats.Completed, stats.PendingActions)
	return nil
}
