package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/internal/sleep"
)

const (
	askDNSAgain     = time.Second
	expiresSoon     = 14 * 24 * time.Hour
	clockOff        = 30 * time.Second // the Date of a reply has a resolution of one second
	clockRefused    = 5 * time.Minute  // tolerance of Entra ID for tokens
	networkPatience = 15 * time.Second
)

// Network checks the connection to an endpoint, up to the first reply.
type Network struct {
	Lookup    func(ctx context.Context, host string) ([]string, error)
	Transport http.RoundTripper
	Now       func() time.Time
}

// NewNetwork returns a Network with the resolver and transport of this machine.
func NewNetwork() *Network {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableKeepAlives = true // no idle connection and its goroutine remain
	return &Network{Lookup: net.DefaultResolver.LookupHost, Transport: t, Now: time.Now}
}

// Check checks DNS, TCP, TLS and the clock. It returns false if no reply came.
func (n *Network) Check(ctx context.Context, f *Findings, endpoint string) bool {
	ctx, cancel := context.WithTimeout(ctx, networkPatience)
	defer cancel()
	u, err := url.Parse(endpoint)
	if err != nil {
		f.Fail("endpoint", "use https://NAME.search.windows.net", "%v", err)
		return false
	}
	host := u.Hostname()
	switch {
	case u.Scheme == "http" && !local(host):
		f.Warn("endpoint", "use https", "%s: key and documents travel unencrypted", endpoint)
	case strings.Trim(u.Path, "/") != "":
		f.Warn("endpoint", "remove the path, unless your gateway needs it", "%s has a path", endpoint)
	default:
		f.Ok("endpoint", "%s", endpoint)
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		f.Ok("proxy", "requests go through %s, which resolves names", proxy.Host)
	} else if net.ParseIP(host) == nil && !n.dns(ctx, f, host) {
		return false
	}
	return n.reply(ctx, f, u)
}

// local reports whether host is this machine.
func local(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// dns resolves a name twice, a second apart, and reports differences.
func (n *Network) dns(ctx context.Context, f *Findings, host string) bool {
	first, err := n.Lookup(ctx, host)
	if err != nil {
		f.Fail("dns", "check the name of the service for typos, and the DNS servers of this machine", "%v", err)
		return false
	}
	_ = sleep.For(ctx, askDNSAgain) // if ctx has ended, the second lookup fails
	second, err := n.Lookup(ctx, host)
	slices.Sort(first)
	slices.Sort(second)
	switch {
	case err != nil:
		f.Warn("dns", "check the DNS servers of this machine", "%s, and a second later: %v", strings.Join(first, ", "), err)
	case private(first) != private(second):
		f.Warn("dns", "a private endpoint needs its DNS zone on every DNS server of this machine", "addresses alternate between private and public: %s, a second later %s", strings.Join(first, ", "), strings.Join(second, ", "))
	case !slices.Equal(first, second):
		f.Warn("dns", "no action, unless the service has just moved: programs keep their connections to the old address", "%s, a second later %s", strings.Join(first, ", "), strings.Join(second, ", "))
	default:
		f.Ok("dns", "%s, the same a second later", strings.Join(first, ", "))
	}
	return true
}

func private(addresses []string) bool {
	return slices.ContainsFunc(addresses, func(a string) bool {
		ip := net.ParseIP(a)
		return ip.IsPrivate() || ip.IsLoopback()
	})
}

// reply sends a request without a credential. Every service answers it, with a refusal.
func (n *Network) reply(ctx context.Context, f *Findings, u *url.URL) bool {
	var connected string
	var state *tls.ConnectionState
	trace := &httptrace.ClientTrace{
		ConnectDone: func(_, address string, err error) {
			if err == nil {
				connected = address
			}
		},
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			if err == nil {
				state = &s
			}
		},
	}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodGet, u.JoinPath("servicestats").String(), nil)
	if err != nil {
		f.Fail("endpoint", "use https://NAME.search.windows.net", "%v", err)
		return false
	}
	began := n.Now()
	response, err := n.Transport.RoundTrip(request)
	took := n.Now().Sub(began)
	if connected != "" {
		f.Ok("tcp", "connected to %s", connected)
	} else if err != nil {
		do := "check firewalls, and the networks that the service allows"
		if local(u.Hostname()) {
			do = "nothing listens there: start the service (azsearch emulator), and check the port"
		}
		f.Fail("tcp", do, "%v", err)
		return false
	}
	if u.Scheme == "https" && !n.certificate(f, state, err) {
		return false
	}
	if err != nil {
		f.Fail("http", "check proxies and gateways between this machine and the service", "%v", err)
		return false
	}
	_ = response.Body.Close()
	n.clock(f, response.Header.Get("Date"), began.Add(took))
	return true
}

// certificate checks the expiry of the service's certificate. err is the error of the request.
func (n *Network) certificate(f *Findings, state *tls.ConnectionState, err error) bool {
	var verification *tls.CertificateVerificationError
	switch {
	case errors.As(err, &verification):
		f.Fail("tls", "if a proxy of your network replaces certificates, add its root certificate to those of this machine (SSL_CERT_FILE on Linux)", "%v", err)
		return false
	case state == nil:
		f.Fail("tls", "check proxies and firewalls that inspect TLS, and the scheme and the port of the endpoint", "%v", err)
		return false
	case len(state.PeerCertificates) == 0:
		return true
	}
	end := state.PeerCertificates[0].NotAfter
	if left := end.Sub(n.Now()); left < expiresSoon {
		f.Warn("tls", "renew the certificate; Microsoft renews the certificates of its services", "%s, the certificate expires in %.1f days, %s", tls.VersionName(state.Version), left.Hours()/24, end.UTC().Format(time.DateOnly))
	} else {
		f.Ok("tls", "%s, the certificate expires %s", tls.VersionName(state.Version), end.UTC().Format(time.DateOnly))
	}
	return true
}

// clock compares now, the time of this machine, with the Date of a reply.
func (n *Network) clock(f *Findings, date string, now time.Time) {
	theirs, err := http.ParseTime(date)
	if err != nil {
		f.Warn("clock", "check which server answers at the endpoint: a search service sends a Date header", "the reply has no Date header to compare with")
		return
	}
	const sync = "synchronize the clock of this machine (NTP)"
	switch off := now.Sub(theirs).Round(time.Second); {
	case off.Abs() > clockRefused:
		f.Fail("clock", sync, "differs by %v from the clock of the service: Entra ID tokens are refused", off)
	case off.Abs() > clockOff:
		f.Warn("clock", sync, "differs by %v from the clock of the service", off)
	default:
		f.Ok("clock", "within %v of the clock of the service", clockOff)
	}
}
