package bufferedsender_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/retry"
	"github.com/go-azsearch/azsearch/search/searchtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wireResult is a result as it travels.
type wireResult map[string]any

// results lets the emulator answer and changes the list of results.
func results(change func(rs []wireResult) []wireResult) answer {
	return rewrite(func(raw []byte) []byte {
		var body struct {
			Value []wireResult `json:"value"`
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			panic(err)
		}
		body.Value = change(body.Value)
		raw, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		return raw
	})
}

func whole(body string) answer { return rewrite(func([]byte) []byte { return []byte(body) }) }

func renamed(rs []wireResult, to func(i int, key string) string) []wireResult {
	for i, r := range rs {
		r["key"] = to(i, r["key"].(string))
	}
	return rs
}

// What a reply to k-0 … k-4 can be. unclear are the keys whose outcome it does
// not tell.
var malformedReplies = map[string]struct {
	reply   answer
	unclear []string
}{
	"empty":                  {whole(""), ids(hotels("k", 5))},
	"rubbish":                {whole("<html>OK</html>"), ids(hotels("k", 5))},
	"null":                   {whole("null"), ids(hotels("k", 5))},
	"an empty object":        {whole("{}"), ids(hotels("k", 5))},
	"a list":                 {whole("[]"), ids(hotels("k", 5))},
	"a string":               {whole(`"OK"`), ids(hotels("k", 5))},
	"no list":                {whole(`{"value":null}`), ids(hotels("k", 5))},
	"a list of nothing":      {whole(`{"value":[]}`), ids(hotels("k", 5))},
	"a list of null":         {whole(`{"value":[null,null,null,null,null]}`), ids(hotels("k", 5))},
	"a list of numbers":      {whole(`{"value":[1,2,3,4,5]}`), ids(hotels("k", 5))},
	"results without keys":   {whole(`{"value":[{"status":true,"statusCode":200},{"status":true,"statusCode":200},{"status":true,"statusCode":200},{"status":true,"statusCode":200},{"status":true,"statusCode":200}]}`), ids(hotels("k", 5))},
	"cut off in the middle":  {rewrite(func(b []byte) []byte { return b[:len(b)/2] }), ids(hotels("k", 5))},
	"cut off before the end": {rewrite(func(b []byte) []byte { return bytes.TrimRight(b[:len(b)-1], "}") }), ids(hotels("k", 5))},
	"the right number of keys, all unknown": {results(func(rs []wireResult) []wireResult {
		return renamed(rs, func(_ int, key string) string { return "x" + key })
	}), ids(hotels("k", 5))},
	"keys in another case": {results(func(rs []wireResult) []wireResult {
		return renamed(rs, func(_ int, key string) string { return strings.ToUpper(key) })
	}), ids(hotels("k", 5))},
	"the last result missing":      {results(func(rs []wireResult) []wireResult { return rs[:4] }), []string{"k-4"}},
	"the first result missing":     {results(func(rs []wireResult) []wireResult { return rs[1:] }), []string{"k-0"}},
	"one result twice for another": {results(func(rs []wireResult) []wireResult { rs[2] = rs[3]; return rs }), []string{"k-2"}},
	"an unknown key among them":    {results(func(rs []wireResult) []wireResult { rs[1]["key"] = "who"; return rs }), []string{"k-1"}},
	"one result too many": {results(func(rs []wireResult) []wireResult {
		return append(rs, wireResult{"key": "who", "status": true, "statusCode": 200})
	}), nil},
	"one result twice": {results(func(rs []wireResult) []wireResult { return append(rs, rs[1]) }), nil},
	"another order":    {results(func(rs []wireResult) []wireResult { slices.Reverse(rs); return rs }), nil},
}

func TestG10MalformedReplies(t *testing.T) {
	for name, c := range malformedReplies {
		t.Run("once: retried, and nothing is lost: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.respond(onlyFirst(1, c.reply))
				r.upload(hotels("k", 5)...)
				require.NoError(t, r.flush())
				for _, d := range hotels("k", 5) {
					want := 1
					if slices.Contains(c.unclear, d.ID) {
						want = 2
					}
					assert.Equal(t, want, r.outcome(d.ID).attempt, "attempts of %s", d.ID)
				}
			})
		})
		t.Run("always: failed with ErrNoResult: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 2}})
				// What was clear is answered only in the first request, so that
				// the following replies are wrong about the same keys.
				r.respond(func(n int, x *exchange, req *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					if n == 1 || len(c.unclear) == 5 {
						return c.reply(n, x, req, next)
					}
					return results(func([]wireResult) []wireResult { return nil })(n, x, req, next)
				})
				r.upload(hotels("k", 5)...)
				require.Equal(t, len(c.unclear), flushFailures(t, r.flush()))
				for _, key := range c.unclear {
					failure := r.failure(key)
					assert.ErrorIs(t, failure, bufferedsender.ErrNoResult)
					assert.Equal(t, 3, failure.Attempts)
					assert.True(t, failure.Unknown, "it may have been applied")
				}
			})
		})
	}
	t.Run("whose connection breaks in the middle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &hotelOptions{Retry: retry.Options{MaxRetries: 1}})
			r.faults(searchtest.Fault{Body: searchtest.BodyTruncated})
			r.upload(hotels("k", 5)...)
			require.Equal(t, 5, flushFailures(t, r.flush()))
			assert.Equal(t, 2, r.failure("k-0").Attempts)
			assert.True(t, r.failure("k-0").Unknown)
		})
	})
}

func TestG10ResultsPairByKeyNeverByPosition(t *testing.T) {
	for name, shuffle := range map[string]func([]wireResult){
		"reversed": func(rs []wireResult) { slices.Reverse(rs) },
		"by key": func(rs []wireResult) {
			slices.SortFunc(rs, func(a, b wireResult) int { return strings.Compare(a["key"].(string), b["key"].(string)) })
		},
		"rotated": func(rs []wireResult) { rs[0], rs[1], rs[2] = rs[2], rs[0], rs[1] },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.faults(refuseKeys("k-3", "k-11"))
				r.respond(results(func(rs []wireResult) []wireResult { shuffle(rs); return rs }))
				r.upload(hotels("k", 20)...)
				require.Equal(t, 2, flushFailures(t, r.flush()))
				assert.Equal(t, "refused", r.failure("k-3").Message)
				assert.Equal(t, "refused", r.failure("k-11").Message)
			})
		})
	}
	t.Run("keys that JSON writes in two ways", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.respond(rewrite(func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte(`"k-`), []byte(`"\u006b\u002d`)) }))
			r.upload(hotels("k", 3)...)
			require.NoError(t, r.flush())
			assert.Len(t, r.requests(), 1)
		})
	})
}

func TestG10ContradictionsAreNoSuccess(t *testing.T) {
	for name, change := range map[string]func([]wireResult) []wireResult{
		"not succeeded and 200": func(rs []wireResult) []wireResult { rs[1]["status"] = false; return rs },
		"succeeded and 503":     func(rs []wireResult) []wireResult { rs[1]["statusCode"] = 503; return rs },
		"success first, then 503": func(rs []wireResult) []wireResult {
			return append(rs, wireResult{"key": "k-1", "status": false, "statusCode": 503, "errorMessage": "busy"})
		},
		"503 first, then success": func(rs []wireResult) []wireResult {
			return append([]wireResult{{"key": "k-1", "status": false, "statusCode": 503, "errorMessage": "busy"}}, rs...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.respond(onlyFirst(1, results(change)))
				r.upload(hotels("k", 3)...)
				require.NoError(t, r.flush())
				assert.Equal(t, 2, r.outcome("k-1").attempt, "what nobody understands is sent again")
				assert.Equal(t, 1, r.outcome("k-0").attempt)
			})
		})
	}
}

// An Indexer of somebody else's may return anything.
func TestG10IndexerThatReturnsNonsense(t *testing.T) {
	for name, result := range map[string]models.IndexDocumentsResult{
		"nothing":         {},
		"a status alone":  {StatusCode: 200},
		"too many":        {StatusCode: 200, Results: make([]models.IndexingResult, 5000)},
		"statuses of 0":   {StatusCode: 200, Results: []models.IndexingResult{{Key: "k-0", Succeeded: true}, {Key: "k-1"}}},
		"status negative": {StatusCode: -7, Results: []models.IndexingResult{{Key: "k-0", StatusCode: -1}, {Key: "k-1", StatusCode: 1 << 30}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sender, err := bufferedsender.New[hotel](&fakeIndexer{func(context.Context, io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
					return result, nil
				}}, &hotelOptions{Retry: retry.Options{MaxRetries: 1}, Logger: slog.New(slog.DiscardHandler)})
				require.NoError(t, err)
				closeAtLast(t, sender)
				require.NoError(t, sender.UploadDocuments(t.Context(), hotels("k", 2)...))
				require.Equal(t, 2, flushFailures(t, sender.Flush(t.Context())))
				require.NoError(t, sender.Close(t.Context()))
			})
		})
	}
	t.Run("or panics", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			sender, err := bufferedsender.New[hotel](&fakeIndexer{func(ctx context.Context, body io.ReadSeekCloser) (models.IndexDocumentsResult, error) {
				if n++; n == 1 {
					panic(fmt.Sprint("attempt ", n))
				}
				return agree(ctx, body)
			}}, &hotelOptions{Logger: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			closeAtLast(t, sender)
			require.NoError(t, sender.UploadDocuments(t.Context(), hotels("k", 2)...))
			err = sender.Close(t.Context())
			s := sender.Stats()
			assert.Equal(t, err == nil, s.Completed == 2, "a panic of the Indexer is an outcome: %+v, %v", s, err)
		})
	})
}
