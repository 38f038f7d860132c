package search_test

import (
	"context"
	"fmt"
	"log"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// Preview the changes of a deployment.
func ExampleDiffIndex() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()

	before, err := indexes.GetIndex(ctx, "hotels", nil)
	if err != nil {
		log.Fatal(err)
	}
	fields, err := models.FieldsOf[Hotel]()
	if err != nil {
		log.Fatal(err)
	}
	after := models.SearchIndex{Name: "hotels", Fields: append(fields, models.SearchField{Name: "rooms", Type: models.DataTypeInt32})}
	after.Analyzers = []models.Analyzer{models.StopAnalyzer{Name: "stop2"}}
	changes, err := search.DiffIndex(before, after)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range changes {
		fmt.Printf("%s: %v, because %s\n", c.Path, c.Kind, c.Reason)
	}
	fmt.Println("all together:", changes.Kind())
	// Output:
	// fields/rooms: in place, because existing documents have null in new fields
	// analyzers/stop2: in place with downtime, because the index is offline while analysis components are added
	// all together: in place with downtime
}

// Change an index that other programs may change at the same time.
func ExampleIndexClient_UpdateIndex() {
	ctx := context.Background()
	srv, indexes := emulatedIndexClient()
	defer srv.Close()

	attempts := 0
	index, err := indexes.UpdateIndex(ctx, "hotels", func(index *models.SearchIndex) error {
		if attempts++; attempts == 1 { // another program changes it first
			theirs, err := indexes.GetIndex(ctx, "hotels", nil)
			if err != nil {
				return err
			}
			theirs.DefaultScoringProfile = "theirs"
			theirs.ScoringProfiles = []models.ScoringProfile{{Name: "theirs"}}
			if _, err := indexes.CreateOrUpdateIndex(ctx, theirs, nil); err != nil {
				return err
			}
		}
		index.Description = "Hotels and motels"
		return nil
	}, nil)
	fmt.Println(index.Description, index.DefaultScoringProfile, attempts, err)
	// Output: Hotels and motels theirs 2 <nil>
}
