package searchtest

import (
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
)

// authorize checks the version and the credentials of a request.
func (s *Server) authorize(r *http.Request, rt routing.Route) *reply.Error {
	if err := s.versionFault(rt.Version); err != nil {
		return err
	}
	if key := r.Header.Get("Api-Key"); key != "" {
		switch {
		case holds(s.opts.AdminKeys, key):
			return nil
		case !holds(s.opts.QueryKeys, key):
			return &reply.Error{Status: http.StatusForbidden, Message: "Invalid api-key."}
		case needsAdmin(rt.Operation):
			return &reply.Error{Status: http.StatusForbidden, Message: "The api-key is a query key, which can only read documents. This operation requires an admin key."}
		}
		return nil
	}
	if key := rt.Query.Get("api-key"); key != "" {
		// The address may contain only query keys, and only in requests that read.
		if r.Method == http.MethodGet && !needsAdmin(rt.Operation) && holds(s.opts.QueryKeys, key) {
			return nil
		}
		return &reply.Error{Status: http.StatusForbidden, Message: "Invalid api-key."}
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(token) == "":
		return &reply.Error{Status: http.StatusUnauthorized, Message: "Access denied: the request has neither an api-key nor a bearer token."}
	case s.opts.Token == nil || !s.opts.Token(strings.TrimSpace(token)):
		return &reply.Error{Status: http.StatusForbidden, Message: "Access denied: the bearer token does not grant a role on this service."}
	}
	return nil
}

// holds reports whether key is among keys.
func holds(keys []string, key string) bool {
	found := 0
	for _, k := range keys {
		found |= subtle.ConstantTimeCompare([]byte(k), []byte(key))
	}
	return found == 1
}
