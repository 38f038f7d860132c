package definitions

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func newService(t *testing.T) *connect.Service {
	srv := searchtest.NewServer(nil)
	t.Cleanup(func() { assert.NoError(t, srv.Close()) })
	return serviceIn(t, srv, "")
}

// serviceIn returns a service with a given api-version.
func serviceIn(t *testing.T, srv *searchtest.Server, version string) *connect.Service {
	cred := azcore.NewKeyCredential(searchtest.AdminKey)
	opts := &search.ClientOptions{APIVersion: version}
	opts.Transport = &http.Client{Transport: srv.Transport()}
	s := &connect.Service{APIVersion: version}
	var err error
	s.IndexClient, err = search.NewIndexClientWithKey(srv.URL(), cred, opts)
	require.NoError(t, err)
	s.Indexers, err = search.NewIndexerClientWithKey(srv.URL(), cred, opts)
	require.NoError(t, err)
	return s
}

// everything has a definition of each kind, with secrets where possible.
var everything = map[*Kind]string{
	SynonymMaps: `{"name":"cities","format":"solr","synonyms":"a, b"}`,
	Indexes: `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"name","type":"Edm.String","searchable":true,"synonymMaps":["cities"]},
		{"name":"users","type":"Collection(Edm.String)","filterable":true,"permissionFilter":"userIds"},
		{"name":"v","type":"Collection(Edm.Single)","searchable":true,"dimensions":2,"vectorSearchProfile":"p"}],
		"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a","vectorizer":"z"}],
		"vectorizers":[{"name":"z","kind":"azureOpenAI","azureOpenAIParameters":{"resourceUri":"https://x.openai.azure.com","deploymentId":"d","apiKey":"S3CRET","modelName":"text-embedding-3-large"}}]}}`,
	Aliases:     `{"name":"inns","indexes":["hotels"]}`,
	DataSources: `{"name":"rooms","type":"azureblob","credentials":{"connectionString":"AccountKey=S3CRET"},"container":{"name":"c"}}`,
	Skillsets: `{"name":"k","skills":[{"@odata.type":"#Microsoft.Skills.Custom.WebApiSkill","name":"w","uri":"https://h/api?code=S3CRET","httpHeaders":{"x":"S3CRET"},
		"inputs":[{"name":"text","source":"/document/content"}],"outputs":[{"name":"y"}]}]}`,
	Indexers:         `{"name":"feed","dataSourceName":"rooms","targetIndexName":"hotels","skillsetName":"k"}`,
	KnowledgeSources: `{"name":"books","kind":"azureBlob","azureBlobParameters":{"connectionString":"AccountKey=S3CRET","containerName":"c"}}`,
}

func TestFilesHaveSecretsOfAnyMemberAndNoOtherPlaceholders(t *testing.T) {
	for in, variables := range map[string][]string{
		`{"parameters":{"configuration":{"token":"a","x-functions-key":"b","credentials":{"a":{"b":"c"},"l":["d"]},"dataToExtract":"all"}}}`: {
			"INDEXERS_IX_PARAMETERS_CONFIGURATION_TOKEN", "INDEXERS_IX_PARAMETERS_CONFIGURATION_X_FUNCTIONS_KEY",
			"INDEXERS_IX_PARAMETERS_CONFIGURATION_CREDENTIALS_A_B", "INDEXERS_IX_PARAMETERS_CONFIGURATION_CREDENTIALS_L_0",
		},
		`{"q":"https://u:p@h/","r":"https://h/?a=1&sig=b","s":"AccountKey=c","t":"https://h/?api-version=1"}`: {"INDEXERS_IX_Q", "INDEXERS_IX_R", "INDEXERS_IX_S"},
		`{"fields":[{"name":"headers","type":"Edm.String"},{"name":"credentials","type":"Edm.String"}]}`:      nil,
		`{"accessCredentials":{"applicationId":"i","applicationSecret":"s"}}`:                                 {"INDEXERS_IX_ACCESSCREDENTIALS_APPLICATIONSECRET"},
	} {
		d := Definition{Kind: Indexers, Name: "ix", JSON: json.RawMessage(in)}
		d.hide(map[string]int{})
		var found []string
		for _, s := range d.Secrets {
			found = append(found, s.Variable)
		}
		assert.Equal(t, variables, found, in)
	}
}

func TestDefinitionsComeBackFromFilesWithTheirSecretsFromTheEnvironment(t *testing.T) {
	from := newService(t)
	for _, k := range Kinds {
		if content := everything[k]; content != "" {
			require.NoError(t, k.Create(t.Context(), from, json.RawMessage(content)), k.Noun)
		}
	}
	set, err := Read(t.Context(), from)
	require.NoError(t, err)
	require.Len(t, set, len(everything))
	dir := t.TempDir()
	users := filepath.Join(dir, Aliases.Folder, "inns.json.tmp")
	require.NoError(t, os.MkdirAll(filepath.Dir(users), 0o700))
	require.NoError(t, os.WriteFile(users, []byte("of the user"), 0o600))
	require.NoError(t, set.Write(dir))
	require.NoError(t, os.Remove(users))

	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	}))
	assert.Equal(t, []string{
		"aliases/inns.json", "datasources/rooms.json", "indexers/feed.json", "indexes/hotels.json", "knowledgesources/books.json", "skillsets/k.json", "synonymmaps/cities.json",
	}, slices.Sorted(maps.Keys(files)))
	for name, content := range files {
		assert.NotContains(t, content, "S3CRET", name)
		assert.NotContains(t, content, "redacted", name)
		assert.NotContains(t, content, "etag", name)
	}
	assert.Contains(t, files["datasources/rooms.json"], `"connectionString": "${DATASOURCES_ROOMS_CREDENTIALS_CONNECTIONSTRING}"`)

	assert.Contains(t, files["indexes/hotels.json"], `"permissionFilter": "userIds"`)

	again, err := Open(dir)
	require.NoError(t, err)
	variables := map[string]string{}
	for i, d := range again {
		assert.Equal(t, string(set[i].JSON), string(d.JSON))
		require.Len(t, d.Secrets, len(set[i].Secrets))
		for j, s := range d.Secrets {
			assert.Equal(t, set[i].Secrets[j].Variable, s.Variable)
			variables[s.Variable] = "https://restored?x=S3CRET"
		}
	}
	assert.Equal(t, []string{
		"DATASOURCES_ROOMS_CREDENTIALS_CONNECTIONSTRING", "INDEXES_HOTELS_VECTORSEARCH_VECTORIZERS_Z_AZUREOPENAIPARAMETERS_APIKEY",
		"KNOWLEDGESOURCES_BOOKS_AZUREBLOBPARAMETERS_CONNECTIONSTRING", "SKILLSETS_K_SKILLS_W_HTTPHEADERS_X", "SKILLSETS_K_SKILLS_W_URI",
	}, slices.Sorted(maps.Keys(variables)))

	_, err = again.Find(DataSources, "rooms").Expand(func(string) (string, bool) { return "", false })
	require.ErrorContains(t, err, "DATASOURCES_ROOMS_CREDENTIALS_CONNECTIONSTRING")
	to := newService(t)
	for i := range again {
		content, err := again[i].Expand(func(name string) (string, bool) { v, ok := variables[name]; return v, ok })
		require.NoError(t, err)
		require.NoError(t, again[i].Kind.Create(t.Context(), to, content))
		require.Error(t, again[i].Kind.Create(t.Context(), to, content), "the definition exists")
		require.NoError(t, again[i].Kind.Put(t.Context(), to, content))
	}
	restored, err := Read(t.Context(), to)
	require.NoError(t, err)
	for _, s := range []Set{set, restored} {
		for i := range s {
			assert.NotEmpty(t, s[i].ETag)
			s[i].ETag = ""
		}
	}
	assert.Equal(t, set, restored, "restored and read again the definitions are the same, in the same bytes")
	some, err := Read(t.Context(), to, Aliases, Indexes)
	require.NoError(t, err)
	assert.Len(t, some, 2)
}

// Version 2026-04-01 does not show permission filters. Writing the definition must fail, or the new index would be
// readable by every user.
func TestPermissionFiltersAreReadInEveryVersion(t *testing.T) {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	require.NoError(t, Indexes.Create(t.Context(), serviceIn(t, srv, ""), json.RawMessage(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"users","type":"Edm.String","filterable":true,"permissionFilter":"userIds"}]}`)))
	old := serviceIn(t, srv, "2026-04-01")
	hotels, err := Index(t.Context(), old, "hotels")
	require.NoError(t, err)
	assert.Contains(t, string(hotels.JSON), `"permissionFilter": "userIds"`)
	set, err := Read(t.Context(), old, Indexes)
	require.NoError(t, err)
	assert.Contains(t, string(set[0].JSON), `"permissionFilter": "userIds"`)
	assert.ErrorContains(t, Indexes.Put(t.Context(), old, set[0].JSON), "permissionFilter")
}

func TestFileThatIsNoDefinitionIsNamed(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"indexes/a.json": "\ufeff{\r\n \"name\":\"ä\",}", "indexes/b.json": `{"fields":[]}`, "indexes/c.json": "\ufeff" + `{"name":"c","@odata.etag":"x"}`, "indexes/d.json": `{"name":"c"}`, "indexes/notes.txt": "x", "other/c.json": "{}",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	_, err := Open(dir)
	for _, says := range []string{"a.json: not JSON at line 2, column 13", "b.json: the definition has no name", "d.json: index \"c\" is also defined in another file"} {
		assert.ErrorContains(t, err, says)
	}
	assert.Equal(t, 3, strings.Count(err.Error(), ".json"))
	one, err := Open(filepath.Join(dir, "indexes", "c.json"))
	require.NoError(t, err)
	assert.Equal(t, "{\n  \"name\": \"c\"\n}\n", string(one[0].JSON))
	assert.Equal(t, "indexes/c.json", one[0].File())
	_, err = Open(filepath.Join(dir, "other", "c.json"))
	assert.ErrorContains(t, err, "synonymmaps")
	_, err = Open(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestTwoSecretsNeverHaveOneVariable(t *testing.T) {
	taken := map[string]int{}
	for i, name := range []string{"a-b", "a_b"} {
		d, err := parse(DataSources, []byte(`{"name":"`+name+`","credentials":{"connectionString":null}}`))
		require.NoError(t, err)
		d.hide(taken)
		assert.Equal(t, []string{"DATASOURCES_A_B_CREDENTIALS_CONNECTIONSTRING", "DATASOURCES_A_B_CREDENTIALS_CONNECTIONSTRING_2"}[i], d.Secrets[0].Variable)
	}
}
