package searchtest

import (
	"net/http"
	"strings"
)

// latestVersion is the newest stable api-version that the emulator knows.
const latestVersion = version2026

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

// versionFault returns the answer to a request that names no api-version, or one
// that does not exist.
func versionFault(apiVersion string) *serviceError {
	switch {
	case apiVersion == "":
		return &serviceError{status: http.StatusBadRequest, message: "The api-version query parameter is required. Supported api-versions: 2019-05-06 to " + latestVersion + "."}
	case !knownVersions[strings.ToLower(apiVersion)]:
		return &serviceError{status: http.StatusBadRequest, message: "The version indicated by the api-version query string parameter does not exist."}
	}
	return nil
}

// The api-versions that changed what an index definition may contain.
const (
	version2020 = "2020-06-30"
	version2023 = "2023-11-01"
	version2024 = "2024-07-01"
	version2025 = "2025-09-01"
	version2026 = "2026-04-01"
)

// definitionVersion is the stable api-version whose definitions apiVersion
// understands. A preview knows what the stable version after it made official;
// no version at all is the newest.
func definitionVersion(apiVersion string) string {
	if apiVersion == "" {
		return version2026
	}
	date := apiVersion[:min(len(apiVersion), len(version2020))]
	if len(apiVersion) == len(date) {
		return date
	}
	for _, stable := range []string{version2020, version2023, version2024, version2025, version2026} {
		if date <= stable {
			return stable
		}
	}
	return date
}

// namespace is the OData namespace of an api-version: 2023-10-01-Preview is
// Microsoft.Azure.Search.V2023_10_01_Preview.
func namespace(apiVersion string) string {
	if apiVersion == "" {
		apiVersion = version2026
	}
	return "Microsoft.Azure.Search.V" + strings.ReplaceAll(apiVersion, "-", "_")
}

// knowsAliases reports whether that version has aliases: previews since
// 2021-04-30, stable versions since 2026-04-01. For the others an alias is an
// index that does not exist, as users of SDKs found out whose stable releases
// had lost what their previews had.
func knowsAliases(apiVersion string) bool {
	if date, preview := strings.CutSuffix(strings.ToLower(apiVersion), "-preview"); preview {
		return date >= "2021-04-30"
	}
	return definitionVersion(apiVersion) >= version2026
}
