package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// write replaces a file of a session.
func (s *session) write(name, content string) {
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s.t, os.WriteFile(path, []byte(content), 0o600))
}

// TestApplySession pulls the definitions of a service, changes the files, shows plans and applies them.
func TestApplySession(t *testing.T) {
	const secret = "AccountKey=S3CRET"
	e := startEmulator(t, "-quiet")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, roomFields)
	e.call(t, http.DefaultClient, http.MethodPost, "/datasources", searchtest.AdminKey, `{"name":"blobs","type":"azureblob","credentials":{"connectionString":"`+secret+`"},"container":{"name":"c"}}`)
	s := newSession(t, e.url, nil)
	t.Setenv("BLOBS", secret)

	got := s.run("pull", "defs")
	assert.Equal(t, ended{0, "wrote 2 of 2 definitions to defs\ntheir secrets are left out; azsearch apply takes them from DATASOURCES_BLOBS_CREDENTIALS_CONNECTIONSTRING\n", ""}, got)
	const uncompared = "secrets of 1 definition were not compared; apply -secrets writes them\n"
	assert.Equal(t, ended{0, "plan: 0 in place, 0 need a rebuild, 0 refused, 2 unchanged\n" + uncompared, ""}, s.run("apply", "defs"))
	assert.Equal(t, ended{0, "wrote 0 of 2 definitions to defs\n", ""}, s.run("pull", "defs"))

	s.write("defs/synonymmaps/cities.json", `{"name":"cities","synonyms":"Ulm, Neu-Ulm"}`)
	before, after, _ := strings.Cut(s.file("defs/indexes/rooms.json"), `"name": "name",`)
	s.write("defs/indexes/rooms.json", before+`"name": "name",`+strings.Replace(after, `"synonymMaps": []`, `"synonymMaps": ["cities"]`, 1))
	s.write("defs/datasources/more.json", `{"name":"more","type":"azureblob","credentials":{"connectionString":"${BLOBS}"},"container":{"name":"d"}}`)
	got = s.run("apply", "defs")
	assert.Equal(t, ended{2, `synonym map "cities" (synonymmaps/)
  in place         create it
index "rooms" (indexes/)
  in place         fields/name.synonymMaps: nothing → ["cities"] (it applies to queries only)
data source "more" (datasources/)
  in place         create it
plan: 3 in place, 0 need a rebuild, 0 refused, 1 unchanged
` + uncompared, "azsearch: nothing was changed: add -yes to carry out the plan for 3 definitions\n"}, got)
	got = s.run("apply", "-yes", "defs")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, "created synonym map \"cities\"\nchanged index \"rooms\"\ncreated data source \"more\"\n")
	assert.NotContains(t, got.stdout, "S3CRET")
	assert.Zero(t, s.run("apply", "-drift", "defs").code)
	assert.Contains(t, s.file("defs/datasources/more.json"), "${BLOBS}")

	s.write("defs/indexes/rooms.json", strings.Replace(s.file("defs/indexes/rooms.json"), "Edm.Int64", "Edm.Double", 1))
	got = s.run("apply", "-json", "defs/indexes/rooms.json")
	assert.Equal(t, 2, got.code)
	var plan struct {
		Steps []struct {
			Changes []struct{ Cost, Path, Reason, Do string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &plan))
	assert.Equal(t, "needs a rebuild", plan.Steps[0].Changes[0].Cost)
	refused := "azsearch: nothing was changed: index \"rooms\" needs a rebuild: define it as indexes/rooms-2.json; see the plan, or apply single files\n"
	got = s.run("apply", "defs")
	assert.Equal(t, 2, got.code)
	assert.Equal(t, refused, got.stderr, "the message does not advise -yes")
	got = s.run("apply", "-yes", "defs")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "  needs a rebuild  fields/stars.type: \"Edm.Int64\" → \"Edm.Double\" (the type of a field is fixed)\n                   define it as indexes/rooms-2.json")
	assert.Equal(t, refused, got.stderr)
	one := s.file("defs/indexes/rooms.json")
	s.write("defs/indexes/rooms.json", strings.Replace(one, `"type": "Edm.String"`, `"type": "Edm.Int32"`, 1))
	assert.Equal(t, 1, strings.Count(s.run("apply", "defs").stdout, "define it as indexes/rooms-2.json"), "the advice is given once for two changes")
	s.write("defs/indexes/rooms.json", one)
	assert.Equal(t, "wrote 1 of 4 definitions to defs\n", s.run("pull", "defs").stdout)

	e.call(t, http.DefaultClient, http.MethodDelete, "/synonymmaps('cities')", searchtest.AdminKey, "")
	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, strings.Replace(roomFields, `"rooms"`, `"byhand"`, 1))
	got = s.run("apply", "-drift", "defs")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stdout, "index \"byhand\" is not in the files; it stays\n")
	assert.Equal(t, "azsearch: the service differs from the files in 2 definitions\n", got.stderr)
	got = s.run("pull", "defs")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "synonymmaps/cities.json; remove these files, or add -prune")
}

func TestApplyAndPullRefuseWhatCannotWorkInOneLine(t *testing.T) {
	s := newSession(t, "emulator", map[string]string{"a.json": "{}"})
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "empty"), 0o700))
	s.write("bad/indexes/a.json", `{"name":`)
	s.write("good/indexes/a.json", `{"name":"a-index","fields":[{"name":"id","type":"Edm.String","key":true}]}`)
	s.write("wrong/indexes/a.json", `{"name":"A index","fields":[]}`)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"apply"}, 2, "DIR|FILE"},
		{[]string{"apply", "none"}, 2, "none"},
		{[]string{"apply", "empty"}, 2, "azsearch pull makes them"},
		{[]string{"apply", "a.json"}, 2, "the folder does not name a kind"},
		{[]string{"apply", "bad"}, 2, "not JSON"},
		{[]string{"apply", "-yes", "-drift", "good"}, 2, "-drift changes nothing"},
		{[]string{"apply", "-fewer", "-fill", "good"}, 2, "-fill and -fewer cannot be used together"},
		{[]string{"apply", "-yes", "wrong"}, 1, "index \"A index\" is refused"},
		{[]string{"apply", "-yes", "-unchecked", "wrong"}, 3, "index \"A index\""},
		{[]string{"pull", "a.json"}, 2, "is a file, want a directory"},
		{[]string{"pull", "bad"}, 2, "not JSON"},
	} {
		got := s.run(c.args...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.says, "%v", c.args)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
	}
	assert.Equal(t, 0, s.run("apply", "-yes", "good").code)
}

// An API key sees one of eleven documents in one index, and all documents of the other.
func TestCountsOfCommandsAreOfTheWholeIndex(t *testing.T) {
	e := startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{"hidden.jsonl": `{"id":"open","users":["all"]}` + "\n" + strings.ReplaceAll(hotelLines(10), `"name":"Hotel`, `"users":["alice"],"name":"Hotel`), "open.jsonl": `{"id":"open","users":["all"]}`})
	for _, name := range []string{"hotels-1", "hotels-2", "plain"} {
		s.write("defs/indexes/"+name+".json", `{"name":"`+name+`","permissionFilterOption":"enabled","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
			{"name":"name","type":"Edm.String"},{"name":"users","type":"Collection(Edm.String)","filterable":true,"permissionFilter":"userIds"}]}`)
	}
	s.write("defs/indexes/plain.json", `{"name":"plain","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true}]}`)
	s.write("defs/aliases/hotels.json", `{"name":"hotels","indexes":["hotels-1"]}`)
	require.Zero(t, s.run("apply", "-yes", "defs").code)
	require.Zero(t, s.run("load", "-index", "hotels-1", "-quiet", "hidden.jsonl").code)
	require.Zero(t, s.run("load", "-index", "hotels-2", "-quiet", "open.jsonl").code)

	s.write("defs/aliases/hotels.json", `{"name":"hotels","indexes":["hotels-2"]}`)
	for _, args := range [][]string{
		{"apply", "-yes", "defs"},
		{"copy", "plain", "hotels-2"},
		{"delete", "-filter", "id eq 'open'", "hotels-1"},
	} {
		got := s.run(args...)
		assert.NotZero(t, got.code, "%v: %s", args, got.stdout)
		assert.Contains(t, got.stderr, "elevated", "%v", args)
	}
	_, _, body := e.call(t, http.DefaultClient, http.MethodGet, "/aliases('hotels')", searchtest.AdminKey, "")
	assert.Contains(t, body, `"hotels-1"`)
}

// Each kind of definition has members whose defaults the service fills in.
func TestSecondApplyHasNothingToDo(t *testing.T) {
	e := startEmulator(t, "-quiet")
	s := newSession(t, e.url, nil)
	s.write("defs/indexes/hotels.json", hotelFields)
	s.write("defs/datasources/blobs.json", `{"name":"blobs","type":"azureblob","credentials":{"connectionString":"AccountKey=S3CRET"},"container":{"name":"c"}}`)
	skill := func(typ, input, output string) string {
		return `{"@odata.type":"#Microsoft.Skills.` + typ + `","inputs":[{"name":"` + input + `","source":"/document/content"}],"outputs":[{"name":"` + output + `"}]}`
	}
	s.write("defs/skillsets/words.json", `{"name":"words","skills":[`+strings.Join([]string{
		skill("Vision.OcrSkill", "image", "text"), skill("Vision.ImageAnalysisSkill", "image", "tags"), skill("Text.KeyPhraseExtractionSkill", "text", "keyPhrases"),
		skill("Text.LanguageDetectionSkill", "text", "languageCode"), skill("Text.V3.EntityRecognitionSkill", "text", "persons"),
	}, ",")+`]}`)
	s.write("defs/indexers/feed.json", `{"name":"feed","dataSourceName":"blobs","targetIndexName":"hotels","skillsetName":"words","schedule":{"interval":"PT2H"},
		"parameters":{"maxFailedItems":1},"fieldMappings":[{"sourceFieldName":"name"}],"outputFieldMappings":[{"sourceFieldName":"/document/keyPhrases","targetFieldName":"tags"}]}`)
	got := s.run("apply", "-yes", "defs")
	require.Zero(t, got.code, got.stderr+got.stdout)
	got = s.run("apply", "defs")
	assert.Zero(t, got.code, got.stdout)
	assert.Contains(t, got.stdout, "plan: 0 in place, 0 need a rebuild, 0 refused, 4 unchanged\n")
	assert.Zero(t, s.run("apply", "-drift", "defs").code)

	s.write("defs/skillsets/words.json", strings.Replace(s.file("defs/skillsets/words.json"), `"inputs"`, `"lineEnding":"LineFeed","inputs"`, 1))
	got = s.run("apply", "defs")
	assert.Contains(t, got.stdout, `skills/#1.lineEnding: "Space" → "LineFeed"`)
	assert.Contains(t, got.stdout, "plan: 1 in place", "no other change is planned")
}
