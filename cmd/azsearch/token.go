package main

import (
	"crypto/subtle"
	"errors"
	"regexp"
)

// bearerToken matches the bearer tokens of RFC 6750.
var bearerToken = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// validateToken returns an error if -token is not a valid bearer token, or if -token and -any-token are combined.
func (e *emulation) validateToken() error {
	switch {
	case e.setToken && e.anyToken:
		return errors.New("-token and -any-token cannot be used together: -any-token accepts every token")
	case e.setToken && !bearerToken.MatchString(e.token):
		return errors.New("-token must be a bearer token: letters, digits and -._~+/ with = at the end only")
	}
	return nil
}

// takesToken reports whether requests with this bearer token are an admin's.
func (e *emulation) takesToken(bearer string) bool {
	if e.anyToken {
		return bearerToken.MatchString(bearer)
	}
	return e.setToken && subtle.ConstantTimeCompare([]byte(bearer), []byte(e.token)) == 1
}
