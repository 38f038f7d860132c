package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/bufferedsender/dashboard"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

type Hotel struct {
	ID     string `json:"id" search:"key"`
	Rating int    `json:"rating"`
}

func Example() {
	ctx := context.Background()
	service := searchtest.NewServer(nil)
	err := service.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"rating","type":"Edm.Int32"}]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := search.NewClientWithKey(service.URL(), "hotels", azcore.NewKeyCredential(searchtest.AdminKey),
		&search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: service}})
	if err != nil {
		fmt.Println(err)
		return
	}

	var recent dashboard.Recent
	sender, err := bufferedsender.New(client, &bufferedsender.Options[Hotel]{Handlers: dashboard.Watch[Hotel](&recent, "hotels")})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux() // the mux of the program's metrics, on a port that only its team can reach
	mux.Handle("GET /debug/senders/", dashboard.New(dashboard.Options{
		Senders: map[string]bufferedsender.Observable{"hotels": sender},
		Recent:  &recent,
	}))

	if err := sender.UploadDocuments(ctx, Hotel{ID: "1"}, Hotel{ID: "2"}); err != nil {
		fmt.Println(err)
	}
	if err := sender.Close(ctx); err != nil {
		fmt.Println(err)
	}
	var state struct {
		Senders []struct {
			Name, State string
			Counts      struct{ Completed, Failed int }
		}
	}
	reply := httptest.NewRecorder()
	mux.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "http://localhost:6060/debug/senders/state", nil))
	if err := json.Unmarshal(reply.Body.Bytes(), &state); err != nil {
		fmt.Println(err)
	}
	_ = json.NewEncoder(os.Stdout).Encode(state.Senders)
	// Output: [{"Name":"hotels","State":"closed","Counts":{"Completed":2,"Failed":0}}]
}
