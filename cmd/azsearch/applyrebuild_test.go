package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/apply"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/connect"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/definitions"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/exit"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// withHotels returns an emulator and a session with hotels-1 behind the alias hotels, and documents.
func withHotels(t *testing.T, documents string, args ...string) (*emulator, *session) {
	e := startEmulator(t, append([]string{"-quiet"}, args...)...)
	s := newSession(t, e.url, map[string]string{"a.jsonl": documents})
	s.write("defs/indexes/hotels-1.json", strings.Replace(hotelFields, `"hotels"`, `"hotels-1"`, 1))
	s.write("defs/aliases/hotels.json", `{"name":"hotels","indexes":["hotels-1"]}`)
	require.Zero(t, s.run("apply", "-yes", "defs").code)
	require.Zero(t, s.run("load", "-index", "hotels-1", "-quiet", "a.jsonl").code)
	return e, s
}

// send writes documents to an index, as another program does.
func (e *emulator) send(t *testing.T, index string, actions ...string) {
	status, _, body := e.call(t, http.DefaultClient, http.MethodPost, "/indexes('"+index+"')/docs/search.index", searchtest.AdminKey, `{"value":[`+strings.Join(actions, ",")+`]}`)
	require.Equal(t, http.StatusOK, status, body)
}

// document returns a document of an index, "" if it has none of the key.
func (e *emulator) document(t *testing.T, index, key string) string {
	status, _, body := e.call(t, http.DefaultClient, http.MethodGet, "/indexes('"+index+"')/docs('"+key+"')", searchtest.AdminKey, "")
	if status != http.StatusOK {
		return ""
	}
	return body
}

// alias returns the definition of the alias hotels.
func (e *emulator) alias(t *testing.T) string {
	_, _, body := e.call(t, http.DefaultClient, http.MethodGet, "/aliases('hotels')", searchtest.AdminKey, "")
	return body
}

// began starts a command that runs beside the test. The function waits for its end.
func (s *session) began(args ...string) (kill func() error, end func() ended) {
	var stdout, stderr bytes.Buffer
	cmd := s.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(s.t, cmd.Start())
	return cmd.Process.Kill, func() ended {
		_ = cmd.Wait() // the exit code has the result
		return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	}
}

// TestApplyRebuildsTheIndexOfAnAlias changes the type of a field three times, and the files keep their names.
func TestApplyRebuildsTheIndexOfAnAlias(t *testing.T) {
	e, s := withHotels(t, hotelLines(1200)+`{"id":"x","name":"Ritz","stars":5,"tags":["a","b"]}`+"\n")
	file := s.file("defs/indexes/hotels-1.json")
	s.write("defs/indexes/hotels-1.json", strings.NewReplacer("Int32", "Double", `,{"name":"tags","type":"Collection(Edm.String)"}`, "").Replace(file))
	plan := `index "hotels-1" (indexes/)
  needs a rebuild  fields/stars.type: "Edm.Int32" → "Edm.Double" (the type of a field is fixed)
  needs a rebuild  fields/tags: {"facetable":true,"filterable":true,"key":false,"name":"tags","retrievable":true,"searchable":true,"sensitivityLabel":f… → nothing (fields cannot be deleted)
                   -fill creates "hotels-2", copies 1,201 documents of "hotels-1", then moves alias "hotels"
                   readers of "hotels" see no gap; "hotels-1" stays for readers that name it, and for the way back
                   writers have to stop until apply has ended: it copies what changed meanwhile, and if "hotels-1" changes too late, ends with exit code 1; then azsearch repair
                   left out: tags, which "hotels-2" does not have
plan: 0 in place, 1 need a rebuild, 0 refused, 1 unchanged
`
	needed := `azsearch: nothing was changed: index "hotels-1" needs a rebuild: add -fill; see the plan, or apply single files` + "\n"
	assert.Equal(t, ended{2, plan, needed}, s.run("apply", "defs"))
	assert.Equal(t, ended{1, plan, needed}, s.run("apply", "-yes", "defs"))
	assert.Equal(t, ended{2, plan, "azsearch: nothing was changed: add -yes to carry out the plan for 1 definition\n"}, s.run("apply", "-fill", "defs"))

	rebuilt := s.run("apply", "-yes", "-fill", "-settle", "1s", "defs")
	got := rebuilt
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, `rebuilt index "hotels-1" as "hotels-2"; alias "hotels" names it; when "hotels-1" is no longer needed: curl -X DELETE -H "api-key: $AZURE_SEARCH_API_KEY" "`)
	assert.Contains(t, got.stderr, "copied to hotels-2: 1,201 documents; hotels-1 has 1,201\n")
	assert.Contains(t, e.document(t, "hotels", "x"), `"stars":5.0`)
	assert.NotContains(t, e.document(t, "hotels", "x"), "tags")
	unchanged := "plan: 0 in place, 0 need a rebuild, 0 refused, 2 unchanged\n"
	assert.Equal(t, ended{0, "index \"hotels-1\" (replaced by \"hotels-2\") is not in the files; it stays\n" + unchanged, ""}, s.run("apply", "defs"), "the files are those of hotels-2")
	assert.Equal(t, 2, s.run("apply", "-drift", "defs").code)
	assert.Equal(t, "plan: 0 in place, 0 need a rebuild, 0 refused, 1 unchanged\n", s.run("apply", "defs/indexes/hotels-1.json").stdout)

	s.write("defs/indexes/hotels-1.json", strings.Replace(s.file("defs/indexes/hotels-1.json"), `{"name":"name"`, `{"name":"city","type":"Edm.String"},{"name":"name"`, 1))
	got = s.run("apply", "-yes", "defs")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, "changed index \"hotels-2\"\n", "a change in place is one of the new index")

	drop := regexp.MustCompile(`"http://[^/]*(/[^"?]*)\?`).FindStringSubmatch(rebuilt.stdout)
	require.Len(t, drop, 2)
	status, _, _ := e.call(t, http.DefaultClient, http.MethodDelete, drop[1], searchtest.AdminKey, "")
	assert.Equal(t, http.StatusNoContent, status)
	assert.Equal(t, ended{0, unchanged, ""}, s.run("apply", "defs"), "the old index is gone")
	assert.Zero(t, s.run("apply", "-drift", "defs").code)
	s.write("defs/indexes/hotels-1.json", strings.Replace(s.file("defs/indexes/hotels-1.json"), `"city","type":"Edm.String"`, `"city","type":"Edm.String","filterable":false`, 1))
	got = s.run("apply", "-yes", "-fill", "-settle", "0s", "defs/indexes/hotels-1.json")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, `rebuilt index "hotels-2" as "hotels-3"`)
	assert.Contains(t, e.alias(t), `"hotels-3"`)

	require.Zero(t, s.run("pull", "-prune", "defs").code)
	assert.Zero(t, s.run("apply", "-drift", "defs").code, "the files are hotels-2 and hotels-3")
}

// What cannot be copied, and what names the index itself, is said before anything happens.
func TestApplyRefusesARebuildThatWouldLoseSomething(t *testing.T) {
	e, s := withHotels(t, hotelLines(3))
	file := s.file("defs/indexes/hotels-1.json")
	s.write("defs/indexes/hotels-1.json", strings.Replace(file, `"key":true`, `"key":true,"facetable":false`, 1))
	s.write("defs/indexes/hotels-1.json", strings.Replace(file, "Int32", "Double", 1))
	e.call(t, http.DefaultClient, http.MethodPost, "/aliases", searchtest.AdminKey, `{"name":"rooms","indexes":["hotels-1"]}`)
	got := s.run("apply", "-yes", "-fill", "defs")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "the aliases hotels, rooms name it")
	e.call(t, http.DefaultClient, http.MethodDelete, "/aliases('rooms')", searchtest.AdminKey, "")

	e.call(t, http.DefaultClient, http.MethodPost, "/datasources", searchtest.AdminKey, `{"name":"d","type":"azureblob","credentials":{"connectionString":"c"},"container":{"name":"c"}}`)
	e.call(t, http.DefaultClient, http.MethodPost, "/indexers", searchtest.AdminKey, `{"name":"feed","dataSourceName":"d","targetIndexName":"hotels-1"}`)
	got = s.run("apply", "-yes", "-fill", "defs")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, `indexer "feed" names it itself: define it as indexes/hotels-2.json, let that and aliases/hotels.json name the new one, and apply -fill`)
	e.call(t, http.DefaultClient, http.MethodDelete, "/indexers('feed')", searchtest.AdminKey, "")

	e.call(t, http.DefaultClient, http.MethodPost, "/indexes", searchtest.AdminKey, strings.Replace(strings.Replace(hotelFields, `"hotels"`, `"secret"`, 1), `"name":"name","type":"Edm.String"`, `"name":"name","type":"Edm.String","retrievable":false`, 1))
	e.call(t, http.DefaultClient, http.MethodPost, "/aliases", searchtest.AdminKey, `{"name":"rooms","indexes":["secret"]}`)
	s.write("defs/indexes/secret.json", strings.Replace(hotelFields, `"hotels"`, `"secret"`, 1))
	s.write("defs/indexes/secret.json", strings.Replace(s.file("defs/indexes/secret.json"), "Int32", "Double", 1))
	got = s.run("apply", "-yes", "-fill", "defs/indexes/secret.json")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, `the values of name in "secret" cannot be read, so they would be lost`)
	assert.Contains(t, got.stdout, "from the source of the documents")

	s.write("defs/indexes/hotels-1.json", strings.Replace(file, `"stars","type":"Edm.Int32"`, `"stars","type":"Edm.String"`, 1))
	e.send(t, "hotels-1", `{"id":"1","stars":3}`)
	got = s.run("apply", "-yes", "-fill", "defs/indexes/hotels-1.json")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, `1 document cannot be written to "hotels-2", such as ["1"]`)
	assert.Contains(t, got.stderr, `alias "hotels" still names "hotels-1"`)
	assert.Contains(t, e.alias(t), `"hotels-1"`)
}

// An alias that the files create, or move to an index that they define, is filled in the same way.
func TestApplyFillsTheIndexThatAFileNames(t *testing.T) {
	e, s := withHotels(t, hotelLines(1200)+`{"id":"x","name":"Ritz","stars":5,"tags":["a","b"]}`+"\n")
	// stars becomes a fraction, tags is removed, name is no longer retrievable, and city is added.
	s.write("defs/indexes/hotels-2.json", strings.NewReplacer(`"hotels"`, `"hotels-2"`, "Int32", "Double", `"tags"`, `"city"`, "Collection(Edm.String)", "Edm.String",
		`"name","type":"Edm.String"`, `"name","type":"Edm.String","searchable":true,"retrievable":false`).Replace(hotelFields))
	s.write("defs/aliases/hotels.json", `{"name":"hotels","indexes":["hotels-2"]}`)
	got := s.run("apply", "-yes", "defs")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, `alias "hotels" needs a rebuild: add -fill`)
	got = s.run("apply", "-yes", "-fill", "-settle", "1s", "defs")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, `rebuilt index "hotels-1" as "hotels-2"`)
	assert.Contains(t, e.document(t, "hotels", "x"), `"stars":5.0`)
	assert.Contains(t, s.run("search", "hotels", "Ritz").stdout, "1 of 1 document,", "the field that is not returned is filled, too")
	assert.Zero(t, s.run("apply", "-drift", "defs").code)

	// The way back, to an index that lacks nothing.
	s.write("defs/aliases/hotels.json", `{"name":"hotels","indexes":["hotels-1"]}`)
	got = s.run("apply", "-yes", "defs")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, "changed alias \"hotels\"\n")

	// hotels-3 was filled by others: what it has stays, and if that differs nothing is written.
	s.write("defs/indexes/hotels-3.json", strings.NewReplacer(`"hotels"`, `"hotels-3"`, `"tags"`, `"city"`, "Collection(Edm.String)", "Edm.String").Replace(hotelFields))
	require.Zero(t, s.run("apply", "-yes", "defs/indexes/hotels-3.json").code)
	e.send(t, "hotels-3", `{"id":"7","name":"Hotel 7","city":"Ulm"}`, `{"id":"other"}`)
	s.write("defs/aliases/hotels.json", `{"name":"hotels","indexes":["hotels-3"]}`)
	got = s.run("apply", "-yes", "defs")
	assert.Contains(t, got.stdout, "add -fill to copy them")
	got = s.run("apply", "-yes", "-fill", "-settle", "1s", "defs")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, `"hotels-3" has another document than "hotels-1" for key "other"`)
	assert.Contains(t, e.alias(t), `"hotels-1"`)
	assert.Empty(t, e.document(t, "hotels-3", "1"))
	e.send(t, "hotels-3", `{"@search.action":"delete","id":"other"}`)
	got = s.run("apply", "-yes", "-fill", "-settle", "1s", "defs")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "copied to hotels-3: 1,200 documents; hotels-1 has 1,201\n")
	assert.Contains(t, e.document(t, "hotels", "7"), `"city":"Ulm"`)

	// An alias beside the definition is created first.
	s.write("defs/aliases/more.json", `{"name":"more","indexes":["hotels-1"]}`)
	s.write("defs/indexes/hotels-1.json", strings.Replace(s.file("defs/indexes/hotels-1.json"), "Int32", "Double", 1))
	got = s.run("apply", "-yes", "-fill", "-settle", "0s", "defs")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, "created alias \"more\"\nrebuilt index \"hotels-1\" as \"hotels-4\"")
	assert.Contains(t, e.document(t, "more", "x"), `"stars":5.0`)
}

// TestApplyCopiesWhatIsWrittenDuringTheRebuild has a writer that does not stop, against the advice of the plan: what it
// writes before the last comparison is in the new index, and what it writes later is reported.
func TestApplyCopiesWhatIsWrittenDuringTheRebuild(t *testing.T) {
	e, s := withHotels(t, hotelLines(20_000), "-latency", "20ms")
	s.write("defs/indexes/hotels-1.json", strings.Replace(s.file("defs/indexes/hotels-1.json"), "Int32", "Double", 1))
	_, end := s.began("apply", "-yes", "-fill", "-settle", "3s", "defs")
	testkit.Eventually(t, func() bool { return e.document(t, "hotels-2", "0") != "" && e.document(t, "hotels-2", "1") != "" })
	e.send(t, "hotels-1", `{"id":"0","name":"changed"}`, `{"@search.action":"delete","id":"1"}`, `{"id":"00","name":"added"}`)
	testkit.Eventually(t, func() bool { return strings.Contains(e.alias(t), `"hotels-2"`) })
	assert.Contains(t, e.document(t, "hotels-2", "0"), "changed")
	assert.Empty(t, e.document(t, "hotels-2", "1"))
	assert.Contains(t, e.document(t, "hotels-2", "00"), "added")

	e.send(t, "hotels-1", `{"id":"late"}`)
	got := end()
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, `rebuilt index "hotels-1" as "hotels-2"`)
	assert.Contains(t, got.stderr, `alias "hotels" has moved, and "hotels-1" and "hotels-2" differ in 1 document: writers were at work`)
	assert.Equal(t, 1, s.run("verify", "hotels-1", "hotels-2").code)
}

// TestApplyThatIsKilledGoesOn kills an apply while it copies. The next one continues with the index that it finds.
func TestApplyThatIsKilledGoesOn(t *testing.T) {
	const records = 20_000
	e, s := withHotels(t, hotelLines(records), "-latency", "20ms")
	s.write("defs/indexes/hotels-1.json", strings.Replace(s.file("defs/indexes/hotels-1.json"), "Int32", "Double", 1))
	kill, end := s.began("apply", "-yes", "-fill", "-settle", "1s", "defs")
	testkit.Eventually(t, func() bool { return e.document(t, "hotels-2", "1") != "" })
	require.NoError(t, kill())
	require.Negative(t, end().code)
	assert.Contains(t, e.alias(t), `"hotels-1"`, "readers are where they were")
	require.Empty(t, e.document(t, "hotels-2", "9999"), "it was killed midway")

	got := s.run("apply", "-fill", "defs")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stdout, `-fill continues with "hotels-2", which exists: copies 20,000 documents of "hotels-1", keeps those that it has, then moves alias "hotels"`)

	e.send(t, "hotels-2", `{"id":"other","name":"of another program"}`) // nothing proves that apply has made the index
	got = s.run("apply", "-yes", "-fill", "-settle", "1s", "defs")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, `"hotels-2" has another document than "hotels-1" for key "other"`)
	require.NotEmpty(t, e.document(t, "hotels-2", "other"), "it is not deleted")
	e.send(t, "hotels-2", `{"@search.action":"delete","id":"other"}`)
	got = s.run("apply", "-yes", "-fill", "-settle", "1s", "defs")
	require.Zero(t, got.code, got.stderr)
	var again, all int
	_, err := fmt.Sscanf(strings.ReplaceAll(regexp.MustCompile(`copied to hotels-2: .*`).FindString(got.stderr), ",", ""), "copied to hotels-2: %d documents; hotels-1 has %d", &again, &all)
	require.NoError(t, err, got.stderr)
	assert.Equal(t, records, all)
	assert.Less(t, again, records, "what was there is not copied again")
	assert.Equal(t, 0, s.run("apply", "defs").code)
}

// TestOfTwoAppliesAtOnceOneStops begins the second one while the first one copies: it gets the alias, because the first
// one might have been killed.
func TestOfTwoAppliesAtOnceOneStops(t *testing.T) {
	e, s := withHotels(t, hotelLines(10_000), "-latency", "20ms")
	s.write("defs/indexes/hotels-1.json", strings.Replace(s.file("defs/indexes/hotels-1.json"), "Int32", "Double", 1))
	_, end := s.began("apply", "-yes", "-fill", "-settle", "1s", "defs")
	testkit.Eventually(t, func() bool { return e.document(t, "hotels-2", "1") != "" })
	second := s.run("apply", "-yes", "-fill", "-settle", "1s", "defs")
	first := end()
	assert.Equal(t, 1, first.code)
	assert.Contains(t, first.stderr, `alias "hotels": stopped, because the alias was changed meanwhile: perhaps another apply has begun`)
	assert.NotContains(t, first.stdout, "rebuilt")
	assert.Zero(t, second.code, second.stderr)
	assert.Contains(t, e.alias(t), `"hotels-2"`)
}

// Two that have planned the same: the second one writes nothing.
func TestApplyRefusesAnAliasThatHasChangedAfterThePlan(t *testing.T) {
	e, s := withHotels(t, hotelLines(3))
	s.write("defs/indexes/hotels-1.json", strings.Replace(s.file("defs/indexes/hotels-1.json"), "Int32", "Double", 1))
	var service *connect.Service
	open := &cli.Command{Flags: connect.Flags(), Action: func(_ context.Context, c *cli.Command) (err error) {
		service, err = connect.Open(c)
		return err
	}}
	t.Setenv(connect.KeyVariable, searchtest.AdminKey)
	require.NoError(t, open.Run(t.Context(), []string{"test", "-endpoint", e.url}))
	defer func() { assert.NoError(t, service.Close()) }()
	files, err := definitions.Open(filepath.Join(s.dir, "defs"))
	require.NoError(t, err)
	live, err := definitions.Read(t.Context(), service)
	require.NoError(t, err)
	plan, err := apply.New(files, live, os.LookupEnv, apply.Options{})
	require.NoError(t, err)
	require.Len(t, plan.Steps, 1)
	b := &rebuilding{serviceCall: &serviceCall{service: service}, Rebuilding: plan.Steps[0].Rebuild}
	require.NoError(t, b.claim(t.Context()))
	require.NoError(t, b.mine(t.Context()))
	err = b.claim(t.Context())
	assert.ErrorContains(t, err, `alias "hotels" was changed after the plan was made, perhaps by another apply`)
	assert.Equal(t, exit.Incomplete, exit.Code(err))
	require.NoError(t, b.mine(t.Context()), "the refused one has changed nothing")
}

func TestApplyMovesAllAliasesOfAnIndex(t *testing.T) {
	e, s := withHotels(t, hotelLines(3))
	e.call(t, http.DefaultClient, http.MethodPost, "/aliases", searchtest.AdminKey, `{"name":"zimmer","indexes":["hotels-1"]}`)
	s.write("defs/indexes/hotels-2.json", strings.NewReplacer(`"hotels"`, `"hotels-2"`, "Int32", "Double").Replace(hotelFields))
	for _, name := range []string{"hotels", "zimmer", "alle"} { // the last one is new
		s.write("defs/aliases/"+name+".json", `{"name":"`+name+`","indexes":["hotels-2"]}`)
	}
	got := s.run("apply", "-yes", "-fill", "-settle", "0s", "defs")
	require.Zero(t, got.code, got.stderr)
	for _, name := range []string{"hotels", "zimmer", "alle"} {
		assert.Contains(t, e.document(t, name, "1"), "Hotel 1", name)
	}
	assert.Zero(t, s.run("apply", "-drift", "defs").code)
}

// What the new index does not return cannot be compared, also within an object.
func TestApplyFillsFieldsWithinObjectsThatAreNotReturned(t *testing.T) {
	e := startEmulator(t, "-quiet")
	const fields = `{"name":"hotels-1","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"stars","type":"Edm.Int32"},
		{"name":"rooms","type":"Collection(Edm.ComplexType)","fields":[{"name":"n","type":"Edm.Int32"},{"name":"pin","type":"Edm.String","searchable":true}]}]}`
	s := newSession(t, e.url, map[string]string{"a.jsonl": `{"id":"1","stars":1,"rooms":[{"n":1,"pin":"nine"},{"n":2,"pin":"ten"}]}` + "\n"})
	s.write("defs/indexes/hotels-1.json", fields)
	s.write("defs/aliases/hotels.json", `{"name":"hotels","indexes":["hotels-1"]}`)
	require.Zero(t, s.run("apply", "-yes", "defs").code)
	require.Zero(t, s.run("load", "-index", "hotels-1", "-quiet", "a.jsonl").code)
	s.write("defs/indexes/hotels-1.json", strings.NewReplacer(`"stars","type":"Edm.Int32"`, `"stars","type":"Edm.Double"`, `"name":"pin",`, `"name":"pin","retrievable":false,`).Replace(fields))
	got := s.run("apply", "-yes", "-fill", "-settle", "0s", "defs")
	require.Zero(t, got.code, got.stderr)
	assert.NotContains(t, e.document(t, "hotels", "1"), "nine")
	assert.Contains(t, s.run("search", "hotels", "nine").stdout, "1 of 1 document,")
}
