package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/hotels"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestNothingVanishesAndTheNewIndexIsAsTheTable(t *testing.T) {
	testkit.Long(t)
	o := stagetest.Succeeds(t, program, nil,
		"before: \"run guest\" finds 0 hotels",
		"the writers were stopped for ",
		"the writers were stopped for ",
		" concurrent writes replayed; ",
		" reads, no document missing\n",
		"after: \"run guest\" finds 3000 hotels",
		"new index == table: yes\n",
	)
	assert.Empty(t, o.Err)
}

func TestAnInterruptedStoryEndsWell(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, stagetest.Outcome{Code: stage.ExitInterrupted}, stagetest.Run(ctx, t, program))
}

func TestTheTruthSaysWhatTheTableHas(t *testing.T) {
	db, err := hotels.Open(t.TempDir())
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), hotels.Schema+`; INSERT INTO hotels VALUES ('a', 'A', 3), ('b', 'B', 4)`)
	require.NoError(t, err)
	fill := truth(db)
	var keys []string
	for action, err := range fill.All(t.Context(), "a") {
		require.NoError(t, err)
		keys = append(keys, action.Key)
	}
	assert.Equal(t, []string{"b"}, keys)
	some, err := fill.Keys(t.Context(), []string{"a", "c"})
	require.NoError(t, err)
	require.Len(t, some, 1)
	assert.Equal(t, models.ActionTypeUpload, some[0].Type)
	assert.JSONEq(t, `{"id":"a","text":"A","version":3}`, string(some[0].Document))
}
