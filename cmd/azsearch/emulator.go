package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/ui"
	"github.com/go-azsearch/azsearch/internal/webpage"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// mostActions is the upper bound and the default of -max-batch-actions, so that a program that sends as much as the
// service accepts runs without the flag.
const mostActions = 32_000

// The environment variables with secrets of an emulator.
const (
	adminKeyVariable = "AZSEARCH_EMULATOR_KEY"
	queryKeyVariable = "AZSEARCH_EMULATOR_QUERY_KEY"
	tokenVariable    = "AZSEARCH_EMULATOR_TOKEN"
)

func newEmulatorCommand(stdout, stderr io.Writer) *cli.Command {
	return &cli.Command{
		Name:  "emulator",
		Usage: "run an emulated search service until SIGINT or SIGTERM",
		Description: `The first line of stdout is the endpoint; from then on clients can connect.
Each request is one line on stderr: method, path, status, duration, actions.
Before, -quiet apart, come the variables that lead other commands to it.
Documents are in memory and end with the process, unless -save writes them to
a file: -seed STATE.json -save STATE.json continues where it stopped. By hand:

   {"indexes": [{"definition": {"name": "hotels", "fields": [{"name": "id", "type": "Edm.String", "key": true},
     {"name": "name", "type": "Edm.String", "searchable": true}]}, "documents": [{"id": "1", "name": "Ritz"}]}]}

The default keys are public, so do not load secret data; with them requests to
other host names than localhost are refused, see -host. With -ui a line on
stderr has the URL of the page for browsers; everyone who can reach it can read
everything and inject faults.

` + examples("emulator", "", "-addr 127.0.0.1:0 -ui -seed hotels.json", "-seed state.json -save state.json", "-quiet -faults faults.json -latency 50ms"),
		OnUsageError: usageError,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Usage: "listen on `HOST:PORT`; port 0 picks a free one", Value: "127.0.0.1:8080"},
			&cli.StringSliceFlag{Name: "host", Usage: "answer to the host name `NAME` too, as of a container; while a default key or -any-token is accepted, only to it, localhost, IP addresses and that of -addr; can be repeated"},
			&cli.BoolFlag{Name: "tls", Usage: "serve https, with a certificate generated at the start"},
			&cli.StringFlag{Name: "tls-cert-out", Usage: "write that certificate to `FILE` in PEM, for clients to trust (curl --cacert FILE; SSL_CERT_FILE=FILE for Go on Linux)"},
			&cli.StringFlag{Name: "api-key", Sources: cli.EnvVars(adminKeyVariable), Usage: "accept `KEY` as the admin key; other users can see flags, so set keys of your own by these variables", Value: searchtest.AdminKey},
			&cli.StringFlag{Name: "query-key", Sources: cli.EnvVars(queryKeyVariable), Usage: "accept `KEY` as the query key, which can only read", Value: searchtest.QueryKey},
			&cli.StringFlag{Name: "token", Sources: cli.EnvVars(tokenVariable), Usage: "accept the bearer token `TOKEN` as an admin's; SDKs send tokens only to https, see -tls"},
			&cli.BoolFlag{Name: "any-token", Usage: "accept every well-formed bearer token as an admin's, for programs that sign in with Entra ID; everyone who can reach the address can do everything"},
			&cli.IntFlag{Name: "max-batch-actions", Usage: "reject requests with more than `N` actions; the service's documentation says 1000, its error message 32000", Value: mostActions},
			&cli.StringFlag{Name: "seed", Usage: "start with the definitions and documents in `FILE`, see the documentation of searchtest.Server.Restore"},
			&cli.StringFlag{Name: "save", Usage: "at SIGINT or SIGTERM write all definitions and documents to `FILE`, which -seed reads; if both name the same file, it may be missing at the first start"},
			&cli.StringFlag{Name: "faults", Usage: "inject the faults scripted in `FILE`, see the documentation of searchtest.Faults"},
			&cli.DurationFlag{Name: "latency", Usage: "delay each reply by `DURATION`", HideDefault: true},
			&cli.BoolFlag{Name: "semantic-stand-in", Usage: "answer semantic queries by a fixed rule instead of the service's models, see the documentation of searchtest.Options"},
			&cli.BoolFlag{Name: "strict-versions", Usage: "refuse api-versions newer than the emulator's; by default it answers as its newest one, and warns"},
			&cli.BoolFlag{Name: "quiet", Usage: "do not print requests"},
			&cli.BoolFlag{Name: "ui", Usage: "serve a page for browsers at the endpoint, with indexes, queries, requests and faults"},
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			return refuseArguments(func(c *cli.Command) error {
				return emulate(ctx, emulation{
					addr:       c.String("addr"),
					hosts:      c.StringSlice("host"),
					tls:        c.Bool("tls"),
					tlsCertOut: c.String("tls-cert-out"),
					apiKey:     c.String("api-key"),
					queryKey:   c.String("query-key"),
					token:      c.String("token"),
					setToken:   c.IsSet("token"),
					anyToken:   c.Bool("any-token"),
					maxActions: c.Int("max-batch-actions"),
					seed:       c.String("seed"),
					save:       c.String("save"),
					faults:     c.String("faults"),
					latency:    c.Duration("latency"),
					semantic:   c.Bool("semantic-stand-in"),
					strict:     c.Bool("strict-versions"),
					quiet:      c.Bool("quiet"),
					ui:         c.Bool("ui"),
				}, stdout, stderr)
			})(ctx, c)
		},
	}
}

// emulation has the values of the flags.
type emulation struct {
	addr             string
	hosts            []string // further names of this machine
	tls              bool
	tlsCertOut       string
	apiKey, queryKey string
	token            string
	setToken         bool // with an empty token this is an error; without -token it is not
	anyToken         bool
	maxActions       int
	seed             string
	save             string
	faults           string
	latency          time.Duration
	semantic         bool
	strict           bool
	quiet            bool
	ui               bool
}

// validate returns all errors in the flags that can be found without opening a file or a port.
func (e *emulation) validate() error {
	var errs []error
	if e.apiKey == "" || e.queryKey == "" {
		errs = append(errs, errors.New("-api-key and -query-key must not be empty"))
	} else if e.apiKey == e.queryKey {
		errs = append(errs, errors.New("-api-key and -query-key must differ"))
	}
	errs = append(errs, e.validateToken())
	if e.maxActions < 1 || e.maxActions > mostActions {
		errs = append(errs, fmt.Errorf("-max-batch-actions %d is not between 1 and %d", e.maxActions, mostActions))
	}
	if e.latency < 0 {
		errs = append(errs, fmt.Errorf("-latency %v is negative", e.latency))
	}
	if e.tlsCertOut != "" && !e.tls {
		errs = append(errs, errors.New("-tls-cert-out needs -tls"))
	}
	return errors.Join(errs...)
}

// emulate serves requests until ctx ends. An error before the endpoint is printed means that nothing was started.
//
//archtest:long one step after the other, from options to the end
func emulate(ctx context.Context, e emulation, stdout, stderr io.Writer) error {
	if err := e.validate(); err != nil {
		return err
	}
	if e.save != "" {
		if err := writable("-save", e.save); err != nil {
			return err
		}
	}
	var script *searchtest.Faults
	var scriptText []byte
	if e.faults != "" {
		var err error
		if script, scriptText, err = readFaults(e.faults); err != nil {
			return err
		}
	}
	opts := &searchtest.Options{
		AdminKeys: []string{e.apiKey},
		QueryKeys: []string{e.queryKey},
		Token:     e.takesToken,
		Latency:   e.latency,

		MaxBatchActions: e.maxActions,
		SemanticStandIn: e.semantic,
		StrictVersions:  e.strict,
		// Without -ui this process reads neither.
		KeepRequests: -1,
		KeepChanges:  -1,
	}
	if e.ui {
		opts.KeepRequests, opts.KeepBodies = ui.KeepRequests, ui.KeepBodies
	}
	requests := newRequestLog(stderr)
	if !e.quiet {
		opts.Logger = slog.New(requests)
	}
	srv := searchtest.NewServer(opts)
	host, _, _ := net.SplitHostPort(e.addr) // listen refuses an address that cannot be split
	hosts := append(e.hosts, host)
	if e.open() {
		srv.Intercept(onlyTo(hosts))
	}
	if !e.quiet {
		srv.Intercept(requests.intercept)
	}
	if e.ui {
		// The page comes after the log of requests, so the log leaves out the page's own requests.
		srv.Intercept(ui.New(srv, ui.Options{QueryKey: e.queryKey, Faults: string(scriptText), Hosts: hosts}).Intercept)
	}
	if script != nil {
		srv.SetFaults(script)
	}
	empty, err := seed(srv, e)
	if err != nil {
		return errors.Join(err, srv.Close())
	}
	if err := listen(srv, e); err != nil {
		return errors.Join(err, srv.Close())
	}
	if empty {
		fmt.Fprintf(stderr, "azsearch: starting empty: %s does not exist yet, and will be written at the end\n", e.save)
	}
	if e.anyToken && !connect.Loopback(srv.URL()) {
		fmt.Fprintln(stderr, "azsearch: -any-token on a public address: everyone who can reach it can do everything")
	}
	if e.ui {
		fmt.Fprintln(stderr, "azsearch: the page for browsers is at", pageURL(srv.URL()))
	}
	if !e.quiet {
		fmt.Fprint(stderr, e.variables(srv.URL()))
	}
	if _, err := fmt.Fprintln(stdout, srv.URL()); err != nil {
		return errors.Join(err, srv.Close())
	}

	<-ctx.Done()
	var errs []error
	if err := srv.Close(); err != nil {
		errs = append(errs, fmt.Errorf("stopping: %w", err))
	}
	if e.save != "" {
		errs = append(errs, save(srv, e.save)) // after the last request
	}
	if err := errors.Join(errs...); err != nil {
		return failed(err)
	}
	return nil
}

// open reports whether everyone knows what the emulator accepts.
func (e *emulation) open() bool {
	return e.apiKey == searchtest.AdminKey || e.queryKey == searchtest.QueryKey || e.anyToken
}

// onlyTo returns an interceptor that refuses requests to other host names. A page of any site can point its own name
// to this machine (DNS rebinding): its requests then have that name, and the browser gives it the replies.
func onlyTo(hosts []string) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	return func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		if webpage.Known(hosts, r.Host) {
			return next(r)
		}
		body, err := json.Marshal(map[string]any{"error": map[string]string{
			"code":    "Forbidden",
			"message": "azsearch emulator with a default key or -any-token does not answer to the name " + r.Host + ": use localhost or an IP address, allow the name with -host, or set keys of your own",
		}})
		return &http.Response{
			Status: "403 Forbidden", StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
		}, err
	}
}

// variables returns lines for a shell, after which other commands use the emulator. A key of the user's own is not
// among them, because stderr may be kept.
func (e *emulation) variables(endpoint string) string {
	lines := fmt.Sprintf("export %s=%s\n", connect.EndpointVariable, strings.TrimSuffix(pageURL(endpoint), "/"))
	if e.apiKey == searchtest.AdminKey {
		lines += fmt.Sprintf("export %s=%s\n", connect.KeyVariable, e.apiKey)
	}
	return lines
}

// readFaults returns the parsed script in a file, and its text.
func readFaults(path string) (*searchtest.Faults, []byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	script, err := searchtest.ParseFaults(bytes.NewReader(text))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return script, text, nil
}

// pageURL returns the URL of the page at an endpoint. It replaces an unspecified address such as 0.0.0.0, which a
// browser cannot open, with localhost.
func pageURL(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort("localhost", u.Port())
	}
	return u.String() + "/"
}

func listen(srv *searchtest.Server, e emulation) error {
	start := srv.Listen
	if e.tls {
		start = srv.ListenTLS
	}
	if err := start(e.addr); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("%w; -addr 127.0.0.1:0 takes a free port", err)
		}
		return err
	}
	if e.tlsCertOut == "" {
		return nil
	}
	certificate, err := servedCertificate(srv)
	if err != nil {
		return fmt.Errorf("reading the certificate that is served: %w", err)
	}
	return os.WriteFile(e.tlsCertOut, certificate, 0o644)
}

// servedCertificate returns the PEM of the certificate that the listener presents. It connects as a client that
// trusts the certificate, so a certificate that clients cannot use is an error here.
func servedCertificate(srv *searchtest.Server) ([]byte, error) {
	u, err := url.Parse(srv.URL())
	if err != nil {
		return nil, err
	}
	conn, err := tls.Dial("tcp", u.Host, &tls.Config{
		RootCAs: srv.CertPool(),
		// The certificate has this name for every listening address, "[::]" for example.
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
