package backup

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/keyrange"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// service is an emulator that shows each request to a hook before it is answered.
type service struct {
	*connect.Service
	*searchtest.Server
	t *testing.T

	mu     sync.Mutex // guards the following fields
	before func(*http.Request)
}

func newService(t *testing.T) *service { return newServiceWith(t, nil) }

func newServiceWith(t *testing.T, o *searchtest.Options) *service {
	s := &service{Server: searchtest.NewServer(o), t: t}
	t.Cleanup(func() { assert.NoError(t, s.Server.Close()) })
	cred := azcore.NewKeyCredential(searchtest.AdminKey)
	opts := &search.ClientOptions{}
	opts.Transport = s
	s.Service = &connect.Service{}
	var err error
	s.IndexClient, err = search.NewIndexClientWithKey(s.URL(), cred, opts)
	require.NoError(t, err)
	s.Indexers, err = search.NewIndexerClientWithKey(s.URL(), cred, opts)
	require.NoError(t, err)
	return s
}

// Do is the transport of the clients.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before(r)
	}
	return s.Server.Do(r)
}

func (s *service) at(before func(*http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

type hotel struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Stars int    `json:"stars"`
}

const (
	keyed  = `{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true}`
	fields = `{"name":"name","type":"Edm.String"},{"name":"stars","type":"Edm.Int32","filterable":true}`
)

// fill creates an index with documents 0000, 0001 and so on.
func (s *service) fill(name, key string, n int) {
	require.NoError(s.t, s.CreateIndex(fmt.Sprintf(`{"name":%q,"fields":[%s,%s]}`, name, key, fields)))
	s.upload(name, 0, n, "Hotel")
}

func (s *service) upload(index string, from, to int, name string) {
	client, err := s.Client(index)
	require.NoError(s.t, err)
	var hotels []hotel
	for i := from; i < to; i++ {
		hotels = append(hotels, hotel{fmt.Sprintf("%04d", i), fmt.Sprintf("%s %d", name, i), i % 5})
	}
	if len(hotels) > 0 {
		_, err = search.UploadDocuments(s.t.Context(), client, hotels, nil)
		require.NoError(s.t, err)
	}
}

// said collects progress messages.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

func (s *service) options(dir string, to *said) Options {
	return Options{Service: s.Service, Dir: dir, InFlight: 3, Passes: 2, RangeSize: 10, Say: to.line}
}

func run(t *testing.T, o Options) *Manifest {
	t.Helper()
	b, err := Begin(t.Context(), o)
	require.NoError(t, err)
	m, err := b.Run(t.Context())
	require.NoError(t, err)
	return m
}

// documents returns the documents of one index of a backup by key.
func documents(t *testing.T, dir, index string) map[string]hotel {
	m, err := OpenManifest(dir)
	require.NoError(t, err)
	x := m.Find(index)
	require.NotNil(t, x)
	all := map[string]hotel{}
	for i := range x.Files {
		for document, err := range m.Documents(dir, x, &x.Files[i]) {
			require.NoError(t, err)
			var h hotel
			require.NoError(t, json.Unmarshal(document, &h))
			require.NotContains(t, all, h.ID)
			all[h.ID] = h
		}
	}
	assert.Len(t, all, int(x.Documents))
	return all
}

func TestBackupHasEveryDocumentOnce(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 95} {
		s, to := newService(t), &said{}
		s.fill("hotels", keyed, n)
		dir := filepath.Join(t.TempDir(), "new")
		m := run(t, s.options(dir, to))
		require.Len(t, documents(t, dir, "hotels"), n)
		assert.Equal(t, n/10+1, len(m.Indexes[0].Files), "ranges of ten")
		assert.NoFileExists(t, filepath.Join(dir, journalName))
		assert.FileExists(t, filepath.Join(dir, "definitions", "indexes", "hotels.json"))
		_, err := Begin(t.Context(), s.options(dir, to))
		assert.ErrorContains(t, err, "complete backup")
	}
}

// Documents of the first range change while the last range of the first pass is read.
func TestSecondPassTakesWhatChanged(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", keyed, 50)
	s.fill("rooms", keyed, 1)
	once := sync.OnceFunc(func() {
		s.at(nil)
		s.upload("hotels", 3, 4, "Changed")
		client, err := s.Client("hotels")
		require.NoError(t, err)
		_, err = search.DeleteDocumentsByKey(t.Context(), client, "id", []string{"0007"}, nil)
		require.NoError(t, err)
	})
	s.at(func(r *http.Request) { // rooms is read after hotels
		if strings.Contains(r.URL.Path, "('rooms')/docs/search") {
			once()
		}
	})
	dir := t.TempDir()
	m := run(t, s.options(dir, to))
	got := documents(t, dir, "hotels")
	assert.Len(t, got, 49)
	assert.Equal(t, "Changed 3", got["0003"].Name)
	assert.NotContains(t, got, "0007")
	assert.Contains(t, to.String(), "second pass: 1 key range had changed")
	files, err := os.ReadDir(filepath.Join(dir, documentsFolder, "hotels"))
	require.NoError(t, err)
	assert.Len(t, files, len(m.Find("hotels").Files), "replaced files are removed")
}

// The states are listed in the package comment.
func TestBackupContinuesFromWhateverACrashLeft(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", keyed, 95)
	want := run(t, s.options(t.TempDir(), to)).Indexes[0].Digest
	for what, break_ := range map[string]func(t *testing.T, dir string, journal []byte){
		"B1: nothing but a part of the journal": func(t *testing.T, dir string, journal []byte) {
			require.NoError(t, os.Remove(filepath.Join(dir, journalName)))
			require.NoError(t, os.RemoveAll(filepath.Join(dir, documentsFolder)))
			require.NoError(t, os.RemoveAll(filepath.Join(dir, definitionsFolder)))
			require.NoError(t, os.WriteFile(filepath.Join(dir, journalName+".tmp"), journal[:20], 0o600))
		},
		"B2: half of the definitions": func(t *testing.T, dir string, _ []byte) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, definitionsFolder)))
		},
		"B3: a part of a file": func(t *testing.T, dir string, _ []byte) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, documentsFolder, "hotels", "99.jsonl.zst.tmp"), []byte("x"), 0o600))
		},
		"B4: a file without its line": func(t *testing.T, dir string, journal []byte) {
			cut := strings.LastIndex(strings.TrimSuffix(string(journal), "\n"), "\n") + 1
			require.NoError(t, os.WriteFile(filepath.Join(dir, journalName), journal[:cut], 0o600))
		},
		"B5: a part of a line": func(t *testing.T, dir string, journal []byte) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, journalName), journal[:len(journal)-9], 0o600))
		},
		"B6: a part of the manifest": func(t *testing.T, dir string, journal []byte) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, manifestName+".tmp"), journal[:9], 0o600))
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			b, err := Begin(t.Context(), s.options(dir, to))
			require.NoError(t, err)
			require.NoError(t, b.set.Write(filepath.Join(dir, definitionsFolder)))
			for r, err := range b.gaps(t.Context(), b.indexes[0]) { // like Run, but ends after three ranges
				require.NoError(t, err)
				require.NoError(t, b.export(t.Context(), b.indexes[0], r, 1))
				if len(b.journal.entries) == 3 {
					break
				}
			}
			require.NoError(t, b.journal.file.Close())
			require.NoError(t, b.release())
			journal, err := os.ReadFile(filepath.Join(dir, journalName))
			require.NoError(t, err)
			require.Greater(t, strings.Count(string(journal), "\n"), 2)
			break_(t, dir, journal)
			_, err = OpenManifest(dir)
			require.Error(t, err)
			m := run(t, s.options(dir, to))
			assert.Equal(t, want, m.Indexes[0].Digest)
			assert.Len(t, documents(t, dir, "hotels"), 95)
			files, err := os.ReadDir(filepath.Join(dir, documentsFolder, "hotels"))
			require.NoError(t, err)
			assert.Len(t, files, len(m.Indexes[0].Files))
		})
	}
}

func TestBackupSaysBeforeItStartsWhatCannotComeAlong(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", `{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":false},{"name":"inner","type":"Edm.String","retrievable":false}`, 30)
	dir := filepath.Join(t.TempDir(), "new")
	m := run(t, s.options(dir, to))
	assert.Contains(t, to.String(), `index hotels: its key field "id" is not sortable, so only paging can read its documents, which reaches 30 of 30`)
	assert.Contains(t, to.String(), "values of field inner (retrievable:false)")
	assert.Len(t, documents(t, dir, "hotels"), 30)
	assert.NotEmpty(t, m.Indexes[0].LeftOut)
}

func TestBackupOfMoreThanPagingReachesHasToBeAskedFor(t *testing.T) {
	testkit.Long(t)
	s, to := newService(t), &said{}
	s.fill("hotels", `{"name":"id","type":"Edm.String","key":true,"filterable":false,"sortable":true}`, 0)
	for i := 0; i < keyrange.Paged+100; i += 1000 {
		s.upload("hotels", i, min(i+1000, keyrange.Paged+100), "Hotel")
	}
	dir := filepath.Join(t.TempDir(), "new")
	o := s.options(dir, to)
	o.Passes = 1
	_, err := Begin(t.Context(), o)
	require.ErrorContains(t, err, "nothing was written: some documents of hotels cannot be read; use -partial")
	assert.Equal(t, exit.Incomplete, exit.Code(err))
	assert.Contains(t, to.String(), "which reaches 100,000 of 100,100")
	assert.NoDirExists(t, dir)
	o.Partial = true
	m := run(t, o)
	assert.EqualValues(t, keyrange.Paged, m.Indexes[0].Documents)
	assert.Contains(t, m.Indexes[0].LeftOut[0], "100 of 100,100 documents")
}

func TestBackupOfTrimmedIndexReadsElevatedOrRefuses(t *testing.T) {
	s, to := newService(t), &said{}
	_, err := search.Do(t.Context(), s.IndexClient, http.MethodPost, "/indexes", json.RawMessage(`{"name":"hotels","permissionFilterOption":"enabled","fields":[`+keyed+`,
		{"name":"users","type":"Collection(Edm.String)","filterable":true,"permissionFilter":"userIds"}]}`), &search.DoOptions{APIVersion: "2026-10-01"})
	require.NoError(t, err)
	client, err := s.Client("hotels")
	require.NoError(t, err)
	_, err = search.UploadDocuments(t.Context(), client, []map[string]any{{"id": "1", "users": []string{"alice"}}, {"id": "2", "users": []string{"all"}}}, nil)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "new")
	_, err = Begin(t.Context(), s.options(dir, to))
	require.ErrorIs(t, err, search.ErrPartialView, "a key shows only public documents")
	assert.Equal(t, exit.Service, exit.Code(err))
	assert.NoDirExists(t, dir)
}

func TestDirectoryIsRefusedThatCannotBeContinued(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", keyed, 5)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
	_, err := Begin(t.Context(), s.options(dir, to))
	assert.ErrorContains(t, err, "notes.txt")

	dir = t.TempDir()
	b, err := Begin(t.Context(), s.options(dir, to))
	require.NoError(t, err)
	_, err = Begin(t.Context(), s.options(dir, to))
	require.ErrorContains(t, err, "another process uses the directory")
	require.NoError(t, b.release())
	require.NoError(t, b.journal.file.Close())
	journal := filepath.Join(dir, journalName)
	header, err := os.ReadFile(journal)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(journal, []byte(strings.Replace(string(header), s.URL(), "https://other", 1)), 0o600))
	_, err = Begin(t.Context(), s.options(dir, to))
	require.ErrorContains(t, err, "is of https://other")
	require.NoError(t, os.WriteFile(journal, header, 0o600))
	o := s.options(dir, to)
	o.Patterns = []string{"rooms*"}
	_, err = Begin(t.Context(), o)
	require.ErrorContains(t, err, "no index matches")
	s.fill("rooms", keyed, 5)
	_, err = Begin(t.Context(), o)
	require.ErrorContains(t, err, "of other indexes")
	_, err = OpenManifest(dir)
	require.ErrorContains(t, err, "not complete")
}

func TestFileThatWasDamagedIsNoticed(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", keyed, 20)
	dir := t.TempDir()
	m := run(t, s.options(dir, to))
	x := &m.Indexes[0]
	a, b := filepath.Join(dir, documentsFolder, "hotels", x.Files[0].Name), filepath.Join(dir, documentsFolder, "hotels", x.Files[1].Name)
	content, err := os.ReadFile(a)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(b, content, 0o600))
	for _, err = range m.Documents(dir, x, &x.Files[1]) {
		if err != nil {
			break
		}
	}
	assert.ErrorContains(t, err, "damaged")
}
