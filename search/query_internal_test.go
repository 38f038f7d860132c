package search

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzNextPage: whatever a reply says, a request for the next page goes to the
// host of the endpoint, over its scheme and to a path below its own.
func FuzzNextPage(f *testing.F) {
	for _, link := range []string{
		"https://gw.example.com/search/indexes('a')/docs/search.post.search?api-version=2026-04-01",
		"https://gw.example.com:443/search/x", "https://gw.example.com@evil.example/search/", "https://gw.example.com\\@evil/search/",
		"//gw.example.com/search/x", "https://gw.example.com/search/../admin", "https://gw.example.com/search/%2e%2e/admin", "https:gw.example.com/search/",
		"https://gw.example.com/search/..", "HTTPS://GW.EXAMPLE.COM/search/x", "https://gw.example.com:/search/x",
	} {
		f.Add(link)
	}
	endpoint, err := url.Parse("https://gw.example.com/search")
	require.NoError(f, err)
	conn := &connection{endpoint: endpoint, root: endpoint.String()}
	f.Fuzz(func(t *testing.T, link string) {
		address, err := conn.nextPage(link)
		if err != nil {
			return
		}
		req, err := http.NewRequest(http.MethodPost, address, http.NoBody)
		if err != nil {
			return
		}
		require.Equal(t, "https", req.URL.Scheme)
		require.Regexp(t, `(?i)^gw\.example\.com(:443|:)?$`, req.URL.Host)
		require.Nil(t, req.URL.User)
		resolved := endpoint.ResolveReference(req.URL)
		require.Regexp(t, "^/search/", resolved.EscapedPath())
		require.Regexp(t, "^/search/", resolved.Path)
	})
}

func TestVersionsAreToldApart(t *testing.T) {
	both := availability{stable: "2024-07-01", preview: "2024-03-01"}
	for version, has := range map[string]bool{
		"2024-07-01": true, "2026-04-01": true, "2023-11-01": false,
		"2024-03-01-preview": true, "2024-03-01-Preview": true, "2023-10-01-preview": false, "2025-01-01-preview": true,
	} {
		require.Equal(t, has, both.in(version), version)
	}
	require.False(t, availability{preview: "2024-05-01"}.in("2030-01-01"), "a stable version lacks what only previews have")
	require.True(t, availability{stable: "2024-05-01"}.in("2024-05-01-preview"))
}
