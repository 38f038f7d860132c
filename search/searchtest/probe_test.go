package searchtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// everyType is an index with a field of every type that documents can hold.
const everyType = `{"name":"types","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"s","type":"Edm.String"},
	{"name":"plain","type":"Edm.String","filterable":false,"sortable":false,"facetable":false},
	{"name":"b","type":"Edm.Boolean"},
	{"name":"i","type":"Edm.Int32"},
	{"name":"l","type":"Edm.Int64"},
	{"name":"d","type":"Edm.Double"},
	{"name":"t","type":"Edm.DateTimeOffset"},
	{"name":"g","type":"Edm.GeographyPoint"},
	{"name":"c","type":"Edm.ComplexType","fields":[
		{"name":"x","type":"Edm.String"},
		{"name":"y","type":"Edm.Int32"},
		{"name":"n","type":"Edm.ComplexType","fields":[{"name":"z","type":"Edm.String"},{"name":"w","type":"Edm.Int32"}]}]},
	{"name":"ss","type":"Collection(Edm.String)"},
	{"name":"bs","type":"Collection(Edm.Boolean)"},
	{"name":"is","type":"Collection(Edm.Int32)"},
	{"name":"ls","type":"Collection(Edm.Int64)"},
	{"name":"ds","type":"Collection(Edm.Double)"},
	{"name":"ts","type":"Collection(Edm.DateTimeOffset)"},
	{"name":"gs","type":"Collection(Edm.GeographyPoint)"},
	{"name":"cs","type":"Collection(Edm.ComplexType)","fields":[
		{"name":"x","type":"Edm.String"},
		{"name":"y","type":"Edm.Int32"},
		{"name":"tags","type":"Collection(Edm.String)"},
		{"name":"in","type":"Collection(Edm.ComplexType)","fields":[{"name":"z","type":"Edm.String"}]}]},
	{"name":"hidden","type":"Edm.String","retrievable":false},
	{"name":"v","type":"Collection(Edm.Single)","searchable":true,"retrievable":true,"dimensions":3,"vectorSearchProfile":"p"},
	{"name":"vh","type":"Collection(Edm.Half)","searchable":true,"retrievable":true,"dimensions":2,"vectorSearchProfile":"p"},
	{"name":"vi","type":"Collection(Edm.Int16)","searchable":true,"retrievable":true,"dimensions":2,"vectorSearchProfile":"p"},
	{"name":"vs","type":"Collection(Edm.SByte)","searchable":true,"retrievable":true,"dimensions":2,"vectorSearchProfile":"p"},
	{"name":"vb","type":"Collection(Edm.Byte)","searchable":true,"retrievable":true,"dimensions":16,"vectorEncoding":"packedBit","vectorSearchProfile":"bits"},
	{"name":"vx","type":"Collection(Edm.Single)","searchable":true,"retrievable":false,"stored":false,"dimensions":2,"vectorSearchProfile":"p"}],
	"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"},{"name":"h","kind":"hnsw","hnswParameters":{"metric":"hamming"}}],
		"profiles":[{"name":"p","algorithm":"a"},{"name":"bits","algorithm":"h"}]}}`

// probe sends requests to a server and fails the test if there is no reply.
type probe struct {
	testing.TB
	*Server
}

// answered is a reply with its body.
type answered struct {
	status int
	header http.Header
	body   string
}

// message is the message of an error body.
func (a answered) message() string { return reply.MessageOf([]byte(a.body)) }

// statuses returns the per-document statuses of a reply to a batch.
func (a answered) statuses(t testing.TB) []int {
	var v struct {
		Value []struct{ StatusCode int }
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &v), a.body)
	var out []int
	for _, r := range v.Value {
		out = append(out, r.StatusCode)
	}
	return out
}

// newProbe starts a server with the index everyType.
func newProbe(t testing.TB, opts *Options) probe {
	p := probe{TB: t, Server: NewServer(opts)}
	require.NoError(t, p.CreateIndex(everyType))
	return p
}

// request builds a request; headers are name, value pairs over the defaults, and an empty value removes one.
func (p probe) request(method, path, body string, headers ...string) *http.Request {
	p.Helper()
	if !strings.Contains(path, "api-version") {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + "api-version=" + latest.String()
	}
	var source io.Reader
	if body != "" {
		source = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(p.Context(), method, p.URL()+path, source)
	require.NoError(p, err)
	req.Header.Set("Api-Key", AdminKey)
	req.Header.Set("Accept", "application/json;odata.metadata=none")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	return req
}

// send makes a request and reads the reply.
func (p probe) send(method, path, body string, headers ...string) answered {
	p.Helper()
	a, err := p.try(p.request(method, path, body, headers...))
	require.NoError(p, err)
	return a
}

// try makes a request that may fail.
func (p probe) try(req *http.Request) (answered, error) {
	resp, err := p.Do(req)
	if err != nil {
		return answered{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answered{resp.StatusCode, resp.Header, string(body)}, err
}

// index sends a batch of actions, given as JSON objects, to the index types.
func (p probe) index(actions ...string) answered {
	p.Helper()
	return p.send(http.MethodPost, "/indexes('types')/docs/search.index", `{"value":[`+strings.Join(actions, ",")+`]}`)
}

// indexed sends a batch that must succeed.
func (p probe) indexed(actions ...string) {
	p.Helper()
	a := p.index(actions...)
	require.Equal(p, http.StatusOK, a.status, a.body)
}

// lookup returns fields of a document as the service writes them.
func (p probe) lookup(key, fields string) string {
	p.Helper()
	path := "/indexes('types')/docs('" + key + "')"
	if fields != "" {
		path += "?$select=" + fields
	}
	a := p.send(http.MethodGet, path, "")
	require.Equal(p, http.StatusOK, a.status, a.body)
	return a.body
}

// count returns the number of documents as text, without the byte order mark.
func (p probe) count() string {
	p.Helper()
	return strings.TrimPrefix(p.send(http.MethodGet, "/indexes('types')/docs/$count", "").body, "\ufeff")
}
