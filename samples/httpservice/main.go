// Command httpservice is an HTTP service whose request handlers write documents into an index and answer each caller
// with the true outcome. All handlers share one sender, and thereby requests to the search service.
//
//	POST /notes   a JSON array of notes; the reply has the outcome of each
//	GET /healthz  readiness
//	GET /metrics  the metrics of the sender, for Prometheus
//
// handler.go is the part to copy: the replies, and the sender that the handlers share. demo.go has the callers, and
// ledger.go checks the replies. The sample is a module of its own because the SDK does not depend on the exporter for
// Prometheus:
//
//	go run -C samples/httpservice .       # 200 callers and an outage, on an emulated service
//	go run -C samples/httpservice . -addr 127.0.0.1:8080 -endpoint https://NAME.search.windows.net
//
// At the end the first command compares the replies with the index, and exits 1 if they differ. The second serves
// until it is interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric" //nolint:depguard // a program, so it chooses an SDK

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func main() { stage.Main("httpservice", program) }

func program(p *stage.Program) func(context.Context) error {
	at, logger := p.Address("azsearch-httpservice"), p.Logger()
	addr := p.String("addr", "", "serve at `ADDRESS` until interrupted (default: a demonstration)")
	p.Check = func() error {
		if *addr == "" && p.Given("endpoint") {
			return errors.New("-endpoint is for -addr: the demonstration needs an emulator")
		}
		return nil
	}
	return func(ctx context.Context) error {
		if *addr == "" {
			return demonstrate(ctx, logger, p.Out)
		}
		return serve(ctx, at, *addr, logger, p.Out)
	}
}

// serve runs the service without the demonstration.
func serve(ctx context.Context, at *stage.Address, addr string, logger *slog.Logger, stdout io.Writer) error {
	backend, err := at.Connect(&searchtest.Options{Latency: 5 * time.Millisecond})
	if err != nil {
		return err
	}
	defer backend.Close()
	client, err := stage.Open[Note](ctx, backend, at.Index)
	if err != nil {
		return err
	}
	s, err := newService(client, settings{}, logger)
	if err != nil {
		return err
	}
	if err := s.listen(addr); err != nil {
		return errors.Join(err, s.stop())
	}
	fmt.Fprintf(stdout, "%s/notes writes to %s\n", s.url, backend.Name)
	select {
	case <-ctx.Done():
		err = nil
	case err = <-s.ended: // the server failed
	}
	return errors.Join(err, s.stop())
}

// service is the HTTP server with the sender and settings of its handlers.
type service struct {
	settings settings
	sender   *sender
	meters   *sdkmetric.MeterProvider
	server   *http.Server
	url      string
	draining atomic.Bool
	ended    chan error // receives the error of the server, unless stop ended it
}

func newService(indexer bufferedsender.Indexer, cfg settings, logger *slog.Logger) (*service, error) {
	s := &service{settings: cfg.withDefaults(), ended: make(chan error, 1)} // buffered: the server's goroutine never blocks
	// This registry has only the metrics of the sender. A program with other metrics uses
	// prometheus.DefaultRegisterer.
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	s.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	if s.sender, err = newSender(indexer, s.settings, s.meters, logger); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /notes", s.writeNotes)
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: s.settings.deadline + 15*time.Second, // the reply comes no later than the deadline
	}
	return s, nil
}

// listen starts the server.
func (s *service) listen(addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.url = "http://" + listener.Addr().String()
	go func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.ended <- err
		}
	}()
	return nil
}

// healthz reports readiness: whether a load balancer should send requests here. Never use it as a liveness probe: a
// process that is restarted because the search service is down meets the same outage again.
//
// Ready returns nil also while the breaker is half-open: without requests the program would not find out that the
// service is back.
func (s *service) healthz(w http.ResponseWriter, _ *http.Request) {
	health := s.sender.Health()
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case s.draining.Load():
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
	case health.Ready() != nil:
		http.Error(w, health.State.String()+": "+health.Ready().Error(), http.StatusServiceUnavailable)
	default:
		_, _ = w.Write([]byte(health.State.String() + "\n"))
	}
}

// stop ends the service in order: readiness, handlers, sender. Each step has its own deadline, because the program's
// context has just ended. nil means that every caller was answered and no document is left.
func (s *service) stop() error {
	s.draining.Store(true)
	if s.url != "" {
		time.Sleep(s.settings.drain) // until the load balancer has seen the status
	}
	handlers, cancel := context.WithTimeout(context.Background(), shutdown)
	defer cancel()
	err := s.server.Shutdown(handlers)
	if err != nil {
		// Some handlers still run. Closing the server ends their contexts, so that the sender withdraws their notes.
		err = errors.Join(err, s.server.Close())
	}
	closing, cancel := context.WithTimeout(context.Background(), shutdown)
	defer cancel()
	// Callers already have their failures, so Close does not repeat them. It reports the documents that no caller
	// waited for.
	return errors.Join(err, s.sender.Close(closing), s.meters.Shutdown(closing))
}
