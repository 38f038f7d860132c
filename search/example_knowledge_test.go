package search_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/search"
)

// A knowledge base answers questions from an index.
func ExampleIndexClient_CreateKnowledgeBase() {
	ctx := context.Background()
	srv, client := emulatedIndexClient()
	defer srv.Close()
	if _, err := client.CreateKnowledgeSource(ctx, knowledge.Source{Name: "hotels", Parameters: knowledge.SearchIndex{SearchIndexName: "hotels"}}, nil); err != nil {
		log.Fatal(err)
	}
	if _, err := client.CreateKnowledgeBase(ctx, knowledge.Base{Name: "travel", Sources: []knowledge.SourceReference{{Name: "hotels"}}}, nil); err != nil {
		log.Fatal(err)
	}
	for base, err := range client.ListKnowledgeBases(ctx, nil) {
		fmt.Println(base.Name, base.Sources[0].Name, err)
	}
	// Output: travel hotels <nil>
}

func ExampleIndexClient_CreateOrUpdateKnowledgeBase() {
	ctx := context.Background()
	srv, client := emulatedIndexClient()
	defer srv.Close()
	source, err := client.CreateOrUpdateKnowledgeSource(ctx, knowledge.Source{Name: "hotels", Parameters: knowledge.SearchIndex{SearchIndexName: "hotels"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	base, err := client.CreateOrUpdateKnowledgeBase(ctx, knowledge.Base{Name: "travel", Sources: []knowledge.SourceReference{{Name: source.Name}}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	base.Description = "hotels and motels"
	if _, err := client.CreateOrUpdateKnowledgeBase(ctx, base, nil); err != nil { // overwrites only the version of base
		log.Fatal(err)
	}
	base, err = client.GetKnowledgeBase(ctx, "travel", nil)
	fmt.Println(base.Description, err)
	fmt.Println(client.DeleteKnowledgeBase(ctx, "travel", nil))
	fmt.Println(client.DeleteKnowledgeSource(ctx, "hotels", nil))
	// Output:
	// hotels and motels <nil>
	// <nil>
	// <nil>
}

func ExampleIndexClient_GetKnowledgeSourceStatus() {
	ctx := context.Background()
	srv, client := emulatedIndexClient()
	defer srv.Close()
	if _, err := client.CreateKnowledgeSource(ctx, knowledge.Source{Name: "manuals", Parameters: knowledge.File{}}, nil); err != nil {
		log.Fatal(err)
	}
	for source, err := range client.ListKnowledgeSources(ctx, nil) {
		fmt.Printf("%s %T %v\n", source.Name, source.Parameters, err)
	}
	source, err := client.GetKnowledgeSource(ctx, "manuals", nil)
	if err != nil {
		log.Fatal(err)
	}
	status, err := client.GetKnowledgeSourceStatus(ctx, source.Name, nil)
	fmt.Println(status.SynchronizationStatus, err)
	// Output:
	// manuals knowledge.File <nil>
	// active <nil>
}

// The emulator stores no files of knowledge sources, so the replies are those of the specification.
func ExampleIndexClient_UploadKnowledgeSourceFile() {
	const file = `{"fileId":"f1","fileName":"manual.txt","fileSizeBytes":16}`
	endpoint, closeIt := standIn(map[string]string{
		"PUT /knowledgesources('manuals')/files('f1')": file,
		"GET /knowledgesources('manuals')/files":       `{"value":[` + file + `]}`,
	})
	defer closeIt()
	ctx := context.Background()
	client, err := search.NewIndexClientWithKey(endpoint, azcore.NewKeyCredential("0123456789ABCDEF"), nil)
	if err != nil {
		log.Fatal(err)
	}
	sent, err := client.UploadKnowledgeSourceFile(ctx, "manuals", knowledge.FileMetadata{FileName: "manual.txt"}, strings.NewReader("Turn it on."), nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.UpdateKnowledgeSourceFile(ctx, "manuals", sent.FileID, knowledge.FileMetadata{FileName: "manual.txt"}, strings.NewReader("Turn it off, on."), nil); err != nil {
		log.Fatal(err)
	}
	for listed, err := range client.ListKnowledgeSourceFiles(ctx, "manuals", nil) {
		fmt.Println(listed.FileName, listed.FileSizeBytes, err)
	}
	fmt.Println(client.DeleteKnowledgeSourceFile(ctx, "manuals", sent.FileID, nil))
	// Output:
	// manual.txt 16 <nil>
	// <nil>
}

// Ask on behalf of a user, with that user's permissions. The emulator retrieves nothing, so the reply is that of the
// specification.
func ExampleKnowledgeBaseClient_Retrieve() {
	endpoint, closeIt := standIn(map[string]string{"POST /knowledgebases('travel')/retrieve": `{"response":[{"content":[{"type":"text","text":"[]"}]}],"activity":[],
		"references":[{"type":"searchIndex","id":"0","activitySource":0,"docKey":"7","rerankerScore":2.5}]}`})
	defer closeIt()
	client, err := search.NewKnowledgeBaseClientWithKey(endpoint, "travel", azcore.NewKeyCredential("0123456789ABCDEF"), nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx := search.WithUserToken(context.Background(), "token of the user")
	answer, err := client.Retrieve(ctx, knowledge.Request{Intents: []knowledge.Intent{knowledge.SemanticIntent{Search: "hotels with wifi"}}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, reference := range answer.References {
		if hotel, is := reference.(knowledge.SearchIndexReference); is {
			fmt.Println(hotel.DocKey, *hotel.Common().RerankerScore)
		}
	}
	// Output: 7 2.5
}

// Get the sizes of all indexes in one request.
func ExampleIndexClient_ListIndexStatistics() {
	srv, client := emulatedIndexClient()
	defer srv.Close()
	for statistics, err := range client.ListIndexStatistics(context.Background(), nil) {
		fmt.Println(statistics.Name, statistics.DocumentCount, err)
	}
	// Output: hotels 2 <nil>
}
