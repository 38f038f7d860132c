// Command observability shows how to see what a sender does. It makes an
// emulated service busy, break down and come back, and asks meanwhile for
//
//   - the answer of /health, for a readiness probe and for people,
//   - the metrics of the sender and its client. dashboard.json shows them in Grafana.
//
// It needs nothing and ends by itself:
//
//	go run ./samples/observability
//
// samples/httpservice serves those of its sender until it is interrupted, with the exporter for Prometheus.
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

// watch makes a sender and all that can be seen of it, and runs the story.
func watch(ctx context.Context, w io.Writer) error {
	// A program that has a Prometheus uses its exporter for OpenTelemetry in place
	// of this reader, or a PeriodicReader that pushes to a collector. The names are the same.
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

// Reading is what the sender sends.
type Reading struct {
	ID      string  `json:"id" search:"key"`
	Station string  `json:"station" search:"filterable"`
	Celsius float64 `json:"celsius" search:"filterable,sortable"`
}

type sender = bufferedsender.BufferedSender[Reading]

// newSender returns an emulated service and a sender to it. The delays are
// short, so that the story is.
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
		Logger:            slog.New(slog.DiscardHandler), // it would warn of what the story is about
	})
	return service, s, err
}

// healthHandler serves what health returns, sender.Health for example, as JSON:
//
//	{"state":"circuit open","since":"2026-02-10T12:00:00Z","reason":"…"}
//
// with status 200 while it wants work, and 503 while it does not. It wants some when the
// service may be back after an outage, too: a program without work could not find out.
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
		if !h.State.WantsWork() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(append(body, '\n'))
	})
}
