package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/samples/internal/stage"
	"github.com/go-azsearch/azsearch/samples/internal/stage/stagetest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestStoryIsComplete(t *testing.T) {
	o := stagetest.Succeeds(t, program, nil,
		"the tables have 500 hotels from before, which are backfilled\n",
		"documents made: 50",
		`"name":"The Ritz"`,
		"rooms: it moves from hotel 1 to hotel 2\n",
		"documents made: 2, with 3 queries\n",
		`"stars":3.4,"reviews":5,`,
		`"stars":4.0,"reviews":4,`,
		"rooms: all prices of all hotels, with one statement\n",
		"documents made: 50",
		"documents made: 0, with 0 queries\n",
		"       4  none\n",
		"       3  none\n",
		"WriteKeys restores it\n",
	)
	assert.Empty(t, o.Err)
	assert.Equal(t, 2+len(changes), strings.Count(o.Out, "index == join: yes"))
}

func TestStoryThatIsInterruptedEndsWell(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, stagetest.Outcome{Code: stage.ExitInterrupted}, stagetest.Run(ctx, t, program))
}

func TestLoaderSaysWhatTheJoinSays(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer db.Close()
	s := &story{db: db, outbox: newOutbox()}
	require.NoError(t, s.fill(t.Context()))
	_, err = db.ExecContext(t.Context(), `DELETE FROM rooms WHERE hotel_id = 5; DELETE FROM reviews WHERE hotel_id = 5; DELETE FROM hotels WHERE id = 6`)
	require.NoError(t, err)
	want, err := truth(t.Context(), db)
	require.NoError(t, err)
	require.Len(t, want, howMany-1)

	l := &loader{db: db}
	keys := []string{"6", "501"} // one deleted, one not yet created
	for key := range want {
		keys = append(keys, key)
	}
	actions, err := l.load(t.Context(), keys)
	require.NoError(t, err)
	require.EqualValues(t, 3, l.queries.Load())
	index := make(map[string]Hotel)
	for _, a := range actions {
		require.Equal(t, models.ActionTypeUpload, a.Type)
		index[a.Document.ID] = a.Document
	}
	assert.Empty(t, stage.Differences(want, index))
	assert.Len(t, index, len(want))
	assert.NotNil(t, index["5"].Rooms, "a list without rooms is empty, and not null")

	some, err := l.load(t.Context(), []string{"2"})
	require.NoError(t, err)
	require.Len(t, some, 1)
	assert.Equal(t, want["2"], some[0].Document)
}

func TestKeysAreAllKeys(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer db.Close()
	s := &story{db: db, outbox: newOutbox()}
	require.NoError(t, s.fill(t.Context()))
	var keys []string
	for key, err := range keysOf(t.Context(), db) {
		require.NoError(t, err)
		keys = append(keys, key)
	}
	slices.Sort(keys)
	assert.Len(t, slices.Compact(keys), howMany)
}
