package webpage

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// contentPolicy lets the page load embedded files and connect to this server only. Text cannot become markup or a
// script: trusted types without a policy disable every way to do that.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Guard refuses requests to next that a browser sends for another page. hosts are additional host names, without a
// port, for the page; localhost and IP addresses are always allowed.
//
// The browser does not let another page read replies from this origin, because no header allows it. Two attacks
// remain. The other page can point its own host name to 127.0.0.1 (DNS rebinding), so that both have the same origin.
// The request then has that name in its Host header, so Guard refuses all other names. The other page can also send
// requests without reading the replies; Guard detects them by the origin headers of browsers.
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
		if !Known(hosts, r.Host) {
			Refuse(w, http.StatusForbidden, "the page does not answer to the name "+r.Host+": use localhost, the address of the server, or a name that the program allows")
			return
		}
		if err := protection.Check(r); err != nil {
			Refuse(w, http.StatusForbidden, err.Error())
			return
		}
		// Any page may link to this one. All other requests must come from this page.
		if site := r.Header.Get("Sec-Fetch-Site"); !strings.HasSuffix(r.URL.Path, "/") && site != "" && site != "same-origin" && site != "none" {
			Refuse(w, http.StatusForbidden, "cross-origin request detected from Sec-Fetch-Site header")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Known reports whether a Host header identifies this server independently of name servers: by an IP address, or by
// one of hosts, which have no port.
func Known(hosts []string, hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return strings.EqualFold(host, "localhost") || slices.ContainsFunc(hosts, func(own string) bool { return own != "" && strings.EqualFold(host, own) })
}
