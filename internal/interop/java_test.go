package interop

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// javaNeeded is the oldest JDK that compiles the scenarios; the SDK itself needs only 8.
const javaNeeded = 17

// javaFiles excludes files that Maven or an editor may leave next to the sources.
//
//go:embed java/pom.xml java/dependencies.sha256 java/faults.json java/src
var javaFiles embed.FS

// javaScenarios is the output of the class Run, in order, for each api-version.
var javaScenarios = []string{
	"create, get, list and update a synonym map",
	"create an index from an annotated class",
	"get an index as it was defined",
	"list indexes",
	"add a field to an index",
	"upload documents",
	"get a document as it was uploaded",
	"get a document as a map",
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
	"search by two vectors",
	"analyze text",
	"merge documents",
	"merge what is missing",
	"merge or upload documents",
	"delete documents",
	"send a batch of several actions",
	"send documents through the buffered sender",
	"send documents as they come through the buffered sender",
	"send documents through the buffered sender to a failing service",
	"try again when a failing service has refused",
	"iterate over all pages",
	"read page by page",
	"continue from a continuation token",
	"read statistics",
	"define an index asynchronously",
	"upload, get, merge and delete documents asynchronously",
	"search asynchronously",
	"read page by page asynchronously",
	"suggest, autocomplete and analyze asynchronously",
	"refuse and delete asynchronously",
	"send documents through the asynchronous buffered sender",
	"send documents through the asynchronous buffered sender to a failing service",
	"create, get, list and update a data source",
	"create, get and list a skillset",
	"create, get, list and reset an indexer",
	"delete an indexer and what it needs",
	"refuse a bad query",
	"refuse a bad document",
	"refuse a bad index",
	"refuse a wrong key",
	"refuse what is not emulated",
	"delete an index and a synonym map",
}

// javaVersions are the api-versions of the SDK, newest first, that accept an index built from a class: the SDK always
// sends whether a field is stored.
var javaVersions = []string{"2025-09-01", "2024-07-01"}

// TestJavaSDKDrivesTheEmulator needs a JDK and Maven, and a repository or Maven's cache.
func TestJavaSDKDrivesTheEmulator(t *testing.T) {
	wanted(t)
	dir := installJava(t)
	emulator := buildEmulator(t)
	for _, version := range javaVersions {
		t.Run(version, func(t *testing.T) {
			certificate := filepath.Join(t.TempDir(), "certificate.pem")
			endpoint := startEmulator(t, emulator, "-tls", "-tls-cert-out", certificate, "-faults", filepath.Join(dir, "faults.json"))
			out, log, err := run(t, dir, "java", "-cp", javaClassPath("classes"), "azsearch.interop.Run",
				endpoint, searchtest.AdminKey, searchtest.QueryKey, certificate, version)
			assert.NoError(t, err, log)
			assert.Equal(t, allPassed(javaScenarios, nil), out)
		})
	}
}

// installJava returns a temporary copy of the folder java with the locked versions of the SDK installed and the
// scenarios compiled.
func installJava(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"java", "javac", "mvn"} {
		if _, err := exec.LookPath(name); err != nil {
			missing(t, "%s is not installed: %v", name, err)
		}
	}
	version, log, err := run(t, ".", "javac", "-version")
	require.NoError(t, err, log)
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "javac "), ".")
	if n, err := strconv.Atoi(strings.TrimSpace(major)); err != nil || n < javaNeeded {
		missing(t, "the compiler is %s; the scenarios need %d", strings.TrimSpace(version), javaNeeded)
	}
	dir := copied(t, javaFiles, "java")
	if out, log, err := run(t, dir, "mvn", "-B", "-q", "dependency:copy-dependencies", "-DoutputDirectory=lib"); err != nil {
		missing(t, "mvn cannot fetch the SDK: %v\n%s%s", err, out, log)
	}
	want, err := os.ReadFile(filepath.Join(dir, "dependencies.sha256"))
	require.NoError(t, err)
	require.Equal(t, string(want), javaChecksums(t, filepath.Join(dir, "lib")), "mvn has fetched other files than the locked ones")

	sources, err := filepath.Glob(filepath.Join(dir, "src", "main", "java", "azsearch", "interop", "*.java"))
	require.NoError(t, err)
	arguments := append([]string{"-encoding", "UTF-8", "-proc:none", "--release", strconv.Itoa(javaNeeded), "-cp", javaClassPath(), "-d", "classes"}, sources...)
	out, log, err := run(t, dir, "javac", arguments...)
	require.NoError(t, err, out+log)
	return dir
}

// javaClassPath is the class path of the folders and the SDK.
func javaClassPath(folders ...string) string {
	return strings.Join(append(folders, filepath.Join("lib", "*")), string(os.PathListSeparator))
}

// javaChecksums returns the checksums of the folder lib in the format of sha256sum.
func javaChecksums(t *testing.T, lib string) string {
	t.Helper()
	files, err := os.ReadDir(lib)
	require.NoError(t, err)
	var sums strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(lib, file.Name()))
		require.NoError(t, err)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), file.Name())
	}
	return sums.String()
}
