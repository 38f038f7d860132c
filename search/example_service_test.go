package search_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// standIn returns the URL of a service that echoes definitions and answers other requests from a table.
func standIn(answers map[string]string) (address string, closeIt func()) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch answer, known := answers[r.Method+" "+r.URL.Path]; {
		case known:
			_, _ = io.WriteString(w, answer)
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/files"):
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"fileId":"f1"}`)
		case r.Method == http.MethodPost && strings.Contains(r.URL.Path, "search."):
			w.WriteHeader(http.StatusAccepted)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusCreated)
			_, _ = io.Copy(w, r.Body)
		default:
			_, _ = io.Copy(w, r.Body)
		}
	}))
	return server.URL, server.Close
}

// Every hour, read blobs, split them into pages and index those.
func ExampleIndexerClient() {
	srv, opts := emulated()
	defer srv.Close()
	ctx := context.Background()
	client, err := search.NewIndexerClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		panic(err)
	}
	reports := indexers.DataSource{
		Name: "reports", Type: indexers.DataSourceTypeAzureBlob,
		Credentials:       indexers.Credentials{ConnectionString: "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=c2VjcmV0"},
		Container:         indexers.Container{Name: "reports", Query: "2026/"},
		DeletionDetection: indexers.NativeBlobSoftDelete{},
	}
	fmt.Println(reports)
	if _, err := client.CreateDataSource(ctx, reports, nil); err != nil {
		panic(err)
	}
	if _, err := client.CreateSkillset(ctx, skills.Skillset{Name: "pages", Skills: []skills.Skill{
		skills.Split{
			MaximumPageLength: new(2000),
			Inputs:            []skills.Input{{Name: "text", Source: "/document/content"}},
			Outputs:           []skills.Output{{Name: "textItems", TargetName: "pages"}},
		},
	}}, nil); err != nil {
		panic(err)
	}
	indexer, err := client.CreateIndexer(ctx, indexers.Indexer{
		Name: "reports", DataSourceName: "reports", SkillsetName: "pages", TargetIndexName: "hotels",
		Schedule:            &indexers.Schedule{Interval: "PT1H"},
		OutputFieldMappings: []indexers.FieldMapping{{SourceFieldName: "/document/pages/*", TargetFieldName: "tags"}},
	}, nil)
	fmt.Println(indexer.Name, indexer.Schedule.Interval, err)
	// Output:
	// {"name":"reports","type":"azureblob","credentials":{"connectionString":"***"},"container":{"name":"reports","query":"2026/"},"dataDeletionDetectionPolicy":{"@odata.type":"#Microsoft.Azure.Search.NativeBlobSoftDeleteDeletionDetectionPolicy"}}
	// reports PT1H <nil>
}

func ExampleIndexerClient_GetIndexerStatus() {
	endpoint, closeIt := standIn(map[string]string{"GET /indexers('reports')/search.status": `{"name":"reports","status":"running","executionHistory":[],
		"lastResult":{"status":"success","itemsProcessed":12,"itemsFailed":1,"errors":[{"key":"7","statusCode":400,"errorMessage":"The file is encrypted."}],"warnings":[]}}`})
	defer closeIt()
	client, err := search.NewIndexerClientWithKey(endpoint, azcore.NewKeyCredential("0123456789ABCDEF"), nil)
	if err != nil {
		panic(err)
	}
	status, err := client.GetIndexerStatus(context.Background(), "reports", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(status.LastResult.Status, status.LastResult.ItemsFailed, "of", status.LastResult.ItemsProcessed, "failed")
	for _, e := range status.LastResult.Errors {
		fmt.Println(e.Key, e.ErrorMessage)
	}
	// Output:
	// success 1 of 12 failed
	// 7 The file is encrypted.
}

func ExampleKnowledgeBaseClient_RetrieveStream() {
	endpoint, closeIt := standIn(map[string]string{"POST /knowledgebases('travel')/retrieve": `event: activity.started
data: {"id":0,"type":"searchIndex","knowledgeSourceName":"hotels","startedAt":"2026-10-01T08:00:00Z"}

event: answer.completed
data: {"messageIndex":0,"message":{"role":"assistant","content":[{"type":"text","text":"The Ritz has wifi."}]}}

event: response.completed
data: {"statusCode":200,"response":{"response":[]}}

`})
	defer closeIt()
	client, err := search.NewKnowledgeBaseClientWithKey(endpoint, "travel", azcore.NewKeyCredential("0123456789ABCDEF"), nil)
	if err != nil {
		panic(err)
	}
	question := knowledge.Message{Role: "user", Content: []knowledge.Content{knowledge.TextContent{Text: "Which hotels have wifi?"}}}
	for event, err := range client.RetrieveStream(context.Background(), knowledge.Request{Messages: []knowledge.Message{question}}, nil) {
		if err != nil {
			panic(err)
		}
		switch event := event.(type) {
		case knowledge.ActivityStarted:
			fmt.Println("asking", event.KnowledgeSourceName)
		case knowledge.AnswerCompleted:
			fmt.Println(event.Message.Content[0].(knowledge.TextContent).Text)
		}
	}
	// Output:
	// asking hotels
	// The Ritz has wifi.
}

// Call an operation that only previews have.
func ExampleDo() {
	endpoint, closeIt := standIn(map[string]string{"GET /servicestats": `{"indexersRuntime":{"usedSeconds":60}}`})
	defer closeIt()
	client, err := search.NewIndexClientWithKey(endpoint, azcore.NewKeyCredential("0123456789ABCDEF"), nil)
	if err != nil {
		panic(err)
	}
	resp, err := search.Do(context.Background(), client, http.MethodGet, "/servicestats", nil, &search.DoOptions{APIVersion: "2026-08-01-preview"})
	if err != nil {
		panic(err)
	}
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err)
	// Output: {"indexersRuntime":{"usedSeconds":60}} <nil>
}
