package interop

import (
	"embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// pythonNeeded is the oldest minor version of Python 3 for which packages are locked.
const pythonNeeded = 10

// pythonFiles excludes files that Python and its tools may leave next to the scripts.
//
//go:embed python/*.py python/*.txt python/*.json
var pythonFiles embed.FS

// pythonScenarios is the output of python/run.py, in order, for each version.
var pythonScenarios = []string{
	"create, get, list and update a synonym map",
	"keep to match conditions",
	"create an index",
	"get an index as it was defined",
	"list indexes",
	"add a field to an index",
	"upload documents",
	"get a document as it was uploaded",
	"get what was never set as null or empty",
	"get selected fields",
	"get a document that is missing",
	"get special values",
	"search in the simple syntax",
	"search in the full syntax",
	"search with synonyms and with a custom analyzer",
	"search some fields",
	"filter",
	"order",
	"scoring profiles",
	"select",
	"count and page with top and skip",
	"read count, coverage, facets and answers before the documents and after",
	"facets",
	"highlights",
	"suggest",
	"autocomplete",
	"search by a vector",
	"search by a vector alone",
	"search by several vectors",
	"search by a vector with a filter",
	"search by text and a vector together",
	"analyze text",
	"merge documents",
	"merge what is missing",
	"merge or upload documents",
	"delete documents",
	"index a batch of several kinds",
	"send documents through the buffered sender",
	"send documents as they come through the buffered sender",
	"send documents after some time through the buffered sender",
	"upload documents to a service that takes less at once",
	"send documents through the buffered sender to a service that takes less at once",
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
	"refuse a document that is too large",
	"refuse a bad index",
	"refuse a wrong key",
	"refuse what is not emulated",
	"send a request of one's own",
	"asynchronously create, list and update an index",
	"asynchronously upload, get, merge and delete documents",
	"asynchronously send documents through the buffered sender",
	"asynchronously send documents as they come through the buffered sender",
	"asynchronously send documents through the buffered sender to a failing service",
	"asynchronously iterate over all pages",
	"asynchronously continue from a continuation token",
	"asynchronously search by text and a vector together",
	"asynchronously suggest and autocomplete",
	"asynchronously refuse a bad query",
	"delete an index and a synonym map",
}

// pythonVersions are the versions of the SDK, by the file that locks them.
var pythonVersions = []struct {
	name    string
	tls     bool     // it refuses an endpoint without TLS
	without []string // scenarios without a working method: see python/quirks.py
}{
	{name: "sdk-11", tls: true, without: []string{
		"upload documents to a service that takes less at once",
		"send documents through the buffered sender to a service that takes less at once",
		"create, use, change and delete an alias",
		"create, get, list, update and delete a knowledge source and base",
	}},
	{name: "sdk-12"},
	{name: "sdk-12-preview"}, // the default api-version is a preview
}

// TestPythonSDKDrivesTheEmulator needs Python with venv and pip, and a registry or pip's cache.
func TestPythonSDKDrivesTheEmulator(t *testing.T) {
	wanted(t)
	dir := copied(t, pythonFiles, "python")
	python := pythonEnvironment(t, dir)
	emulator := buildEmulator(t)
	for _, version := range pythonVersions {
		t.Run(version.name, func(t *testing.T) {
			installPython(t, python, dir, version.name+".txt")
			args := []string{"-faults", filepath.Join(dir, "faults.json")}
			if version.tls {
				certificate := filepath.Join(t.TempDir(), "certificate.pem")
				args = append(args, "-tls", "-tls-cert-out", certificate)
				// A client option would not reach the inner client of the buffered sender. One variable is for the
				// synchronous clients, the other for the asynchronous ones.
				t.Setenv("REQUESTS_CA_BUNDLE", certificate)
				t.Setenv("SSL_CERT_FILE", certificate)
			}
			endpoint := startEmulator(t, emulator, args...)
			out, log, err := run(t, dir, python, "run.py", endpoint, searchtest.AdminKey, searchtest.QueryKey)
			assert.NoError(t, err, log)
			assert.Equal(t, allPassed(pythonScenarios, version.without), out)
		})
	}
}

// findPython returns a command for a sufficiently new Python.
func findPython(t *testing.T) string {
	t.Helper()
	found := "python3 is not installed"
	for _, name := range []string{"python3", "python"} {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		out, log, err := run(t, ".", name, "-c", "import sys; print(*sys.version_info[:2])")
		if err != nil {
			found = fmt.Sprintf("%s does not run: %v\n%s", name, err, log)
			continue
		}
		var major, minor int
		if _, err := fmt.Sscan(out, &major, &minor); err == nil && major == 3 && minor >= pythonNeeded {
			return name
		}
		found = fmt.Sprintf("%s is %d.%d; the SDK needs 3.%d", name, major, minor, pythonNeeded)
	}
	missing(t, "%s", found)
	return ""
}

// pythonEnvironment creates a virtual environment in the folder dir and returns the path of its Python.
func pythonEnvironment(t *testing.T, dir string) string {
	t.Helper()
	python := findPython(t)
	if out, log, err := run(t, dir, python, "-m", "venv", "environment"); err != nil {
		missing(t, "%s cannot make a virtual environment (are venv and ensurepip installed?): %v\n%s%s", python, err, out, log)
	}
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "environment", "Scripts", "python.exe")
	}
	return filepath.Join(dir, "environment", "bin", "python")
}

// installPython installs the packages locked by the file in dir, and replaces other versions.
func installPython(t *testing.T, python, dir, file string) {
	t.Helper()
	out, log, err := run(t, dir, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
		"--require-hashes", "--only-binary", ":all:", "-r", file)
	if err != nil {
		missing(t, "pip cannot install the SDK: %v\n%s%s", err, out, log)
	}
}
