package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

const hotels = `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"name","type":"Edm.String"}]}`

func TestEmulatorServesItsEndpointWithTheKeysOfItsFlags(t *testing.T) {
	e := startEmulator(t, "-api-key", "writer", "--query-key=reader")
	require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, e.url)
	c := http.DefaultClient

	status, _, body := e.call(t, c, http.MethodPost, "/indexes", "writer", hotels)
	require.Equal(t, http.StatusCreated, status, body)
	status, _, body = e.call(t, c, http.MethodPost, "/indexes('hotels')/docs/search.index", "writer",
		`{"value":[{"@search.action":"upload","id":"1","name":"Ritz"},{"@search.action":"delete","id":"2"}]}`)
	require.Equal(t, http.StatusOK, status, body)
	status, _, body = e.call(t, c, http.MethodGet, "/indexes('hotels')/docs('1')", "reader", "")
	require.Equal(t, http.StatusOK, status, body)
	assert.Contains(t, body, `"name":"Ritz"`)

	for _, refused := range []string{"", "reader", searchtest.AdminKey} {
		status, _, _ = e.call(t, c, http.MethodPost, "/indexes", refused, hotels)
		assert.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, status, "key %q", refused)
	}
}

// A page of any site can point its own name to this machine, and then send what everyone knows.
func TestDefaultKeysOpenNothingToForeignHostNames(t *testing.T) {
	request := func(e *emulator, host, key string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, e.url+"/indexes/x?api-version=2026-04-01", nil)
		require.NoError(t, err)
		req.Host = host
		req.Header.Set("Origin", "http://"+host)
		if req.Header.Set("Api-Key", key); key == "" {
			req.Header.Set("Authorization", "Bearer x")
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	for _, c := range []struct {
		key   string
		args  []string
		names map[string]int
	}{
		{searchtest.AdminKey, []string{"-host", "search", "-host", "other"}, map[string]int{
			"evil.example": 403, "evil.example:80": 403, "127.0.0.1.evil.example": 403, "localhost:80": 404, "127.0.0.1": 404, "[::1]:8080": 404, "search:8080": 404, "OTHER": 404,
		}},
		{"own", []string{"-api-key", "own"}, map[string]int{"evil.example": 403}}, // the query key is the default one
		{"own", []string{"-api-key", "own", "-query-key", "own2", "-any-token"}, map[string]int{"evil.example": 403}},
		{"own", []string{"-api-key", "own", "-query-key", "own2"}, map[string]int{"any.example": 404}},
	} {
		e := startEmulator(t, append([]string{"-quiet", "-ui"}, c.args...)...)
		for name, want := range c.names {
			assert.Equal(t, want, request(e, name, c.key), "%v %s", c.args, name)
		}
	}
}

func TestSecretsOfAnEmulatorNeedNoFlag(t *testing.T) {
	t.Setenv(adminKeyVariable, "own-admin")
	t.Setenv(queryKeyVariable, "own-query")
	t.Setenv(tokenVariable, "own-token")
	e := startEmulator(t)
	for _, args := range [][2]string{{"Api-Key", "own-admin"}, {"Api-Key", "own-query"}, {"Authorization", "Bearer own-token"}, {"Api-Key", searchtest.AdminKey}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url+"/indexes?api-version=2026-04-01", nil)
		require.NoError(t, err)
		req.Header.Set(args[0], args[1])
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		want := map[string]int{"own-admin": 200, "Bearer own-token": 200}[args[1]]
		if want == 0 {
			want = 403 // a query key lists no indexes
		}
		assert.Equal(t, want, resp.StatusCode, args)
	}
	assert.NotContains(t, e.stop(t, os.Kill).stderr, "own-")
}

func TestPortThatIsTakenIsOneLineAndExit2(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, more := range [][]string{nil, {"-tls"}} {
		got := runToEnd(t, append([]string{"emulator", "-addr", taken.Addr().String()}, more...)...)
		assertRefused(t, got, "address already in use; -addr 127.0.0.1:0 takes a free port")
	}
}

func TestFaultsFileThatCannotBeUsedIsOneLineAndExit2(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, says string }{
		"not JSON":         {`{"rules": [`, "faults script"},
		"empty":            {``, "EOF"},
		"misspelled":       {`{"rules":[{"statsu":503}]}`, "statsu"},
		"several problems": {`{"rules":[{"operation":"fly","status":503},{"operation":"swim","status":503}]}`, "swim"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "faults.json")
			require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
			got := runToEnd(t, "emulator", "-addr", "127.0.0.1:0", "-faults", path)
			assertRefused(t, got, c.says)
			assert.Contains(t, got.stderr, path)
		})
	}
	t.Run("missing", func(t *testing.T) {
		assertRefused(t, runToEnd(t, "emulator", "-addr", "127.0.0.1:0", "-faults", filepath.Join(dir, "none")), "none")
	})
	t.Run("a folder", func(t *testing.T) {
		assertRefused(t, runToEnd(t, "emulator", "-addr", "127.0.0.1:0", "-faults", dir), dir)
	})
}

func TestSeedIsThereFromTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"indexes":[{"definition":`+hotels+`,"documents":[{"id":"1","name":"Ritz"}]}],
		"synonymMaps":[{"name":"names","format":"solr","synonyms":"ritz, palace"}],"aliases":[{"name":"current","indexes":["hotels"]}]}`), 0o600))
	e := startEmulator(t, "-seed", path)
	status, _, body := e.call(t, http.DefaultClient, http.MethodGet, "/indexes('current')/docs('1')", searchtest.QueryKey, "")
	require.Equal(t, http.StatusOK, status, body)
	assert.Contains(t, body, `"name":"Ritz"`)
	status, _, body = e.call(t, http.DefaultClient, http.MethodGet, "/synonymmaps('names')", searchtest.AdminKey, "")
	require.Equal(t, http.StatusOK, status, body)
}

func TestSeedThatCannotBeUsedIsOneLineAndExit2(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, says string }{
		"not JSON":         {"{\n\"indexes\": [", "line 2"},
		"empty":            {``, "line 1, column 1"},
		"misspelled":       {`{"index":[]}`, "it must be one of aliases, dataSources, indexers, indexes, knowledgeBases"},
		"a wrong document": {`{"indexes":[{"definition":` + hotels + `,"documents":[{"id":"1","stars":5}]}]}`, "stars"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "seed.json")
			require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
			got := runToEnd(t, "emulator", "-addr", "127.0.0.1:0", "-seed", path)
			assertRefused(t, got, c.says)
			assert.Contains(t, got.stderr, path)
		})
	}
	t.Run("missing", func(t *testing.T) {
		assertRefused(t, runToEnd(t, "emulator", "-addr", "127.0.0.1:0", "-seed", filepath.Join(dir, "none")), "none")
	})
}

func TestSaveThatCannotWorkIsOneLineAndExit2(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "state.json")
	file := filepath.Join(dir, "file.json")
	require.NoError(t, os.WriteFile(file, []byte(`{}`), 0o600))
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a folder":                   {[]string{"-save", dir}, "is a directory: name a file in it"},
		"a folder that is not there": {[]string{"-save", filepath.Join(dir, "no", "state.json")}, "create it, or name a file elsewhere"},
		"a file for a folder":        {[]string{"-save", filepath.Join(file, "state.json")}, "-save cannot be used"},
		"another seed is missing":    {[]string{"-save", good, "-seed", filepath.Join(dir, "none")}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			assertRefused(t, runToEnd(t, append([]string{"emulator", "-addr", "127.0.0.1:0"}, c.args...)...), c.says)
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, entries, 1, "the check leaves nothing behind")
		})
	}
}

func TestTokensAreTakenAsTheFlagsSay(t *testing.T) {
	const jwt = "eyJhbGciOiJub25lIn0.e30._-~+/=="
	for name, c := range map[string]struct {
		args    []string
		takes   []string
		rejects []string
	}{
		"none by default": {nil, nil, []string{jwt, "secret"}},
		"the one named":   {[]string{"-token", "secret"}, []string{"secret"}, []string{jwt, "secret2", "Secret"}},
		"any":             {[]string{"-any-token"}, []string{jwt, "secret"}, []string{"two words", "a=b", "<token>"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := startEmulator(t, append([]string{"-quiet"}, c.args...)...)
			status := func(token string) int {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url+"/indexes?api-version=2026-04-01", nil)
				require.NoError(t, err)
				if token != "" {
					req.Header.Set("Authorization", "Bearer "+token)
				}
				resp, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				return resp.StatusCode
			}
			for _, token := range c.takes {
				assert.Equal(t, http.StatusOK, status(token), token)
			}
			for _, token := range c.rejects {
				assert.Equal(t, http.StatusForbidden, status(token), token)
			}
			assert.Equal(t, http.StatusUnauthorized, status(""))
		})
	}
}

func TestRequestsMayHaveAsManyActionsAsTheFlagSays(t *testing.T) {
	body := func(actions int) string {
		return `{"value":[` + strings.Repeat(`{"id":"1"},`, actions-1) + `{"id":"1"}]}`
	}
	for most, args := range map[int][]string{32_000: nil, 7: {"-max-batch-actions", "7"}} {
		e := startEmulator(t, append([]string{"-quiet"}, args...)...)
		e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotels)
		status, _, answer := e.call(t, http.DefaultClient, http.MethodPost, "/indexes('hotels')/docs/search.index", searchtest.AdminKey, body(most))
		assert.Equal(t, http.StatusOK, status, "%.200s", answer)
		status, _, answer = e.call(t, http.DefaultClient, http.MethodPost, "/indexes('hotels')/docs/search.index", searchtest.AdminKey, body(most+1))
		assert.Equal(t, http.StatusBadRequest, status)
		assert.Contains(t, answer, fmt.Sprintf("Please include between 1 and %d indexing actions", most))
	}
}

func TestOpennessToOthersIsSaid(t *testing.T) {
	for endpoint, only := range map[string]bool{
		"http://127.0.0.1:80": true, "http://[::1]:80": true, "https://localhost:80": true, "http://127.9.9.9:1": true,
		"http://[::]:80": false, "http://0.0.0.0:80": false, "http://192.168.1.2:80": false, "http://example.com": false, ":": false,
	} {
		assert.Equal(t, only, connect.Loopback(endpoint), endpoint)
	}
}

func TestBadUsageIsOneLineAndExit2(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"fly"}, `"fly"`},
		{[]string{"-fly"}, "-fly"},
		{[]string{"version", "now"}, `"now"`},
		{[]string{"emulator", "now"}, `"now"`},
		{[]string{"emulator", "-fly"}, "-fly"},
		{[]string{"emulator", "-addr"}, "addr"},
		{[]string{"emulator", "-addr", "nowhere"}, "nowhere"},
		{[]string{"emulator", "-latency", "soon"}, "soon"},
		{[]string{"emulator", "-latency", "-1s"}, "negative"},
		{[]string{"emulator", "-api-key", ""}, "empty"},
		{[]string{"emulator", "-api-key", "same", "-query-key", "same"}, "differ"},
		{[]string{"emulator", "-tls-cert-out", "cert.pem"}, "-tls"},
		{[]string{"emulator", "-token", ""}, "-token must be a bearer token"},
		{[]string{"emulator", "-token", "two words"}, "-token must be a bearer token"},
		{[]string{"emulator", "-token", "x", "-any-token"}, "cannot be used together"},
		{[]string{"emulator", "-max-batch-actions", "0"}, "between 1 and 32000"},
		{[]string{"emulator", "-max-batch-actions", "32001"}, "between 1 and 32000"},
		{[]string{"emulator", "-tls", "-addr", "127.0.0.1:0", "-tls-cert-out", filepath.Join("no", "such", "folder")}, "no"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			assertRefused(t, runToEnd(t, c.args...), c.says)
		})
	}
}

// assertRefused checks a refusal. Its stdout is empty, because scripts read the endpoint from there.
func assertRefused(t *testing.T, got ended, says string) {
	t.Helper()
	assert.Equal(t, 2, got.code)
	assert.Empty(t, got.stdout)
	assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
	assert.True(t, strings.HasPrefix(got.stderr, "azsearch: "), "%q", got.stderr)
	assert.Contains(t, got.stderr, says)
}

func TestFaultsFileIsCarriedOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "faults.json")
	script := `{"rules":[{"operation":"createIndex","count":1,"status":503,"retryAfter":"7s"}]}`
	require.NoError(t, os.WriteFile(path, []byte(script), 0o600))
	e := startEmulator(t, "-faults", path)

	status, header, _ := e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotels)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "7", header.Get("Retry-After"))
	status, _, _ = e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotels)
	assert.Equal(t, http.StatusCreated, status, "the rule counts to one")
}

func TestLatencyHoldsRepliesBack(t *testing.T) {
	const latency = 150 * time.Millisecond
	e := startEmulator(t, "-latency", latency.String())
	start := time.Now()
	e.call(t, http.DefaultClient, http.MethodGet, "/indexes", searchtest.AdminKey, "")
	assert.GreaterOrEqual(t, time.Since(start), latency)
}

func TestSemanticQueriesAreRankedOnRequest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"indexes":[{"definition":{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"name","type":"Edm.String"}],
		"semantic":{"configurations":[{"name":"names","prioritizedFields":{"prioritizedContentFields":[{"fieldName":"name"}]}}]}},"documents":[{"id":"1","name":"Ritz"}]}]}`), 0o600))
	for flag, want := range map[string]int{"-semantic-stand-in=false": http.StatusNotImplemented, "-semantic-stand-in": http.StatusOK} {
		e := startEmulator(t, "-seed", path, flag)
		status, _, body := e.call(t, http.DefaultClient, http.MethodPost, "/indexes('hotels')/docs/search.post.search", searchtest.QueryKey,
			`{"search":"ritz","queryType":"semantic","semanticConfiguration":"names"}`)
		assert.Equal(t, want, status, body)
		assert.Equal(t, want == http.StatusOK, strings.Contains(body, "@search.rerankerScore"), body)
	}
}

func TestNewerVersionsAreAnsweredUnlessVersionsAreStrict(t *testing.T) {
	for flag, want := range map[string]int{"-strict-versions=false": http.StatusOK, "-strict-versions": http.StatusBadRequest} {
		e := startEmulator(t, flag)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url+"/indexes?api-version=2031-01-01", nil)
		require.NoError(t, err)
		r.Header.Set("api-key", searchtest.AdminKey)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, resp.StatusCode)
		require.NoError(t, e.cmd.Process.Kill())
		_ = e.cmd.Wait() // then stderr is complete
		assert.Equal(t, want == http.StatusOK, strings.Contains(e.stderr.String(), "azsearch: api-version newer than emulator api_version=2031-01-01 answered_as=2026-10-01"), e.stderr.String())
	}
}

func TestTLSCertificateThatWasWrittenIsTrustedByClients(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cert.pem")
	e := startEmulator(t, "-tls", "-tls-cert-out", path)
	require.Regexp(t, `^https://127\.0\.0\.1:\d+$`, e.url)

	_, err := http.DefaultClient.Get(e.url + "/indexes")
	var unknown *tls.CertificateVerificationError
	require.ErrorAs(t, err, &unknown, "a client without its certificate must not trust it")

	pemBytes, err := os.ReadFile(path)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(pemBytes))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	status, _, body := e.call(t, &http.Client{Transport: transport}, http.MethodGet, "/indexes", searchtest.AdminKey, "")
	assert.Equal(t, http.StatusOK, status, body)
}

// The endpoint of ":0" is not a valid host name for a certificate.
func TestCertificateIsWrittenForAWildcardAddress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cert.pem")
	startEmulator(t, "-addr", ":0", "-tls", "-tls-cert-out", path)
	assert.FileExists(t, path)
}

func TestVersionSaysWhatItWasBuiltWith(t *testing.T) {
	got := runToEnd(t, "version")
	assert.Zero(t, got.code)
	assert.Regexp(t, `^azsearch \S+ go1\.\S+ \w+/\w+\n$`, got.stdout)
	assert.Empty(t, got.stderr)
}

func TestHelpListsEveryFlag(t *testing.T) {
	got := runToEnd(t, "emulator", "-help")
	assert.Zero(t, got.code)
	seed := regexp.MustCompile(`(?s)\{"indexes".*\]\}\n`).FindString(got.stdout)
	require.NoError(t, searchtest.NewServer(nil).Restore(strings.NewReader(seed)), "the example of -seed")
	for _, flag := range []string{"addr", "tls", "api-key", "query-key", "token", "any-token", "max-batch-actions", "seed", "save", "faults", "latency", "semantic-stand-in", "strict-versions", "quiet", "ui"} {
		assert.Contains(t, got.stdout, "-"+flag)
	}
}
