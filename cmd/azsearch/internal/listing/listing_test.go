package listing

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/bufferedsender/queue"
	"github.com/go-azsearch/azsearch/models"
)

// ofTerminals are characters that control a terminal or move text.
const ofTerminals = "\x00\a\b\t\n\r\x1b\x7f\u0085\u009b\u200b\u200e\u202a\u202e\u2028\u2066\ufeff"

func TestTextOfOthersCannotChangeWhatATerminalShows(t *testing.T) {
	assert.Equal(t, `hotel_17-Zürich`, Safe("hotel_17-Zürich"))
	assert.Equal(t, `""`, Safe(""))
	assert.Equal(t, `"a: 1 waiting"`, Safe("a: 1 waiting"), "the text cannot be mistaken for its surroundings")
	assert.Equal(t, `"\"x\""`, Safe(`"x"`))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune(ofTerminals+"ab "))), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		e := queue.Entry{
			Key: s, State: queue.Parked | queue.Waiting, Reason: s, Holder: s, Replaced: &queue.Record{Op: models.ActionType(s), Body: []byte(s)}, ReplacedReason: s,
			Waiting: []queue.Record{{Key: s, Op: models.ActionType(s), Body: []byte(s)}},
		}
		var out bytes.Buffer
		p := New(&out, false)
		assert.NoError(t, p.Entry(&e, true))
		assert.NoError(t, p.Stats(s, &queue.Stats{Paused: true, PauseReason: s}, ""))
		text := strings.ReplaceAll(out.String(), "\n", "")
		assert.False(t, strings.ContainsAny(text, ofTerminals), "%q", text)
		assert.Equal(t, 3+8, strings.Count(out.String(), "\n"), "no line of its own: %q", out.String())
	})
}

func TestEntrySaysWhoHoldsItAndWhatHasHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for want, e := range map[string]queue.Entry{
			"k: 1 leased by process 7 on host until " + now.Add(time.Minute).Local().Format(time.TimeOnly) + ", 2 waiting behind, since 1m30s ago, class 2, 2 leases expired\n": {
				State: queue.Leased | queue.Waiting, Leased: make([]queue.Record, 1), Waiting: make([]queue.Record, 2), Holder: "process 7 on host",
				Until: now.Add(time.Minute), Since: now.Add(-90 * time.Second), Class: 2, Expired: 2,
			},
			"k: 1 parked 5s ago (three have died), since 1h0m0s ago, 3 holders died while holding it\n": {
				State: queue.Parked, Parked: make([]queue.Record, 1), ParkedAt: now.Add(-5 * time.Second), Reason: "three have died", Since: now.Add(-time.Hour), Deaths: 3,
			},
			"k: 1 waiting, since 0s ago, not due for 2s, released once to be tried again\n": {
				State: queue.Waiting, Waiting: make([]queue.Record, 1), Since: now, Due: now.Add(2 * time.Second), Tries: 1,
			},
		} {
			e.Key = "k"
			var out bytes.Buffer
			require.NoError(t, New(&out, false).Entry(&e, false))
			assert.Equal(t, want, out.String())
		}
	})
}

func TestJSONHasBodiesAsTheyAre(t *testing.T) {
	e := queue.Entry{Key: "<k>", State: queue.Waiting, Waiting: []queue.Record{
		{Op: models.ActionTypeUpload, Seq: 4, Body: []byte(`{"id":"<k>"}`)}, {Op: models.ActionTypeMerge, Seq: 5, Body: []byte("no JSON")}, {Seq: 6},
	}}
	var out bytes.Buffer
	require.NoError(t, New(&out, true).Entry(&e, true))
	assert.Equal(t, `{"key":"<k>","states":["waiting"],"class":0,"waiting":[{"op":"upload","seq":4,"body":{"id":"<k>"}},`+
		`{"op":"merge","seq":5,"bodyBytes":"bm8gSlNPTg=="},{"op":"","seq":6}],"expired":0,"deaths":0,"tries":0}`+"\n", out.String())
	assert.True(t, json.Valid(out.Bytes()))
}
