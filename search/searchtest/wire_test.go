package searchtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wireRequest is a request of the official JavaScript SDK; testdata/NOTICE.md names its source.
type wireRequest struct {
	Name, Method, Path, Accept string
	Body                       json.RawMessage
	Status                     int
	Reply                      json.RawMessage // nil for any
}

// The test sends the requests of @azure/search-documents 13.0.0, also with the api-version of 12.2.0. They run in
// file order, because later requests search for documents of earlier ones.
func TestTheJavaScriptSDKIsAnswered(t *testing.T) {
	var requests []wireRequest
	require.NoError(t, json.Unmarshal(testdata(t, "requests/javascript-13.0.0.json"), &requests))
	for _, version := range []string{"2026-04-01", "2025-09-01"} {
		t.Run(version, func(t *testing.T) {
			p := probe{TB: t, Server: NewServer(nil)}
			defer p.Close()
			for _, r := range requests {
				a := p.send(r.Method, r.Path+"?api-version="+version, string(r.Body), "Accept", "application/json;odata.metadata="+r.Accept)
				require.Equal(t, r.Status, a.status, "%s: %s", r.Name, a.body)
				if r.Reply == nil {
					continue
				}
				want := strings.ReplaceAll(string(r.Reply), "VERSION", version)
				assert.JSONEq(t, want, scorePattern.ReplaceAllString(a.body, `"@search.score":"SCORE"`), r.Name)
				assertScoresFall(t, r, a)
			}
		})
	}
}

// assertScoresFall checks that a search reply is ordered by descending score unless the request has another order.
func assertScoresFall(t *testing.T, r wireRequest, a answered) {
	t.Helper()
	var parameters struct{ OrderBy string }
	require.NoError(t, json.Unmarshal(r.Body, &parameters))
	if a.status != http.StatusOK || parameters.OrderBy != "" || !strings.HasSuffix(r.Path, "/search.post.search") {
		return
	}
	var reply struct {
		Value []struct {
			Score float64 `json:"@search.score"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &reply))
	for i, hit := range reply.Value {
		assert.Positive(t, hit.Score, r.Name)
		if i > 0 {
			assert.LessOrEqual(t, hit.Score, reply.Value[i-1].Score, r.Name)
		}
	}
}
