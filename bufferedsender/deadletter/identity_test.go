package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

// known is a sender that identifies its index.
type known struct {
	*service
	info models.SenderInfo
}

func (k known) Info() models.SenderInfo { return k.info }

func TestReplaySendsALetterToNoOtherIndexThanItsOwn(t *testing.T) {
	const here, there = "https://here.search.windows.net", "https://there.search.windows.net"
	at := func(endpoint string, v int) Letter {
		l := letterOf(fmt.Sprint("k", v), v)
		l.Endpoint = endpoint
		return l
	}
	d, f := filled(t, nil, at(here, 1), at(there, 2), at("", 3), at("https://HERE.search.windows.net:443/", 4))
	films := known{&service{}, models.SenderInfo{Endpoint: here, IndexName: "films"}}
	report, err := Replay(t.Context(), f, testIndex, films, nil)
	require.ErrorContains(t, err, `dead letters of index "hotels" through a sender of "films"`)
	require.Zero(t, report)
	require.Empty(t, films.calls)
	require.Len(t, readAll(t, d), 4)

	hotels := known{&service{}, models.SenderInfo{Endpoint: here, IndexName: testIndex}}
	report, err = Replay(t.Context(), f, testIndex, hotels, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 3, Delivered: 3, OtherIndexes: 1}, report)
	require.Equal(t, []int{1, 3, 4}, hotels.applied)
	require.Equal(t, []int{2}, versionsOf(readAll(t, d)))
}

// A flipped bit never changes, restores or removes another dead letter than the one that contains it, and a replay
// keeps the damaged one.
func TestAFlippedBitIsNeverReplayed(t *testing.T) {
	one, two := lineOf(1), lineOf(2)
	journal := string(stamped(nil, "{", []byte(`"done":[1]}`))) + "\n"
	texts := map[string]bool{}
	for _, l := range []Letter{letterOf("k1", 1), letterOf("k2", 2)} {
		text, err := json.Marshal(l)
		require.NoError(t, err)
		texts[string(text)] = true
	}
	flipped := func(content string, bit int) string {
		b := []byte(content)
		b[bit/8] ^= 1 << (bit % 8)
		return string(b)
	}
	for bit := range 8 * len(one) {
		d := disktest.New()
		d.Put(stemA+lettersExt, flipped(one, bit)+two)
		letters, errs := read(d)
		require.LessOrEqual(t, len(letters)+len(errs), 3)
		for _, l := range letters {
			text, err := json.Marshal(l)
			require.NoError(t, err)
			require.True(t, texts[string(text)], "bit %d made %s", bit, text)
		}
		if bit < 8*(len(one)-1) { // the newline ends two lines
			require.Contains(t, versionsOf(letters), 2)
			require.Len(t, errs, 1, "bit %d", bit)
		}
	}
	for bit := range 8 * len(journal) {
		d := disktest.New()
		d.Put(stemA+lettersExt, one+two)
		d.Put(stemA+journalExt, flipped(journal, bit))
		letters, errs := read(d)
		if len(errs) == 0 {
			require.Contains(t, versionsOf(letters), 2, "bit %d", bit)
		}
	}
}

func TestFormatsThatAreOlderAreReadAndNewerOnesRefusedByName(t *testing.T) {
	old := strings.NewReplacer(`"format":2,`, ``).Replace(lineOf(1))
	old = old[:strings.Index(old, `"crc"`)] + old[strings.Index(old, `"index"`):]
	newer := strings.Replace(lineOf(2), `"format":2`, `"format":3`, 1)
	d := disktest.New()
	d.Put(stemA+lettersExt, old+newer+lineOf(3))
	f := openDisk(t, d, nil)
	service := &service{}
	var said []error
	report, err := Replay(t.Context(), f, testIndex, service, &ReplayOptions{Kept: func(_ Letter, why error) { said = append(said, why) }})
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 2, Delivered: 2, Skipped: 1}, report)
	require.Equal(t, []int{1, 3}, service.applied)
	require.Len(t, said, 1)
	assert.ErrorContains(t, said[0], "it has format 3, and this version reads 2 at most; use the version that has written it")
	require.Equal(t, newer, d.Files()[stemA+lettersExt])

	d = disktest.New()
	d.Put(stemA+lettersExt, lineOf(1)+lineOf(2))
	d.Put(stemA+journalExt, `{"done":[1]}`+"\n")
	require.Equal(t, []int{2}, versionsOf(readAll(t, d)), "a journal of format 1")
	d.Put(stemA+journalExt, `{"format":3,"gone":[1]}`+"\n")
	f = openDisk(t, d, nil)
	_, err = Replay(t.Context(), f, testIndex, service, nil)
	require.ErrorContains(t, err, "it has format 3")
	_, errs := read(d)
	require.ErrorContains(t, errors.Join(errs...), "it has format 3")
}

func TestAnOlderVersionIsNotPutOverANewerOne(t *testing.T) {
	versioned := func(key string, v int, version int64) Letter {
		l := letterOf(key, v)
		l.Version = version
		return l
	}
	d, f := filled(t, nil,
		versioned("a", 1, 7), versioned("a", 2, 5), versioned("a", 3, 8), // 2 was given up late
		versioned("b", 4, 5), versioned("c", 5, 5), versioned("d", 6, 0))
	applied := map[string]int64{"b": 9, "c": 5, "d": 9}
	to := known{&service{}, models.SenderInfo{IndexName: testIndex, Applied: func(key string) int64 { return applied[key] }}}
	report, err := Replay(t.Context(), f, testIndex, to, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 4, Delivered: 4, Outdated: 2}, report)
	require.Equal(t, []int{1, 5, 6, 3}, to.applied)
	require.Empty(t, readAll(t, d))
}

// Of two concurrent Replays one has the File; the other returns an error and does nothing.
func TestTwoReplaysAtOnceSendALetterOnce(t *testing.T) {
	d, f := filled(t, nil, lettersOf(1, 10)...)
	inside := &service{}
	report, err := Replay(t.Context(), f, testIndex, sender(func(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		_, err := Replay(ctx, f, testIndex, &service{}, nil)
		require.ErrorIs(t, err, ErrBusy)
		return inside.AddAndWait(ctx, actions)
	}), nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 10, Delivered: 10}, report)
	require.Empty(t, readAll(t, d))
}
