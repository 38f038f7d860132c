package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// root is the root of the module, relative to this folder.
const root = "../.."

// TestPackagesKeepTheImportRules applies the rules. It lists packages for other systems, too, because their files are
// not built here.
func TestPackagesKeepTheImportRules(t *testing.T) {
	for _, goos := range []string{"linux", "windows", "darwin"} {
		t.Run(goos, func(t *testing.T) {
			if goos != "linux" {
				testkit.Long(t)
			}
			pkgs, err := Load(t.Context(), root, goos)
			require.NoError(t, err)
			require.NotEmpty(t, pkgs)
			for _, line := range Check(pkgs) {
				t.Error(line)
			}
		})
	}
}

func TestFilesLieWhereTheyBelong(t *testing.T) {
	broken, err := CheckTree(os.DirFS(root))
	require.NoError(t, err)
	for _, line := range broken {
		t.Error(line)
	}
}

// TestEveryRuleCanFail runs the checker on invented graphs: each row has a mistake and its exact message.
func TestEveryRuleCanFail(t *testing.T) {
	for name, c := range map[string]struct {
		pkg  Package
		says []string
	}{
		"models with a dependency":           {imports("models", "github.com/google/uuid"), []string{"models: must not import github.com/google/uuid"}},
		"models upward":                      {imports("models", Module+"/events"), []string{"models: must not import events"}},
		"models below models":                {imports("models/keys", Module+"/retry"), []string{"models/keys: must not import retry"}},
		"models with HTTP":                   {imports("models", "net/http"), []string{"models: must not import net/http"}},
		"events upward":                      {imports("events", Module+"/retry"), []string{"events: must not import retry"}},
		"retry of HTTP errors by azcore":     {imports("retry", "github.com/Azure/azure-sdk-for-go/sdk/azcore"), []string{"retry: must not import github.com/Azure/azure-sdk-for-go/sdk/azcore"}},
		"retry with another back-off":        {imports("retry", "github.com/cenkalti/backoff/v5"), []string{"retry: must not import github.com/cenkalti/backoff/v5"}},
		"gobreaker outside the breaker":      {imports("retry", "github.com/sony/gobreaker/v2"), []string{"retry: must not import github.com/sony/gobreaker/v2"}},
		"search downward to the sender":      {imports("search", Module+"/bufferedsender"), []string{"search: must not import bufferedsender"}},
		"search with a ready credential":     {imports("search", "github.com/Azure/azure-sdk-for-go/sdk/azidentity"), []string{"search: must not import github.com/Azure/azure-sdk-for-go/sdk/azidentity"}},
		"client knows its emulator":          {imports("search", Module+"/search/searchtest"), []string{"search: must not import search/searchtest"}},
		"emulator knows the client":          {imports("search/searchtest", Module+"/search"), []string{"search/searchtest: must not import search"}},
		"emulator on azcore":                 {imports("search/searchtest", "github.com/Azure/azure-sdk-for-go/sdk/azcore"), []string{"search/searchtest: must not import github.com/Azure/azure-sdk-for-go/sdk/azcore"}},
		"emulator reaches azcore":            {reaches("search/searchtest", "github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"), []string{"search/searchtest: must not depend on github.com/Azure/azure-sdk-for-go/sdk/azcore/policy, which it reaches through another package"}},
		"emulator reaches the client":        {imports("search/searchtest", Module+"/search/searchtest/clienttest"), []string{"search/searchtest: must not import search/searchtest/clienttest"}},
		"client made for tests in a program": {imports("cmd/azsearch", Module+"/search/searchtest/clienttest"), []string{"cmd/azsearch: must not import search/searchtest/clienttest"}},
		"sender knows the client":            {imports("bufferedsender", Module+"/search"), []string{"bufferedsender: must not import search"}},
		"sender reaches the client":          {reaches("bufferedsender", Module+"/search"), []string{"bufferedsender: must not depend on search, which it reaches through another package"}},
		"sender reaches azcore":              {reaches("bufferedsender", "github.com/Azure/azure-sdk-for-go/sdk/azcore"), []string{"bufferedsender: must not depend on github.com/Azure/azure-sdk-for-go/sdk/azcore, which it reaches through another package"}},
		"sender on the SDK of otel":          {imports("bufferedsender", "go.opentelemetry.io/otel/sdk/trace"), []string{"bufferedsender: must not import go.opentelemetry.io/otel/sdk/trace"}},
		"core with a dependency":             {imports("internal/publisher", "github.com/google/uuid"), []string{"internal/publisher: must not import github.com/google/uuid"}},
		"core knows models":                  {imports("internal/publisher", Module+"/models"), []string{"internal/publisher: must not import models"}},
		"core knows JSON":                    {imports("internal/publisher", "encoding/json"), []string{"internal/publisher: must not import encoding/json"}},
		"core reaches HTTP":                  {reaches("internal/publisher", "net/http"), []string{"internal/publisher: must not depend on net/http, which it reaches through another package"}},
		"test library in a build":            {imports("search", "github.com/stretchr/testify/require"), []string{"search: must not import github.com/stretchr/testify/require"}},
		"mock library in a build":            {imports("search", "github.com/jarcoal/httpmock"), []string{"search: must not import github.com/jarcoal/httpmock"}},
		"random tests in a build":            {imports("bufferedsender", "pgregory.net/rapid"), []string{"bufferedsender: must not import pgregory.net/rapid"}},
		"leak detector in a build":           {imports("bufferedsender", "go.uber.org/goleak"), []string{"bufferedsender: must not import go.uber.org/goleak"}},
		"testkit in a build":                 {imports("search", Module+"/internal/testkit"), []string{"search: must not import internal/testkit"}},
		"testkit with more":                  {imports("internal/testkit", "github.com/stretchr/testify/require"), []string{"internal/testkit: must not import github.com/stretchr/testify/require"}},
		"servers with a client": {imports("internal/testkit/servers", "github.com/redis/go-redis/v9"), []string{
			"internal/testkit/servers: must not import github.com/redis/go-redis/v9", "internal/testkit/servers: must not import github.com/redis/go-redis/v9: outside of internal/rediskit and bufferedsender/queue/redisqueue and search/rebuild/redisstore",
		}},
		"a third package with a client of Redis": {tests("bufferedsender/fleet", "github.com/redis/go-redis/v9"), []string{
			"bufferedsender/fleet: its tests must not import github.com/redis/go-redis/v9", "bufferedsender/fleet: must not import github.com/redis/go-redis/v9: outside of internal/rediskit and bufferedsender/queue/redisqueue and search/rebuild/redisstore",
		}},
		"scanner knows models":                  {imports("internal/wire", Module+"/models"), []string{"internal/wire: must not import models"}},
		"scanner with a dependency":             {imports("internal/wire", "github.com/goccy/go-json"), []string{"internal/wire: must not import github.com/goccy/go-json"}},
		"scanner with reflection":               {imports("internal/wire", "reflect"), []string{"internal/wire: must not import reflect"}},
		"emulator on the scanner of the client": {imports("search/searchtest", Module+"/internal/wire"), []string{"search/searchtest: must not import internal/wire"}},
		"harness in a library":                  {imports("bufferedsender", Module+"/internal/sendertest"), []string{"bufferedsender: must not import internal/sendertest"}},
		"harness in a program":                  {imports("cmd/azsearch", Module+"/internal/sendertest"), []string{"cmd/azsearch: must not import internal/sendertest"}},
		"harness in another tool":               {imports("internal/testkit", Module+"/internal/sendertest"), []string{"internal/testkit: must not import internal/sendertest"}},
		"harness with a mock library":           {imports("internal/sendertest", "github.com/jarcoal/httpmock"), []string{"internal/sendertest: must not import github.com/jarcoal/httpmock"}},
		"harness of the core":                   {imports("internal/sendertest", Module+"/internal/publisher"), []string{"internal/sendertest: must not import internal/publisher"}},
		"code next to the black-box tests":      {imports("bufferedsender/test/adding", Module+"/bufferedsender"), []string{"bufferedsender/test/adding: must not import bufferedsender"}},
		"black-box test of the core":            {tests("bufferedsender/test/adding", Module+"/internal/publisher"), []string{"bufferedsender/test/adding: its tests must not import internal/publisher"}},
		"sample on the inside":                  {imports("samples/quickstart", Module+"/internal/testkit"), []string{"samples/quickstart: must not import internal/testkit"}},
		"command line with two libraries":       {imports("cmd/azsearch", "github.com/spf13/cobra"), []string{"cmd/azsearch: must not import github.com/spf13/cobra"}},
		"test with an unknown library":          {tests("search", "github.com/onsi/gomega"), []string{"search: its tests must not import github.com/onsi/gomega"}},
		"test of a library that needs a sample": {tests("bufferedsender", Module+"/samples/quickstart"), []string{"bufferedsender: its tests must not import samples/quickstart"}},
		"goroutine without a leak check":        {Package{Path: Module + "/retry", StartsGoroutine: true}, []string{"retry: starts a goroutine, so its tests need func TestMain(m *testing.M) { testkit.Main(m) }"}},
		"folder without a rule":                 {imports("telemetry"), []string{"telemetry: no rule says what it may import; decide and add one to internal/archtest/rules.go"}},
		"package at the top":                    {Package{Path: Module}, []string{Module + ": outside the folders of the module"}},
		"empty name":                            {imports("samples/util"), []string{`samples/util: "util" says nothing about what is inside`}},
		"stemmers away from home": {imports("search/searchtest", "github.com/blevesearch/snowballstem"), []string{
			"search/searchtest: must not import github.com/blevesearch/snowballstem", "search/searchtest: must not import github.com/blevesearch/snowballstem: outside of search/searchtest/internal/textindex/analysis",
		}},
		"bleve for a stemmer":         {imports("search/searchtest/internal/textindex/analysis", "github.com/blevesearch/bleve/v2/analysis/lang/pl"), []string{"search/searchtest/internal/textindex/analysis: must not import github.com/blevesearch/bleve/v2/analysis/lang/pl"}},
		"bleve's store behind it":     {reaches("search/searchtest/internal/textindex/analysis", "go.etcd.io/bbolt"), []string{"search/searchtest/internal/textindex/analysis: must not depend on go.etcd.io/bbolt, which it reaches through another package"}},
		"languages with a dependency": {imports("search/searchtest/internal/textindex/languages", "golang.org/x/text/unicode/norm"), []string{"search/searchtest/internal/textindex/languages: must not import golang.org/x/text/unicode/norm"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.says, Check([]Package{c.pkg}))
		})
	}
}

// TestNeighboursAreLeftAlone has imports that the rules allow.
func TestNeighboursAreLeftAlone(t *testing.T) {
	for _, p := range []Package{
		imports("models", "encoding/json", Module+"/models/keys", Module+"/internal/wire"),
		imports("retry", "net/http", "github.com/cenkalti/backoff/v4"),
		imports("search", Module+"/models", "github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"),
		imports("search/searchtest", "net/http", Module+"/models"),
		imports("search/searchtest/clienttest", "testing", Module+"/search", Module+"/search/searchtest", "github.com/Azure/azure-sdk-for-go/sdk/azcore"),
		imports("search/searchtest/internal/textindex/analysis", "github.com/blevesearch/snowballstem/danish"),
		imports("bufferedsender", Module+"/internal/publisher", "go.opentelemetry.io/otel/metric/noop"),
		imports("samples/errors", Module+"/search/searchtest", "github.com/Azure/azure-sdk-for-go/sdk/azidentity"),
		tests("bufferedsender", Module+"/search", Module+"/internal/testkit", "go.opentelemetry.io/otel/sdk/metric", "pgregory.net/rapid"),
		imports("internal/sendertest", "testing", Module+"/bufferedsender", Module+"/search/searchtest", "pgregory.net/rapid", "github.com/stretchr/testify/require", "go.opentelemetry.io/otel/sdk/metric"),
		imports("internal/soak", Module+"/internal/sendertest"),
		tests("bufferedsender/test/adding", Module+"/internal/sendertest", Module+"/internal/testkit"),
		{Path: Module + "/samples/quickstart", StartsGoroutine: true},
		{Path: Module + "/search", StartsGoroutine: true, TestImports: []string{Module + "/internal/testkit"}},
	} {
		assert.Empty(t, Check([]Package{p}), p.Path)
	}
}

// TestEveryRuleHasItsPlace requires that each folder is named once and exists, because a rule decides about existing
// code.
func TestEveryRuleHasItsPlace(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules {
		assert.False(t, seen[r.Folder], "two rules for %s", r.Folder)
		seen[r.Folder] = true
		assert.DirExists(t, filepath.Join(root, filepath.FromSlash(strings.TrimSuffix(r.Folder, "/..."))))
	}
	for dependency, folders := range homes {
		for _, home := range folders {
			r, ok := ruleFor(home)
			assert.True(t, ok && matchAny(r.May, dependency), "%s may not import %s, which is its home", home, dependency)
		}
	}
}

func TestGoStatementsAreSeen(t *testing.T) {
	for src, want := range map[string]bool{
		"package p\nfunc f() { func() { go f() }() }": true,
		"package p\n// go f()\nfunc f() { f() }":      false,
	} {
		got, err := startsGoroutine("f.go", src)
		require.NoError(t, err)
		assert.Equal(t, want, got, src)
	}
}

func TestTreeRulesCanFail(t *testing.T) {
	proper := func() fstest.MapFS {
		m := fstest.MapFS{}
		for _, name := range required {
			m[name] = &fstest.MapFile{}
		}
		return m
	}
	long := make([]byte, maxLines+1)
	for i := range long {
		long[i] = '\n'
	}
	broken, err := CheckTree(proper())
	require.NoError(t, err)
	require.Empty(t, broken)

	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		says   string
	}{
		"stray file":      {func(m fstest.MapFS) { m["notes.txt"] = &fstest.MapFile{} }, "notes.txt: does not belong at the top of the repository"},
		"stray folder":    {func(m fstest.MapFS) { m["pkg/a.go"] = &fstest.MapFile{} }, "pkg: does not belong at the top of the repository"},
		"missing file":    {func(m fstest.MapFS) { delete(m, "SECURITY.md") }, "SECURITY.md: missing"},
		"replaced":        {func(m fstest.MapFS) { m["go.mod"].Data = []byte("module m\n\nreplace a => ../a\n") }, "go.mod: a replace directive has no effect for importers of the module, so they would get an untested version"},
		"origin of tests": {func(m fstest.MapFS) { m["search/query_hostile_test.go"] = &fstest.MapFile{} }, "search/query_hostile_test.go: named after how its tests came to be; name it after what they are about, or move them there"},
		"very long file":  {func(m fstest.MapFS) { m["search/all.go"] = &fstest.MapFile{Data: long} }, "search/all.go: 501 lines; split it by idea, or say in internal/archtest/tree.go why it is one"},
	} {
		t.Run(name, func(t *testing.T) {
			m := proper()
			c.change(m)
			broken, err := CheckTree(m)
			require.NoError(t, err)
			assert.Equal(t, []string{c.says}, broken)
		})
	}
	for name, m := range map[string]fstest.MapFS{
		"long test":    {"search/all_test.go": {Data: long}},
		"long data":    {"search/testdata/all.go": {Data: long}},
		"a profile":    {"cpu.prof": {}},
		"build output": {"bin/azsearch": {}},
	} {
		t.Run(name, func(t *testing.T) {
			all := proper()
			for k, v := range m {
				all[k] = v
			}
			broken, err := CheckTree(all)
			require.NoError(t, err)
			assert.Empty(t, broken)
		})
	}
}

// TestLoadSeesImportsOfTests checks that the loader finds this package's own test imports.
func TestLoadSeesImportsOfTests(t *testing.T) {
	pkgs, err := Load(t.Context(), root, "linux")
	require.NoError(t, err)
	for _, p := range pkgs {
		if p.Path == Module+"/internal/archtest" {
			assert.Contains(t, p.Imports, "go/parser")
			assert.Contains(t, p.Deps, "go/token")
			assert.Contains(t, p.TestImports, "github.com/stretchr/testify/require")
			assert.NotContains(t, p.Imports, "github.com/stretchr/testify/require")
			return
		}
	}
	t.Fatal("this package is missing from its own list")
}

func TestLoadSaysWhatTheGoCommandSaid(t *testing.T) {
	_, err := Load(t.Context(), t.TempDir(), "linux")
	require.ErrorContains(t, err, "main module")
}

func imports(folder string, paths ...string) Package {
	return Package{Path: Module + "/" + folder, Imports: paths, Deps: paths}
}

func reaches(folder string, path string) Package {
	return Package{Path: Module + "/" + folder, Deps: []string{path}}
}

func tests(folder string, paths ...string) Package {
	return Package{Path: Module + "/" + folder, TestImports: paths}
}
