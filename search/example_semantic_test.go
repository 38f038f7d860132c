package search_test

import (
	"context"
	"fmt"
	"log"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Results are ordered by the semantic ranker, each with its best passage, plus an answer. The emulator replaces the
// models of the service by a simple rule.
func ExampleSemanticOptions() {
	ctx := context.Background()
	srv := searchtest.NewServer(&searchtest.Options{SemanticStandIn: true})
	defer srv.Close()
	opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}}
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	if err != nil {
		log.Fatal(err)
	}
	type article struct {
		ID    string `json:"id"    search:"key"`
		Title string `json:"title" search:"searchable"`
		Body  string `json:"body"  search:"analyzer=en.lucene"`
	}
	fields, err := models.FieldsOf[article]()
	if err != nil {
		log.Fatal(err)
	}
	_, err = indexes.CreateIndex(ctx, models.SearchIndex{
		Name:   "articles",
		Fields: fields,
		Semantic: &models.SemanticSearch{DefaultConfiguration: "default", Configurations: []models.SemanticConfiguration{{
			Name: "default",
			PrioritizedFields: models.SemanticPrioritizedFields{
				TitleField:    &models.SemanticField{FieldName: "title"},
				ContentFields: []models.SemanticField{{FieldName: "body"}},
			},
		}}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	client, err := indexes.Client("articles")
	if err != nil {
		log.Fatal(err)
	}
	_, err = search.UploadDocuments(ctx, client, []article{
		{ID: "1", Title: "Fog", Body: "Fog is a cloud on the ground."},
		{ID: "2", Title: "How clouds form", Body: "Moist air rises and cools. A cloud forms where the air reaches its dew point."},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}

	page, err := search.NewSearchPager[article](client, "How do clouds form?", &search.SearchOptions{
		QueryType: models.QueryTypeSemantic,
		Semantic:  &search.SemanticOptions{Answers: &search.AnswerOptions{}, Captions: &search.CaptionOptions{}},
	}).NextPage(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, answer := range page.Answers {
		fmt.Printf("%.2f %s: %s\n", answer.Score, answer.Key, answer.Highlights)
	}
	for _, result := range page.Results {
		fmt.Printf("%.2f %s: %s\n", *result.RerankerScore, result.Document.Title, result.Captions[0].Text)
	}
	// Output:
	// 1.00 2: Moist air rises and cools. A<em> cloud forms </em>where the air reaches its dew point.
	// 4.00 How clouds form: Moist air rises and cools. A cloud forms where the air reaches its dew point.
	// 1.28 Fog: Fog is a cloud on the ground.
}
