package search_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// Client and emulator implement the same specification independently; this test compares them.
func TestIndexersSkillsetsAndKnowledgeLiveInTheEmulator(t *testing.T) {
	synctest.Test(t, liveInTheEmulator)
}

func liveInTheEmulator(t *testing.T) {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	key := azcore.NewKeyCredential(searchtest.AdminKey)
	opts := &search.ClientOptions{APIVersion: "2026-10-01"}
	opts.Transport = srv
	indexes, err := search.NewIndexClientWithKey(srv.URL(), key, opts)
	require.NoError(t, err)
	c, ctx := indexes.IndexerClient(), t.Context()

	type report struct {
		ID      string   `json:"id" search:"key"`
		Content string   `json:"content" search:"searchable"`
		Pages   []string `json:"pages" search:"searchable"`
	}
	fields, err := models.FieldsOf[report]()
	require.NoError(t, err)
	_, err = indexes.CreateIndex(ctx, models.SearchIndex{Name: "reports", Fields: fields}, nil)
	require.NoError(t, err)

	source := indexers.DataSource{
		Name: "reports", Type: indexers.DataSourceTypeAzureBlob,
		Credentials: indexers.Credentials{ConnectionString: "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net"},
		Container:   indexers.Container{Name: "reports", Query: "2026/"},
	}
	created, err := c.CreateDataSource(ctx, source, nil)
	require.NoError(t, err)
	assert.NotEmpty(t, created.ETag)
	got, err := c.GetDataSource(ctx, "reports", nil)
	require.NoError(t, err)
	assert.Empty(t, got.Credentials.ConnectionString, "the service never returns the credentials")
	got.Description = "yearly"
	got, err = c.CreateOrUpdateDataSource(ctx, got, nil)
	require.NoError(t, err)
	assert.Equal(t, "yearly", got.Description)

	_, err = c.CreateSkillset(ctx, skills.Skillset{Name: "pages", Skills: []skills.Skill{
		skills.Split{
			MaximumPageLength: new(2000),
			Inputs:            []skills.Input{{Name: "text", Source: "/document/content"}},
			Outputs:           []skills.Output{{Name: "textItems", TargetName: "pages"}},
		},
	}}, nil)
	require.NoError(t, err)

	indexer := indexers.Indexer{
		Name: "reports", DataSourceName: "none", SkillsetName: "pages", TargetIndexName: "reports",
		OutputFieldMappings: []indexers.FieldMapping{{SourceFieldName: "/document/pages/*", TargetFieldName: "pages"}},
	}
	_, err = c.CreateIndexer(ctx, indexer, nil)
	require.ErrorContains(t, err, "none", "this data source does not exist")
	indexer.DataSourceName = "reports"
	_, err = c.CreateIndexer(ctx, indexer, nil)
	require.NoError(t, err)
	var names []string
	for name, err := range c.ListIndexerNames(ctx, nil) {
		require.NoError(t, err)
		names = append(names, name)
	}
	assert.Equal(t, []string{"reports"}, names)
	require.NoError(t, c.ResetIndexer(ctx, "reports", nil))
	for _, noRun := range []bool{true, false} {
		_, err = c.WaitForIndexer(ctx, "reports", &search.WaitForIndexerOptions{MaxPause: 100 * time.Millisecond, NoRun: noRun})
		require.Error(t, err, "the emulator runs no indexers, and reports that instead of letting callers wait")
	}
	_, err = c.GetIndexerStatus(ctx, "reports", nil)
	require.NoError(t, err)

	_, err = indexes.CreateKnowledgeSource(ctx, knowledge.Source{Name: "reports", Parameters: knowledge.SearchIndex{SearchIndexName: "reports"}}, nil)
	require.NoError(t, err)

	base, err := indexes.CreateKnowledgeBase(ctx, knowledge.Base{Name: "reports", Sources: []knowledge.SourceReference{{Name: "reports"}}}, nil)
	require.NoError(t, err)
	assert.Equal(t, "reports", base.Sources[0].Name)
	base, err = indexes.GetKnowledgeBase(ctx, "reports", nil)
	require.NoError(t, err)
	assert.NotEmpty(t, base.ETag)

	require.NoError(t, c.DeleteIndexer(ctx, "reports", nil))
	require.NoError(t, c.DeleteSkillset(ctx, "pages", nil))
	require.NoError(t, c.DeleteDataSource(ctx, "reports", nil))
}

// Without the definition, the wait for a disabled indexer would last as long as its context.
func TestWaitForADisabledIndexerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := searchtest.NewServer(nil)
		defer srv.Close()
		opts := &search.ClientOptions{}
		opts.Transport = srv
		indexes, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
		require.NoError(t, err)
		c, ctx := indexes.IndexerClient(), t.Context()
		_, err = indexes.CreateIndex(ctx, models.SearchIndex{Name: "reports", Fields: []models.SearchField{{Name: "id", Type: models.DataTypeString, Key: new(true)}}}, nil)
		require.NoError(t, err)
		_, err = c.CreateDataSource(ctx, indexers.DataSource{Name: "reports", Type: indexers.DataSourceTypeAzureBlob, Credentials: indexers.Credentials{ConnectionString: "c"}, Container: indexers.Container{Name: "reports"}}, nil)
		require.NoError(t, err)
		x, err := c.CreateIndexer(ctx, indexers.Indexer{Name: "reports", DataSourceName: "reports", TargetIndexName: "reports", Disabled: new(true)}, nil)
		require.NoError(t, err)
		for _, opts := range []*search.WaitForIndexerOptions{nil, {NoRun: true}} {
			began := time.Now()
			_, err = c.WaitForIndexer(ctx, "reports", opts)
			require.ErrorContains(t, err, "no execution has begun, because the indexer is disabled: set Disabled to false")
			assert.Less(t, time.Since(began), time.Minute)
		}
		x.Disabled = new(false)
		_, err = c.CreateOrUpdateIndexer(ctx, x, nil)
		require.NoError(t, err)
		_, err = c.WaitForIndexer(ctx, "reports", nil)
		require.ErrorContains(t, err, "searchtest does not run indexers")
	})
}
