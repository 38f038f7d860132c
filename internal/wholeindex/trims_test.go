package wholeindex_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/wholeindex"
	"github.com/go-azsearch/azsearch/models"
)

func TestTrimsWhatAnyMemberOfADefinitionHides(t *testing.T) {
	for definition, want := range map[string]bool{
		`{}`: false,
		`{"fields":[{"name":"users","filterable":true}]}`:                                                    false,
		`{"permissionFilterOption":"enabled"}`:                                                               true,
		`{"fields":[{"name":"users","permissionFilter":"userIds"}]}`:                                         true,
		`{"fields":[{"name":"a","fields":[{"name":"users","permissionFilter":"groupIds"}]}]}`:                true,
		`{"permissionFilterOption":"disabled","fields":[{"name":"users","permissionFilter":"userIds"}]}`:     false,
		`{"permissionFilterOption":"disabled","purviewEnabled":true}`:                                        true,
		`{"permissionFilterOption":"later","fields":[{"name":"scope","permissionFilter":"a kind of 2030"}]}`: true,
	} {
		var index models.SearchIndex
		require.NoError(t, json.Unmarshal([]byte(definition), &index))
		assert.Equal(t, want, wholeindex.Trims(&index), definition)
	}
}
