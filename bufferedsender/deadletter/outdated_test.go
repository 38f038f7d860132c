package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

// aged returns a dead letter with a version, which its document has too.
func aged(key string, v int) Letter {
	l := letterOf(key, v)
	l.Version = int64(v)
	return l
}

// applied is what a sender with Folding.Version writes about an applied action.
func applied(index, key string, version int64) []Letter {
	return []Letter{{Index: index, Key: key, Version: version}}
}

// reopened opens what a crash leaves of a disk that keeps only what was synced.
func reopened(t *testing.T, d *disktest.Disk, opts *FileOptions) *File {
	t.Helper()
	d.Crash(func(string, int) int { return 0 })
	return openDisk(t, d, opts)
}

// What one Replay has delivered, the next one does not overwrite with an older version.
func TestAReplayThatIsCutOffLeavesNoOlderVersionToSend(t *testing.T) {
	for _, actions := range []int{1, 100} {
		t.Run(fmt.Sprintf("%d at a time", actions), func(t *testing.T) {
			d, f := filled(t, nil, aged("a", 7), aged("a", 5), aged("b", 6))
			ctx, cancel := context.WithCancel(t.Context())
			service := &service{}
			_, err := Replay(ctx, f, testIndex, sender(func(c context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
				cancel()
				return service.AddAndWait(c, actions)
			}), &ReplayOptions{maxActions: actions})
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, 7, service.applied[0])
			report, err := Replay(t.Context(), reopened(t, d, nil), testIndex, service, nil)
			require.NoError(t, err)
			require.Equal(t, 1, report.Outdated)
			require.NotContains(t, service.applied, 5)
			require.Empty(t, readAll(t, d))
		})
	}
}

// A mark outlives rewrites and crashes. A dead letter that comes later has it from the beginning, as long as another
// one of its key is kept.
func TestAnOutdatedLetterStaysOutdated(t *testing.T) {
	redacted := &FileOptions{Redact: true}
	d, f := filled(t, redacted, aged("a", 4), aged("b", 4), aged("c", 4))
	require.NoError(t, f.Write(t.Context(), append(applied(testIndex, "a", 9), applied("films", "b", 9)...)))
	require.NoError(t, f.Write(t.Context(), []Letter{aged("a", 8)}))
	n, err := f.Discard(t.Context(), func(l Letter) bool { return l.Key == "c" })
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NotContains(t, fmt.Sprint(d.Files()), journalExt, "the mark is in the file")
	f = openDisk(t, d, redacted)
	require.NoError(t, f.Write(t.Context(), applied(testIndex, "another", 1)))
	require.NoError(t, f.Write(t.Context(), []Letter{aged("a", 6), aged("a", 10)}), "9 is known")
	f = reopened(t, d, redacted)
	service := &service{}
	var sent []string
	report, err := Replay(t.Context(), f, testIndex, service, &ReplayOptions{
		Document: func(_ context.Context, l Letter) (json.RawMessage, error) {
			sent = append(sent, fmt.Sprint(l.Key, l.Version))
			return letterOf(l.Key, int(l.Version)).Document, nil
		},
	})
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 2, Delivered: 2, Outdated: 3}, report)
	require.Equal(t, []string{"b4", "a10"}, sent)
	require.Empty(t, readAll(t, d))
}

// A letter that names an applied version is none, and is never mixed with real ones.
func TestAVersionThatIsAppliedIsNoLetter(t *testing.T) {
	d, f := filled(t, nil, aged("a", 4))
	require.NoError(t, f.Write(t.Context(), applied(testIndex, "x", 9)))
	require.Len(t, readAll(t, d), 1)
	require.EqualValues(t, 1, f.Stats().Written)
	err := f.Write(t.Context(), append(applied(testIndex, "a", 9), aged("b", 5)))
	require.ErrorContains(t, err, `1 of 2 dead letters are not kept: there is no action ""`)
	require.Len(t, readAll(t, d), 2)
	report, err := Replay(t.Context(), f, testIndex, &service{}, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Sent: 2, Delivered: 2}, report)
	require.NoError(t, f.Close())
	require.NoError(t, f.Write(t.Context(), applied(testIndex, "a", 9)), "there is nothing to mark")
}

// After the failure the journal is repeated, so it has as many calls again as when the rewrite began.
func TestAMarkThatComesDuringARewriteIsKeptAfterAFailedOne(t *testing.T) {
	d, f := filled(t, nil, aged("a", 4), aged("b", 4))
	require.NoError(t, f.Write(t.Context(), applied(testIndex, "another", 1)), "so that versions are known")
	d.Fail = func(op, name string) error {
		if op != "sync" || !strings.HasSuffix(name, rewriteExt) {
			return nil
		}
		failOn(d, "write", journalExt) // the copy has filled the disk
		require.ErrorIs(t, f.Write(t.Context(), applied(testIndex, "a", 9)), disktest.ErrDisk)
		d.Fail = nil
		require.NoError(t, f.Write(t.Context(), applied(testIndex, "another", 2)))
		return nil
	}
	n, err := f.Discard(t.Context(), func(l Letter) bool { return l.Key == "b" })
	require.NoError(t, err)
	require.Equal(t, 1, n)
	report, err := Replay(t.Context(), openDisk(t, d, nil), testIndex, &service{}, nil)
	require.NoError(t, err)
	require.Equal(t, Report{Outdated: 1}, report)
}

// A disk that fails is reported and tried again, and meanwhile the File knows.
func TestAMarkThatCannotBeWrittenIsReportedAndWrittenLater(t *testing.T) {
	for _, op := range []string{"write", "sync", "sync names"} {
		t.Run(op, func(t *testing.T) {
			d, f := filled(t, nil, aged("a", 4), aged("b", 4))
			d.Fail = func(o, name string) error {
				if o == op && (strings.HasSuffix(name, journalExt) || o == "sync names") {
					return disktest.ErrDisk
				}
				return nil
			}
			require.ErrorIs(t, f.Write(t.Context(), applied(testIndex, "a", 9)), disktest.ErrDisk)
			report, err := Replay(t.Context(), f, testIndex, &service{}, &ReplayOptions{Select: func(l Letter) bool { return l.Key == "a" }})
			require.True(t, errors.Is(err, disktest.ErrDisk) && report.Sent == 0, "%+v %v", report, err)
			d.Fail = nil
			require.NoError(t, f.Write(t.Context(), applied(testIndex, "unknown", 1)))
			report, err = Replay(t.Context(), reopened(t, d, nil), testIndex, &service{}, nil)
			require.NoError(t, err)
			require.Equal(t, 1, report.Delivered)
			require.Empty(t, readAll(t, d))
		})
	}
}

// A File that runs for ever does not grow with the dead letters that it had.
func TestVersionsOfLettersThatAreGoneAreForgotten(t *testing.T) {
	_, f := filled(t, &FileOptions{maxFileBytes: 2000})
	require.NoError(t, f.Write(t.Context(), applied(testIndex, "a", 1)))
	for v := 1; v < 60; v += 6 {
		require.NoError(t, f.Write(t.Context(), []Letter{aged("a", v), aged("b", v), aged("a", v+1), aged(fmt.Sprint("k", v), v)}))
		_, err := Replay(t.Context(), f, testIndex, &service{refused: map[int]bool{1: true}}, nil)
		require.NoError(t, err)
	}
	_, err := f.Discard(t.Context(), func(Letter) bool { return true })
	require.NoError(t, err)
	require.Empty(t, f.versions.by)
	require.Empty(t, f.versions.in)
}

// Dead letters before the place where a Replay stopped hold later ones of their key, which are sent after them.
func TestTheNextReplayBeginsBehindTheLastAndKeepsTheOrderOfAKey(t *testing.T) {
	for _, size := range []int64{700, 100_000} {
		d, f := filled(t, &FileOptions{maxFileBytes: size}, letterOf("a", 1), letterOf("b", 2), letterOf("c", 3), letterOf("a", 4), letterOf("d", 5))
		withdrawing := sender(func(_ context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
			return make([]models.IndexingResult, len(actions)), models.ErrWithdrawn
		})
		options := &ReplayOptions{maxActions: 1, maxAlone: 1}
		report, err := Replay(t.Context(), f, testIndex, withdrawing, options)
		require.ErrorIs(t, err, models.ErrWithdrawn)
		require.ErrorIs(t, err, errWithdrawn)
		require.Equal(t, Report{Sent: 2}, report)
		other := &service{}
		report, err = Replay(t.Context(), f, "films", other, nil)
		require.NoError(t, err)
		require.Equal(t, Report{OtherIndexes: 5}, report)
		f = reopened(t, d, nil)
		service := &service{}
		report, err = Replay(t.Context(), f, testIndex, service, options)
		require.NoError(t, err)
		require.Equal(t, Report{Sent: 5, Delivered: 5}, report)
		require.Equal(t, []int{3, 5, 1, 2, 4}, service.applied)
		require.Empty(t, d.Files())
	}
}
