package searchtest_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// get requests a count with the query key and returns the status.
func get(client *http.Client, url string) (int, error) {
	req, err := http.NewRequest(http.MethodGet, url+"/indexes('hotels')/docs/$count?api-version=2026-04-01", nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("api-key", searchtest.QueryKey)
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// The service stops and restarts with its documents at the same address.
func ExampleServer_StopListening() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	url := srv.URL() // while it listens
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport}
	fmt.Println(get(client, url))
	if err := srv.StopListening(); err != nil {
		fmt.Println(err)
		return
	}
	_, err := get(client, url)
	fmt.Println(errors.Is(err, syscall.ECONNREFUSED))
	if err := srv.Listen(strings.TrimPrefix(url, "http://")); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(get(client, url))
	// Output:
	// 200 <nil>
	// true
	// 200 <nil>
}

func ExampleServer_ListenTLS() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	if err := srv.ListenTLS("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(srv.URL()[:len("https://127.0.0.1:")])
	// Output: https://127.0.0.1:
}

func ExampleServer_CertPool() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	if err := srv.ListenTLS("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: srv.CertPool(), MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	fmt.Println(get(&http.Client{Transport: transport}, srv.URL()))
	// Output: 200 <nil>
}

// A server is an http.Handler for custom listeners and recorders.
func ExampleServer_ServeHTTP() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	req := httptest.NewRequest(http.MethodGet, "/indexes('hotels')?api-version=2026-04-01&$select=name", nil)
	req.Header.Set("api-key", searchtest.AdminKey)
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, req)
	fmt.Println(w.Code, strings.Contains(w.Body.String(), `"name":"hotels"`))
	// Output: 200 true
}

func ExampleServer_Transport() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	fmt.Println(get(&http.Client{Transport: srv.Transport()}, "https://any.address"))
	// Output: 200 <nil>
}

// A server can be the Transport of azcore's policy.ClientOptions.
func ExampleServer_Do() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	req, err := http.NewRequest(http.MethodGet, srv.URL()+"/indexes?api-version=2026-04-01", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("api-key", "wrong")
	resp, err := srv.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode)
	// Output: 403
}

func ExampleServer_URL() {
	srv := searchtest.NewServer(&searchtest.Options{ServiceName: "mine"})
	defer srv.Close()
	fmt.Println(srv.URL())
	// Output: https://mine.search.windows.net
}

func ExampleServer_Close() {
	srv := searchtest.NewServer(nil)
	_ = srv.CreateIndex(hotels)
	fmt.Println(srv.Close())
	_, err := get(&http.Client{Transport: srv.Transport()}, srv.URL())
	fmt.Println(errors.Is(err, syscall.ECONNREFUSED), srv.IndexNames())
	// Output:
	// <nil>
	// true [hotels]
}

func ExampleNewServer() {
	srv := searchtest.NewServer(&searchtest.Options{QueryKeys: []string{"only-this"}})
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	fmt.Println(get(&http.Client{Transport: srv.Transport()}, srv.URL()))
	// Output: 403 <nil>
}

func ExampleServer_CreateIndex() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	fmt.Println(srv.CreateIndex(hotels))
	fmt.Println(srv.CreateIndex(`{"name":"motels","fields":[]}`) != nil)
	// Output:
	// <nil>
	// true
}
