package backup

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/search"
)

func (s *service) restoring(dir string, to *said) RestoreOptions {
	return RestoreOptions{Service: s.Service, Dir: dir, InFlight: 2, Patience: time.Minute, Say: to.line, Lookup: func(string) (string, bool) { return "S3CRET", true }}
}

func restore(t *testing.T, o RestoreOptions) error {
	t.Helper()
	r, err := BeginRestore(t.Context(), o)
	if err != nil {
		return err
	}
	return r.Run(t.Context())
}

func TestRestoredServiceIsTheSame(t *testing.T) {
	from, to := newService(t), &said{}
	from.fill("hotels", keyed, 57)
	from.fill("empty", keyed, 0)
	for k, content := range map[*definitions.Kind]string{
		definitions.Aliases:     `{"name":"inns","indexes":["hotels"]}`,
		definitions.SynonymMaps: `{"name":"cities","format":"solr","synonyms":"a, b"}`,
		definitions.DataSources: `{"name":"rooms","type":"azureblob","credentials":{"connectionString":"S3CRET"},"container":{"name":"c"}}`,
	} {
		require.NoError(t, k.Create(t.Context(), from.Service, json.RawMessage(content)))
	}
	require.NoError(t, definitions.Indexers.Create(t.Context(), from.Service, json.RawMessage(`{"name":"feed","dataSourceName":"rooms","targetIndexName":"empty"}`)))
	dir := t.TempDir()
	run(t, from.options(dir, to))
	assert.Contains(t, to.String(), `left out: secret credentials.connectionString of data source "rooms"; restore takes it from DATASOURCES_ROOMS_CREDENTIALS_CONNECTIONSTRING`)

	target := newService(t)
	o := target.restoring(dir, to)
	o.Lookup = func(string) (string, bool) { return "", false }
	_, err := BeginRestore(t.Context(), o)
	require.ErrorContains(t, err, "no value for DATASOURCES_ROOMS_CREDENTIALS_CONNECTIONSTRING")
	require.NoError(t, restore(t, target.restoring(dir, to)))
	want, err := definitions.Read(t.Context(), from.Service)
	require.NoError(t, err)
	got, err := definitions.Read(t.Context(), target.Service)
	require.NoError(t, err)
	for i := range want {
		want[i].ETag, got[i].ETag = "", ""
	}
	assert.Equal(t, want, got)
	assert.Equal(t, from.Documents("hotels"), target.Documents("hotels"))
	assert.Contains(t, to.String(), "index hotels: 57 documents, digest ")
	assert.Contains(t, to.String(), "restored 1 indexer")
	assert.NoFileExists(t, filepath.Join(dir, restoreName))
}

// TestRestoreUnderAnotherName restores an index next to the one that it was, continues after a stop, and leaves both
// the old index and its alias alone.
func TestRestoreUnderAnotherName(t *testing.T) {
	s, to := newService(t), &said{}
	require.NoError(t, s.CreateIndex(`{"name":"hotels","fields":[`+keyed+`,`+fields+`],"vectorSearch":{"vectorizers":[{"name":"v","kind":"azureOpenAI",
		"azureOpenAIParameters":{"resourceUri":"https://x.openai.azure.com","deploymentId":"d","modelName":"text-embedding-3-large","apiKey":"S3CRET"}}]}}`))
	s.upload("hotels", 0, 95, "Hotel")
	s.fill("rooms", keyed, 1)
	require.NoError(t, definitions.Aliases.Create(t.Context(), s.Service, json.RawMessage(`{"name":"inns","indexes":["hotels"]}`)))
	dir := t.TempDir()
	m := run(t, s.options(dir, to))
	s.upload("hotels", 3, 4, "Changed")
	o := s.restoring(dir, to)
	o.As = "old"
	_, err := BeginRestore(t.Context(), o)
	require.ErrorContains(t, err, "-as names one index, and 2 indexes match; select one with -index NAME")
	assert.Equal(t, exit.Usage, exit.Code(err))

	o.Patterns = []string{"hot*"}
	name := filepath.Join(dir, documentsFolder, "hotels", m.Find("hotels").Files[9].Name)
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, []byte("damaged"), 0o600))
	require.Error(t, restore(t, o))
	require.NoError(t, os.WriteFile(name, content, 0o600))
	other := o
	other.As = "older"
	_, err = BeginRestore(t.Context(), other)
	require.ErrorContains(t, err, "belongs to another job")
	require.NoError(t, restore(t, o))
	assert.Regexp(t, `continuing; sent already: \d files?\n`, to.String())
	assert.Contains(t, to.String(), `left out: alias "inns"`)
	assert.Contains(t, to.String(), "index old: 95 documents, digest "+m.Find("hotels").Digest+", the same as in the backup")
	assert.Len(t, s.Documents("old"), 95)
	assert.Contains(t, string(s.Documents("old")["0003"]), "Hotel 3")
	assert.Contains(t, string(s.Documents("hotels")["0003"]), "Changed")
	live, err := definitions.Read(t.Context(), s.Service)
	require.NoError(t, err)
	assert.Contains(t, string(live.Find(definitions.Aliases, "inns").JSON), `"hotels"`)
}

// An index and an alias share their names, and -overwrite cannot change that.
func TestRestoreOntoANameOfTheOtherKindChangesNothing(t *testing.T) {
	from, to := newService(t), &said{}
	from.fill("hotels", keyed, 3)
	require.NoError(t, definitions.Aliases.Create(t.Context(), from.Service, json.RawMessage(`{"name":"current","indexes":["hotels"]}`)))
	dir := t.TempDir()
	run(t, from.options(dir, to))
	for _, overwrite := range []bool{false, true} {
		o := from.restoring(dir, to)
		o.Patterns, o.As, o.Overwrite = []string{"hotels"}, "current", overwrite
		err := restore(t, o)
		require.ErrorContains(t, err, `"current" is the name of an alias, so no index can have it; choose another name with -as`)
		assert.NotContains(t, err.Error(), "-overwrite")
		assert.Equal(t, exit.Usage, exit.Code(err))
		assert.NoFileExists(t, filepath.Join(dir, restoreName))
	}
	o := from.restoring(dir, to)
	o.Patterns, o.As = []string{"hotels"}, "Now"
	err := restore(t, o)
	require.ErrorContains(t, err, `"Now"`)
	assert.Equal(t, exit.Usage, exit.Code(err))

	target := newService(t)
	target.fill("current", keyed, 0)
	err = restore(t, target.restoring(dir, to))
	require.ErrorContains(t, err, `"current" is the name of an index, so no alias can have it`)
	assert.Equal(t, exit.Usage, exit.Code(err))
}

// The service refuses the index, for example because of its quota.
func TestRestoreThatCreatedNothingDoesNotBlockAnother(t *testing.T) {
	from, to := newService(t), &said{}
	from.fill("hotels", keyed, 3)
	dir := t.TempDir()
	run(t, from.options(dir, to))
	o := from.restoring(dir, to)
	o.As = "first"
	r, err := BeginRestore(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, definitions.Aliases.Create(t.Context(), from.Service, json.RawMessage(`{"name":"first","indexes":["hotels"]}`)))
	err = r.Run(t.Context())
	require.Error(t, err)
	assert.Equal(t, exit.Service, exit.Code(err))
	assert.NoFileExists(t, filepath.Join(dir, restoreName))
	o.As = "second"
	require.NoError(t, restore(t, o))
	assert.Len(t, from.Documents("second"), 3)
}

func TestRestoreWritesOverNothingUnlessTold(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", keyed, 25)
	dir := t.TempDir()
	run(t, s.options(dir, to))
	s.upload("hotels", 3, 4, "Changed")
	err := restore(t, s.restoring(dir, to))
	require.ErrorContains(t, err, `index "hotels" has 25 documents`)
	assert.Equal(t, exit.Usage, exit.Code(err))
	require.NoError(t, s.DeleteIndex(t.Context(), "hotels", nil))
	s.fill("hotels", keyed+`,{"name":"more","type":"Edm.String"}`, 0)
	require.ErrorContains(t, restore(t, s.restoring(dir, to)), `index "hotels" exists and differs`)
	assert.Empty(t, s.Documents("hotels"))

	o := s.restoring(dir, to)
	o.Overwrite = true
	require.Error(t, restore(t, o), "the service does not remove a field")
	require.NoError(t, s.DeleteIndex(t.Context(), "hotels", nil))
	require.NoError(t, restore(t, s.restoring(dir, to)))
	s.upload("hotels", 3, 4, "Changed")
	require.NoError(t, restore(t, o), "the changed document is restored")
	assert.Contains(t, string(s.Documents("hotels")["0003"]), "Hotel 3")
}

// A file of a restore that ended early is not the permission to write over an index that it did not select.
func TestRestoreOfOtherIndexesIsNoContinuation(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", keyed, 95)
	s.fill("rooms", keyed, 5)
	dir := t.TempDir()
	m := run(t, s.options(dir, to))
	require.NoError(t, s.DeleteIndex(t.Context(), "hotels", nil))
	s.upload("rooms", 3, 4, "Changed")
	name := filepath.Join(dir, documentsFolder, "hotels", m.Find("hotels").Files[9].Name)
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, []byte("damaged"), 0o600))
	hotels := s.restoring(dir, to)
	hotels.Patterns = []string{"hotels"}
	require.Error(t, restore(t, hotels))
	require.NoError(t, os.WriteFile(name, content, 0o600))

	for _, patterns := range [][]string{{"rooms"}, {"*"}, nil} {
		o := s.restoring(dir, to)
		o.Patterns = patterns
		err := restore(t, o)
		require.ErrorContains(t, err, "belongs to another job", "%v", patterns)
		assert.Equal(t, exit.Usage, exit.Code(err))
		assert.Contains(t, string(s.Documents("rooms")["0003"]), "Changed")
	}
	hotels.Patterns = []string{"hot*"}
	require.NoError(t, restore(t, hotels), "the same selection continues")
	require.ErrorContains(t, restore(t, s.restoring(dir, to)), `index "rooms" has 5 documents`)
}

// The restore stops at a file that cannot be sent, and is continued.
func TestRestoreContinuesBehindWhatIsThere(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", keyed, 95)
	dir := t.TempDir()
	m := run(t, s.options(dir, to))
	target := newService(t)
	name := filepath.Join(dir, documentsFolder, "hotels", m.Indexes[0].Files[9].Name)
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, []byte("damaged"), 0o600))
	err = restore(t, target.restoring(dir, to))
	require.Error(t, err)
	assert.Equal(t, exit.Incomplete, exit.Code(err))
	require.NoError(t, os.WriteFile(name, content, 0o600))

	state := filepath.Join(dir, restoreName)
	lines, err := os.ReadFile(state)
	require.NoError(t, err)
	done := strings.Count(string(lines), "\n") - 1
	require.Positive(t, done)
	require.NoError(t, os.WriteFile(state, append(lines, "hotels/9"...), 0o600)) // R4: a partial line
	var sent atomic.Int64
	target.at(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "search.index") {
			sent.Add(1)
		}
	})
	changes := len(target.Changes("hotels"))
	require.NoError(t, restore(t, target.restoring(dir, to)))
	assert.Equal(t, s.Documents("hotels"), target.Documents("hotels"))
	assert.LessOrEqual(t, len(target.Changes("hotels"))-changes, 95-10*(done-1), "files that were noted are not sent again")
	assert.Positive(t, sent.Load())

	require.NoError(t, os.WriteFile(state, []byte(strings.Replace(string(lines), target.URL(), "https://other", 1)), 0o600))
	_, err = BeginRestore(t.Context(), target.restoring(dir, to))
	require.ErrorContains(t, err, `to another job: {"endpoint":"https://other"`)
	require.NoError(t, os.WriteFile(state, lines, 0o600))
	require.NoError(t, target.DeleteIndex(t.Context(), "hotels", nil))
	require.NoError(t, restore(t, target.restoring(dir, to)), "an index that was deleted meanwhile gets everything again")
	assert.Len(t, target.Documents("hotels"), 95)
}

// A data source may have the name of an index, and is created after the documents.
func TestRestoreSendsNothingAgainBecauseADefinitionOfItsNameIsMissing(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", keyed, 95)
	require.NoError(t, definitions.DataSources.Create(t.Context(), s.Service, json.RawMessage(
		`{"name":"hotels","type":"azureblob","credentials":{"connectionString":"S3CRET"},"container":{"name":"c"}}`)))
	dir := t.TempDir()
	m := run(t, s.options(dir, to))
	target := newService(t)
	name := filepath.Join(dir, documentsFolder, "hotels", m.Find("hotels").Files[9].Name)
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, []byte("damaged"), 0o600))
	require.Error(t, restore(t, target.restoring(dir, to)))
	require.NoError(t, os.WriteFile(name, content, 0o600))
	r, err := BeginRestore(t.Context(), target.restoring(dir, to))
	require.NoError(t, err)
	assert.NotEmpty(t, r.state.Done)
	require.NoError(t, r.Run(t.Context()))
}

// The service loses a document.
func TestRestoreSaysWhatIsNotTheSame(t *testing.T) {
	s, to := newService(t), &said{}
	s.fill("hotels", keyed, 20)
	dir := t.TempDir()
	run(t, s.options(dir, to))
	target := newService(t)
	var gone atomic.Bool
	target.at(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "search.post.search") && gone.CompareAndSwap(false, true) {
			client, err := target.Client("hotels")
			assert.NoError(t, err)
			_, err = search.DeleteDocumentsByKey(t.Context(), client, "id", []string{"0007"}, nil)
			assert.NoError(t, err)
		}
	})
	r, err := BeginRestore(t.Context(), target.restoring(dir, to))
	require.NoError(t, err)
	r.looks = 1
	err = r.Run(t.Context())
	require.ErrorContains(t, err, "0007 only in the first")
	assert.Equal(t, exit.Incomplete, exit.Code(err))
}

func TestRestoreRefusesADefinitionThatIsNotTheOneOfTheManifest(t *testing.T) {
	from, to := newService(t), &said{}
	from.fill("hotels", keyed, 7)
	dir := t.TempDir()
	run(t, from.options(dir, to))
	path := filepath.Join(dir, "definitions", "indexes", "hotels.json")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	changed := strings.Replace(string(content), `"sortable": true`, `"sortable": false`, 1)
	require.NotEqual(t, string(content), changed)
	require.NoError(t, os.WriteFile(path, []byte(changed), 0o600))

	target := newService(t)
	for _, as := range []string{"", "inns"} {
		o := target.restoring(dir, to)
		o.As = as
		require.ErrorContains(t, restore(t, o), "indexes/hotels.json differs from the manifest: the file was damaged or changed")
	}
	live, err := definitions.Read(t.Context(), target.Service)
	require.NoError(t, err)
	assert.Empty(t, live)
	o := target.restoring(dir, to)
	o.Overwrite = true
	require.NoError(t, restore(t, o))
}
