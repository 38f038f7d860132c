// Command httpservice is an HTTP service whose request handlers write documents
// into an index and answer their callers truthfully. Many handlers share one
// sender, and so their requests to the search service.
//
//	POST /notes   a JSON array of notes; the reply says of each what became of it
//	GET /healthz  readiness: whether more work is welcome
//	GET /metrics  the metrics of the sender, for Prometheus
//
// handler.go is what your program would have: the answers, and the sender that
// request handlers share. demo.go has the callers, and ledger.go compares. It is a
// module of its own, because the exporter for Prometheus is not a dependency of the
// SDK:
//
//	go run -C samples/httpservice .       # 200 callers and an outage, on an emulated service
//	go run -C samples/httpservice . -addr 127.0.0.1:8080 -endpoint https://NAME.search.windows.net
//
// The first compares at the end what was reported to the callers with what the index
// has, and exits 1 unless they agree. The second serves until it is interrupted.
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

// serve is the program without its demonstration.
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
	case err = <-s.ended: // by itself: nothing will be served any more
	}
	return errors.Join(err, s.stop())
}

// service is the HTTP server and what its handlers share.
type service struct {
	settings settings
	sender   *sender
	meters   *sdkmetric.MeterProvider
	server   *http.Server
	url      string
	draining atomic.Bool
	ended    chan error // gets what the server ended with, unless stop has ended it
}

func newService(indexer bufferedsender.Indexer, cfg settings, logger *slog.Logger) (*service, error) {
	s := &service{settings: cfg.withDefaults(), ended: make(chan error, 1)} // one place: the server never waits for anybody
	// A registry of its own has what the sender reports and nothing else; a program
	// that has more to show uses prometheus.DefaultRegisterer.
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
		WriteTimeout: s.settings.deadline + 15*time.Second, // the answer comes after the deadline at the latest
	}
	return s, nil
}

// listen begins to serve.
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

// healthz is a readiness: whether a load balancer should send requests here. Never
// make it a liveness probe: a process that is restarted because the search service
// is away comes back to the same outage.
//
// Ready is nil while the breaker is half-open, too: a program without work would
// never find out that the service is back.
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

// stop ends the service: first the readiness, then the handlers, then the sender,
// each with a deadline of its own, none with the context that has just ended. nil
// means that every caller was answered and that nothing was left behind.
func (s *service) stop() error {
	s.draining.Store(true)
	if s.url != "" {
		time.Sleep(s.settings.drain) // until whoever asks for the readiness has noticed
	}
	handlers, cancel := context.WithTimeout(context.Background(), shutdown)
	defer cancel()
	err := s.server.Shutdown(handlers)
	if err != nil {
		// Handlers that are still at work: this ends their contexts, so that the
		// sender gives their notes back.
		err = errors.Join(err, s.server.Close())
	}
	closing, cancel := context.WithTimeout(context.Background(), shutdown)
	defer cancel()
	// Callers have heard what failed, so Close does not say it again. What it does
	// report is what nobody waited for.
	return errors.Join(err, s.sender.Close(closing), s.meters.Shutdown(closing))
}
