package spec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/models/knowledge"
	"github.com/go-azsearch/azsearch/models/skills"
	"github.com/go-azsearch/azsearch/search"
)

// The test generates definitions of all versions, including previews, with a secret wherever the specification has
// one. It prints them in every way, and prints the difference when the secret changes.
func TestNoDefinitionPrintsASecret(t *testing.T) {
	m := newMaker(t)
	m.secret = hidden
	found, differences, seeds := 0, 0, testkit.Cases(10, 60, 60)
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		for seed := range uint64(seeds) {
			m.Rand = rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // repeatable
			text, err := json.Marshal(m.object(name, 5))
			require.NoError(t, err)
			found += bytes.Count(text, []byte(hidden))
			x := roots[name]()
			require.NoError(t, json.Unmarshal(text, x))
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", x)
			slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", x)
			shown := []string{log.String(), fmt.Errorf("refused: %v", x).Error()}
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
				shown = append(shown, fmt.Sprintf(verb, x))
			}
			before := roots[name]()
			require.NoError(t, json.Unmarshal(bytes.ReplaceAll(text, []byte(hidden), []byte(hidden+"B")), before))
			changes := changesOf(t, before, x)
			differences += len(changes)
			told, err := json.Marshal(changes)
			require.NoError(t, err)
			shown = append(shown, fmt.Sprint(changes), string(told))
			for i, s := range shown {
				at := strings.Index(s, hidden)
				require.Negative(t, at, "%s, seed %d, way %d: …%s", name, seed, i, s[max(0, at-200):min(len(s), max(0, at)+20)])
			}
		}
	}
	require.Greater(t, found, 5*seeds)
	require.Greater(t, differences, 2*seeds)
}

// changesOf returns the differences between two definitions of one kind.
func changesOf(t *testing.T, before, after any) (changes search.IndexChanges) {
	t.Helper()
	var err error
	switch after := after.(type) {
	case *models.SearchIndex:
		changes, err = search.DiffIndex(*before.(*models.SearchIndex), *after)
	case *models.SynonymMap:
		changes, err = diffOf(before, after)
	case *models.Alias:
		changes, err = diffOf(before, after)
	case *indexers.DataSource:
		changes, err = diffOf(before, after)
	case *indexers.Indexer:
		changes, err = diffOf(before, after)
	case *skills.Skillset:
		changes, err = diffOf(before, after)
	case *knowledge.Source:
		changes, err = diffOf(before, after)
	case *knowledge.Base:
		changes, err = diffOf(before, after)
	}
	require.NoError(t, err)
	return changes
}

func diffOf[T search.Definition](before any, after *T) (search.IndexChanges, error) {
	return search.DiffDefinition(*before.(*T), *after)
}
