package spec_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/spec"
	"github.com/go-azsearch/azsearch/internal/wire"
)

// A printed definition must not hide ordinary members.
func TestNamesOfOrdinaryMembersAreNoSecrets(t *testing.T) {
	s, err := spec.Load()
	require.NoError(t, err)
	marked := map[string]bool{}
	for _, m := range s.Models {
		for member, p := range m.Properties {
			marked[member] = marked[member] || p.Is("S")
		}
	}
	checked := 0
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		for member, p := range s.Models[name].Properties {
			if kind := p.Type(); marked[member] || kind == "boolean" {
				continue
			}
			checked++
			if (wire.Secret(member) || wire.SecretObject(member)) != slices.Contains(hiddenAnyway, name+"."+member) {
				assert.Fail(t, name+"."+member+" "+string(p))
			}
		}
	}
	require.Greater(t, checked, 500)
}

// hiddenAnyway has the members that are hidden although the specification does not mark them as secret.
var hiddenAnyway = []string{
	"AnalyzedTokenInfo.token", // Redact recognizes the object by its startOffset
	"CustomEntityLookupSkill.entitiesDefinitionUri",
	"McpServerStoredHeadersParameters.headers",
	"SearchIndexerDataSourceConnection.credentials",
}
