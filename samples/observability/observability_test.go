package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestStoryIsComplete(t *testing.T) {
	o := stagetest.Succeeds(t, program, nil,
		"all is well                                   200 healthy        2000 accepted  2000 completed    0 waiting",
		"the service was busy for a while              200 ",
		"the service is gone                           503 circuit open   4000 accepted  3000 completed 1000 waiting",
		"the service is back, and has all that waited  200 ",
		"the sender was paused                         503 paused         4500 accepted  4000 completed  500 waiting",
		"and resumed it                                200 ",
		"the sender is closed                          503 closed         4500 accepted  4500 completed    0 waiting",
		`azsearch_sender_health_changes_total{azsearch_health="circuit_open"} 1`,
		"azsearch_sender_items_added_total 4500\n",
		`azsearch_sender_items_retried_total{db_response_status_code="503"} `,
		"azsearch_sender_queue_items 0\n",
		`db_client_operation_duration_seconds_count{db_operation_name="BATCH",db_response_status_code="200"} `,
	)
	assert.Empty(t, o.Err)
}

func TestStoryThatIsInterruptedEndsWell(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	assert.Equal(t, stage.ExitInterrupted, stagetest.Run(ctx, t, program).Code)
}

func TestHealthIsAReadiness(t *testing.T) {
	since := time.Date(2026, 2, 10, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		health bufferedsender.Health
		status int
		body   string
	}{
		{bufferedsender.Health{State: events.HealthStateHealthy, Since: since}, 200, `{"state":"healthy","since":"2026-02-10T12:00:00Z"}`},
		{bufferedsender.Health{State: events.HealthStateThrottled, Since: since, Reason: "slow", Err: errors.New("slow")}, 200, `{"state":"throttled","since":"2026-02-10T12:00:00Z","reason":"slow"}`},
		{bufferedsender.Health{State: events.HealthStateHalfOpen, Since: since, Reason: "gone"}, 200, `{"state":"half-open","since":"2026-02-10T12:00:00Z","reason":"gone"}`},
		{bufferedsender.Health{State: events.HealthStateCircuitOpen, Since: since, Reason: `"gone"`}, 503, `{"state":"circuit open","since":"2026-02-10T12:00:00Z","reason":"\"gone\""}`},
		{bufferedsender.Health{State: events.HealthStatePaused, Since: since}, 503, `{"state":"paused","since":"2026-02-10T12:00:00Z"}`},
		{bufferedsender.Health{State: events.HealthStateClosing, Since: since}, 503, `{"state":"closing","since":"2026-02-10T12:00:00Z"}`},
		{bufferedsender.Health{State: events.HealthStateClosed, Since: since}, 503, `{"state":"closed","since":"2026-02-10T12:00:00Z"}`},
	} {
		w := httptest.NewRecorder()
		healthHandler(func() bufferedsender.Health { return c.health }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/health", nil))
		assert.Equal(t, c.status, w.Code, c.health.State)
		assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
		assert.JSONEq(t, c.body, w.Body.String())
		assert.True(t, json.Valid(w.Body.Bytes()))
	}
}

// During an outage a load balancer sends no work. Health must recover without any, or the program would never get
// work again.
func TestHealthComesBackWhenNothingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, s, err := newSender(t.Context(), sdkmetric.NewMeterProvider())
		require.NoError(t, err)
		defer service.Close()
		service.Faults(searchtest.Fault{Status: http.StatusServiceUnavailable})
		require.NoError(t, s.UploadDocuments(t.Context(), Reading{ID: "1"}))
		time.Sleep(time.Minute)
		health := func() int {
			w := httptest.NewRecorder()
			healthHandler(s.Health).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/health", nil))
			return w.Code
		}
		require.Equal(t, http.StatusServiceUnavailable, health())
		s.Withdraw(func(string, any) bool { return true })
		service.Faults()
		time.Sleep(time.Minute)
		require.Equal(t, http.StatusOK, health())
		require.NoError(t, s.Close(t.Context()))
	})
}
