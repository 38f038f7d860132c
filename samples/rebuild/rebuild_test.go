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
	"github.com/go-azsearch/azsearch/models"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestNothingVanishesAndTheNewIndexIsAsTheTable(t *testing.T) {
	var out, complaints bytes.Buffer
	require.Zero(t, run(t.Context(), nil, &out, &complaints), "%s\n%s", &complaints, &out)
	assert.Empty(t, complaints.String())
	at := 0
	for _, line := range []string{
		"before: \"run guest\" finds 0 hotels",
		"the writers were held for ",
		"the writers were held for ",
		" brought over; ",
		" reads, nothing had vanished\n",
		"after: \"run guest\" finds 3000 hotels",
		"new index == table: yes\n",
	} {
		found := strings.Index(out.String()[at:], line)
		if assert.GreaterOrEqual(t, found, 0, "%q does not follow in\n%s", line, &out) {
			at += found + len(line)
		}
	}
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-nonsense"}} {
		var out, complaints bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), args, &out, &complaints), args)
		assert.Equal(t, 1, strings.Count(complaints.String(), "\n"), complaints.String())
		assert.Empty(t, out.String())
	}
	var out, complaints bytes.Buffer
	assert.Zero(t, run(t.Context(), []string{"-h"}, &out, &complaints))
	assert.Contains(t, out.String(), "-v")
}

func TestAnInterruptedStoryEndsWell(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, complaints bytes.Buffer
	assert.Equal(t, exitInterrupted, run(ctx, nil, &out, &complaints))
	assert.Empty(t, complaints.String())
}

func TestTheTruthSaysWhatTheTableHas(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), schema+`; INSERT INTO hotels VALUES ('a', 'A', 3), ('b', 'B', 4)`)
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
