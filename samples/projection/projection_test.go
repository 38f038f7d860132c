package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestStoryIsComplete(t *testing.T) {
	var out, complaints bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"-hotels", "20"}, &out, &complaints), "%s", &complaints)
	assert.Empty(t, complaints.String())
	assert.Equal(t, 2+len(changes(20)), strings.Count(out.String(), "index == join: yes"))
	at := 0
	for _, line := range []string{
		"the tables have 20 hotels from before, which are backfilled\n",
		"20 documents made, with 3 queries\n",
		`"name":"The Ritz"`,
		"rooms: it moves from hotel 1 to hotel 2\n",
		"2 documents made, with 3 queries\n",
		`"stars":3.4,"reviews":5,`,
		`"stars":4.0,"reviews":4,`,
		"rooms: all prices of all hotels, with one statement\n",
		"20 documents made, with 3 queries\n",
		"0 documents made, with 0 queries\n",
		"       4  none\n",
		"       3  none\n",
		"WriteKeys brings it back\n",
	} {
		found := strings.Index(out.String()[at:], line)
		if assert.GreaterOrEqual(t, found, 0, "%q does not follow in\n%s", line, &out) {
			at += found
		}
	}
}

func TestStoryThatIsInterruptedEndsWell(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, complaints bytes.Buffer
	assert.Equal(t, exitInterrupted, run(ctx, nil, &out, &complaints))
	assert.Empty(t, complaints.String())
}

func TestArgumentsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, args := range [][]string{{"more"}, {"-nonsense"}, {"-hotels", "9"}, {"-hotels", "50001"}, {"-hotels", "many"}} {
		var out, complaints bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), args, &out, &complaints), args)
		assert.Equal(t, 1, strings.Count(complaints.String(), "\n"), complaints.String())
		assert.Empty(t, out.String())
	}
	var out, complaints bytes.Buffer
	assert.Zero(t, run(t.Context(), []string{"-h"}, &out, &complaints))
	assert.Contains(t, out.String(), "-hotels")
}

func TestLoaderSaysWhatTheJoinSays(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer db.Close()
	s := &story{db: db, outbox: newOutbox()}
	require.NoError(t, s.fill(t.Context(), 30))
	_, err = db.ExecContext(t.Context(), `DELETE FROM rooms WHERE hotel_id = 5; DELETE FROM reviews WHERE hotel_id = 5; DELETE FROM hotels WHERE id = 6`)
	require.NoError(t, err)
	want, err := truth(t.Context(), db)
	require.NoError(t, err)
	require.Len(t, want, 29)

	l := &loader{db: db}
	keys := []string{"6", "31"} // of which there are none any more, and none yet
	for key := range want {
		keys = append(keys, key)
	}
	actions, err := l.load(t.Context(), keys)
	require.NoError(t, err)
	require.EqualValues(t, 3, l.queries.Load())
	index := make(map[string]json.RawMessage)
	for _, a := range actions {
		require.Equal(t, models.ActionTypeUpload, a.Type)
		text, err := json.Marshal(a.Document)
		require.NoError(t, err)
		index[a.Document.ID] = text
	}
	assert.Empty(t, compare(want, index))
	assert.Len(t, index, len(want))
	assert.Equal(t, "[]", string(mustMember(t, index["5"], "rooms")), "a list without rooms is empty, and not null")

	some, err := l.load(t.Context(), []string{"2"})
	require.NoError(t, err)
	require.Len(t, some, 1)
	assert.Equal(t, want["2"], some[0].Document)
}

func mustMember(t *testing.T, text json.RawMessage, name string) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &members))
	return members[name]
}

func TestPagesOfKeysAreAllKeys(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "db"))
	require.NoError(t, err)
	defer db.Close()
	s := &story{db: db, outbox: newOutbox()}
	require.NoError(t, s.fill(t.Context(), 2500))
	var keys []string
	for key, err := range keysOf(t.Context(), db) {
		require.NoError(t, err)
		keys = append(keys, key)
	}
	slices.Sort(keys)
	assert.Len(t, slices.Compact(keys), 2500)
}

func TestWhatIsWrongWithAnIndexIsNoticed(t *testing.T) {
	want := map[string]Hotel{"1": {ID: "1", Name: "Ritz", Rooms: []Room{{1, "single", 50}, {2, "double", 70}}}}
	const same = `{"id":"1","name":"Ritz","rooms":[{"id":2,"kind":"double","price":70},{"id":1,"kind":"single","price":50}]}`
	for name, c := range map[string]struct {
		index    map[string]json.RawMessage
		problems int
	}{
		"nothing":                   {map[string]json.RawMessage{"1": json.RawMessage(same)}, 0},
		"a document is missing":     {nil, 1},
		"a document is left":        {map[string]json.RawMessage{"1": json.RawMessage(same), "2": json.RawMessage(same)}, 1},
		"a room is missing":         {map[string]json.RawMessage{"1": json.RawMessage(`{"id":"1","name":"Ritz","rooms":[{"id":1,"kind":"single","price":50}]}`)}, 1},
		"a document cannot be read": {map[string]json.RawMessage{"1": json.RawMessage(`{`)}, 1},
	} {
		assert.Len(t, compare(want, c.index), c.problems, name)
	}
}
