package main

import (
	"context"
	"errors"
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
)

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
// WantsWork is true while the breaker is half-open, too: a program without work
// would never find out that the service is back.
func (s *service) healthz(w http.ResponseWriter, _ *http.Request) {
	health := s.sender.Health()
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case s.draining.Load():
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
	case !health.State.WantsWork():
		http.Error(w, health.State.String()+": "+health.Reason, http.StatusServiceUnavailable)
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
	handlers, cancel := context.WithTimeout(context.Background(), s.settings.shutdown)
	defer cancel()
	err := s.server.Shutdown(handlers)
	if err != nil {
		// Handlers that are still at work: this ends their contexts, so that the
		// sender gives their notes back.
		err = errors.Join(err, s.server.Close())
	}
	closing, cancel := context.WithTimeout(context.Background(), s.settings.shutdown)
	defer cancel()
	// Callers have heard what failed, so Close does not say it again. What it does
	// report is what nobody waited for.
	return errors.Join(err, s.sender.Close(closing), s.meters.Shutdown(closing))
}
