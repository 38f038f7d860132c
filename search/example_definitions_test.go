package search_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Add a rule to the existing ones.
func ExampleIndexClient_UpdateSynonymMap() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	if _, err := indexes.CreateSynonymMap(ctx, models.SynonymMap{Name: "lodging", Synonyms: []string{"hotel, inn"}}, nil); err != nil {
		log.Fatal(err)
	}

	synonyms, err := indexes.UpdateSynonymMap(ctx, "lodging", func(m *models.SynonymMap) error {
		const rule = "fancy => luxury, fancy"
		if !slices.Contains(m.Synonyms, rule) { // an earlier attempt may have added it
			m.Synonyms = append(m.Synonyms, rule)
		}
		return nil
	}, nil)
	fmt.Printf("%q %v\n", synonyms.Synonyms, err)
	// Output: ["hotel, inn" "fancy => luxury, fancy"] <nil>
}

// Synonyms apply to the fields that name the map.
func ExampleIndexClient_CreateSynonymMap() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	if _, err := indexes.CreateSynonymMap(ctx, models.SynonymMap{Name: "lodging", Synonyms: []string{"hostel, motel"}}, nil); err != nil {
		log.Fatal(err)
	}
	_, err := indexes.UpdateIndex(ctx, "hotels", func(index *models.SearchIndex) error {
		for i := range index.Fields {
			if index.Fields[i].Name == "name" {
				index.Fields[i].SynonymMaps = []string{"lodging"}
			}
		}
		return nil
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	client, err := indexes.Client("hotels")
	if err != nil {
		log.Fatal(err)
	}
	for result, err := range search.Search[Hotel](ctx, client, "hostel", nil) {
		fmt.Println(result.Document.Name, err)
	}
	// Output: Roach Motel <nil>
}

func ExampleIndexClient_CreateOrUpdateSynonymMap() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	created, err := indexes.CreateOrUpdateSynonymMap(ctx, models.SynonymMap{Name: "lodging", Synonyms: []string{"hotel, inn"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	replaced := models.SynonymMap{Name: "lodging", Synonyms: []string{"hotel, inn, hostel"}} // without ETag: overwrites any version
	if _, err := indexes.CreateOrUpdateSynonymMap(ctx, replaced, nil); err != nil {
		log.Fatal(err)
	}
	_, err = indexes.CreateOrUpdateSynonymMap(ctx, created, nil)
	fmt.Println("changed by another client:", errors.Is(err, search.ErrPreconditionFailed))
	// Output: changed by another client: true
}

func ExampleIndexClient_GetSynonymMap() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	if _, err := indexes.CreateSynonymMap(ctx, models.SynonymMap{Name: "lodging", Synonyms: []string{"hotel, inn", "USA, United States"}}, nil); err != nil {
		log.Fatal(err)
	}
	synonyms, err := indexes.GetSynonymMap(ctx, "lodging", nil)
	fmt.Println(synonyms.Name, len(synonyms.Synonyms), err)
	_, err = indexes.GetSynonymMap(ctx, "places", nil)
	fmt.Println("not found:", errors.Is(err, search.ErrSynonymMapNotFound))
	// Output:
	// lodging 2 <nil>
	// not found: true
}

func ExampleIndexClient_ListSynonymMaps() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	for _, m := range []models.SynonymMap{{Name: "lodging", Synonyms: []string{"hotel, inn"}}, {Name: "places", Synonyms: []string{"USA, United States"}}} {
		if _, err := indexes.CreateSynonymMap(ctx, m, nil); err != nil {
			log.Fatal(err)
		}
	}
	for synonyms, err := range indexes.ListSynonymMaps(ctx, nil) {
		fmt.Println(synonyms.Name, synonyms.Synonyms, err)
	}
	// Output:
	// lodging [hotel, inn] <nil>
	// places [USA, United States] <nil>
}

func ExampleIndexClient_ListSynonymMapNames() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	if _, err := indexes.CreateSynonymMap(ctx, models.SynonymMap{Name: "lodging", Synonyms: []string{"hotel, inn"}}, nil); err != nil {
		log.Fatal(err)
	}
	for name, err := range indexes.ListSynonymMapNames(ctx, nil) {
		fmt.Println(name, err)
	}
	// Output: lodging <nil>
}

func ExampleIndexClient_DeleteSynonymMap() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	created, err := indexes.CreateSynonymMap(ctx, models.SynonymMap{Name: "lodging", Synonyms: []string{"hotel, inn"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	etag := azcore.ETag(created.ETag) // only if the map is unchanged
	fmt.Println(indexes.DeleteSynonymMap(ctx, "lodging", &search.DeleteSynonymMapOptions{IfMatch: &etag}))
	err = indexes.DeleteSynonymMap(ctx, "lodging", nil)
	fmt.Println("not found:", errors.Is(err, search.ErrSynonymMapNotFound))
	// Output:
	// <nil>
	// not found: true
}

// An alias keeps its name while the index behind it is replaced.
func ExampleIndexClient_CreateAlias() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	alias, err := indexes.CreateAlias(ctx, models.Alias{Name: "stays", Indexes: []string{"hotels"}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	client, err := indexes.Client(alias.Name)
	if err != nil {
		log.Fatal(err)
	}
	hotel, err := search.GetDocument[Hotel](ctx, client, "1", nil)
	fmt.Println(hotel.Name, err)
	// Output: Fancy Stay <nil>
}

// Move an alias to another index atomically.
func ExampleIndexClient_CreateOrUpdateAlias() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	if _, err := indexes.CreateAlias(ctx, models.Alias{Name: "stays", Indexes: []string{"hotels"}}, nil); err != nil {
		log.Fatal(err)
	}
	rebuilt, err := indexes.GetIndex(ctx, "hotels", nil)
	if err != nil {
		log.Fatal(err)
	}
	rebuilt.Name, rebuilt.ETag = "hotels-2", ""
	if _, err := indexes.CreateIndex(ctx, rebuilt, nil); err != nil {
		log.Fatal(err)
	}
	alias, err := indexes.CreateOrUpdateAlias(ctx, models.Alias{Name: "stays", Indexes: []string{"hotels-2"}}, nil)
	fmt.Println(alias.Name, alias.Indexes, err)
	// Output: stays [hotels-2] <nil>
}

func ExampleIndexClient_GetAlias() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	if _, err := indexes.CreateAlias(ctx, models.Alias{Name: "stays", Indexes: []string{"hotels"}}, nil); err != nil {
		log.Fatal(err)
	}
	alias, err := indexes.GetAlias(ctx, "stays", nil)
	fmt.Println(alias.Indexes, err)
	_, err = indexes.GetAlias(ctx, "hotels", nil) // an index is not an alias
	fmt.Println("not found:", errors.Is(err, search.ErrAliasNotFound))
	// Output:
	// [hotels] <nil>
	// not found: true
}

func ExampleIndexClient_ListAliases() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	if _, err := indexes.CreateAlias(ctx, models.Alias{Name: "stays", Indexes: []string{"hotels"}}, nil); err != nil {
		log.Fatal(err)
	}
	for alias, err := range indexes.ListAliases(ctx, nil) {
		fmt.Println(alias.Name, alias.Indexes, err)
	}
	// Output: stays [hotels] <nil>
}

func ExampleIndexClient_DeleteAlias() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	if _, err := indexes.CreateAlias(ctx, models.Alias{Name: "stays", Indexes: []string{"hotels"}}, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(indexes.DeleteAlias(ctx, "stays", nil), srv.IndexNames())
	err := indexes.DeleteAlias(ctx, "stays", nil)
	fmt.Println("not found:", errors.Is(err, search.ErrAliasNotFound))
	// Output:
	// <nil> [hotels]
	// not found: true
}

// Show the tokens that an index makes of a text.
func ExampleIndexClient_AnalyzeText() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	result, err := indexes.AnalyzeText(context.Background(), "hotels", models.AnalyzeTextRequest{
		Text:     "The Fancy Hotels",
		Analyzer: models.AnalyzerEnLucene,
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range result.Tokens {
		fmt.Println(t.Token, t.StartOffset, t.EndOffset, t.Position)
	}
	// Output:
	// fanci 4 9 1
	// hotel 10 16 2
}

func ExampleIndexClient_Endpoint() {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	fmt.Println(indexes.Endpoint())
	// Output: https://searchtest.search.windows.net
}

func ExampleClient_Endpoint() {
	srv, client := emulatedClient()
	defer srv.Close()
	fmt.Println(client.Endpoint())
	// Output: https://searchtest.search.windows.net
}

func ExampleClient_IndexName() {
	srv, client := emulatedClient()
	defer srv.Close()
	fmt.Println(client.IndexName())
	// Output: hotels
}
