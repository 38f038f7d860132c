package deadletter

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// fill keeps a disk full until this many files of dead letters have been removed.
func fill(d *disktest.Disk, removals int) {
	d.Fail = func(op, name string) error {
		switch {
		case op == "remove" && strings.HasSuffix(name, lettersExt):
			removals--
		case removals > 0 && !slices.Contains([]string{"remove", "rename", "cut", "sync names"}, op):
			return fmt.Errorf("%s of %s: %w", op, name, syscall.ENOSPC)
		}
		return nil
	}
}

func TestReplayAndDiscardMakeRoomOnAFullDisk(t *testing.T) {
	walks := map[string]func(f *File) (gone int, err error){
		"Replay": func(f *File) (int, error) {
			service := &service{refused: map[int]bool{2: true}, message: "again"}
			report, err := Replay(t.Context(), f, testIndex, service, nil)
			return report.Delivered, err
		},
		"Discard": func(f *File) (int, error) {
			return f.Discard(t.Context(), func(l Letter) bool { return versionOf(l) != 2 })
		},
	}
	for name, walk := range walks {
		t.Run(name, func(t *testing.T) {
			d, f := filled(t, &FileOptions{maxFileBytes: 900}, lettersOf(1, 12)...)
			files := len(unmarked(d))
			require.Greater(t, files, 3)
			fill(d, 2)
			gone, err := walk(f)
			require.NoError(t, err)
			require.Equal(t, 11, gone)
			require.Equal(t, []int{2}, versionsOf(readAll(t, d)))
			d.Fail = nil
			d.Crash(func(string, int) int { return 0 })
			require.Equal(t, []int{2}, versionsOf(readAll(t, d)), "that is durable")
		})
	}
}

// A delivered dead letter that can be neither recorded nor removed is sent again. Later ones of its key wait, or the
// repeat would overwrite them.
func TestADiskThatStaysFullRepeatsLettersInTheirOrder(t *testing.T) {
	d, f := filled(t, &FileOptions{maxFileBytes: 900}, letterOf("a", 1), letterOf("b", 2), letterOf("c", 3), letterOf("a", 4), letterOf("d", 5))
	require.Len(t, unmarked(d), 2)
	fill(d, 2)
	stays := &service{refused: map[int]bool{2: true}, message: "again"}
	k := kept{}
	report, err := Replay(t.Context(), f, testIndex, stays, &ReplayOptions{Kept: k.note})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, k[4], ErrHeld)
	require.Equal(t, Report{Sent: 4, Delivered: 3, Failed: 1, Skipped: 1}, report)
	d.Crash(func(string, int) int { return 0 })
	d.Fail = nil
	require.Subset(t, versionsOf(readAll(t, d)), []int{2, 4})

	f = openDisk(t, d, nil)
	again := &service{}
	_, err = Replay(t.Context(), f, testIndex, again, nil)
	require.NoError(t, err)
	require.Less(t, slices.Index(again.applied, 1), slices.Index(again.applied, 4))
	require.Empty(t, readAll(t, d))

	d, f = filled(t, nil, lettersOf(1, 3)...)
	fill(d, 1)
	n, err := f.Discard(t.Context(), func(l Letter) bool { return versionOf(l) != 2 })
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Zero(t, n)
	require.Len(t, readAll(t, d), 3)
}

// A killed walk has left outcomes that may only be in memory. They are not those of this call.
func TestDiscardDoesNotCountTheOutcomesOfAnEarlierWalkOnAFullDisk(t *testing.T) {
	d, f := filled(t, nil, lettersOf(1, 5)...)
	p, err := f.beginWalk(t.Context())
	require.NoError(t, err)
	j, err := p.journal(p.stems[0])
	require.NoError(t, err)
	require.NoError(t, p.record(p.stems[0], &j, entry{Done: []int64{1, 2, 3, 4}}))
	p.end()
	f = openDisk(t, d, nil)
	fill(d, 100)
	n, err := f.Discard(t.Context(), func(l Letter) bool { return versionOf(l) == 0 })
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Zero(t, n)
}
