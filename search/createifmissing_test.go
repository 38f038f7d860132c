package search_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

func TestCreateIndexIfMissingLeavesAnIndexAlone(t *testing.T) {
	srv, indexes := emulatedIndexClient()
	defer srv.Close()
	wanted := models.SearchIndex{Name: "motels", Fields: []models.SearchField{{Name: "id", Type: models.DataTypeString, Key: new(true)}}}
	first, created, err := indexes.CreateIndexIfMissing(t.Context(), wanted, nil)
	require.NoError(t, err)
	assert.True(t, created)
	assert.NotEmpty(t, first.ETag)

	theirs, err := indexes.UpdateIndex(t.Context(), "motels", func(x *models.SearchIndex) error {
		x.CORSOptions = &models.CORSOptions{AllowedOrigins: []string{"*"}}
		return nil
	}, nil)
	require.NoError(t, err)
	for _, definition := range []models.SearchIndex{wanted, first} {
		existing, created, err := indexes.CreateIndexIfMissing(t.Context(), definition, nil)
		require.NoError(t, err)
		assert.False(t, created)
		assert.Equal(t, theirs, existing)
	}
	_, created, err = indexes.CreateIndexIfMissing(t.Context(), models.SearchIndex{Name: "Bad"}, nil)
	require.ErrorContains(t, err, "CreateIndexIfMissing")
	assert.False(t, created)
	_, _, err = indexes.CreateIndexIfMissing(t.Context(), models.SearchIndex{Name: "none"}, nil)
	require.ErrorAs(t, err, new(*search.Error))
}
