package searchtest

import (
	"log/slog"
	"net/http"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// latest is the api-version of methods of Server, and the default of clients.
var latest = apiversion.Latest()

// everyMember reads and writes definitions with the members of all versions, as in snapshots
// without a version.
var everyMember = apiversion.All()

// supportedVersions is the range of versions in messages.
var supportedVersions = apiversion.Oldest().String() + " to " + apiversion.Newest().String()

// versionFault returns the refusal of a request without an api-version, or with one that
// does not exist. Unless the options are strict, a version newer than all known ones is
// answered as the newest of its kind.
func (s *Server) versionFault(version apiversion.Version) *reply.Error {
	switch {
	case version.String() == "":
		return &reply.Error{Status: http.StatusBadRequest, Message: "The api-version query parameter is required. Supported api-versions: " + supportedVersions + "."}
	case !version.Known() && (s.opts.StrictVersions || !version.Newer()):
		return &reply.Error{Status: http.StatusBadRequest, Message: "The version indicated by the api-version query string parameter does not exist."}
	}
	return nil
}

// warnOfVersion warns of a version that is newer than this emulator: in a header of each
// reply, and once in the log.
func (s *Server) warnOfVersion(h http.Header, version apiversion.Version) {
	if !version.Newer() || s.opts.StrictVersions {
		return
	}
	as := version.Nearest().String()
	h.Set("Warning", `299 searchtest "api-version `+version.String()+` is newer than this emulator, which answers as `+as+`"`)
	if _, warned := s.newer.LoadOrStore(version.String(), true); !warned {
		s.logger.Warn("api-version newer than emulator", slog.String("api_version", version.String()), slog.String("answered_as", as))
	}
}
