package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/go-azsearch/azsearch/internal/sleep"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
)

// step is a row of the table. do returns the finding, or an error for an unexpected result.
type step struct {
	name string
	do   func(context.Context, *suite) (string, error)
}

func must(err error) (string, error) { return "as expected", err }

func same[T comparable](got, want T, err error) (string, error) {
	if err == nil && got != want {
		err = fmt.Errorf("got %v, want %v", got, want)
	}
	return fmt.Sprint(got), err
}

// connection does not work: the service does not try it.
const connection = "DefaultEndpointsProtocol=https;AccountName=azsearchlive;AccountKey=bm9uZQ==;EndpointSuffix=core.windows.net"

// steps use the results of earlier steps. A name with a question mark is a test of undocumented behaviour.
var steps = []step{
	{"an index is created", func(ctx context.Context, s *suite) (string, error) {
		_, err := s.indexes.CreateIndex(ctx, index(s.prefix), nil)
		return must(err)
	}},
	{"an index of that name is refused", func(ctx context.Context, s *suite) (string, error) {
		_, err := s.indexes.CreateIndex(ctx, index(s.prefix), nil)
		if err == nil {
			err = errors.New("it was taken")
			return "", err
		}
		return refusal(err)
	}},
	{"documents are uploaded and counted", func(ctx context.Context, s *suite) (string, error) {
		_, err := search.UploadDocuments(ctx, s.hotels, []hotel{
			{"1", "Ritz", []string{"luxury"}, 4.5, []float32{1, 0, 0}}, {"2", "Roach Motel", []string{"budget"}, 1.5, []float32{0, 1, 0}}, {"3", "Grand", nil, 3, []float32{1, 1, 0}},
		}, nil)
		if err != nil {
			return "", err
		}
		return must(eventually(ctx, func() (bool, error) {
			n, err := s.hotels.DocumentCount(ctx, nil)
			return n == 3, err
		}))
	}},
	{"a document is merged, and one deleted", func(ctx context.Context, s *suite) (string, error) {
		_, err := search.MergeDocuments(ctx, s.hotels, []map[string]any{{"id": "2", "rating": 2.5}}, &search.IndexDocumentsOptions{KeyField: "id"})
		if err == nil {
			_, err = search.DeleteDocuments(ctx, s.hotels, []map[string]string{{"id": "3"}}, &search.IndexDocumentsOptions{KeyField: "id"})
		}
		if err != nil {
			return "", err
		}
		return must(eventually(ctx, func() (bool, error) {
			n, err := s.hotels.DocumentCount(ctx, nil)
			return n == 2, err
		}))
	}},
	{"a document is looked up", func(ctx context.Context, s *suite) (string, error) {
		h, err := search.GetDocument[hotel](ctx, s.hotels, "2", nil)
		return same(h.Rating, 2.5, err)
	}},
	{"a filter, an order and a facet", func(ctx context.Context, s *suite) (string, error) {
		page, err := search.NewSearchPager[hotel](s.hotels, "", &search.SearchOptions{Filter: search.Ge("rating", 2), OrderBy: []string{"rating desc"}, Facets: []search.Facet{search.FacetByValue("tags", nil)}}).NextPage(ctx)
		if err == nil && len(page.Results) != 2 {
			err = fmt.Errorf("%d results", len(page.Results))
		}
		return fmt.Sprintf("%d facets", len(page.Facets)), err
	}},
	{"a vector query", func(ctx context.Context, s *suite) (string, error) {
		for r, err := range search.Search[hotel](ctx, s.hotels, "", &search.SearchOptions{VectorQueries: []search.VectorQuery{{Vector: models.VectorOf([]float32{1, 0, 0}), Fields: []string{"mood"}, K: 1}}}) {
			return same(r.Document.ID, "1", err)
		}
		return "", errors.New("no results")
	}},
	{"a suggestion", func(ctx context.Context, s *suite) (string, error) {
		found, err := search.Suggest[hotel](ctx, s.hotels, "roa", "names", nil)
		return same(len(found.Results), 1, err)
	}},
	{"a scan of the whole index", func(ctx context.Context, s *suite) (string, error) {
		n := 0
		for _, err := range search.Scan[hotel](ctx, s.hotels, nil) {
			if err != nil {
				return "", err
			}
			n++
		}
		return same(n, 2, nil)
	}},
	{"a synonym map and an alias", func(ctx context.Context, s *suite) (string, error) {
		_, err := s.indexes.CreateSynonymMap(ctx, models.SynonymMap{Name: s.prefix, Synonyms: []string{"hotel, inn"}}, nil)
		if err == nil {
			_, err = s.indexes.CreateAlias(ctx, models.Alias{Name: s.prefix + "-alias", Indexes: []string{s.prefix}}, nil)
		}
		return must(err)
	}},
	{"a definition by the name of an alias?", func(ctx context.Context, s *suite) (string, error) {
		_, err := s.indexes.GetIndex(ctx, s.prefix+"-alias", nil)
		if errors.Is(err, search.ErrIndexNotFound) {
			return "refused: " + strings.ReplaceAll(err.Error(), s.prefix, "…"), nil
		}
		return must(err)
	}},
	{"a ranking that may wait 700 ms?", func(ctx context.Context, s *suite) (string, error) {
		semantic := &search.SemanticOptions{Query: "hotel", MaxWait: 700 * time.Millisecond}
		for _, err := range search.Search[hotel](ctx, s.hotels, "", &search.SearchOptions{Semantic: semantic}) {
			return refusal(err) // of the time, or because the index has no semantic configuration
		}
		return "taken", nil
	}},
	{"statistics of all indexes (2026-10-01)", func(ctx context.Context, s *suite) (string, error) {
		for x, err := range s.indexes.ListIndexStatistics(ctx, &search.ListIndexStatisticsOptions{Prefix: s.prefix}) {
			return x.Name[:len("azs-live")] + "…", err
		}
		return "", errors.New("the index is not there")
	}},
	{"a data source keeps its secret in an update", func(ctx context.Context, s *suite) (string, error) {
		source, err := s.indexers.CreateDataSource(ctx, indexers.DataSource{
			Name: s.prefix, Type: indexers.DataSourceTypeAzureBlob, Credentials: indexers.Credentials{ConnectionString: connection}, Container: indexers.Container{Name: "none"},
		}, nil)
		if err == nil {
			source.Description = "changed"
			_, err = s.indexers.CreateOrUpdateDataSource(ctx, source, nil)
		}
		return must(err)
	}},
	{"`<unchanged>` in a new data source?", func(ctx context.Context, s *suite) (string, error) {
		_, err := search.Do(ctx, s.indexers, http.MethodPost, "/datasources", indexers.DataSource{ // CreateDataSource refuses it
			Name: s.prefix + "-unchanged", Type: indexers.DataSourceTypeAzureBlob, Credentials: indexers.Credentials{ConnectionString: indexers.Unchanged}, Container: indexers.Container{Name: "none"},
		}, nil)
		return refusal(err)
	}},
	{"a skillset and an indexer that does not run", func(ctx context.Context, s *suite) (string, error) {
		_, err := s.indexers.CreateSkillset(ctx, skills.Skillset{Name: s.prefix, Skills: []skills.Skill{
			skills.Split{Inputs: []skills.Input{{Name: "text", Source: "/document/content"}}, Outputs: []skills.Output{{Name: "textItems", TargetName: "pages"}}},
		}}, nil)
		if err == nil {
			_, err = s.indexers.CreateIndexer(ctx, indexers.Indexer{Name: s.prefix, DataSourceName: s.prefix, SkillsetName: s.prefix, TargetIndexName: s.prefix, Disabled: new(true)}, nil)
		}
		return must(err)
	}},
	{"the status of an indexer that was reset", func(ctx context.Context, s *suite) (string, error) {
		if err := s.indexers.ResetIndexer(ctx, s.prefix, nil); err != nil {
			return "", err
		}
		status, err := s.indexers.GetIndexerStatus(ctx, s.prefix, nil)
		return fmt.Sprintf("%s, limits known: %v", status.Status, status.Limits != nil), err
	}},
	{"a run of a disabled indexer?", func(ctx context.Context, s *suite) (string, error) {
		return refusal(s.indexers.RunIndexer(ctx, s.prefix, nil))
	}},
	{"does an update of an indexer run it?", func(ctx context.Context, s *suite) (string, error) {
		before, err := s.indexers.GetIndexerStatus(ctx, s.prefix, nil)
		if err != nil {
			return "", err
		}
		x, err := s.indexers.GetIndexer(ctx, s.prefix, nil)
		if err == nil {
			x.Disabled = new(false)
			_, err = s.indexers.CreateOrUpdateIndexer(ctx, x, nil)
		}
		if err == nil {
			err = sleep.For(ctx, s.beginsIn)
		}
		if err != nil {
			return "", err
		}
		after, err := s.indexers.GetIndexerStatus(ctx, s.prefix, nil)
		runs := len(after.ExecutionHistory) > len(before.ExecutionHistory) || after.LastResult != nil && after.LastResult.Status == indexers.ExecutionStatusInProgress
		return fmt.Sprint(runs), err
	}},
	{"an index with permission filters (2026-10-01)", func(ctx context.Context, s *suite) (string, error) {
		x := index(s.prefix + "-acl")
		x.PermissionFilterOption = models.PermissionFilterEnabled
		x.Fields = append(x.Fields, models.SearchField{Name: "users", Type: "Collection(Edm.String)", Filterable: new(true), PermissionFilter: models.PermissionFilterUserIDs})
		_, err := s.indexes.CreateIndex(ctx, x, nil)
		return must(err)
	}},
	{"may a key read elevated?", func(ctx context.Context, s *suite) (string, error) {
		client, err := s.indexes.Client(s.prefix + "-acl")
		if err != nil {
			return "", err
		}
		for _, err := range search.Search[hotel](search.WithElevatedRead(ctx), client, "", nil) {
			return refusal(err)
		}
		return "taken", nil
	}},
	{"a knowledge source and a base (2026-10-01)", func(ctx context.Context, s *suite) (string, error) {
		_, err := s.indexes.CreateKnowledgeSource(ctx, knowledge.Source{Name: s.prefix, Parameters: knowledge.SearchIndex{SearchIndexName: s.prefix}}, nil)
		if err == nil {
			_, err = s.indexes.CreateKnowledgeBase(ctx, knowledge.Base{Name: s.prefix, Sources: []knowledge.SourceReference{{Name: s.prefix}}}, nil)
		}
		return refusal(err) // may be refused, because an index may need a semantic configuration
	}},
	{"a stale ETag is refused", func(ctx context.Context, s *suite) (string, error) {
		err := s.indexers.DeleteIndexer(ctx, s.prefix, &search.DeleteIndexerOptions{IfMatch: new(azcore.ETag(`"0x0"`))})
		if !errors.Is(err, search.ErrPreconditionFailed) {
			return "", fmt.Errorf("got %w", err)
		}
		return "as expected", nil
	}},
}
