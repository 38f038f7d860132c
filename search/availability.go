package search

import (
	"fmt"
	"strings"
)

// availability says which versions of the REST API know something: the stable
// ones from a date on, and the previews from a date on. What is in a stable
// version is in the previews after it as well.
type availability struct {
	stable  string // "" if no stable version has it
	preview string // "" if no preview had it before
}

// What came after the versions that this client can be made to ask for, from
// the service's specifications and the change logs of its SDKs.
var (
	sinceScoringStatistics = availability{stable: "2020-06-30"}
	sinceSemantic          = availability{stable: "2023-11-01", preview: "2023-10-01"}
	sinceVectors           = availability{stable: "2023-11-01", preview: "2023-10-01"}
	sinceVectorText        = availability{stable: "2024-07-01", preview: "2023-10-01"}
	sinceSemanticQuery     = availability{stable: "2024-07-01", preview: "2023-10-01"}
	sinceOversampling      = availability{stable: "2024-07-01", preview: "2024-03-01"}
	sinceWeight            = availability{stable: "2024-07-01", preview: "2024-05-01"}
	sinceDebug             = availability{stable: "2025-09-01", preview: "2023-10-01"}
	sinceVectorImages      = availability{stable: "2026-04-01", preview: "2024-05-01"}
	sinceStrictPostFilter  = availability{stable: "2026-04-01", preview: "2025-11-01"}
	sincePassageLength     = availability{stable: "2026-04-01", preview: "2024-11-01"}
	onlyThreshold          = availability{preview: "2024-05-01"}
	onlyHybridSearch       = availability{preview: "2024-05-01"}
	onlyFilterOverride     = availability{preview: "2024-09-01"}
)

// in reports whether the version knows it.
func (a availability) in(version string) bool {
	date, kind, _ := cutVersion(version)
	if a.stable != "" && date >= a.stable {
		return true
	}
	return kind != "" && a.preview != "" && date >= a.preview
}

// missing returns the error for a version that does not know it.
func (a availability) missing(version string) error {
	var needs []string
	if a.stable != "" {
		needs = append(needs, a.stable)
	}
	if a.preview != "" {
		needs = append(needs, a.preview+"-preview")
	}
	return fmt.Errorf("api-version %s does not have it, it takes %s or later: see ClientOptions.APIVersion", version, strings.Join(needs, " or "))
}

// cutVersion splits "2024-05-01-preview" into its date and its kind.
func cutVersion(version string) (date, kind string, found bool) {
	const dateLength = len("2026-04-01")
	if len(version) <= dateLength {
		return version, "", false
	}
	return version[:dateLength], version[dateLength+1:], true
}
