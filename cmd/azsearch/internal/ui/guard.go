package ui

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// contentPolicy lets the page load what is embedded here, talk to this server,
// and nothing else. No text can become markup or a script: trusted types without
// a policy switch off every way that would do that.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// guarded refuses requests that a page of somebody else's made a browser send.
//
// Such a page cannot read what comes from another origin, as long as nothing here
// says that it may. Two ways remain. It can name its own host and then let that
// name point to 127.0.0.1, so that the browser takes both for one origin: the
// browser still sends the name, so names that are not ours are refused. And it can
// send without reading: browsers say with every request where it came from.
func (p *Page) guarded(next http.Handler) http.Handler {
	var protection http.CrossOriginProtection
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !p.known(r.Host) {
			refuse(w, http.StatusForbidden, "the page is not there under that name: use localhost or the address that the emulator listens on")
			return
		}
		if err := protection.Check(r); err != nil {
			refuse(w, http.StatusForbidden, err.Error())
			return
		}
		// A link to the page may be anywhere. Nothing else here is for others.
		if site := r.Header.Get("Sec-Fetch-Site"); r.URL.Path != "/" && site != "" && site != "same-origin" && site != "none" {
			refuse(w, http.StatusForbidden, "cross-origin request detected from Sec-Fetch-Site header")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// known reports whether a Host header names this machine without asking anybody:
// by an address, which no name server can redirect, or by a name of our own.
func (p *Page) known(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || p.opts.Host != "" && strings.EqualFold(host, p.opts.Host)
}
