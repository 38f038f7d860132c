//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// upload puts a document into the index hotels.
func (e *emulator) upload(t *testing.T, document string) {
	t.Helper()
	status, _, body := e.call(t, http.DefaultClient, http.MethodPost, "/indexes('hotels')/docs/search.index", searchtest.AdminKey, `{"value":[`+document+`]}`)
	require.Equal(t, http.StatusOK, status, body)
}

func TestWhatWasSavedIsThereAfterTheNextStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	for i, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGTERM} {
		e := startEmulator(t, "-quiet", "-seed", path, "-save", filepath.Join(filepath.Dir(path), ".", "state.json"))
		if i == 0 {
			assert.NoFileExists(t, path)
			status, _, body := e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotels)
			require.Equal(t, http.StatusCreated, status, body)
		}
		assert.EqualValues(t, i, e.count(t))
		e.upload(t, `{"id":"`+string(rune('a'+i))+`","name":"Ritz"}`)
		got := e.stop(t, s)
		assert.Zero(t, got.code, got.stderr)
		if i == 0 {
			assert.Equal(t, "azsearch: starting empty: "+path+" does not exist yet, and will be written at the end\n", got.stderr)
		} else {
			assert.Empty(t, got.stderr)
		}
		entries, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		assert.Len(t, entries, 1, "only the file itself is left")
	}
	require.NoError(t, searchtest.NewServer(nil).RestoreFile(path))
}

func TestSavedFileNeedNotBeTheSeed(t *testing.T) {
	dir := t.TempDir()
	seed, saved := filepath.Join(dir, "seed.json"), filepath.Join(dir, "saved.json")
	content := []byte(`{"indexes":[{"definition":` + hotels + `,"documents":[{"id":"1","name":"Ritz"}]}]}`)
	require.NoError(t, os.WriteFile(seed, content, 0o600))
	e := startEmulator(t, "-quiet", "-seed", seed, "-save", saved)
	e.upload(t, `{"id":"2"}`)
	assert.Equal(t, ended{}, e.stop(t, syscall.SIGTERM))
	unchanged, err := os.ReadFile(seed)
	require.NoError(t, err)
	assert.Equal(t, string(content), string(unchanged))
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.RestoreFile(saved))
	assert.EqualValues(t, 2, srv.DocumentCount("hotels"))
}

// The folder existed at the start and is gone at the end.
func TestNothingIsLostWhenTheFileCannotBeWrittenAnyMore(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	folder := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "state.json")
	e := startEmulator(t, "-quiet", "-save", path)
	status, _, body := e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, hotels)
	require.Equal(t, http.StatusCreated, status, body)
	e.upload(t, `{"id":"1"}`)
	require.NoError(t, os.RemoveAll(folder))

	got := e.stop(t, syscall.SIGTERM)
	assert.Equal(t, 1, got.code)
	assert.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
	assert.Contains(t, got.stderr, "azsearch: saving: writing "+path)
	instead := regexp.MustCompile(`the data is in (\S+), move it there`).FindStringSubmatch(got.stderr)
	require.NotNil(t, instead, got.stderr)
	srv := searchtest.NewServer(nil)
	require.NoError(t, srv.RestoreFile(instead[1]))
	assert.EqualValues(t, 1, srv.DocumentCount("hotels"))
}
