package models_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestAContextCarriesAClass(t *testing.T) {
	_, ok := models.ClassOf(t.Context())
	require.False(t, ok)
	for c := models.ClassExpedited; c <= models.ClassBestEffort; c++ {
		got, ok := models.ClassOf(models.WithClass(t.Context(), c))
		require.True(t, ok)
		require.Equal(t, c, got)
	}
	assert.Equal(t, "best effort", models.ClassBestEffort.String())
	assert.Equal(t, "class 9", models.Class(9).String())
}
