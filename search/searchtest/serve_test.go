package searchtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPIVersionIsRequiredAndMustBeKnown(t *testing.T) {
	p := newProbe(t, nil)
	status := func(version string) int {
		return p.send("GET", "/indexes?api-version="+version, "").status
	}
	for _, v := range []string{"2019-05-06", "2020-06-30", "2023-11-01", "2024-07-01", "2025-09-01", "2026-04-01", "2023-07-01-Preview", "2024-05-01-preview"} {
		assert.Equal(t, http.StatusOK, status(v), v)
	}
	for _, v := range []string{"", "2017-11-11", "2026-04-02", "2026-04-01-x", "latest"} {
		assert.Equal(t, http.StatusBadRequest, status(v), v)
	}
	assert.Equal(t, "The version indicated by the api-version query string parameter does not exist.", p.send("GET", "/indexes?api-version=1999-01-01", "").message())
}

func TestCredentials(t *testing.T) {
	p := newProbe(t, &Options{
		AdminKeys: []string{"primary", "secondary"}, QueryKeys: []string{"query"},
		Token: func(bearer string) bool { return bearer == "good" },
	})
	p.send("POST", "/indexes('types')/docs/search.index", `{"value":[{"id":"1"}]}`, "Api-Key", "primary")
	const list, lookup = "/indexes", "/indexes('types')/docs('1')"
	for _, test := range []struct {
		name, path string
		headers    []string
		status     int
	}{
		{"no credentials", list, nil, 401},
		{"an admin key", list, []string{"Api-Key", "primary"}, 200},
		{"the other admin key", list, []string{"Api-Key", "secondary"}, 200},
		{"the default key when others are set", list, []string{"Api-Key", AdminKey}, 403},
		{"a wrong key", list, []string{"Api-Key", "nope"}, 403},
		{"a query key for an index", list, []string{"Api-Key", "query"}, 403},
		{"a query key for a document", lookup, []string{"Api-Key", "query"}, 200},
		{"a query key for a count", "/indexes('types')/docs/$count", []string{"Api-Key", "query"}, 200},
		{"a query key in the address", lookup + "?api-key=query", nil, 200},
		{"a wrong key in the address", lookup + "?api-key=nope", nil, 403},
		{"an admin key in the address", lookup + "?api-key=primary", nil, 403},
		{"a query key in the address for an index", list + "?api-key=query", nil, 403},
		{"a good token", list, []string{"Authorization", "Bearer good"}, 200},
		{"a bad token", list, []string{"Authorization", "Bearer bad"}, 403},
		{"no token", list, []string{"Authorization", "Bearer "}, 401},
		{"another scheme", list, []string{"Authorization", "Basic Z29vZA=="}, 401},
		{"the key wins over the token", list, []string{"Api-Key", "nope", "Authorization", "Bearer good"}, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := probe{t, p.Server}
			a := p.send("GET", test.path, "", append([]string{"Api-Key", ""}, test.headers...)...)
			assert.Equal(t, test.status, a.status, a.body)
			if test.status != 200 {
				assert.NotEmpty(t, a.message())
			}
		})
	}
	a := p.send("POST", "/indexes('types')/docs/search.index", `{"value":[{"id":"2"}]}`, "Api-Key", "query")
	assert.Equal(t, http.StatusForbidden, a.status, "query keys cannot write")
	assert.EqualValues(t, 1, p.DocumentCount("types"))
}

func TestTokensAreRefusedUnlessAskedFor(t *testing.T) {
	assert.Equal(t, http.StatusForbidden, newProbe(t, nil).send("GET", "/indexes", "", "Api-Key", "", "Authorization", "Bearer x").status)
}

func TestRepliesCarryTheRecordedHeaders(t *testing.T) {
	p := newProbe(t, nil)
	a := p.send("GET", "/indexes('types')", "", "X-Ms-Client-Request-Id", "my-id")
	for name, want := range map[string]string{
		"Strict-Transport-Security": "max-age=15724800; includeSubDomains",
		"Vary":                      "Accept-Encoding",
		"X-Ms-Client-Request-Id":    "my-id",
	} {
		assert.Equal(t, want, a.header.Get(name), name)
	}
	assert.Regexp(t, `^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$`, a.header.Get("Request-Id"))
	assert.Regexp(t, `^\d+$`, a.header.Get("Elapsed-Time"))
	assert.NotEmpty(t, a.header.Get("Date"))
	assert.NotEqual(t, a.header.Get("Request-Id"), p.send("GET", "/indexes('types')", "").header.Get("Request-Id"))
}

// The headers are recorded for some kinds of reply; "" means that a header is absent.
func TestHeadersAreThoseOfTheirVersion(t *testing.T) {
	p := newProbe(t, nil)
	const (
		annotated = `odata.include-annotations="*"`
		minimal   = "application/json; odata.metadata=none"
		index     = "/indexes('types')"
	)
	names := []string{"Content-Type", "OData-Version", "Preference-Applied", "Cache-Control", "Pragma", "Expires", "Content-Language"}
	for path, test := range map[string]struct{ old, now []string }{
		index: {
			[]string{minimal, "4.0", annotated, "no-cache", "no-cache", "-1", ""},
			[]string{minimal + "; odata.streaming=true; charset=utf-8", "4.0", annotated, "", "", "", ""},
		},
		index + "/docs/$count": {
			[]string{"text/plain", "4.0", annotated, "no-cache", "no-cache", "-1", ""},
			[]string{"text/plain; charset=utf-8", "4.0", annotated, "", "", "", ""},
		},
		index + "/docs('none')": {
			[]string{"", "", "", "no-cache", "no-cache", "-1", ""},
			[]string{"", "", annotated, "", "", "", "en"},
		},
		"/indexes('none')": {
			[]string{minimal, "4.0", annotated, "no-cache", "no-cache", "-1", "en"},
			[]string{"application/json; charset=utf-8", "", "", "no-store, no-cache", "no-cache", "-1", "en"},
		},
	} {
		for version, want := range map[string][]string{"2019-05-06": test.old, "2020-06-30": test.old, "2023-10-01-preview": test.now, "2023-11-01": test.now, "2026-04-01": test.now} {
			a := p.send("GET", path+"?api-version="+version, "")
			for i, name := range names {
				assert.Equal(t, want[i], a.header.Get(name), "%s of %s, %s", name, path, version)
			}
		}
	}
	assert.Regexp(t, `^W/"0x8D[0-9A-F]{13}"$`, p.send("GET", index+"?api-version=2020-06-30", "").header.Get("ETag"))
	assert.Regexp(t, `^"0x8D[0-9A-F]{13}"$`, p.send("GET", index+"?api-version=2023-11-01", "").header.Get("ETag"))
}

func TestMetadataLevelDecidesAboutTheContext(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1"}`)
	for accept, level := range map[string]string{
		"application/json;odata.metadata=none":     "none",
		"application/json; odata.metadata=minimal": "minimal",
		"application/json":                         "minimal",
		"":                                         "minimal",
		"application/json; odata.metadata=full":    "full",
		"text/html, application/json;ODATA.metadata=None": "none",
	} {
		lookup := p.send("GET", "/indexes('types')/docs('1')?$select=id", "", "Accept", accept)
		batch := p.send("POST", "/indexes('types')/docs/search.index?api-version=2020-06-30", `{"value":[{"id":"1"}]}`, "Accept", accept)
		assert.Equal(t, "application/json; odata.metadata="+level+"; odata.streaming=true; charset=utf-8", lookup.header.Get("Content-Type"), accept)
		if level == "none" {
			assert.Equal(t, `{"id":"1"}`, lookup.body)
			assert.NotContains(t, batch.body, "@odata")
			continue
		}
		assert.Equal(t, `{"@odata.context":"https://searchtest.search.windows.net/indexes('types')/$metadata#docs(*)/$entity","id":"1"}`, lookup.body)
		assert.Contains(t, batch.body, `{"@odata.context":"https://searchtest.search.windows.net/indexes('types')/$metadata#Collection(Microsoft.Azure.Search.V2020_06_30.IndexResult)","value":[`)
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func TestRequestsMayBeCompressed(t *testing.T) {
	p := newProbe(t, &Options{MaxBatchBytes: 2000})
	post := func(body, encoding string) answered {
		return p.send("POST", "/indexes('types')/docs/search.index", body, "Content-Encoding", encoding)
	}
	assert.Equal(t, http.StatusOK, post(zipped(`{"value":[{"id":"1"}]}`), "gzip").status)
	assert.EqualValues(t, 1, p.DocumentCount("types"))
	assert.Equal(t, http.StatusBadRequest, post(`{"value":[{"id":"1"}]}`, "gzip").status, "not gzip at all")
	whole := zipped(`{"value":[{"id":"2"}]}`)
	assert.Equal(t, http.StatusBadRequest, post(whole[:len(whole)/2], "gzip").status, "half of it")
	assert.Equal(t, http.StatusUnsupportedMediaType, post(`{"value":[{"id":"1"}]}`, "br").status)
	bomb := zipped(`{"value":[{"id":"3","plain":"` + strings.Repeat("x", 100_000) + `"}]}`)
	assert.Equal(t, http.StatusRequestEntityTooLarge, post(bomb, "gzip").status, "the limit applies to the decompressed body")
	assert.EqualValues(t, 1, p.DocumentCount("types"))
}

func TestRepliesAreCompressedIfTheClientAcceptsIt(t *testing.T) {
	p := newProbe(t, nil)
	plain := p.send("GET", "/indexes('types')", "")
	require.Greater(t, len(plain.body), compressAbove)
	assert.Empty(t, plain.header.Get("Content-Encoding"))
	a := p.send("GET", "/indexes('types')", "", "Accept-Encoding", "deflate, gzip;q=0.8")
	require.Equal(t, "gzip", a.header.Get("Content-Encoding"))
	r, err := gzip.NewReader(strings.NewReader(a.body))
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, plain.body, string(text))
	assert.Empty(t, p.send("GET", "/indexes('types')", "", "Accept-Encoding", "gzip;q=0").header.Get("Content-Encoding"))
	assert.Empty(t, p.send("GET", "/indexes('types')/docs/$count", "", "Accept-Encoding", "gzip").header.Get("Content-Encoding"), "the reply is too small to compress")
}

func TestBodiesMustBeJSON(t *testing.T) {
	p := newProbe(t, nil)
	post := func(contentType string) int {
		return p.send("POST", "/indexes('types')/docs/search.index", `{"value":[{"id":"1"}]}`, "Content-Type", contentType).status
	}
	assert.Equal(t, http.StatusUnsupportedMediaType, post("application/x-www-form-urlencoded"))
	assert.Equal(t, http.StatusUnsupportedMediaType, post("text/plain"))
	assert.Equal(t, http.StatusOK, post("application/json; charset=utf-8"))
	assert.Equal(t, http.StatusOK, post(""))
}

func TestTransportWaitsNoLongerThanTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, nil)
		for name, f := range map[string]Fault{"before": {Delay: Duration(time.Hour)}, "after": {ReplyDelay: Duration(time.Hour)}} {
			p.SetFaults(&Faults{Rules: []Fault{f}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			_, err := p.try(p.request("POST", "/indexes('types')/docs/search.index", `{"value":[{"id":"`+name+`"}]}`).WithContext(ctx))
			cancel()
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(start))
		}
		_, found := p.Document("types", "before")
		assert.False(t, found)
		_, found = p.Document("types", "after")
		assert.True(t, found, "a request whose client gave up may have been carried out")
	})
}

func TestTransportDoesNothingForAContextThatEnded(t *testing.T) {
	p := newProbe(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("no longer wanted")
	cancel(cause)
	body := &closing{Reader: strings.NewReader(`{"value":[{"id":"1"}]}`)}
	req := p.request("POST", "/indexes('types')/docs/search.index", "x").WithContext(ctx)
	req.Body = body
	_, err := p.Transport().RoundTrip(req)
	assert.ErrorIs(t, err, cause)
	assert.True(t, body.closed, "a RoundTripper always closes the body")
	assert.Empty(t, p.Requests())
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func TestTransportClosesTheBodyAndLeavesTheRequestAlone(t *testing.T) {
	p := newProbe(t, nil)
	body := &closing{Reader: strings.NewReader(`{"value":[{"id":"1"}]}`)}
	req := p.request("POST", "/indexes('types')/docs/search.index", "x")
	req.Body = body
	p.Intercept(func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		r.Header.Set("Changed", "yes")
		return next(r)
	})
	resp, err := p.Do(req)
	require.NoError(t, err)
	assert.Same(t, req, resp.Request)
	assert.True(t, body.closed)
	assert.Empty(t, req.Header.Get("Changed"))
	assert.Equal(t, io.ReadCloser(body), req.Body)
}

// If the context ends between execution and reply, the caller gets no reply, as over a network.
func TestReplyIsLostIfTheContextEndsMeanwhile(t *testing.T) {
	p := newProbe(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req := p.request("POST", "/indexes('types')/docs/search.index", "x").WithContext(ctx)
	req.Body = io.NopCloser(&atEnd{strings.NewReader(`{"value":[{"id":"1"}]}`), cancel})
	_, err := p.Do(req)
	assert.ErrorIs(t, err, context.Canceled)
	assert.EqualValues(t, 1, p.DocumentCount("types"))
}

// atEnd calls f when the reader is exhausted.
type atEnd struct {
	io.Reader
	f func()
}

func (a *atEnd) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		a.f()
	}
	return n, err
}

// A client that is still writing would not see the refusal.
func TestBodyThatIsTooLargeIsReadToItsEnd(t *testing.T) {
	p := newProbe(t, &Options{MaxBatchBytes: 10})
	body := strings.NewReader(strings.Repeat("x", 100_000))
	req := p.request("POST", "/indexes('types')/docs/search.index", "x")
	req.Body = io.NopCloser(body)
	a, err := p.try(req)
	require.NoError(t, err)
	assert.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	assert.Zero(t, body.Len())
}

func TestTransportUnblocksABodyThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, nil)
		r, w := io.Pipe()
		defer w.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		req := p.request("POST", "/indexes('types')/docs/search.index", "x").WithContext(ctx)
		req.Body, req.ContentLength = r, -1
		_, err := p.Do(req)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestReplyBodyEndsWithTheContext(t *testing.T) {
	p := newProbe(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := p.Do(p.request("GET", "/indexes('types')", "").WithContext(ctx))
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = resp.Body.Read(make([]byte, 10))
	require.NoError(t, err)
	cancel()
	_, err = resp.Body.Read(make([]byte, 10))
	assert.ErrorIs(t, err, context.Canceled)
}

func TestLatencyHoldsRepliesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{Latency: 100 * time.Millisecond})
		start := time.Now()
		p.indexed(`{"id":"1"}`)
		assert.Equal(t, 100*time.Millisecond, time.Since(start))
	})
}

func TestInterceptorsWrapEachOtherAndTheServer(t *testing.T) {
	p := newProbe(t, nil)
	var order []string
	around := func(name string) func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return func(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
			order = append(order, name)
			return next(r)
		}
	}
	p.Intercept(around("inner"))
	p.Intercept(around("outer"))
	p.count()
	assert.Equal(t, []string{"outer", "inner"}, order)

	broken := errors.New("broken")
	p.Intercept(func(*http.Request, func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		return nil, broken
	})
	_, err := p.try(p.request("GET", "/indexes", ""))
	assert.ErrorIs(t, err, broken)
	p.Intercept(nil)
	assert.Equal(t, "0", p.count())
}

func TestClosedServerRefusesConnections(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1"}`)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	_, err := p.try(p.request("GET", "/indexes", ""))
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	var op *net.OpError
	assert.ErrorAs(t, err, &op)
	assert.EqualValues(t, 1, p.DocumentCount("types"), "a stopped server can still be inspected")
	assert.Error(t, p.Listen("127.0.0.1:0"))
}

func TestCreateIndexTakesJSONInEveryForm(t *testing.T) {
	s := NewServer(nil)
	require.NoError(t, s.CreateIndex(map[string]any{"name": "one", "fields": []any{map[string]any{"name": "id", "type": "Edm.String", "key": true}}}))
	require.NoError(t, s.CreateIndex([]byte(strings.Replace(everyType, "types", "two", 1))))
	assert.Equal(t, []string{"one", "two"}, s.IndexNames())
	assert.ErrorContains(t, s.CreateIndex(`{"name":"three","fields":[]}`), "key")
	assert.ErrorContains(t, s.CreateIndex(make(chan int)), "definition")
	assert.Empty(t, s.Requests())
}
