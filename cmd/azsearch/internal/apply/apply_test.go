package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func newService(t *testing.T) (service *connect.Service) {
	c := &cli.Command{Flags: connect.Flags(), Action: func(_ context.Context, c *cli.Command) (err error) {
		service, err = connect.Open(c)
		return err
	}}
	require.NoError(t, c.Run(t.Context(), []string{"test", "-endpoint", "emulator"}))
	t.Cleanup(func() { assert.NoError(t, service.Close()) })
	return service
}

// everything is a service in files, with secrets.
var everything = map[string]string{
	"synonymmaps/cities.json": `{"name":"cities","synonyms":"a, b"}`,
	"indexes/hotels-1.json": `{"name":"hotels-1","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
		{"name":"name","type":"Edm.String","searchable":true,"synonymMaps":["cities"]},{"name":"stars","type":"Edm.Int32"}]}`,
	"aliases/hotels.json":    `{"name":"hotels","indexes":["hotels-1"]}`,
	"datasources/rooms.json": `{"name":"rooms","type":"azureblob","credentials":{"connectionString":"${ROOMS}"},"container":{"name":"c"}}`,
	"skillsets/k.json": `{"name":"k","skills":[{"@odata.type":"#Microsoft.Skills.Custom.WebApiSkill","name":"w","uri":"${SKILL}",
		"inputs":[{"name":"text","source":"/document/content"}],"outputs":[{"name":"y"}]}]}`,
	"indexers/feed.json": `{"name":"feed","dataSourceName":"rooms","targetIndexName":"hotels-1","skillsetName":"k"}`,
}

const secret = "https://h/api?code=S3CRET"

func environment(name string) (string, bool) { return secret, name == "ROOMS" || name == "SKILL" }

// written returns the definitions of the files, some of them replaced; "" removes a file.
func written(t *testing.T, dir string, replaced map[string]string) definitions.Set {
	files := maps.Clone(everything)
	maps.Copy(files, replaced)
	require.NoError(t, os.RemoveAll(dir))
	for name, content := range files {
		if content == "" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	set, err := definitions.Open(dir)
	require.NoError(t, err)
	return set
}

func planOf(t *testing.T, files definitions.Set, service *connect.Service) *Plan {
	live, err := definitions.Read(t.Context(), service)
	require.NoError(t, err)
	p, err := New(files, live, environment, Options{})
	require.NoError(t, err)
	content, err := json.Marshal(p)
	require.NoError(t, err)
	assert.NotContains(t, string(content), "S3CRET")
	return p
}

// applied returns a service that equals the files.
func applied(t *testing.T) *connect.Service {
	service := newService(t)
	p := planOf(t, written(t, t.TempDir(), nil), service)
	var order []string
	require.NoError(t, p.Run(t.Context(), service, func(s *Step) { order = append(order, s.Folder) }))
	assert.Equal(t, []string{"synonymmaps", "indexes", "aliases", "datasources", "skillsets", "indexers"}, order, "referenced definitions come first")
	return service
}

func TestPlanIsEmptyAfterApplyAndAfterPull(t *testing.T) {
	service := applied(t)
	p := planOf(t, written(t, t.TempDir(), nil), service)
	assert.Empty(t, p.Steps)
	assert.Equal(t, len(everything), p.Same)

	dir := filepath.Join(t.TempDir(), "pulled")
	live, err := definitions.Read(t.Context(), service)
	require.NoError(t, err)
	r, err := Pull(dir, nil, live, false)
	require.NoError(t, err)
	assert.Len(t, r.Written, len(everything))
	assert.Equal(t, []string{"DATASOURCES_ROOMS_CREDENTIALS_CONNECTIONSTRING", "SKILLSETS_K_SKILLS_W_URI"}, r.Variables)
	pulled, err := definitions.Open(dir)
	require.NoError(t, err)
	assert.Empty(t, planOf(t, pulled, service).Steps, "the plan is empty although its variables have no values")
}

func TestPullLeavesFilesThatSayTheSame(t *testing.T) {
	service := applied(t)
	dir := t.TempDir()
	files := written(t, dir, map[string]string{"indexes/old.json": `{"name":"old","fields":[]}`, "aliases/hotels.json": ""})
	live, err := definitions.Read(t.Context(), service)
	require.NoError(t, err)
	r, err := Pull(dir, files, live, false)
	require.NoError(t, err)
	assert.Equal(t, Pulled{Written: []string{"aliases/hotels.json"}, Stale: []string{"indexes/old.json"}}, r)
	content, err := os.ReadFile(filepath.Join(dir, "datasources", "rooms.json"))
	require.NoError(t, err)
	assert.Equal(t, everything["datasources/rooms.json"], string(content), "the file has its own variables")
	files, err = definitions.Open(dir)
	require.NoError(t, err)
	r, err = Pull(dir, files, live, true)
	require.NoError(t, err)
	assert.Equal(t, Pulled{Written: []string{}, Removed: []string{"indexes/old.json"}}, r)

	require.NoError(t, os.Rename(filepath.Join(dir, "indexers", "feed.json"), filepath.Join(dir, "indexers", "other.json")))
	files, err = definitions.Open(dir)
	require.NoError(t, err)
	_, err = Pull(dir, files, live, true)
	assert.ErrorContains(t, err, "feed.json")
}

// Each case changes one file.
func TestEachChangeHasItsCost(t *testing.T) {
	service := applied(t)
	index := everything["indexes/hotels-1.json"]
	for name, c := range map[string]struct {
		files map[string]string
		cost  Cost
		says  string
	}{
		"a field of another type":             {map[string]string{"indexes/hotels-1.json": strings.Replace(index, "Edm.Int32", "Edm.Int64", 1)}, Rebuild, "hotels-2"},
		"a new field":                         {map[string]string{"indexes/hotels-1.json": strings.Replace(index, `{"name":"stars"`, `{"name":"city","type":"Edm.String"},{"name":"stars"`, 1)}, InPlace, "null in new fields"},
		"a synonym":                           {map[string]string{"synonymmaps/cities.json": `{"name":"cities","synonyms":"a, b, c"}`}, InPlace, "a, b, c"},
		"a data source of another type":       {map[string]string{"datasources/rooms.json": strings.Replace(everything["datasources/rooms.json"], "azureblob", "azuretable", 1)}, Refused, "delete it"},
		"another container":                   {map[string]string{"datasources/rooms.json": strings.Replace(everything["datasources/rooms.json"], `"c"`, `"d"`, 1)}, InPlace, "indexer reset"},
		"a skill with a secret":               {map[string]string{"skillsets/k.json": strings.Replace(everything["skillsets/k.json"], `"name":"w"`, `"name":"x"`, 1)}, InPlace, "https://h/***"},
		"a value from the environment":        {map[string]string{"skillsets/k.json": strings.Replace(everything["skillsets/k.json"], `{"name":"k"`, `{"name":"k","description":"${ROOMS}"`, 1)}, InPlace, `"new":"${ROOMS}"`},
		"a member that is taken out":          {map[string]string{"indexers/feed.json": `{"name":"feed","dataSourceName":"rooms","targetIndexName":"hotels-1"}`}, InPlace, "azsearch indexer reset"},
		"an indexer for an index that is not": {map[string]string{"indexers/feed.json": strings.Replace(everything["indexers/feed.json"], "hotels-1", "none", 1)}, Refused, `index \"none\" exists neither`},
		"an indexer every minute":             {map[string]string{"indexers/feed.json": strings.Replace(everything["indexers/feed.json"], `{"name"`, `{"schedule":{"interval":"PT1M"},"name"`, 1)}, Refused, "use an ISO 8601 duration from 5 minutes"},
		"a mapping to a field of the new file": {map[string]string{
			"indexers/feed.json":    strings.Replace(everything["indexers/feed.json"], `{"name"`, `{"fieldMappings":[{"sourceFieldName":"c","targetFieldName":"city"}],"name"`, 1),
			"indexes/hotels-1.json": strings.Replace(index, `{"name":"stars"`, `{"name":"city","type":"Edm.String"},{"name":"stars"`, 1),
		}, InPlace, "fieldMappings"},
		"a mapping to no field":     {map[string]string{"indexers/feed.json": strings.Replace(everything["indexers/feed.json"], `{"name"`, `{"fieldMappings":[{"sourceFieldName":"city"}],"name"`, 1)}, Refused, `does not have the field \"city\"`},
		"an input that is a secret": {map[string]string{"skillsets/k.json": strings.Replace(everything["skillsets/k.json"], `"/document/content"`, `"${SKILL}"`, 1)}, InPlace, "${ROOMS}"},
		"an input of nothing":       {map[string]string{"skillsets/k.json": strings.Replace(everything["skillsets/k.json"], `"/document/content"`, `"content"`, 1)}, Refused, "begin it with /document"},
		"a secret without a value":  {map[string]string{"datasources/new.json": `{"name":"new","type":"azureblob","credentials":{"connectionString":"${NEW}"},"container":{"name":"c"}}`}, Refused, "no value for NEW"},
		"an alias to an index that is new": {map[string]string{"indexes/hotels-2.json": strings.Replace(index, "hotels-1", "hotels-2", 1), "aliases/hotels.json": `{"name":"hotels","indexes":["hotels-2"]}`},
			Rebuild, `"from":"hotels-1","to":"hotels-2"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, written(t, t.TempDir(), c.files), service)
			require.NotEmpty(t, p.Steps)
			last := p.Steps[len(p.Steps)-1]
			assert.Equal(t, c.cost, last.Cost())
			content, err := json.Marshal(last)
			require.NoError(t, err)
			assert.Contains(t, string(content), c.says)
			assert.Equal(t, c.cost == InPlace, p.Check() == nil)
		})
	}
}

func TestAliasDoesNotMoveToAnIndexWithFarFewerDocuments(t *testing.T) {
	service := applied(t)
	next := map[string]string{"indexes/hotels-2.json": strings.Replace(everything["indexes/hotels-1.json"], "hotels-1", "hotels-2", 1)}
	p := planOf(t, written(t, t.TempDir(), next), service)
	require.NoError(t, p.Run(t.Context(), service, func(*Step) {}))
	next["aliases/hotels.json"] = `{"name":"hotels","indexes":["hotels-2"]}`
	files := written(t, t.TempDir(), next)
	live, err := definitions.Read(t.Context(), service)
	require.NoError(t, err)
	for has, cost := range map[int64]Cost{94: Refused, 95: InPlace} {
		p := planOf(t, files, service)
		require.NoError(t, p.CompareCounts(live, func(index string) (int64, error) {
			return map[string]int64{"hotels-1": 100, "hotels-2": has}[index], nil
		}))
		require.Len(t, p.Steps, 1)
		assert.Equal(t, cost, p.Steps[0].Cost())
	}
}

func TestPlanThatIsRefusedInPartChangesNothing(t *testing.T) {
	service := applied(t)
	p := planOf(t, written(t, t.TempDir(), map[string]string{
		"synonymmaps/cities.json": `{"name":"cities","synonyms":"changed"}`, "aliases/other.json": `{"name":"other","indexes":["none"]}`,
	}), service)
	require.Len(t, p.Steps, 2)
	err := p.Run(t.Context(), service, func(*Step) { t.Error("a step was done") })
	assert.ErrorContains(t, err, `nothing was changed: alias "other" is refused`)
	cities, err := service.GetSynonymMap(t.Context(), "cities", nil)
	require.NoError(t, err)
	assert.Equal(t, "a, b", strings.Join(cities.Synonyms, "\n"))
}

func TestOnlyTheServiceDecidesIfAskedTo(t *testing.T) {
	service := applied(t)
	everyMinute := map[string]string{"indexers/feed.json": strings.Replace(everything["indexers/feed.json"], `{"name"`, `{"schedule":{"interval":"PT1M"},"name"`, 1)}
	files := written(t, t.TempDir(), everyMinute)
	require.Equal(t, 1, planOf(t, files, service).Count(Refused))
	live, err := definitions.Read(t.Context(), service)
	require.NoError(t, err)
	p, err := New(files, live, environment, Options{Unchecked: true})
	require.NoError(t, err)
	assert.NoError(t, p.Check())
}

func TestChangeOfOthersAfterThePlanIsNotOverwritten(t *testing.T) {
	for name, change := range map[string][2]string{
		"synonymmaps/cities.json": {`"a, b"`, `"a, b, c"`},
		"indexes/hotels-1.json":   {`{"name":"stars"`, `{"name":"city","type":"Edm.String"},{"name":"stars"`},
		"aliases/hotels.json":     {`"hotels-1"`, `"other"`},
		"datasources/rooms.json":  {`{"name":"c"}`, `{"name":"d"}`},
		"skillsets/k.json":        {`{"name":"k"`, `{"name":"k","description":"x"`},
		"indexers/feed.json":      {`{"name":"feed"`, `{"name":"feed","description":"x"`},
	} {
		t.Run(name, func(t *testing.T) {
			service := applied(t)
			files := map[string]string{"indexes/other.json": strings.Replace(everything["indexes/hotels-1.json"], "hotels-1", "other", 1)}
			require.NoError(t, planOf(t, written(t, t.TempDir(), files), service).Run(t.Context(), service, func(*Step) {}))
			files[name] = strings.Replace(everything[name], change[0], change[1], 1)
			first, second := planOf(t, written(t, t.TempDir(), files), service), planOf(t, written(t, t.TempDir(), files), service)
			require.NoError(t, first.Run(t.Context(), service, func(*Step) {}))
			err := second.Run(t.Context(), service, func(*Step) { t.Error("a step was done") })
			assert.ErrorContains(t, err, "applied 0 of 1 definition, then")
			assert.ErrorContains(t, err, "after the plan was made")
		})
	}
}

func TestWhatOthersCreateAfterThePlanIsNotOverwritten(t *testing.T) {
	service := newService(t)
	first, second := planOf(t, written(t, t.TempDir(), nil), service), planOf(t, written(t, t.TempDir(), nil), service)
	require.NoError(t, first.Run(t.Context(), service, func(*Step) {}))
	for i := range second.Steps {
		one := *second
		one.Steps = second.Steps[i : i+1]
		err := one.Run(t.Context(), service, func(*Step) { t.Error("a step was done") })
		assert.ErrorContains(t, err, one.Steps[0].String()+": not created, because it was created in the service after the plan was made")
		assert.Equal(t, exit.Incomplete, exit.Code(err))
	}
}

func TestDowntimeIsAskedFor(t *testing.T) {
	service := applied(t)
	files := written(t, t.TempDir(), map[string]string{"indexes/hotels-1.json": strings.TrimSuffix(everything["indexes/hotels-1.json"], "}") +
		`,"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"a","tokenizer":"standard_v2"}]}`})
	p := planOf(t, files, service)
	assert.ErrorContains(t, p.Run(t.Context(), service, nil), "add -downtime")
	p.options.Downtime = true
	require.NoError(t, p.Run(t.Context(), service, func(*Step) {}))
	assert.Empty(t, planOf(t, files, service).Steps)
}

func TestSecretsAreWrittenAgainOnlyWhenAskedFor(t *testing.T) {
	service := applied(t)
	literal := `{"name":"literal","type":"azureblob","credentials":{"connectionString":"AccountKey=S3CRET"},"container":{"name":"c"}}`
	files := written(t, t.TempDir(), map[string]string{"datasources/literal.json": literal})
	require.NoError(t, planOf(t, files, service).Run(t.Context(), service, func(*Step) {}))
	live, err := definitions.Read(t.Context(), service)
	require.NoError(t, err)
	unasked := planOf(t, files, service)
	assert.Empty(t, unasked.Steps)
	assert.Equal(t, 3, unasked.Uncompared)
	p, err := New(files, live, environment, Options{Secrets: true})
	require.NoError(t, err)
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Name)
	}
	assert.Equal(t, []string{"literal", "rooms", "k"}, names, "the secret of literal is in its file")
	assert.Zero(t, p.Uncompared)
	assert.NoError(t, p.Run(t.Context(), service, func(*Step) {}))
}

func TestWhatTheServiceSaysAboutASecretIsMasked(t *testing.T) {
	p := &Plan{variables: environment}
	d := definitions.Definition{Secrets: []definitions.Secret{{Variable: "ROOMS"}}}
	err := p.masked(&Step{definition: &d}, errors.New("cannot connect to "+secret))
	assert.EqualError(t, err, "cannot connect to ${ROOMS}")
}

func TestDefinitionsWithoutAFileAreExtra(t *testing.T) {
	service := applied(t)
	p := planOf(t, written(t, t.TempDir(), map[string]string{"aliases/hotels.json": "", "indexes/hotels-1.json": "", "indexes/bb.json": `{"name":"bb","fields":[{"name":"id","type":"Edm.String","key":true}]}`}), service)
	assert.Equal(t, []string{`index "hotels-1"`}, p.Extra, "no file defines an alias")
	assert.False(t, slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Cost() == Refused }), "the indexer's index is at the service")
}

func TestIndexThatIsRebuiltGetsTheNextNumber(t *testing.T) {
	live := definitions.Set{{Kind: definitions.Indexes, Name: "hotels-3"}}
	for index, next := range map[string]string{"hotels": "hotels-2", "hotels-1": "hotels-2", "hotels-2": "hotels-4", "hotels-v1": "hotels-v1-2", "a-b": "a-b-2"} {
		assert.Equal(t, next, Next(index, live))
	}
}

func TestRefusedReferenceToTheValueOfAVariableNamesTheVariable(t *testing.T) {
	service := newService(t)
	live, err := definitions.Read(t.Context(), service)
	require.NoError(t, err)
	files := written(t, t.TempDir(), map[string]string{
		"aliases/al.json":           `{"name":"al","indexes":["${V}"]}`,
		"indexers/ix.json":          `{"name":"ix","dataSourceName":"${V}","targetIndexName":"${V}","skillsetName":"${V}"}`,
		"indexes/tt.json":           `{"name":"tt","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"a","type":"Edm.String","searchable":true,"synonymMaps":["${V}"]}]}`,
		"knowledgesources/src.json": `{"name":"src","kind":"searchIndex","searchIndexParameters":{"searchIndexName":"${V}"}}`,
		"knowledgebases/kb.json":    `{"name":"kb","knowledgeSources":[{"name":"${V}"}]}`,
	})
	for _, value := range []string{"S3CRET", "s3c"} {
		p, err := New(files, live, func(string) (string, bool) { return value, true }, Options{})
		require.NoError(t, err)
		content, err := json.Marshal(p)
		require.NoError(t, err)
		assert.NotContains(t, string(content), value)
		assert.Equal(t, 7, strings.Count(string(content), `\"${V}\" exists neither`), "%s", content)
	}
}

// Secrets are in the file itself, in a variable for a member that normally has none, and in the definition to be
// replaced.
func TestNoPlanShowsASecret(t *testing.T) {
	service := newService(t)
	encrypted := `{"name":"cities","synonyms":"a, b","encryptionKey":{"keyVaultUri":"https://v","keyVaultKeyName":"k","keyVaultKeyVersion":"1","accessCredentials":{"applicationId":"i","applicationSecret":"S3CRET"}}}`
	for name, content := range map[string]string{"datasources": `{"name":"rooms","type":"azureblob","credentials":{"connectionString":"S3CRET"},"container":{"name":"c","query":"S3CRET&before"}}`} {
		_, err := search.Do(t.Context(), service.IndexClient, "POST", "/"+name, json.RawMessage(content), nil)
		require.NoError(t, err)
	}
	_, err := search.Do(t.Context(), service.IndexClient, "POST", "/synonymmaps", json.RawMessage(`{"name":"cities","format":"solr","synonyms":"a, b"}`), nil)
	require.NoError(t, err)
	live, err := definitions.Read(t.Context(), service)
	require.NoError(t, err)
	files := written(t, t.TempDir(), map[string]string{
		"synonymmaps/cities.json": encrypted,
		"datasources/rooms.json":  `{"name":"rooms","type":"azureblob","credentials":{"ConnectionString":"S3CRET2"},"container":{"name":"c","query":"${ROOMS}"}}`,
	})
	p, err := New(files, live, func(string) (string, bool) { return "https://h/?a=<1>&sig=S3CRET", true }, Options{Secrets: true})
	require.NoError(t, err)
	content, err := json.Marshal(p)
	require.NoError(t, err)
	text := string(content) + fmt.Sprintf("%v %+v", p.Steps, p.Steps)
	for _, step := range p.Steps {
		for _, c := range step.Changes {
			text += string(c.Old) + string(c.New)
		}
	}
	assert.NotContains(t, text, "S3CRET")
	assert.Contains(t, text, `"${ROOMS}"`)
	assert.Contains(t, text, "encryptionKey")
}

// In each position, name and type come first and defaults are omitted.
func TestNewEntryIsShownAsTheFileSaysIt(t *testing.T) {
	service := newService(t)
	files := map[string]string{}
	for name := range everything {
		files[name] = ""
	}
	index := func(more string) string {
		return `{"name":"a-index","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"in","type":"Edm.ComplexType","fields":[{"name":"x","type":"Edm.String"}` + more + `}`
	}
	skill := func(more string) string {
		return `{"name":"k","skills":[{"@odata.type":"#Microsoft.Skills.Text.KeyPhraseExtractionSkill","inputs":[{"name":"text","source":"/document/content"}],"outputs":[{"name":"keyPhrases"}]}` + more + `]}`
	}
	files["indexes/a.json"], files["skillsets/k.json"] = index(`]}]`), skill("")
	require.NoError(t, planOf(t, written(t, t.TempDir(), files), service).Run(t.Context(), service, func(*Step) {}))
	files["indexes/a.json"] = index(`,{"type":"Edm.Int32","facetable":false,"name":"y"}]},{"type":"Edm.ComplexType","name":"z","fields":[{"searchable":false,"name":"w","type":"Edm.String"}]}]
		,"vectorSearch":{"algorithms":[{"kind":"hnsw","name":"h"}],"profiles":[]}`)
	files["skillsets/k.json"] = skill(`,{"inputs":[{"source":"/document/content","name":"text"}],"@odata.type":"#Microsoft.Skills.Custom.WebApiSkill","uri":"https://h/<&>?code=S3CRET","outputs":[]}`)
	shown := map[string]string{}
	for _, s := range planOf(t, written(t, t.TempDir(), files), service).Steps {
		for _, c := range s.Changes {
			shown[c.Path] = string(c.New)
		}
	}
	assert.Equal(t, map[string]string{
		"fields/in/y":               `{"name":"y","type":"Edm.Int32","facetable":false}`,
		"fields/z":                  `{"name":"z","type":"Edm.ComplexType","fields":[{"name":"w","type":"Edm.String","searchable":false}]}`,
		"vectorSearch.algorithms/h": `{"name":"h","kind":"hnsw"}`,
		"skills/#2":                 `{"@odata.type":"#Microsoft.Skills.Custom.WebApiSkill","inputs":[{"name":"text","source":"/document/content"}],"uri":"https://h/***"}`,
	}, shown)
}
