package search_test

import (
	"context"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// emulatedIndexers returns a server with an index and the data source, skillset and indexer "hotels". An empty
// apiVersion means the default.
func emulatedIndexers(apiVersion string) (*searchtest.Server, *search.IndexerClient) {
	ctx := context.Background()
	srv, opts := emulated()
	opts.APIVersion = apiVersion
	client, err := search.NewIndexerClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Panic(err)
	}
	if _, err := client.CreateDataSource(ctx, indexers.DataSource{
		Name: "hotels", Type: indexers.DataSourceTypeAzureSQL, Container: indexers.Container{Name: "Hotels"},
		Credentials: indexers.Credentials{ConnectionString: "Server=tcp:h.example;Database=d;Password=secret"},
	}, nil); err != nil {
		log.Panic(err)
	}
	if _, err := client.CreateSkillset(ctx, skills.Skillset{Name: "hotels", Skills: []skills.Skill{
		skills.LanguageDetection{
			Inputs:  []skills.Input{{Name: "text", Source: "/document/description"}},
			Outputs: []skills.Output{{Name: "languageCode"}},
		},
	}}, nil); err != nil {
		log.Panic(err)
	}
	if _, err := client.CreateIndexer(ctx, indexers.Indexer{Name: "hotels", DataSourceName: "hotels", SkillsetName: "hotels", TargetIndexName: "hotels"}, nil); err != nil {
		log.Panic(err)
	}
	return srv, client
}

// Change a definition and write it only if it is unchanged. The service does not return the secret, and keeps it if
// the request has none.
func ExampleIndexerClient_CreateOrUpdateDataSource() {
	ctx := context.Background()
	srv, client := emulatedIndexers("")
	defer srv.Close()
	source, err := client.GetDataSource(ctx, "hotels", nil)
	if err != nil {
		log.Fatal(err)
	}
	source.ChangeDetection = indexers.HighWaterMark{Column: "UpdatedAt"}
	if source, err = client.CreateOrUpdateDataSource(ctx, source, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%T %q\n", source.ChangeDetection, source.Credentials.ConnectionString)
	// Output: indexers.HighWaterMark ""
}

// Set the schedule of an indexer and add a skill to its skillset.
func ExampleIndexerClient_CreateOrUpdateIndexer() {
	ctx := context.Background()
	srv, client := emulatedIndexers("")
	defer srv.Close()
	skillset, err := client.GetSkillset(ctx, "hotels", nil)
	if err != nil {
		log.Fatal(err)
	}
	skillset.Skills = append(skillset.Skills, skills.KeyPhraseExtraction{
		Inputs:  []skills.Input{{Name: "text", Source: "/document/description"}, {Name: "languageCode", Source: "/document/languageCode"}},
		Outputs: []skills.Output{{Name: "keyPhrases"}},
	})
	if _, err := client.CreateOrUpdateSkillset(ctx, skillset, nil); err != nil {
		log.Fatal(err)
	}
	indexer, err := client.GetIndexer(ctx, "hotels", nil)
	if err != nil {
		log.Fatal(err)
	}
	indexer.Schedule = &indexers.Schedule{Interval: "P1D"}
	indexer, err = client.CreateOrUpdateIndexer(ctx, indexer, nil)
	fmt.Println(indexer.Schedule.Interval, err)
	// Output: P1D <nil>
}

func ExampleIndexerClient_ListIndexerNames() {
	ctx := context.Background()
	srv, client := emulatedIndexers("")
	defer srv.Close()
	for name, err := range client.ListDataSourceNames(ctx, nil) {
		fmt.Println("data source", name, err)
	}
	for name, err := range client.ListSkillsetNames(ctx, nil) {
		fmt.Println("skillset", name, err)
	}
	for name, err := range client.ListIndexerNames(ctx, &search.ListIndexerNamesOptions{Prefix: "ho"}) {
		fmt.Println("indexer", name, err)
	}
	// Output:
	// data source hotels <nil>
	// skillset hotels <nil>
	// indexer hotels <nil>
}

// After a reset the next run reads all documents again.
func ExampleIndexerClient_ResetIndexer() {
	ctx := context.Background()
	srv, client := emulatedIndexers("")
	defer srv.Close()
	if err := client.ResetIndexer(ctx, "hotels", nil); err != nil {
		log.Fatal(err)
	}
	status, err := client.GetIndexerStatus(ctx, "hotels", nil)
	fmt.Println(status.LastResult.Status, err)
	// Output: reset <nil>
}

// RunIndexer starts a run; WaitForIndexer waits for its end.
func ExampleIndexerClient_RunIndexer() {
	srv, client := emulatedIndexers("")
	defer srv.Close()
	fmt.Println(client.RunIndexer(context.Background(), "hotels", nil))
	// Output: <nil>
}

// Only the permissions of the documents have changed in the source.
func ExampleIndexerClient_ResyncIndexer() {
	srv, client := emulatedIndexers("")
	defer srv.Close()
	fmt.Println(client.ResyncIndexer(context.Background(), "hotels", []string{search.ResyncPermissions}, nil))
	// Output: <nil>
}

// The next run reads only these two documents. Only previews support this.
func ExampleIndexerClient_ResetDocuments() {
	srv, client := emulatedIndexers("2026-08-01-preview")
	defer srv.Close()
	fmt.Println(client.ResetDocuments(context.Background(), "hotels", []string{"7", "12"}, nil))
	// Output: <nil>
}

// The next run repeats one skill for all documents. Only previews support this.
func ExampleIndexerClient_ResetSkills() {
	srv, client := emulatedIndexers("2026-08-01-preview")
	defer srv.Close()
	fmt.Println(client.ResetSkills(context.Background(), "hotels", []string{"#1"}, nil))
	// Output: <nil>
}

// Delete an indexer, its data source and its skillset. The documents stay in the index.
func ExampleIndexerClient_DeleteIndexer() {
	ctx := context.Background()
	srv, client := emulatedIndexers("")
	defer srv.Close()
	indexer, err := client.GetIndexer(ctx, "hotels", nil)
	if err != nil {
		log.Fatal(err)
	}
	skillset, err := client.GetSkillset(ctx, indexer.SkillsetName, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.DeleteIndexer(ctx, indexer.Name, &search.DeleteIndexerOptions{IfMatch: (*azcore.ETag)(&indexer.ETag)}))
	fmt.Println(client.DeleteSkillset(ctx, skillset.Name, nil))
	fmt.Println(client.DeleteDataSource(ctx, indexer.DataSourceName, nil))
	// Output:
	// <nil>
	// <nil>
	// <nil>
}
