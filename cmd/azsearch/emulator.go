package main

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

func newEmulatorCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "emulator",
		Usage: "run an emulated search service until SIGINT or SIGTERM",
		Description: `The first line of stdout is the endpoint; clients may connect from then on.
Each request is one line on stderr: method, path, status, duration, actions.
Documents live in memory and end with the process. The keys have fixed
defaults: it is no place for anything secret.`,
		OnUsageError: usageError,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Usage: "listen on `HOST:PORT`; port 0 picks a free one", Value: "127.0.0.1:8080"},
			&cli.BoolFlag{Name: "tls", Usage: "serve https, with a certificate made at the start"},
			&cli.StringFlag{Name: "tls-cert-out", Usage: "write that certificate to `FILE` in PEM, for clients to trust (curl --cacert FILE; SSL_CERT_FILE=FILE for Go on Linux)"},
			&cli.StringFlag{Name: "api-key", Usage: "the `KEY` that may do everything", Value: searchtest.AdminKey},
			&cli.StringFlag{Name: "query-key", Usage: "the `KEY` that may only read", Value: searchtest.QueryKey},
			&cli.StringFlag{Name: "seed", Usage: "begin with the indexes, documents, synonym maps and aliases in `FILE`, see the documentation of searchtest.Server.Restore"},
			&cli.StringFlag{Name: "faults", Usage: "answer with the faults scripted in `FILE`, see the documentation of searchtest.Faults"},
			&cli.DurationFlag{Name: "latency", Usage: "hold each reply back for `DURATION`"},
			&cli.BoolFlag{Name: "quiet", Usage: "print no line per request"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			return refuseArguments(func(c *cli.Command) error {
				return emulate(ctx, emulation{
					addr:       c.String("addr"),
					tls:        c.Bool("tls"),
					tlsCertOut: c.String("tls-cert-out"),
					apiKey:     c.String("api-key"),
					queryKey:   c.String("query-key"),
					seed:       c.String("seed"),
					faults:     c.String("faults"),
					latency:    c.Duration("latency"),
					quiet:      c.Bool("quiet"),
				}, stdout, stderr)
			})(ctx, c)
		},
	}
}

// emulation is what the flags say.
type emulation struct {
	addr             string
	tls              bool
	tlsCertOut       string
	apiKey, queryKey string
	seed             string
	faults           string
	latency          time.Duration
	quiet            bool
}

// validate reports every problem that shows without touching anything.
func (e *emulation) validate() error {
	var errs []error
	if e.apiKey == "" || e.queryKey == "" {
		errs = append(errs, errors.New("-api-key and -query-key must not be empty"))
	} else if e.apiKey == e.queryKey {
		errs = append(errs, errors.New("-api-key and -query-key must differ"))
	}
	if e.latency < 0 {
		errs = append(errs, fmt.Errorf("-latency %v is negative", e.latency))
	}
	if e.tlsCertOut != "" && !e.tls {
		errs = append(errs, errors.New("-tls-cert-out needs -tls"))
	}
	return errors.Join(errs...)
}

// emulate serves until ctx ends. An error before the endpoint is printed means
// that nothing was started.
func emulate(ctx context.Context, e emulation, stdout, stderr io.Writer) error {
	if err := e.validate(); err != nil {
		return err
	}
	var script *searchtest.Faults
	if e.faults != "" {
		var err error
		if script, err = readFaults(e.faults); err != nil {
			return err
		}
	}
	opts := &searchtest.Options{
		AdminKeys: []string{e.apiKey},
		QueryKeys: []string{e.queryKey},
		Latency:   e.latency,
		// Nobody in this process looks at them.
		KeepRequests: -1,
		KeepChanges:  -1,
	}
	requests := newRequestLog(stderr)
	if !e.quiet {
		opts.Logger = slog.New(requests)
	}
	srv := searchtest.NewServer(opts)
	if !e.quiet {
		srv.Intercept(requests.intercept)
	}
	if script != nil {
		srv.SetFaults(script)
	}
	if e.seed != "" {
		if err := srv.RestoreFile(e.seed); err != nil {
			return errors.Join(err, srv.Close())
		}
	}
	if err := listen(srv, e); err != nil {
		return errors.Join(err, srv.Close())
	}
	if _, err := fmt.Fprintln(stdout, srv.URL()); err != nil {
		return errors.Join(err, srv.Close())
	}

	<-ctx.Done()
	if err := srv.Close(); err != nil {
		return &failure{fmt.Errorf("stopping: %w", err)}
	}
	return nil
}

func readFaults(path string) (*searchtest.Faults, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	script, err := searchtest.ParseFaults(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return script, nil
}

func listen(srv *searchtest.Server, e emulation) error {
	if !e.tls {
		return srv.Listen(e.addr)
	}
	if err := srv.ListenTLS(e.addr); err != nil || e.tlsCertOut == "" {
		return err
	}
	certificate, err := servedCertificate(srv)
	if err != nil {
		return fmt.Errorf("reading the certificate that is served: %w", err)
	}
	return os.WriteFile(e.tlsCertOut, certificate, 0o644)
}

// servedCertificate asks the listener for its certificate, as a client that
// trusts it would see it: what is written out is what works.
func servedCertificate(srv *searchtest.Server) ([]byte, error) {
	u, err := url.Parse(srv.URL())
	if err != nil {
		return nil, err
	}
	conn, err := tls.Dial("tcp", u.Host, &tls.Config{
		RootCAs: srv.CertPool(),
		// Whatever the address is, "[::]" for example, this name is in it.
		ServerName: "localhost",
	})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	chain := conn.ConnectionState().PeerCertificates
	root := chain[len(chain)-1]
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw}), nil
}
