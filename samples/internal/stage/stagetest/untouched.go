package stagetest

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// LeavesIndexAlone runs a sample against an emulated service, adds properties to its index that the sample does not
// know, and runs it again. They must still be there.
func LeavesIndexAlone(t *testing.T, run func(flags ...string)) {
	t.Helper()
	const name = "theirs"
	srv := searchtest.NewServer(nil)
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	flags := []string{"-endpoint", srv.URL(), "-api-key", searchtest.AdminKey, "-index", name}
	run(flags...)
	indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := indexes.UpdateIndex(t.Context(), name, func(index *models.SearchIndex) error {
		index.Fields = append(index.Fields, models.SearchField{Name: "more", Type: models.DataTypeString, Searchable: new(true)})
		index.ScoringProfiles = append(index.ScoringProfiles, models.ScoringProfile{Name: "theirs", Text: &models.TextWeights{Weights: map[string]float64{"more": 2}}})
		index.DefaultScoringProfile = "theirs"
		index.CORSOptions = &models.CORSOptions{AllowedOrigins: []string{"https://example.com"}}
		index.Semantic = &models.SemanticSearch{Configurations: []models.SemanticConfiguration{{
			Name: "theirs", PrioritizedFields: models.SemanticPrioritizedFields{TitleField: &models.SemanticField{FieldName: "more"}},
		}}}
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	run(flags...)
	after, err := indexes.GetIndex(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if changes, err := search.DiffIndex(theirs, after); err != nil || len(changes) > 0 || after.ETag != theirs.ETag {
		t.Errorf("the sample has changed the index: %v %v", changes, err)
	}
}
