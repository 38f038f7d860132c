// Command observability shows how to monitor a sender. While an emulated service is busy, fails and recovers, it
// reads
//
//   - /health, for readiness probes and for people,
//   - the metrics of the sender and its client. dashboard.json shows them in Grafana.
//
// It needs no service and ends after a few seconds:
//
//	go run ./samples/observability
//
// samples/httpservice serves its metrics until it is interrupted, with the exporter for Prometheus.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/retry/breaker"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("observability", program) }

func program(p *stage.Program) func(context.Context) error {
	return func(ctx context.Context) error { return watch(ctx, p.Out) }
}

// watch creates a sender with its metrics and health handler, and plays the story.
func watch(ctx context.Context, w io.Writer) error {
	// Instead of this reader a program uses the OpenTelemetry exporter for Prometheus, or a PeriodicReader that
	// pushes to a collector. The metric names are the same.
	reader := sdkmetric.NewManualReader()
	service, sender, err := newSender(ctx, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	if err != nil {
		return err
	}
	defer service.Close()
	s := &story{w: w, service: service, sender: sender, health: healthHandler(sender.Health)}
	err = s.tell(ctx)
	metrics, collected := collect(context.WithoutCancel(ctx), reader)
	if err = errors.Join(err, collected, stage.Close(ctx, sender)); err != nil {
		return err
	}
	return s.end(ctx, metrics)
}

// Reading is the document of the sender.
type Reading struct {
	ID      string  `json:"id" search:"key"`
	Station string  `json:"station" search:"filterable"`
	Celsius float64 `json:"celsius" search:"filterable,sortable"`
}

type sender = bufferedsender.BufferedSender[Reading]

// newSender returns an emulated service and a sender for it. The delays are short, for a short story.
func newSender(ctx context.Context, meters *sdkmetric.MeterProvider) (*stage.Service, *sender, error) {
	service := stage.Emulate(&searchtest.Options{Latency: 5 * time.Millisecond})
	if _, err := stage.Open[Reading](ctx, service, "readings"); err != nil {
		return nil, nil, err
	}
	opts := stage.Inside(service.Emulator)
	opts.MeterProvider = meters
	client, err := search.NewClientWithKey(service.Emulator.URL(), "readings", azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		return nil, nil, err
	}
	circuit, err := breaker.New(&breaker.Options{OpenFor: 300 * time.Millisecond})
	if err != nil {
		return nil, nil, err
	}
	s, err := bufferedsender.New(client, &bufferedsender.Options[Reading]{
		MeterProvider:     meters,
		Outage:            bufferedsender.Hold{Breaker: circuit},
		Retry:             retry.Options{Delay: 10 * time.Millisecond},
		Limits:            bufferedsender.Limits{MaxBatchActions: 100, MaxInFlight: 4},
		AutoFlushInterval: 50 * time.Millisecond,
		Logger:            slog.New(slog.DiscardHandler), // the story provokes its warnings
	})
	return service, s, err
}

// healthHandler serves the result of health, for example sender.Health, as JSON:
//
//	{"state":"circuit open","since":"2026-02-10T12:00:00Z","reason":"…"}
//
// The status is 200 while the sender accepts work, otherwise 503. It is 200 also while the breaker is half-open:
// without work the program would not find out that the service is back.
//
// Use it for readiness: reduce the load while the status is 503. Never use it as a liveness probe. A program that is
// restarted during an outage loses its buffered documents, and the outage continues.
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
		if !h.State.WantsWork() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(append(body, '\n'))
	})
}
