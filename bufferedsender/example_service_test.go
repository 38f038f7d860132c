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
	"syscall"
	"time"

	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/go-azsearch/azsearch/bufferedsender"
)

// service is a server around a sender: what it answers, and how it ends.
type service struct {
	http.ServeMux

	sender *bufferedsender.BufferedSender[Book]
}

// newService makes the server. The indexer is a *search.Client; see the examples of search.NewClient for credentials.
func newService(indexer bufferedsender.Indexer, meters metric.MeterProvider) (*service, error) {
	sender, err := bufferedsender.New(indexer, &bufferedsender.Options[Book]{MeterProvider: meters})
	if err != nil {
		return nil, err
	}
	s := &service{sender: sender}
	s.HandleFunc("PUT /books", s.put)
	s.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, sender.Health().Ready()) }) // traffic?
	s.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, sender.Health().Err) })    // an alarm?
	return s, nil
}

// put accepts a book. It waits for room as long as the caller does.
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

// run serves until the program is told to end, and then sends what was accepted. Kubernetes kills 30 s after SIGTERM.
func (s *service) run(ctx context.Context, server *http.Server) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done() // a program has begun server.ListenAndServe on another goroutine
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), 25*time.Second)
	defer cancel()
	return errors.Join(server.Shutdown(draining), s.sender.Close(draining)) // first those who add, then the sender
}

// A service on one page: readiness, health, metrics, and a drain with a deadline on SIGTERM.
// For Prometheus the reader is the one of go.opentelemetry.io/otel/exporters/prometheus, and promhttp.Handler
// serves it; samples/httpservice does that.
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
	terminate() // as SIGTERM does
	err = s.run(terminated, &http.Server{Handler: s, ReadHeaderTimeout: time.Second})
	fmt.Println(err, srv.DocumentCount("books"), "in the index; metrics:", len(metrics.ScopeMetrics) > 0)
	// Output:
	// 200
	// 422
	// <nil> <nil>
	// <nil> 1 in the index; metrics: true
}
