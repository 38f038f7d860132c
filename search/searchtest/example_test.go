package searchtest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// call sends a request with the admin key and returns the reply.
func call(srv *searchtest.Server, method, path, body string) (int, string) {
	req, err := http.NewRequest(method, srv.URL()+path+"?api-version=2026-04-01", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("api-key", searchtest.AdminKey)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json;odata.metadata=none")
	resp, err := srv.Transport().RoundTrip(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err.Error()
	}
	return resp.StatusCode, string(text)
}

const hotels = `{"name":"hotels","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"name","type":"Edm.String"},
	{"name":"rating","type":"Edm.Double"},
	{"name":"tags","type":"Collection(Edm.String)"}]}`

func Example() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	if err := srv.CreateIndex(hotels); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(call(srv, "POST", "/indexes('hotels')/docs/search.index",
		`{"value":[{"@search.action":"upload","id":"1","name":"Hôtel","rating":5},{"@search.action":"merge","id":"2","rating":3}]}`))
	fmt.Println(call(srv, "GET", "/indexes('hotels')/docs('1')", ""))
	// Output:
	// 207 {"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":201},{"key":"2","status":false,"errorMessage":"Document not found.","statusCode":404}]}
	// 200 {"id":"1","name":"H\u00f4tel","rating":5.0,"tags":[]}
}

func ExampleServer_SetFaults() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	faults, err := searchtest.ParseFaults(strings.NewReader(`{"rules": [
		{"operation": "indexDocuments", "count": 1, "status": 503, "retryAfter": "2s"},
		{"operation": "indexDocuments", "documents": [{"keys": ["1"], "times": 1, "status": 409}]}
	]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	srv.SetFaults(faults)
	for range 3 {
		status, _ := call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"id":"1"},{"id":"2"}]}`)
		fmt.Println(status, srv.DocumentCount("hotels"))
	}
	// Output:
	// 503 0
	// 207 1
	// 200 2
}

func ExampleServer_Intercept() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	srv.Intercept(func(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
		resp, err := next(req)
		if err == nil {
			fmt.Println(req.Method, req.URL.Path, resp.StatusCode)
		}
		return resp, err
	})
	call(srv, "GET", "/indexes('hotels')/docs/$count", "")
	// Output:
	// GET /indexes('hotels')/docs/$count 404
}

func ExampleServer_History() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"id":"1"}]}`)
	call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"id":"1","@search.action":"delete"},{"id":"1","@search.action":"merge"}]}`)
	for _, c := range srv.History("hotels", "1") {
		fmt.Println(c.Seq, c.Action, c.Status, "request", c.Request)
	}
	// Output:
	// 1 upload 201 request 1
	// 2 delete 200 request 2
	// 3 merge 404 request 2
}

func ExampleServer_Listen() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	resp, err := http.Get(srv.URL() + "/servicestats?api-version=2026-04-01") // no key
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode)
	// Output: 401
}
