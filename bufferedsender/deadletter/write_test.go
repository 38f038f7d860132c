package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

func TestEverythingOfALetterIsKept(t *testing.T) {
	letter := Letter{
		Index: "hotels", Key: "7", Action: models.ActionTypeMergeOrUpload,
		Document: json.RawMessage(`{"id":"7","html":"<b>&\u2028","n":9007199254740993,"x":null}`),
		Status:   422, Message: `"quoted" <and> broken` + "\n", RequestID: "abc", Attempts: 4,
		Unknown: true, Unsent: true, Error: "mergeOrUpload of document \"7\" failed",
		First: testTime, Last: testTime.Add(time.Minute), Tag: "not stored",
	}
	dir := t.TempDir()
	require.NoError(t, openDir(t, dir, nil).Write(t.Context(), []Letter{letter}))
	letter.Tag = nil
	require.Equal(t, []Letter{letter}, readAll(t, os.DirFS(dir)))
}

func TestLettersAreOneReadableLineEach(t *testing.T) {
	dir := t.TempDir()
	f := openDir(t, dir, nil)
	pretty := letterOf("7", 1)
	pretty.Document = json.RawMessage("{\n  \"id\": \"7\",\n  \"v\": 1\n}")
	require.NoError(t, f.Write(t.Context(), []Letter{pretty, letterOf("8", 2)}))
	names := namesIn(t, dir)
	require.Len(t, names, 1)
	content, err := os.ReadFile(filepath.Join(dir, names[0]))
	require.NoError(t, err)
	require.Equal(t, `{"n":1,"format":2,"crc":"7455659a","index":"hotels","key":"7","action":"upload","document":{"id":"7","v":1},"status":400,"message":"no","requestId":"r1","attempts":1,"error":"refused: no","first":"2026-11-21T12:04:27.123456789Z","last":"2026-11-21T12:04:28.123456789Z"}
{"n":2,"format":2,"crc":"3cd3f040","index":"hotels","key":"8","action":"upload","document":{"id":"8","v":2},"status":400,"message":"no","requestId":"r1","attempts":1,"error":"refused: no","first":"2026-11-21T12:04:27.123456789Z","last":"2026-11-21T12:04:28.123456789Z"}
`, string(content))
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	dir := filepath.Join(t.TempDir(), "new", "letters")
	f := openDir(t, dir, nil)
	require.NoError(t, f.Write(t.Context(), lettersOf(1, 2)))
	service := &service{refused: map[int]bool{1: true}}
	_, err := Replay(t.Context(), f, testIndex, service, &ReplayOptions{Kept: func(Letter, error) {
		require.NoError(t, f.Write(t.Context(), lettersOf(3, 1)))
	}})
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		assert.Equal(t, want, info.Mode().Perm(), path)
		return nil
	}))
}

func TestNamesSortByTimeEvenIfTheClockGoesBack(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 4, 27, 5, time.FixedZone("", 3600))
	first := stemAfter("", at)
	require.Equal(t, "letters-20261121T110427.000000005Z", first)
	stems := []string{first}
	for _, step := range []time.Duration{time.Second, 0, -time.Hour, -time.Hour, time.Hour, time.Nanosecond} {
		at = at.Add(step)
		stems = append(stems, stemAfter(stems[len(stems)-1], at))
	}
	require.True(t, slices.IsSorted(stems), "%q", stems)
	require.Len(t, slices.Compact(slices.Clone(stems)), len(stems))
	for _, stem := range stems {
		got, ext, ok := stemOf(stem + lettersExt)
		require.True(t, ok)
		require.Equal(t, []string{stem, lettersExt}, []string{got, ext})
	}
}

func TestAFileIsNoLargerThanMaxFileBytesUnlessOneLetterIs(t *testing.T) {
	line := int64(len(lineOf(1)))
	for _, limit := range []int64{1, line - 1, line, line + 1, 3 * line, 3*line + 1} {
		dir := t.TempDir()
		f := openDir(t, dir, &FileOptions{maxFileBytes: limit})
		require.NoError(t, f.Write(t.Context(), lettersOf(1, 2)))
		require.NoError(t, f.Write(t.Context(), lettersOf(3, 7)))
		require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, versionsOf(readAll(t, os.DirFS(dir))))
		perFile := max(1, limit/line)
		require.Equal(t, int((9+perFile-1)/perFile), f.Stats().Files, "limit %d", limit)
		var total int64
		for _, name := range namesIn(t, dir) {
			info, err := os.Stat(filepath.Join(dir, name))
			require.NoError(t, err)
			require.LessOrEqual(t, info.Size(), max(limit, line))
			total += info.Size()
		}
		require.Equal(t, Stats{Files: f.Stats().Files, Bytes: total, Written: 9}, f.Stats())
	}
}

func TestFullDeadLettersRefuseAndRemoveNothing(t *testing.T) {
	line := int64(len(lineOf(1)))
	d := disktest.New()
	f := openDisk(t, d, &FileOptions{MaxTotalBytes: 3*line + line/2, maxFileBytes: 2 * line})
	require.NoError(t, f.Write(t.Context(), lettersOf(1, 2)))
	err := f.Write(t.Context(), lettersOf(3, 3))
	require.ErrorIs(t, err, ErrFull)
	require.ErrorContains(t, err, "2 of 3 dead letters are not kept")
	require.Equal(t, []int{1, 2, 3}, versionsOf(readAll(t, d)), "as many as fit")
	before := d.Files()
	require.ErrorIs(t, f.Write(t.Context(), lettersOf(6, 1)), ErrFull)
	require.Equal(t, before, d.Files())

	again := openDisk(t, d, &FileOptions{MaxTotalBytes: 3*line + line/2})
	require.ErrorIs(t, again.Write(t.Context(), lettersOf(6, 1)), ErrFull, "existing dead letters count")
	n, err := again.Discard(t.Context(), func(l Letter) bool { return versionOf(l) == 1 })
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NoError(t, again.Write(t.Context(), lettersOf(6, 1)), "there is room again")

	unlimited := openDisk(t, disktest.New(), &FileOptions{MaxTotalBytes: -1})
	require.NoError(t, unlimited.Write(t.Context(), lettersOf(1, 100)))
}

func TestRedactedLettersHoldNothingOfTheDocument(t *testing.T) {
	const secret = "4711-0815"
	d := disktest.New()
	f := openDisk(t, d, &FileOptions{Redact: true})
	letter := letterOf("7", 1)
	letter.Document = json.RawMessage(`{"card":"` + secret + `"}`)
	letter.Message = "bad value '" + secret + "'"
	letter.Error = "upload failed: " + letter.Message
	require.NoError(t, f.Write(t.Context(), []Letter{letter}))

	quoting := sender(func(_ context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		if len(actions) == 1 && versionIn(actions[0].Document) == 2 { // as a sender with f as its sink does
			again := letter
			again.Document, again.Tag = json.RawMessage(`{"id":"7","v":2}`), actions[0].Tag
			require.NoError(t, f.Write(t.Context(), []Letter{again}))
		}
		return []models.IndexingResult{{StatusCode: 400, ErrorMessage: letter.Message}}, errSomeFailed
	})
	for v := range 3 {
		_, err := Replay(t.Context(), f, testIndex, quoting, &ReplayOptions{
			Document: func(_ context.Context, l Letter) (json.RawMessage, error) { return letterOf(l.Key, v).Document, nil },
			Kept: func(Letter, error) {
				for name, content := range d.Files() {
					assert.NotContains(t, content, secret, name)
				}
			},
		})
		require.NoError(t, err)
		for name, content := range d.Files() {
			assert.NotContains(t, content, secret, name)
		}
	}
	letters := readAll(t, d)
	require.Len(t, letters, 1)
	assert.Equal(t, "7", letters[0].Key)
	assert.Equal(t, 400, letters[0].Status)
	assert.Nil(t, letters[0].Document)
}

func TestALetterThatCannotBeWrittenDoesNotKeepTheOthersOut(t *testing.T) {
	d := disktest.New()
	f := openDisk(t, d, nil)
	noJSON, noAction := letterOf("secret-key", 2), letterOf("k3", 3)
	noJSON.Document, noAction.Action = json.RawMessage(`{"id":`), "replace"
	err := f.Write(t.Context(), []Letter{letterOf("k1", 1), noJSON, noAction, letterOf("k4", 4)})
	require.ErrorContains(t, err, "2 of 4 dead letters are not kept")
	require.ErrorContains(t, err, `no action "replace"`)
	require.NotContains(t, err.Error(), "secret-key", "senders log the error, and keys are not for logs")
	require.Equal(t, []int{1, 4}, versionsOf(readAll(t, d)))
}

// After any single failure the next Write works, and no unused file remains.
func TestAWriteThatFailedDoesNotHarmTheNext(t *testing.T) {
	for _, op := range []string{"create", "write", "sync", "sync names"} {
		for _, before := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, %d letters before", op, before), func(t *testing.T) {
				d := disktest.New()
				f := openDisk(t, d, nil)
				require.NoError(t, f.Write(t.Context(), lettersOf(1, before)))
				if op == "create" || op == "sync names" {
					f = openDisk(t, d, nil) // starts a new file
				}
				written := f.Stats().Written
				want := versionsOf(lettersOf(1, before))
				files := d.Files()
				d.Fail = func(o, name string) error {
					if o == op {
						return disktest.ErrDisk
					}
					return nil
				}
				for range 3 {
					require.ErrorIs(t, f.Write(t.Context(), lettersOf(2, 2)), disktest.ErrDisk)
				}
				require.Equal(t, files, d.Files())
				d.Fail = nil
				require.NoError(t, f.Write(t.Context(), lettersOf(4, 2)))
				require.Equal(t, append(want, 4, 5), versionsOf(readAll(t, d)))
				require.Equal(t, written+2, f.Stats().Written)
			})
		}
	}
}

func TestAWriteSyncsTheFileAndItsName(t *testing.T) {
	d := disktest.New()
	var syncs int
	d.Fail = func(op, _ string) error {
		if strings.HasPrefix(op, "sync") {
			syncs++
		}
		return nil
	}
	require.NoError(t, openDisk(t, d, nil).Write(t.Context(), lettersOf(1, 3)))
	require.Equal(t, 2, syncs)
}

func TestClosedDeadLettersTakeNothing(t *testing.T) {
	f := openDisk(t, disktest.New(), nil)
	require.NoError(t, f.Write(t.Context(), lettersOf(1, 1)))
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Write(t.Context(), lettersOf(2, 1)), ErrClosed)
	_, err := f.Discard(t.Context(), func(Letter) bool { return true })
	require.ErrorIs(t, err, ErrClosed)
	_, err = Replay(t.Context(), f, testIndex, &service{}, nil)
	require.ErrorIs(t, err, ErrClosed)
}

func TestADirectoryThatCannotBeUsedIsAnErrorOfOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err := Open(path, nil)
	require.Error(t, err)

	d := disktest.New()
	d.Put(stemA+lettersExt, lineOf(1)+"torn")
	d.Fail = func(string, string) error { return disktest.ErrDisk }
	_, err = open(d, FileOptions{})
	require.ErrorIs(t, err, disktest.ErrDisk)
}

func TestManySendersWriteReplayAndReadConcurrentSafe(t *testing.T) {
	const writers, writes = 4, 25
	dir := t.TempDir()
	f := openDir(t, dir, &FileOptions{maxFileBytes: 2000})
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]int{} // how often each version was delivered or discarded
	note := func(v int) {
		mu.Lock()
		defer mu.Unlock()
		seen[v]++
	}
	done := make(chan struct{})
	for w := range writers {
		wg.Go(func() {
			for i := range writes {
				assert.NoError(t, f.Write(t.Context(), []Letter{
					letterOf(fmt.Sprintf("w%d", w), w*1000+2*i), letterOf(fmt.Sprintf("w%d", w), w*1000+2*i+1),
				}))
			}
		})
	}
	var others sync.WaitGroup
	until := func(do func()) {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					do()
				}
			}
		})
	}
	to := sender(func(c context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
		results := make([]models.IndexingResult, len(actions))
		var err error
		for i, a := range actions {
			if results[i].Succeeded = versionIn(a.Document)%3 != 0; results[i].Succeeded {
				note(versionIn(a.Document))
				continue
			}
			err = errSomeFailed
			l := letterOf(a.Key, versionIn(a.Document))
			l.Tag = a.Tag
			assert.NoError(t, f.Write(c, []Letter{l}))
		}
		return results, err
	})
	until(func() {
		if _, err := Replay(t.Context(), f, testIndex, to, nil); !errors.Is(err, ErrBusy) {
			assert.NoError(t, err)
		}
	})
	until(func() {
		_, err := f.Discard(t.Context(), func(l Letter) bool {
			if v := versionOf(l); v%3 == 0 && v%2 == 0 {
				note(v)
				return true
			}
			return false
		})
		if !errors.Is(err, ErrBusy) {
			assert.NoError(t, err)
		}
	})
	until(func() {
		for _, err := range Read(os.DirFS(dir)) {
			assert.NoError(t, err)
		}
		f.Stats()
	})
	wg.Wait()
	close(done)
	others.Wait()
	for l, err := range Read(os.DirFS(dir)) {
		require.NoError(t, err)
		note(versionOf(l))
	}
	require.Len(t, seen, writers*writes*2)
	for v, n := range seen {
		require.Equal(t, 1, n, "version %d", v)
	}
}

func TestCloseEndsAReplayThatWaitsConcurrentSafe(t *testing.T) {
	f := openDisk(t, disktest.New(), nil)
	require.NoError(t, f.Write(t.Context(), lettersOf(1, 3)))
	sending := make(chan struct{})
	ended := make(chan error)
	go func() {
		_, err := Replay(t.Context(), f, testIndex, sender(func(c context.Context, _ []models.RawAction) ([]models.IndexingResult, error) {
			close(sending)
			<-c.Done()
			return make([]models.IndexingResult, 3), c.Err()
		}), nil)
		ended <- err
	}()
	<-sending
	_, err := Replay(t.Context(), f, testIndex, &service{}, nil)
	require.ErrorIs(t, err, ErrBusy)
	_, err = f.Discard(t.Context(), func(Letter) bool { return true })
	require.ErrorIs(t, err, ErrBusy)
	closed := make(chan error)
	go func() { closed <- f.Close() }()
	require.ErrorIs(t, <-ended, ErrClosed)
	require.NoError(t, <-closed)
}

func TestAWriteIntoARemovedFileIsAnError(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it does not remove a file that is open")
	}
	dir := filepath.Join(t.TempDir(), "dead")
	f, err := Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, f.Write(t.Context(), lettersOf(1, 1)))
	require.NoError(t, os.RemoveAll(dir))
	require.ErrorIs(t, f.Write(t.Context(), lettersOf(2, 1)), fs.ErrNotExist)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, f.Write(t.Context(), lettersOf(3, 1)), "into a new file")
	_ = f.Close()
}
