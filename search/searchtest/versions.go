package searchtest

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// latest is the newest stable api-version that the emulator knows.
var latest = apiversion.Latest()

// supportedVersions says in messages which versions requests may name.
var supportedVersions = apiversion.Oldest().String() + " to " + apiversion.Default

// versionFault returns the answer to a request that names no api-version, or one
// that does not exist.
func versionFault(version apiversion.Version) *serviceError {
	switch {
	case version.String() == "":
		return &serviceError{status: http.StatusBadRequest, message: "The api-version query parameter is required. Supported api-versions: " + supportedVersions + "."}
	case !version.Known():
		return &serviceError{status: http.StatusBadRequest, message: "The version indicated by the api-version query string parameter does not exist."}
	}
	return nil
}

// resourceType is the name of a type of the service, which has the version in it
// as the request wrote it: Microsoft.Azure.Search.V2023_10_01_Preview.IndexResult.
func resourceType(version apiversion.Version, name string) string {
	text := cmp.Or(version.String(), apiversion.Default)
	return "Microsoft.Azure.Search.V" + strings.ReplaceAll(text, "-", "_") + "." + name
}
