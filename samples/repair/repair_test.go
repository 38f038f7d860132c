package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/samples/internal/hotels"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestIndexAndTableAreEqualAtTheEnd(t *testing.T) {
	testkit.Long(t)
	o := stagetest.Succeeds(t, program, []string{"-for", "1500ms"}, "0 documents of the application are lost or outdated\n", "index == table: yes\n")
	assert.Regexp(t, `(?m)^7 writes of 2000 hotels lost between table and index: 7 found and 7 repaired in \d\.\d s, 0 scans of the index$`, o.Out)
	assert.Empty(t, o.Err)
	assert.Regexp(t, `(?m)^\d+ passes, the last ones after that: [1-9]\d* documents repaired, [1-9]\d* deleted$`, o.Out)
}

func TestAnInterruptedStoryEndsWell(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, stagetest.Outcome{Code: stage.ExitInterrupted}, stagetest.Run(ctx, t, program))
}

func TestTheSourceSaysWhatTheTableHas(t *testing.T) {
	db, err := hotels.Open(t.TempDir())
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), hotels.Schema+`; INSERT INTO hotels VALUES ('a', 'A', 3), ('b', 'B', 4)`)
	require.NoError(t, err)
	rows, err := source(db).Lookup(t.Context(), []string{"b", "c"})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	assert.EqualValues(t, 4, rows[0].Version)
	actions, err := source(db).Read(t.Context(), []string{"a", "c"})
	require.NoError(t, err)
	require.Len(t, actions, 1)
	assert.JSONEq(t, `{"id":"a","text":"A","version":3}`, string(actions[0].Document))
}
