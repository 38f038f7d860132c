package bufferedsender_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// service is an HTTP server with a sender.
type service struct {
	http.ServeMux

	sender   *bufferedsender.BufferedSender[Book]
	stopping atomic.Bool
}

// newService creates the server. The indexer is a *search.Client; see the examples of search.NewClient for
// credentials.
func newService(indexer bufferedsender.Indexer, meters metric.MeterProvider) (*service, error) {
	sender, err := bufferedsender.New(indexer, &bufferedsender.Options[Book]{MeterProvider: meters})
	if err != nil {
		return nil, err
	}
	s := &service{sender: sender}
	s.HandleFunc("PUT /books", s.put)
	s.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.ready()) })
	s.HandleFunc("GET /alertz", func(w http.ResponseWriter, _ *http.Request) { answer(w, sender.Health().Err) }) // for alerts; not a liveness probe
	return s, nil
}

// ready fails as soon as the program stops, so that no new requests are routed to it.
func (s *service) ready() error {
	if s.stopping.Load() {
		return errors.New("stopping")
	}
	return s.sender.Health().Ready()
}

// put accepts a book. It waits for room until the caller disconnects.
func (s *service) put(w http.ResponseWriter, r *http.Request) {
	var book Book
	if err := json.NewDecoder(r.Body).Decode(&book); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer(w, s.sender.UploadDocuments(r.Context(), book))
}

func answer(w http.ResponseWriter, err error) {
	refused := (*bufferedsender.AddError)(nil)
	switch {
	case errors.As(err, &refused) && refused.Rejected():
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// run serves until SIGTERM or Ctrl-C. Then readiness fails for a probe period, and what was accepted is sent.
// Kubernetes kills the process 30 s after SIGTERM, unless terminationGracePeriodSeconds says otherwise.
func (s *service) run(ctx context.Context, server *http.Server, probePeriod time.Duration) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done() // the program runs server.ListenAndServe on another goroutine
	s.stopping.Store(true)
	time.Sleep(probePeriod)
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	return errors.Join(server.Shutdown(draining), s.sender.Close(draining)) // handlers first, because they add documents; then the sender
}

// A complete service: readiness, health, metrics, and a drain with a deadline on SIGTERM. For Prometheus use the
// reader of go.opentelemetry.io/otel/exporters/prometheus and serve it with promhttp.Handler, as samples/httpservice
// does.
func Example_service() {
	srv, client := library()
	reader := sdkmetric.NewManualReader() // prometheus.New() in a program
	s, err := newService(client, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	must(err)
	for _, body := range []string{`{"id":"1","title":"Dune"}`, `{"id":"no/slash"}`} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodPut, "/books", strings.NewReader(body)))
		fmt.Println(w.Code)
	}
	fmt.Println(s.sender.Health().Ready(), s.sender.Health().Err)
	var metrics metricdata.ResourceMetrics
	must(reader.Collect(context.Background(), &metrics))
	terminated, terminate := context.WithCancel(context.Background())
	terminate()                                                                          // as SIGTERM does
	err = s.run(terminated, &http.Server{Handler: s, ReadHeaderTimeout: time.Second}, 0) // 10 s in Kubernetes
	fmt.Println(err, srv.DocumentCount("books"), "in the index; metrics:", len(metrics.ScopeMetrics) > 0)
	// Output:
	// 200
	// 422
	// <nil> <nil>
	// <nil> 1 in the index; metrics: true
}
