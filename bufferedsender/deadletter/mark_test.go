package deadletter

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
)

// lossesOf opens a disk, and returns what is said about dead letters that are missing: their number, and that of the
// damaged lines.
func lossesOf(t *testing.T, d *disktest.Disk) (f *File, missing, damaged int) {
	t.Helper()
	var log bytes.Buffer
	f = openDisk(t, d, &FileOptions{Logger: slog.New(slog.NewTextHandler(&log, nil)), maxFileBytes: 900})
	missing = int(f.Stats().Missing)
	_, errs := read(d)
	damaged = len(errs)
	for _, err := range errs {
		require.ErrorAs(t, err, new(*DamagedError))
		if errors.Is(err, errMissing) {
			damaged--
		}
	}
	require.Equal(t, missing > 0, errors.Is(errors.Join(errs...), errMissing), "Read says what Stats counts: %v", errs)
	require.Equal(t, missing > 0, strings.Contains(log.String(), "level=WARN"), "and so does the log: %s", log.String())
	return f, missing, damaged
}

// A bad copy, or a disk that lies about syncs, has lost what Write has promised: the File opens, and says so.
func TestDeadLettersThatAreCutOffAreCountedAndSaid(t *testing.T) {
	for name, prepare := range map[string]func(f *File) (left []int){
		"written": func(*File) []int { return []int{1, 2, 3} },
		"rewritten": func(f *File) []int {
			_, err := f.Discard(t.Context(), discardVersion(2))
			require.NoError(t, err)
			return []int{1, 3}
		},
	} {
		t.Run(name, func(t *testing.T) {
			made, f := filled(t, &FileOptions{maxFileBytes: 900}, lettersOf(1, 3)...)
			want := prepare(f)
			require.NoError(t, f.Close())
			files := made.Files()
			file := firstWith(files, lettersExt)
			whole := files[file]
			lines := strings.SplitAfter(whole, "\n")
			for cut := range len(whole) {
				for what, content := range map[string]string{"cut": whole[:cut], "zeroed": whole[:cut] + strings.Repeat("\x00", len(whole)-cut)} {
					feed := 0 // bytes of a line feed that a line can lack
					if what == "cut" {
						feed = 1
					}
					d := disktest.New()
					for name, content := range files {
						d.Put(name, content)
					}
					d.Put(file, content)
					left := 0
					for end := 0; left < len(want) && cut >= end+len(lines[left])-feed; left++ {
						end += len(lines[left])
					}
					for range 2 { // opening is no consent
						f, missing, damaged := lossesOf(t, d)
						require.Equal(t, len(want)-left, missing+damaged, "%s at %d", what, cut)
						letters, _ := read(d)
						require.Equal(t, want[:left], versionsOf(letters), "%s at %d", what, cut)
						require.NoError(t, f.Close())
					}
				}
			}
		})
	}
}

func firstWith(files map[string]string, ext string) (name string) {
	for n := range files {
		if strings.HasSuffix(n, ext) && (name == "" || n < name) {
			name = n
		}
	}
	return name
}

func TestAFileOfDeadLettersThatIsGoneIsCountedUntilItsMarkIsRemoved(t *testing.T) {
	for _, content := range []string{"", "gone"} {
		d, f := filled(t, &FileOptions{maxFileBytes: 900}, lettersOf(1, 5)...)
		require.NoError(t, f.Close())
		file := firstWith(d.Files(), lettersExt)
		if d.Put(file, content); content == "gone" {
			require.NoError(t, d.Remove(file))
		}
		f, missing, damaged := lossesOf(t, d)
		require.Equal(t, 3, missing+damaged)
		report, err := Replay(t.Context(), f, testIndex, &service{}, nil)
		require.NoError(t, err)
		require.Equal(t, Report{Sent: 2, Delivered: 2}, report)
		require.NoError(t, f.Close())
		f, missing, _ = lossesOf(t, d)
		require.Equal(t, 3, missing)
		require.NoError(t, f.Close())
		require.NoError(t, d.Remove(firstWith(d.Files(), markExt)))
		_, missing, _ = lossesOf(t, d)
		require.Zero(t, missing)
	}
}

func TestReplaySendsWhatIsLeftOfACutFileAndSaysThatMoreWasThere(t *testing.T) {
	d, f := filled(t, nil, lettersOf(1, 3)...)
	require.NoError(t, f.Close())
	file := firstWith(d.Files(), lettersExt)
	d.Put(file, d.Files()[file][:2*len(lineOf(1))])
	f, missing, _ := lossesOf(t, d)
	require.Equal(t, 1, missing)
	var said []error
	report, err := Replay(t.Context(), f, testIndex, &service{}, &ReplayOptions{Kept: func(_ Letter, why error) { said = append(said, why) }})
	require.NoError(t, err)
	require.ErrorIs(t, errors.Join(said...), errMissing)
	require.Equal(t, Report{Sent: 2, Delivered: 2, Skipped: 1}, report)
	require.EqualValues(t, 1, f.Stats().Missing, "as long as the File is open")
	require.Empty(t, d.Files(), "it was said")
}

// Without a lie of the disk a mark is older, absent, or cannot be read.
func TestAnOldMarkAccusesNobody(t *testing.T) {
	d := disktest.New()
	f := openDisk(t, d, nil)
	marks := []string{"", strings.Repeat("\x00", 512), "azmark"}
	for v := 1; v <= 3; v++ {
		require.NoError(t, f.Write(t.Context(), lettersOf(v, 1)))
		files := d.Files()
		marks = append(marks, files[firstWith(files, markExt)])
	}
	files := d.Files()
	for _, mark := range marks {
		for _, end := range []string{"", "{", `{"n":4,`} {
			d := disktest.New()
			d.Put(firstWith(files, lettersExt), files[firstWith(files, lettersExt)]+end)
			d.Put(firstWith(files, markExt), mark)
			_, missing, damaged := lossesOf(t, d)
			require.Zero(t, missing+damaged)
		}
	}
}

// Read takes no lock: what is written, rewritten and removed while it reads is not missing.
func TestReadBesideAWriterFindsNothingMissing(t *testing.T) {
	for _, change := range map[string]func(f *File) error{
		"write": func(f *File) error { return f.Write(t.Context(), lettersOf(4, 2)) },
		"rewrite": func(f *File) error {
			_, err := f.Discard(t.Context(), discardVersion(3))
			return err
		},
		"rewrite and remove": func(f *File) error {
			for v := 3; v > 0; v-- {
				if _, err := f.Discard(t.Context(), discardVersion(v)); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		for at := 1; at < 10; at++ {
			d, f := filled(t, nil, lettersOf(1, 3)...)
			h := &hooked{ReadDirFS: d, at: at, hook: func() { require.NoError(t, change(f)) }}
			readAll(t, h)
			require.NoError(t, f.Close())
		}
	}
}
