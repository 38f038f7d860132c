package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestIndexAndTableAreEqualAtTheEnd(t *testing.T) {
	var out, complaints bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"-for", "1500ms"}, &out, &complaints), "%s\n%s", &complaints, &out)
	assert.Empty(t, complaints.String())
	assert.Regexp(t, `(?m)^\d+ passes, the last ones after that: [1-9]\d* documents repaired, [1-9]\d* deleted$`, out.String())
	assert.Contains(t, out.String(), "0 updates lost, 0 documents deleted falsely\n")
	assert.Contains(t, out.String(), "index == table: yes\n")
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-nonsense"}, {"-for", "0s"}, {"-for", "long"}} {
		var out, complaints bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), args, &out, &complaints), args)
		assert.Equal(t, 1, strings.Count(complaints.String(), "\n"), complaints.String())
		assert.Empty(t, out.String())
	}
	var out, complaints bytes.Buffer
	assert.Zero(t, run(t.Context(), []string{"-h"}, &out, &complaints))
	assert.Contains(t, out.String(), "-for")
}

func TestAnInterruptedStoryEndsWell(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, complaints bytes.Buffer
	assert.Equal(t, exitInterrupted, run(ctx, nil, &out, &complaints))
	assert.Empty(t, complaints.String())
}

func TestTheSourceSaysWhatTheTableHas(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), schema+`; INSERT INTO hotels VALUES ('a', 'A', 3), ('b', 'B', 4)`)
	require.NoError(t, err)
	rows, err := source(db).Lookup(t.Context(), []string{"b", "c"})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	assert.EqualValues(t, 4, rows[0].Version)
	actions, err := source(db).Read(t.Context(), []string{"a", "c"})
	require.NoError(t, err)
	require.Len(t, actions, 1)
	assert.JSONEq(t, `{"id":"a","name":"A","version":3}`, string(actions[0].Document))
}
