package search

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// parseEndpoint checks the address of a service and returns it without a trailing slash. The error joins all
// problems.
func parseEndpoint(endpoint string, allowHTTP bool) (*url.URL, error) {
	const example = `, for example "https://my-service.search.windows.net"`
	if strings.TrimSpace(endpoint) == "" {
		return nil, errors.New("the endpoint is empty: it is the address of the search service" + example)
	}
	if endpoint != strings.TrimSpace(endpoint) {
		return nil, errors.New("the endpoint has white space around it, perhaps the line end of the file it came from: use strings.TrimSpace")
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		// Omit the URL, which may contain a password.
		if reason := errors.Unwrap(err); reason != nil {
			err = reason
		}
		if !strings.Contains(endpoint, "://") { // "127.0.0.1:8099"
			return nil, errors.New("the endpoint has no scheme: put https:// in front, or http:// for an emulator on this machine")
		}
		if strings.Contains(endpoint, "@") { // the reason may quote a password, as in https://me:pass/word@host
			return nil, errors.New("the endpoint is not a URL, and seems to hold a user name: credentials are an argument of their own")
		}
		return nil, fmt.Errorf("the endpoint is not a URL: %w", err)
	}
	var errs []error
	switch {
	case u.Scheme == "http" && !allowHTTP && !loopback(u.Hostname()):
		errs = append(errs, fmt.Errorf("the endpoint %s would send credentials unencrypted: use https (http is for loopback addresses only, or set InsecureAllowCredentialWithHTTP)", asShown(u)))
	case u.Scheme != "http" && u.Scheme != "https":
		errs = append(errs, fmt.Errorf("the endpoint %s does not start with https://%s", asShown(u), example))
	case u.Hostname() == "":
		errs = append(errs, fmt.Errorf("the endpoint %s names no host%s", asShown(u), example))
	}
	if u.User != nil {
		errs = append(errs, errors.New("the endpoint holds a user name: credentials are an argument of their own"))
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		errs = append(errs, fmt.Errorf("the endpoint of %s has a query or a fragment: leave out everything from the ? or # on", u.Host))
	}
	if path := strings.TrimRight(u.Path, "/"); path != "" && u.Host != "" && (ofTheService.MatchString(path) || azureHost(u.Hostname())) {
		errs = append(errs, fmt.Errorf("the endpoint has the path %s: give the address of the service only, the index has an argument of its own", path))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// asShown returns an endpoint for a message. Without a host in it, what comes before an @ may be a password.
func asShown(u *url.URL) string {
	if text := u.String(); u.Host == "" && strings.Contains(text, "@") {
		return "***" + text[strings.LastIndex(text, "@"):]
	}
	shown := *u
	shown.RawQuery, shown.ForceQuery, shown.Fragment = "", false, ""
	return shown.Redacted()
}

// ofTheService matches paths that the clients append. Any other path belongs to a gateway in front of the service.
var ofTheService = regexp.MustCompile(`(?i)/(indexes|docs|servicestats|synonymmaps|aliases|indexers|datasources|skillsets)\b`)

// azureHost reports whether host is a search service in one of the clouds, not a gateway.
func azureHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, domain := range []string{".search.windows.net", ".search.azure.cn", ".search.azure.us"} {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}

// loopback reports whether host is this machine.
func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// validateIndexName checks name against the service's rules for names of indexes and aliases.
func validateIndexName(name string) error {
	if name == "" {
		return errors.New("the index name is empty")
	}
	var broken []string
	if len(name) < 2 || len(name) > 128 {
		broken = append(broken, fmt.Sprintf("is not 2 to 128 characters long, but %d", len(name)))
	}
	if strings.ContainsFunc(name, func(r rune) bool { return !indexNameRune(r) }) {
		broken = append(broken, "has characters other than lower-case letters, digits, dashes and underscores")
	}
	if c := name[0]; c == '-' || c == '_' {
		broken = append(broken, "does not start with a lower-case letter or a digit")
	}
	if strings.Contains(name, "--") || strings.Contains(name, "__") {
		broken = append(broken, "has consecutive dashes or underscores")
	}
	if len(broken) > 0 {
		if len(name) > 128 {
			name = name[:128] + "…"
		}
		return fmt.Errorf("the index name %q %s", name, strings.Join(broken, ", and "))
	}
	return nil
}

func indexNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}
