package deadletter

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

// failOn lets a disk fail at op on files whose names end in suffix.
func failOn(d *disktest.Disk, op, suffix string) {
	d.Fail = func(o, name string) error {
		if o == op && strings.HasSuffix(name, suffix) {
			return disktest.ErrDisk
		}
		return nil
	}
}

func discardVersion(v int) func(Letter) bool {
	return func(l Letter) bool { return versionOf(l) == v }
}

func TestAReasonThatComesDuringARewriteIsKept(t *testing.T) {
	for _, op := range []string{"create", "write", "sync", "rename"} {
		t.Run(op, func(t *testing.T) {
			d, f := filled(t, nil, lettersOf(1, 2)...)
			var tag any
			ctx, cancel := context.WithCancel(t.Context())
			_, err := Replay(ctx, f, testIndex, sender(func(_ context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
				tag = actions[1].Tag
				cancel()
				return make([]models.IndexingResult, 2), ctx.Err()
			}), nil)
			require.ErrorIs(t, err, context.Canceled)

			notified := make(chan struct{})
			d.Fail = func(o, name string) error {
				if o == op && strings.HasSuffix(name, rewriteExt) {
					d.Fail = nil
					late := letterOf("k2", 2)
					late.Message, late.Tag = "late", tag
					go func() { // after the rename Discard waits for the File's lock
						defer close(notified)
						assert.NoError(t, f.Write(t.Context(), []Letter{late}))
					}()
					if op != "rename" {
						<-notified
					}
				}
				return nil
			}
			n, err := f.Discard(t.Context(), discardVersion(1))
			require.NoError(t, err)
			require.Equal(t, 1, n)
			<-notified
			letters := readAll(t, d)
			require.Equal(t, []int{2}, versionsOf(letters))
			require.Equal(t, "late", letters[0].Message)
			_, err = f.Discard(t.Context(), discardVersion(3))
			require.NoError(t, err)
			require.Equal(t, letters, readAll(t, d))
			for name := range d.Files() {
				require.NotContains(t, name, journalExt, "the next walk has seen to it")
			}
		})
	}
}

// First the process crashes while the removal of a file is not synced, then the machine.
func TestOpenDoesNotForgetWhatTheDiskMayBringBack(t *testing.T) {
	d, f := filled(t, nil, lettersOf(1, 1)...)
	d.Fail = func(op, name string) error {
		if op == "remove" && strings.HasSuffix(name, lettersExt) {
			failOn(d, "sync names", ".")
		}
		return nil
	}
	_, err := f.Discard(t.Context(), discardVersion(1))
	require.ErrorIs(t, err, disktest.ErrDisk)
	d.Fail = nil
	openDisk(t, d, nil)
	d.Crash(func(what string, n int) int {
		if strings.Contains(what, lettersExt) {
			return 0
		}
		return n - 1
	})
	openDisk(t, d, nil)
	require.Empty(t, readAll(t, d))
}

// An entry whose sync failed is readable, but a crash can undo it. If a later dead letter were sent because of it,
// the restored one would be sent after it.
func TestAnEntryThatMayBeLostIsNotBelieved(t *testing.T) {
	for _, failing := range []string{"sync", "sync names"} {
		t.Run(failing, func(t *testing.T) {
			d, f := filled(t, nil, letterOf("a", 1), letterOf("a", 2))
			suffix := journalExt
			if failing == "sync names" {
				suffix = "."
			}
			failOn(d, failing, suffix)
			_, err := f.Discard(t.Context(), discardVersion(1))
			require.ErrorIs(t, err, disktest.ErrDisk)
			d.Fail = nil
			service := &service{}
			_, err = Replay(t.Context(), f, testIndex, sender(func(c context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
				d.Fail = func(string, string) error { return disktest.ErrDisk } // the crash
				return service.AddAndWait(c, actions)
			}), nil)
			require.ErrorIs(t, err, disktest.ErrDisk)
			require.Equal(t, []int{2}, service.applied)
			d.Crash(func(string, int) int { return 0 })
			openDisk(t, d, nil)
			require.Equal(t, []int{2}, versionsOf(readAll(t, d)))
		})
	}
}

// hooked calls hook before file number at is opened.
type hooked struct {
	fs.ReadDirFS
	opened, at int
	hook       func()
}

func (h *hooked) Open(name string) (fs.File, error) {
	if h.opened++; h.opened == h.at {
		h.hook()
	}
	return h.ReadDirFS.Open(name)
}

func TestReadDuringARewriteFindsNothingThatWasGoneBefore(t *testing.T) {
	d, f := filled(t, nil, lettersOf(1, 2)...)
	failOn(d, "rename", rewriteExt)
	_, err := f.Discard(t.Context(), discardVersion(1))
	require.ErrorIs(t, err, disktest.ErrDisk)
	d.Fail = nil
	require.Equal(t, []int{2}, versionsOf(readAll(t, d)))
	require.Equal(t, []int{2}, versionsOf(readAll(t, &hooked{ReadDirFS: d, at: 2, hook: func() {
		_, err := f.Discard(t.Context(), discardVersion(3))
		require.NoError(t, err)
	}})))
	require.Len(t, unmarked(d), 1, "it was rewritten")
}
