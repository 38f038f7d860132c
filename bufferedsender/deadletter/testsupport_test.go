package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/disk/disktest"
	"github.com/go-azsearch/azsearch/models"
)

// doc is the document of most dead letters. V distinguishes those of one key.
type doc struct {
	ID string `json:"id"`
	V  int    `json:"v"`
}

const testIndex = "hotels"

var testTime = time.Date(2026, 11, 21, 12, 4, 27, 123456789, time.UTC)

// letterOf returns a dead letter about version v of a key.
func letterOf(key string, v int) Letter {
	return Letter{
		Index: testIndex, Key: key, Action: models.ActionTypeUpload,
		Document: json.RawMessage(fmt.Sprintf(`{"id":%q,"v":%d}`, key, v)),
		Status:   400, Message: "no", RequestID: "r1", Attempts: 1, Error: "refused: no",
		First: testTime, Last: testTime.Add(time.Second),
	}
}

// lettersOf returns n dead letters of different keys, versions from.
func lettersOf(from, n int) []Letter {
	all := make([]Letter, n)
	for i := range all {
		all[i] = letterOf(fmt.Sprintf("k%d", from+i), from+i)
	}
	return all
}

func versionOf(l Letter) int { return versionIn(l.Document) }

func versionIn(document json.RawMessage) int {
	var d doc
	if err := json.Unmarshal(document, &d); err != nil {
		panic(err)
	}
	return d.V
}

// openDisk opens a File on a disk in memory.
func openDisk(t testing.TB, d *disktest.Disk, opts *FileOptions) *File {
	t.Helper()
	f, err := open(d, opts.withDefaults())
	require.NoError(t, err)
	return f
}

// openDir opens a File in a directory, and closes it with the test.
func openDir(t testing.TB, dir string, opts *FileOptions) *File {
	t.Helper()
	f, err := Open(dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// readAll returns the result of Read, which must have no errors.
func readAll(t testing.TB, dir fs.FS) []Letter {
	t.Helper()
	letters, errs := read(dir)
	require.NoError(t, errors.Join(errs...))
	return letters
}

func read(dir fs.FS) (letters []Letter, errs []error) {
	for l, err := range Read(dir) {
		if err != nil {
			errs = append(errs, err)
		} else {
			letters = append(letters, l)
		}
	}
	return letters, errs
}

func versionsOf(letters []Letter) []int {
	versions := []int{}
	for _, l := range letters {
		versions = append(versions, versionOf(l))
	}
	return versions
}

// unmarked returns the files of a disk without marks.
func unmarked(d *disktest.Disk) map[string]string {
	files := d.Files()
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, markExt) })
	return files
}

// namesIn returns the names of the files in a directory, without locks and marks.
func namesIn(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), lockName) && !strings.HasSuffix(e.Name(), markExt) {
			names = append(names, e.Name())
		}
	}
	return names
}

// sender is a Sender.
type sender func(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error)

func (s sender) AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
	return s(ctx, actions)
}

var errSomeFailed = errors.New("some failed")

// service is a sender whose service refuses the versions in refused. Like a real sender it writes them to sink before
// it returns.
type service struct {
	refused map[int]bool
	message string
	sink    Sink
	calls   [][]int // versions
	applied []int
}

func (s *service) AddAndWait(ctx context.Context, actions []models.RawAction) ([]models.IndexingResult, error) {
	var err error
	var results []models.IndexingResult
	var letters []Letter
	var call []int
	for _, a := range actions {
		call = append(call, versionIn(a.Document))
		r := models.IndexingResult{Key: a.Key, Succeeded: true, StatusCode: 200}
		if s.refused[versionIn(a.Document)] {
			r = models.IndexingResult{Key: a.Key, StatusCode: 422, ErrorMessage: s.message}
			l := letterOf(a.Key, versionIn(a.Document))
			l.Status, l.Message, l.RequestID, l.Attempts, l.Error = 422, s.message, "r2", 4, "refused: "+s.message
			l.First, l.Last, l.Tag = testTime.Add(time.Hour), testTime.Add(2*time.Hour), a.Tag
			letters = append(letters, l)
			err = errSomeFailed
		} else {
			s.applied = append(s.applied, versionIn(a.Document))
		}
		results = append(results, r)
	}
	s.calls = append(s.calls, call)
	if s.sink != nil && letters != nil {
		if err := s.sink.Write(ctx, letters); err != nil {
			return nil, err
		}
	}
	return results, err
}
