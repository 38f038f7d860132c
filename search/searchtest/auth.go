package searchtest

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// latestVersion is the newest stable api-version that the emulator knows.
const latestVersion = "2026-04-01"

// knownVersions are the api-versions that requests may name. They differ little
// in what the emulator covers.
var knownVersions = map[string]bool{
	"2019-05-06": true, "2019-05-06-preview": true,
	"2020-06-30": true, "2020-06-30-preview": true,
	"2021-04-30-preview": true,
	"2023-07-01-preview": true, "2023-10-01-preview": true, "2023-11-01": true,
	"2024-03-01-preview": true, "2024-05-01-preview": true, "2024-07-01": true, "2024-09-01-preview": true, "2024-11-01-preview": true,
	"2025-03-01-preview": true, "2025-05-01-preview": true, "2025-08-01-preview": true, "2025-09-01": true, "2025-11-01-preview": true,
	"2026-04-01": true,
}

// authorize checks the version and the credentials of a request.
func (s *Server) authorize(r *http.Request, rt route) *serviceError {
	switch {
	case rt.apiVersion == "":
		return &serviceError{status: http.StatusBadRequest, message: "The api-version query parameter is required. Supported api-versions: 2019-05-06 to " + latestVersion + "."}
	case !knownVersions[strings.ToLower(rt.apiVersion)]:
		return &serviceError{status: http.StatusBadRequest, message: "The version indicated by the api-version query string parameter does not exist."}
	}
	if key := r.Header.Get("Api-Key"); key != "" {
		switch {
		case holds(s.opts.AdminKeys, key):
			return nil
		case !holds(s.opts.QueryKeys, key):
			return &serviceError{status: http.StatusForbidden, message: "Invalid api-key."}
		case rt.op.needsAdmin():
			return &serviceError{status: http.StatusForbidden, message: "The api-key is a query key, which can only read documents. This operation requires an admin key."}
		}
		return nil
	}
	if key := rt.query.Get("api-key"); key != "" {
		// In the address only query keys are taken, and only for reading.
		if r.Method == http.MethodGet && !rt.op.needsAdmin() && holds(s.opts.QueryKeys, key) {
			return nil
		}
		return &serviceError{status: http.StatusForbidden, message: "Invalid api-key."}
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(token) == "":
		return &serviceError{status: http.StatusUnauthorized, message: "Access denied: the request has neither an api-key nor a bearer token."}
	case s.opts.Token == nil || !s.opts.Token(strings.TrimSpace(token)):
		return &serviceError{status: http.StatusForbidden, message: "Access denied: the bearer token does not grant a role on this service."}
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
