package interop

import (
	"embed"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// nodeNeeded is the oldest major version of Node.js that the SDK supports.
const nodeNeeded = 20

// jsFiles excludes node_modules, which may exist next to the scripts.
//
//go:embed js/*.mjs js/*.json
var jsFiles embed.FS

// jsScenarios is the output of js/run.mjs, in order, for each version.
var jsScenarios = []string{
	"create, get, list and update a synonym map",
	"create an index",
	"get an index as it was defined",
	"list indexes",
	"add a field to an index",
	"upload documents",
	"get a document as it was uploaded",
	"get what was never set as null or empty",
	"get special values",
	"get selected fields",
	"get a document that is missing",
	"search in the simple syntax",
	"search in the full syntax",
	"search with synonyms and with a custom analyzer",
	"search some fields",
	"filter",
	"order",
	"select",
	"count and page with top and skip",
	"facets",
	"highlights",
	"scoring profiles",
	"suggest",
	"autocomplete",
	"search by a vector",
	"search by a vector alone",
	"search by a vector with a filter",
	"search by text and a vector together",
	"analyze text",
	"merge documents",
	"merge what is missing",
	"merge or upload documents",
	"delete documents",
	"send documents through the buffered sender",
	"send documents as they come through the buffered sender",
	"send documents through the buffered sender to a failing service",
	"iterate over all pages",
	"read page by page",
	"continue from a continuation token",
	"read statistics",
	"create, use, change and delete an alias",
	"create, get, list and update a data source",
	"create, get and list a skillset",
	"create, get, list and reset an indexer",
	"delete an indexer and what it needs",
	"create, get, list, update and delete a knowledge source and base",
	"refuse a bad query",
	"refuse a bad document",
	"refuse a bad index",
	"refuse a wrong key",
	"refuse what is not emulated",
	"delete an index and a synonym map",
}

// jsWithout has the scenarios for which a version of the SDK has no method.
var jsWithout = map[string][]string{
	"search-documents-12": {"create, use, change and delete an alias", "create, get, list, update and delete a knowledge source and base"},
	"search-documents-13": nil,
}

// TestJavaScriptSDKDrivesTheEmulator needs Node.js and npm, and a registry or npm's cache.
func TestJavaScriptSDKDrivesTheEmulator(t *testing.T) {
	wanted(t)
	dir := installJS(t)
	emulator := buildEmulator(t)
	for version, without := range jsWithout {
		t.Run(version, func(t *testing.T) {
			endpoint := startEmulator(t, emulator, "-faults", filepath.Join(dir, "faults.json"))
			out, log, err := run(t, dir, "node", "run.mjs", endpoint, searchtest.AdminKey, searchtest.QueryKey, version)
			assert.NoError(t, err, log)
			assert.Equal(t, allPassed(jsScenarios, without), out)
		})
	}
}

// installJS returns a temporary copy of the folder js with the locked versions of the SDK installed.
func installJS(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			missing(t, "%s is not installed: %v", name, err)
		}
	}
	version, log, err := run(t, ".", "node", "--version")
	require.NoError(t, err, log)
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < nodeNeeded {
		missing(t, "node is %s; the SDK needs %d", strings.TrimSpace(version), nodeNeeded)
	}
	dir := copied(t, jsFiles, "js")
	if out, log, err := run(t, dir, "npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"); err != nil {
		missing(t, "npm cannot install the SDK: %v\n%s%s", err, out, log)
	}
	return dir
}
