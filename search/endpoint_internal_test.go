package search

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEndpointsThatAreNone(t *testing.T) {
	for endpoint, texts := range map[string][]string{
		"":                              {"the endpoint is empty"},
		"  ":                            {"the endpoint is empty"},
		"svc":                           {"does not start with https://"},
		"svc.search.windows.net":        {"does not start with https://"},
		"localhost:8080":                {"does not start with https://"},
		"ftp://svc.search.windows.net":  {"does not start with https://"},
		"https://":                      {"names no host"},
		"https://:443":                  {"names no host"},
		"http://svc.search.windows.net": {"would send credentials unencrypted"},
		"http://127.0.0.1.example.com":  {"would send credentials unencrypted"},
		"http://10.0.0.1":               {"would send credentials unencrypted"},
		"https://svc.search.windows.net?api-key=x":    {"has a query or a fragment"},
		"https://svc.search.windows.net?":             {"has a query or a fragment"},
		"https://svc.search.windows.net#x":            {"has a query or a fragment"},
		"https://svc.search.windows.net/indexes('x')": {"give the address of the service only"},
		"https://me:secret@svc.search.windows.net":    {"holds a user name"},
		"https://me:secret@svc\x7f":                   {"is not a URL"},
		"https://me:secret/x@svc":                     {"is not a URL"},
		"https:///me:secret@svc/indexes/x":            {"names no host"},
		"me:secret@svc":                               {"does not start with https://"},
		"https:me:secret@svc":                         {"names no host"},
		"https:/me:secret@svc":                        {"names no host"},
		"https:///me:secret@svc":                      {"names no host"},
		"me:sec@secret@svc":                           {"does not start with https://"},
		"secret@svc":                                  {"does not start with https://"},
		"1me:secret@svc":                              {"has no scheme"},
		"svc.search.windows.net?api-key=secret":       {"does not start with https://", "has a query or a fragment"},
		"http://svc.example/?api-key=secret#secret":   {"would send credentials unencrypted", "has a query or a fragment"},
		"https:?api-key=secret@x":                     {"names no host", "has a query or a fragment"},
		"https:#secret":                               {"names no host", "has a query or a fragment"},
		"ftp:me:secret@svc/secret@x":                  {"does not start with https://"},
		"http://me:secret@svc.example/?q":             {"would send credentials unencrypted", "holds a user name", "has a query or a fragment"},
	} {
		t.Run(endpoint, func(t *testing.T) {
			_, err := parseEndpoint(endpoint, false)
			require.Error(t, err)
			for _, text := range texts {
				assert.ErrorContains(t, err, text)
			}
			assert.NotContains(t, err.Error(), "secret")
			assert.Equal(t, len(texts)-1, strings.Count(err.Error(), "\n"))
		})
	}
}

func TestEndpointsThatAreFine(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://svc.search.windows.net":   "https://svc.search.windows.net",
		"https://svc.search.windows.net/":  "https://svc.search.windows.net",
		"https://svc.search.azure.cn:443/": "https://svc.search.azure.cn:443",
		"https://gateway.example/a/b//":    "https://gateway.example/a/b",
		"http://localhost:8080":            "http://localhost:8080",
		"http://search.localhost":          "http://search.localhost",
		"http://127.0.0.1:8080":            "http://127.0.0.1:8080",
		"http://127.8.9.10":                "http://127.8.9.10",
		"http://[::1]:8080":                "http://[::1]:8080",
		"HTTPS://svc.search.windows.net":   "https://svc.search.windows.net",
	} {
		u, err := parseEndpoint(endpoint, false)
		require.NoError(t, err, endpoint)
		assert.Equal(t, want, u.String())
	}
	u, err := parseEndpoint("http://10.0.0.1", true)
	require.NoError(t, err)
	assert.Equal(t, "http://10.0.0.1", u.String())
}

func TestIndexNames(t *testing.T) {
	for _, name := range []string{"ab", "hotels", "hotels-2026_v1", "0a", strings.Repeat("x", 128)} {
		assert.NoError(t, validateIndexName(name), name)
	}
	for name, text := range map[string]string{
		"":                       "is empty",
		"a":                      "is not 2 to 128 characters long, but 1",
		strings.Repeat("x", 129): "is not 2 to 128 characters long, but 129",
		"Hotels":                 "characters other than",
		"hôtels":                 "characters other than",
		"a b":                    "characters other than",
		"a'b":                    "characters other than",
		"a/b":                    "characters other than",
		"-ab":                    "does not start with",
		"_ab":                    "does not start with",
		"a--b":                   "consecutive",
		"a__b":                   "consecutive",
	} {
		assert.ErrorContains(t, validateIndexName(name), text, name)
	}
}
