package main

import (
	"crypto/subtle"
	"errors"
	"net/netip"
	"net/url"
	"regexp"
)

// bearerToken is what RFC 6750 lets a bearer token be.
var bearerToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// validateToken refuses flags of tokens that no request could meet, or too many.
func (e *emulation) validateToken() error {
	switch {
	case e.setToken && e.anyToken:
		return errors.New("-token and -any-token cannot be used together: the second takes every token")
	case e.setToken && !bearerToken.MatchString(e.token):
		return errors.New("-token must be a bearer token: letters, digits and -._~+/ with = at the end only")
	}
	return nil
}

// takesToken reports whether a request with this bearer token is an admin's.
func (e *emulation) takesToken(bearer string) bool {
	if e.anyToken {
		return bearerToken.MatchString(bearer)
	}
	return e.setToken && subtle.ConstantTimeCompare([]byte(bearer), []byte(e.token)) == 1
}

// loopback reports whether only this machine reaches an endpoint.
func loopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
