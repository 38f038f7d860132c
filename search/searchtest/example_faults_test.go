package searchtest_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

func ExampleParseFaults() {
	_, err := searchtest.ParseFaults(strings.NewReader(`{"rules": [
		{"operation": "indexDocuments", "probability": 0, "status": 503},
		{"operation": "indexDocuments", "message": "Come back later.", "delay": "1s"},
		{"operation": "indexDocuments", "statsu": 503}
	]}`))
	fmt.Println(err)
	// Output:
	// faults script: rule 0: probability: 0 would mean always; remove it if that is intended
	// faults script: rule 2: unknown field "statsu"
	// faults script: rule 1: message: does nothing without a status
}

func ExampleFaults_Validate() {
	faults := searchtest.Faults{Rules: []searchtest.Fault{
		{Delay: searchtest.Duration(time.Second)},
		{Operation: searchtest.OpIndexDocuments, Status: 503, RetryAfterForm: searchtest.RetryAfterDate},
	}}
	fmt.Println(faults.Validate())
	// Output:
	// faults script: rule 1: retryAfterForm: does nothing without retryAfter
	// faults script: rule 1: is never reached, because rule 0 takes every request that it matches
}

// The service fails for half a minute; afterwards one request in a hundred is slow.
func ExampleFaults() {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{
		{Operation: searchtest.OpIndexDocuments, For: searchtest.Duration(30 * time.Second), Status: 503},
		{Operation: searchtest.OpIndexDocuments, From: searchtest.Duration(30 * time.Second), Every: 100, Delay: searchtest.Duration(5 * time.Second)},
	}})
	fmt.Println(call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[{"id":"1"}]}`))
	// Output: 503 {"error":{"code":"","message":"You are sending too many requests. Please try again later."}}
}

// Capacity that drops under load is scripted like any other fault. The change allows no burst.
func ExampleCapacity() {
	const perHour = 1.0 / 3600
	hour := searchtest.Duration(time.Hour)
	srv := searchtest.NewServer(&searchtest.Options{Capacity: &searchtest.Capacity{DocumentsPerSecond: 30 * perHour, Burst: hour}})
	defer srv.Close()
	_ = srv.CreateIndex(hotels)
	send := func(n int) {
		var batch []string
		for i := range n {
			batch = append(batch, fmt.Sprintf(`{"id":"%d"}`, i))
		}
		_, reply := call(srv, "POST", "/indexes('hotels')/docs/search.index", `{"value":[`+strings.Join(batch, ",")+`]}`)
		fmt.Println(n, "sent,", strings.Count(reply, `"statusCode":503`), "refused")
	}
	send(28) // two are left
	srv.SetFaults(&searchtest.Faults{Capacity: &searchtest.Capacity{DocumentsPerSecond: 3 * perHour, Burst: hour}})
	send(5)
	// Output:
	// 28 sent, 0 refused
	// 5 sent, 3 refused
}

func ExampleDuration() {
	d := searchtest.Duration(90 * time.Second)
	text, err := d.MarshalText()
	fmt.Println(d, string(text), err)
	fmt.Println(d.UnmarshalText([]byte("250ms")), d)
	// Output:
	// 1m30s 1m30s <nil>
	// <nil> 250ms
}
