package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/repair"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The count is a run of its own, so -yes knows how many documents match although its own scan fails.
func TestReceiptOfADeletionThatFailsSaysWhatMatched(t *testing.T) {
	testkit.Long(t)
	for name, fields := range map[string]string{"any key": roomFields, "a key that cannot be scanned": strings.Replace(roomFields, `"filterable":true,"sortable":true`, `"sortable":false`, 1)} {
		t.Run(name, func(t *testing.T) {
			server := searchtest.NewServer(nil)
			defer server.Close()
			require.NoError(t, server.Restore(strings.NewReader(`{"indexes":[{"definition":`+fields+`,"documents":[{"id":"1","stars":2},{"id":"2","stars":2},{"id":"3"}]}]}`)))
			scans, most := 0, 1000
			server.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
				if strings.HasSuffix(req.URL.Path, "search.post.search") {
					if scans++; scans > most {
						return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody, Header: http.Header{}, Request: req}, nil
					}
				}
				return next(req)
			})
			require.NoError(t, server.Listen("127.0.0.1:0"))
			receiptOf := func(got ended) (r repair.Receipt) {
				require.NoError(t, json.Unmarshal([]byte(got.stdout), &r), "%s", got.stdout)
				return r
			}
			got := runAgainst(t.Context(), t, server, "delete", "rooms", "-filter", "stars eq 2", "-json")
			assert.Zero(t, got.code, got.stderr)
			r := receiptOf(got)
			assert.Equal(t, []any{true, "", int64(2), int64(3)}, []any{r.DryRun, r.Refused, r.Matched, r.Total}, "-yes would not be refused")

			most, scans = scans, 0
			got = runAgainst(t.Context(), t, server, "delete", "rooms", "-filter", "stars eq 2", "-yes", "-json")
			assert.Equal(t, 3, got.code, got.stderr)
			r = receiptOf(got)
			assert.Equal(t, []int64{2, 0, 2, 3}, []int64{r.Matched, r.Deleted, r.Unsent, r.Total})
			assert.False(t, r.DryRun)

			scans = 0
			got = runAgainst(t.Context(), t, server, "delete", "rooms", "-filter", "stars eq 2", "-yes")
			assert.Equal(t, 3, got.code, got.stderr)
			assert.Contains(t, got.stdout, "deleted 0 documents of 2 that matched; 2 not deleted\n")

			most = 1000
			got = runAgainst(t.Context(), t, server, "delete", "rooms", "-filter", "stars eq 2", "-yes", "-json")
			assert.Zero(t, got.code, got.stderr)
			r = receiptOf(got)
			assert.Equal(t, []int64{2, 2, 0, 3}, []int64{r.Matched, r.Deleted, r.Unsent, r.Total})
		})
	}
}

// A delete whose answer is lost may have been made, also of a document whose key cannot be scanned.
func TestReceiptOfADeletionWithoutAnAnswerSaysSo(t *testing.T) {
	testkit.Long(t)
	fields := strings.Replace(roomFields, `"filterable":true,"sortable":true`, `"sortable":false`, 1)
	for name, c := range map[string]struct {
		status  int
		unknown int64
	}{"lost": {0, 2}, "refused": {http.StatusForbidden, 0}} {
		t.Run(name, func(t *testing.T) {
			server := searchtest.NewServer(nil)
			defer server.Close()
			require.NoError(t, server.Restore(strings.NewReader(`{"indexes":[{"definition":`+fields+`,"documents":[{"id":"1","stars":2},{"id":"2","stars":2},{"id":"3"}]}]}`)))
			server.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
				if !strings.HasSuffix(req.URL.Path, "search.index") {
					return next(req)
				}
				if c.status == 0 {
					_, err := next(req)
					require.NoError(t, err)
					return nil, io.ErrUnexpectedEOF
				}
				return &http.Response{StatusCode: c.status, Body: http.NoBody, Header: http.Header{}, Request: req}, nil
			})
			require.NoError(t, server.Listen("127.0.0.1:0"))
			got := runAgainst(t.Context(), t, server, "delete", "rooms", "-filter", "stars eq 2", "-yes", "-json", "-timeout", "3s")
			assert.NotZero(t, got.code, got.stderr)
			var r repair.Receipt
			require.NoError(t, json.Unmarshal([]byte(got.stdout), &r), "%s", got.stdout)
			assert.Equal(t, []int64{2, 0, 2, c.unknown}, []int64{r.Matched, r.Deleted, r.Unsent, r.Unknown}, got.stderr)
		})
	}
}
