package webpage

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// contentPolicy lets the page load what is embedded here, talk to this server,
// and nothing else. No text can become markup or a script: trusted types without
// a policy switch off every way that would do that.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Guard refuses requests to next that another page has made a browser send. hosts are names, without a port, under
// which the page may be asked for, in addition to localhost and addresses in digits.
//
// Such a page cannot read what comes from another origin, as long as no header of
// a reply says that it may. Two ways remain. It can name its own host and then let that
// name point to 127.0.0.1 (DNS rebinding), so that the browser takes both for one origin: the
// browser still sends the name, so other names are refused. And it can
// send without reading: browsers say with every request where it came from.
func Guard(hosts []string, next http.Handler) http.Handler {
	var protection http.CrossOriginProtection
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !known(hosts, r.Host) {
			Refuse(w, http.StatusForbidden, "the page does not answer to the name "+r.Host+": use localhost, the address of the server, or a name that the program allows")
			return
		}
		if err := protection.Check(r); err != nil {
			Refuse(w, http.StatusForbidden, err.Error())
			return
		}
		// A link to the page may be anywhere. Everything else is for the page alone.
		if site := r.Header.Get("Sec-Fetch-Site"); !strings.HasSuffix(r.URL.Path, "/") && site != "" && site != "same-origin" && site != "none" {
			Refuse(w, http.StatusForbidden, "cross-origin request detected from Sec-Fetch-Site header")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// known reports whether a Host header names this machine without a question to a name server:
// by an address, which no name server can redirect, or by one of hosts.
func known(hosts []string, hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || slices.ContainsFunc(hosts, func(own string) bool { return own != "" && strings.EqualFold(host, own) })
}
