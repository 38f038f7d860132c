package models_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestAPatchThatContainsItselfIsAnError(t *testing.T) {
	p := models.NewPatch("id", "1")
	p.Set("self", p)
	_, err := models.AppendAction(nil, models.ActionTypeMerge, p)
	require.ErrorAs(t, err, new(*models.EncodeError))
	assert.ErrorContains(t, err, "contains itself")
}

func TestPatchesInsideAPatchAreWrittenAsObjects(t *testing.T) {
	p := models.NewPatch("id", "1")
	p.In("address").Set("city", "X").Clear("street")
	p.Set("copy", models.Patch{})
	p.Set("none", (*models.Patch)(nil))
	out, err := models.AppendAction(nil, models.ActionTypeMerge, p)
	require.NoError(t, err)
	assert.JSONEq(t, `{"@search.action":"merge","id":"1","address":{"city":"X","street":null},"copy":{},"none":null}`, string(out))
}
