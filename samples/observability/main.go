// Command observability shows how to see what a sender does. It makes an
// emulated service busy, break down and come back, and serves meanwhile
//
//   - /health, for a readiness probe and for people (health.go is made to be
//     copied),
//   - /metrics, the metrics of the sender as Prometheus reads them. dashboard.json
//     shows them in Grafana.
//
// It needs nothing and ends by itself:
//
//	go run ./samples/observability
//
// or goes on until it is interrupted, at an address that a Prometheus can know:
//
//	go run ./samples/observability -stay -addr 127.0.0.1:9464
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var addr string
	var stay bool
	set := flag.NewFlagSet("observability", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&addr, "addr", "127.0.0.1:0", "serve /health and /metrics at `ADDRESS`")
	set.BoolVar(&stay, "stay", false, "begin again and again until interrupted")
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		set.SetOutput(stdout)
		set.PrintDefaults()
		return 0
	}
	if err == nil && set.NArg() > 0 {
		err = fmt.Errorf("unknown argument %q", set.Arg(0))
	}
	if err != nil {
		return complain(stderr, err, 2)
	}
	if err := watch(ctx, stdout, addr, stay); err != nil {
		return complain(stderr, err, 1)
	}
	return 0
}

func complain(stderr io.Writer, err error, code int) int {
	fmt.Fprintf(stderr, "observability: %s\n", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	return code
}

// watch makes a sender and all that can be seen of it, and runs the story.
func watch(ctx context.Context, w io.Writer, addr string, stay bool) (err error) {
	// A program that has a Prometheus uses its exporter for OpenTelemetry in place
	// of this reader and of metricsHandler, or a PeriodicReader that pushes to a
	// collector. The names are the same.
	reader := sdkmetric.NewManualReader()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))

	service, sender, err := newSender(ctx, meters)
	if err != nil {
		return err
	}
	defer service.Close()

	mux := http.NewServeMux()
	mux.Handle("GET /health", healthHandler(sender.Health))
	mux.Handle("GET /metrics", metricsHandler(reader))
	url, stop, err := serve(mux, addr)
	if err != nil {
		return errors.Join(err, closeSoon(sender))
	}
	defer func() { err = errors.Join(err, stop()) }()
	fmt.Fprintf(w, "%s/health and %s/metrics\n\n", url, url)

	s := &story{w: w, url: url, service: service, sender: sender}
	if stay {
		s.linger = 5 * time.Second
	}
	if err := s.tell(ctx, stay); err != nil {
		return errors.Join(err, closeSoon(sender))
	}
	s.linger = 0
	return s.end(ctx)
}

// serve starts a server at addr and returns its URL and what ends it.
func serve(handler http.Handler, addr string) (url string, stop func() error, err error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err := server.Shutdown(ctx)
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}, nil
}
