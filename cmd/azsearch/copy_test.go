package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The session copies an index within a service, to another service and through an expression, and exports it to
// files.
func TestCopyAndExportSession(t *testing.T) {
	e, other := startEmulator(t, "-quiet"), startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{
		"hotels.json": strings.Replace(hotelFields, `"stars","type":"Edm.Int32"`, `"stars","type":"Edm.Int32","filterable":true`, 1), "a.jsonl": hotelLines(2500) + `{"id":"x","name":"The \"Ritz\", 1","stars":5,"tags":["a","b"]}` + "\n",
		"small.json": `{"name":"any","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"title","type":"Edm.String"}]}`,
	})
	require.Zero(t, s.run("load", "-create", "hotels.json", "-quiet", "a.jsonl").code)

	got := s.run("copy", "hotels", "inns")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "copied to inns: 2,501 of 2,501 documents")
	assert.Equal(t, 2, strings.Count(got.stdout, "\t2501 documents\t"))
	got = s.run("copy", "hotels", "inns")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "index inns has 2,501 documents; nothing was copied")
	got = s.run("copy", "hotels", "hotels")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "the same index")
	assert.Zero(t, s.run("copy", "-overwrite", "-quiet", "hotels", "inns").code)

	got = s.run("copy", "-resume", "no/such/state", "hotels", "rest")
	assert.Equal(t, 1, got.code, got.stderr)
	status, _, _ := e.call(t, http.DefaultClient, http.MethodGet, "/indexes('rest')", searchtest.AdminKey, "")
	assert.Equal(t, http.StatusNotFound, status, "created without a file to continue from")
	s.write("bad.json", `{"name":"any","fields":[{"name":"id","type":"Edm.Strin","key":true}]}`)
	assert.Equal(t, 3, s.run("copy", "-resume", "state", "-create", "bad.json", "hotels", "rest").code)
	assert.NoFileExists(t, filepath.Join(s.dir, "state"), "no document was copied")
	got = s.run("copy", "hotels", "Rest")
	assert.Equal(t, 2, got.code, got.stderr)

	require.Zero(t, s.run("copy", "-filter", "id le '1500'", "-quiet", "hotels", "rest").code)
	state := fmt.Sprintf("%q\n\"\" \"1500\"\n\"1500\" \"2", []string{"copy", e.url, "hotels", e.url, "rest", "", ""}) // truncated by a crash
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "state"), []byte(state), 0o600))
	got = s.run("copy", "-resume", "state", "-filter", "stars ge 3", "hotels", "rest")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "state belongs to another job")
	got = s.run("copy", "-resume", "state", "hotels", "rest")
	require.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "continuing; copied already: 1 key range\n")
	assert.Contains(t, got.stderr, "copied to rest: 1,941 of 1,941 documents", "documents after the first 1500")
	assert.Equal(t, 2, strings.Count(got.stdout, "\t2501 documents\t"))
	assert.NoFileExists(t, filepath.Join(s.dir, "state"))

	there := *s
	there.url = other.url
	t.Setenv("AZURE_SEARCH_TO_API_KEY", searchtest.AdminKey)
	got = s.run("copy", "-to-endpoint", other.url, "-quiet", "hotels", "hotels")
	require.Zero(t, got.code, got.stderr)
	assert.Zero(t, s.run("verify", "-to-endpoint", other.url, "hotels", "hotels").code)
	got = s.run("copy", "-to-endpoint", other.url, "-create", "small.json", "-filter", "stars ge 5", "-jq", "{id: .id, title: .name}", "hotels", "small")
	require.Zero(t, got.code, got.stderr)
	status, _, body := other.call(t, http.DefaultClient, http.MethodGet, "/indexes('small')/docs('x')", searchtest.AdminKey, "")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, `"title":"The \"Ritz\", 1"`)
	got = s.run("copy", "-to-endpoint", other.url, "-overwrite", "hotels", "small")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "index \"small\" has no field name, stars, tags; leave them out with -jq 'del(.name, .stars, .tags)'")

	got = s.run("export", "hotels")
	require.Zero(t, got.code, got.stderr)
	assert.Equal(t, 2501, strings.Count(got.stdout, "\n"))
	assert.True(t, strings.HasPrefix(got.stdout, `{"id":"0","name":"Hotel 0"`))
	got = s.run("export", "-o", "all.jsonl", "-quiet", "hotels")
	require.Zero(t, got.code, got.stderr)
	assert.Zero(t, s.run("verify", "all.jsonl", "hotels").code)
	got = s.run("export", "-filter", "stars ge 5", "-o", "good.csv", "hotels")
	require.Zero(t, got.code, got.stderr)
	assert.Equal(t, "id,name,stars,tags\nx,\"The \"\"Ritz\"\", 1\",5,\"[\"\"a\"\",\"\"b\"\"]\"\n", s.file("good.csv"))
	require.Zero(t, s.run("load", "-create", "hotels.json", "-index", "back", "-quiet", "good.csv").code, "load reads what export writes")
	for fields, want := range map[string]string{
		"*": s.file("good.csv"), "stars,*": s.file("good.csv"), "stars": "id,stars\nx,5\n", "stars,id": "stars,id\n5,x\n",
	} {
		assert.Equal(t, want, s.run("export", "-filter", "stars ge 5", "-format", "csv", "-select", fields, "hotels").stdout, fields)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"export"}, 2, "use azsearch export INDEX"},
		{[]string{"export", "-format", "xml", "hotels"}, 2, "jsonl or csv"},
		{[]string{"export", "-select", "nme", "hotels"}, 3, "nme"},
		{[]string{"export", "-o", "no/such.csv", "hotels"}, 1, "no/such"},
		{[]string{"copy", "hotels"}, 2, "arguments are missing"},
		{[]string{"copy", "-jq", ".[", "hotels", "x"}, 2, "-jq"},
		{[]string{"copy", "-quiet", "-jq", `if .id == "77" then error("odd") else . end`, "hotels", "yy"}, 1, `document "77": -jq: error: odd`},
	} {
		got := s.run(c.args...)
		assert.Equal(t, c.code, got.code, "%v: %s", c.args, got.stderr)
		assert.Contains(t, got.stderr, c.says, "%v", c.args)
		assert.Equal(t, 1, strings.Count(got.stderr, "\n"), "one line: %q", got.stderr)
	}
}

func TestFilesOfAnyFormatAreComparedWithAnIndex(t *testing.T) {
	e := startEmulator(t, "-quiet")
	s := newSession(t, e.url, map[string]string{
		"hotels.json": `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"stars","type":"Edm.Int32"},
			{"name":"opened","type":"Edm.DateTimeOffset"},{"name":"tags","type":"Collection(Edm.String)"},{"name":"secret","type":"Edm.String","retrievable":false},
			{"name":"rooms","type":"Collection(Edm.ComplexType)","fields":[{"name":"n","type":"Edm.Int32"},{"name":"pin","type":"Edm.String","retrievable":false}]}]}`,
		"a.jsonl": `{"id":"1","stars":5,"opened":"2024-01-31T00:00:00Z","tags":["a","b"],"secret":"x","rooms":[{"n":1,"pin":"9"},{"n":2}]}` + "\n" + `{"id":"2"}` + "\n",
		"a.json":  "[\n" + `{"id":"2"}, {"id":"1","stars":"5","opened":"2024-01-31","tags":["a","b"],"rooms":[{"n":1},{"n":2}]}` + "]",
		"b.json":  `[{"id":"1"}]`,
		"odd.csv": "id,stars\n1,many\n",
	})
	require.Zero(t, s.run("load", "-quiet", "-create", "hotels.json", "a.jsonl").code)
	require.Zero(t, s.run("export", "-quiet", "-o", "a.csv", "hotels").code)
	require.Zero(t, s.run("backup", "-quiet", "nightly").code)
	const unseen = "azsearch: not compared: field secret (retrievable:false), which index hotels does not return\nazsearch: not compared: field rooms/pin (retrievable:false), which index hotels does not return\n"
	for _, name := range []string{"a.jsonl", "a.json", "a.csv", "-"} {
		if name == "-" {
			s.input = s.file("a.csv")
		}
		got := s.run("verify", name, "hotels")
		assert.Zero(t, got.code, "%s: %s%s", name, got.stdout, got.stderr)
		assert.Equal(t, unseen, got.stderr, "equal as far as the index shows")
		assert.Equal(t, 2, strings.Count(got.stdout, "\t2 documents\t"), got.stdout)
	}
	s.input = `[{"id":"2"},{"id":"3"}]`
	got := s.run("verify", "hotels", "-")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "\"1\": only in the first\n\"3\": only in the second\n", "it is read twice")
	got = s.run("verify", "nightly", "a.csv")
	assert.Equal(t, 1, got.code, got.stderr)
	assert.Contains(t, got.stderr, "can only be compared with an index")
	assert.Contains(t, got.stderr, "not compared: field secret (retrievable:false), which nightly does not have")
	got = s.run("verify", "odd.csv", "hotels")
	assert.Equal(t, 1, got.code, got.stderr)
	assert.Contains(t, got.stderr, "odd.csv:2: ")
	got = s.run("verify", "-key", "id", "-", "-")
	assert.Equal(t, 2, got.code, got.stderr)
}

// What only one side can have is not compared, and said: a field that only one of two indexes, or a backup, returns.
// Vectors of files are rounded, as the service does.
func TestOnlyWhatBothSidesReturnIsCompared(t *testing.T) {
	e := startEmulator(t, "-quiet")
	const fields = `{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"name","type":"Edm.String"},
		{"name":"room","type":"Edm.ComplexType","fields":[{"name":"n","type":"Edm.Int32"},{"name":"pin","type":"Edm.String"}]},
		{"name":"place","type":"Collection(Edm.Single)","searchable":true,"retrievable":true,"dimensions":2,"vectorSearchProfile":"p"},
		{"name":"half","type":"Collection(Edm.Half)","searchable":true,"retrievable":true,"dimensions":3,"vectorSearchProfile":"p"},
		{"name":"byte","type":"Collection(Edm.SByte)","searchable":true,"retrievable":true,"dimensions":2,"vectorSearchProfile":"p"}],
		"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a"}]}}`
	hidden := strings.NewReplacer(`"name":"name",`, `"name":"name","retrievable":false,`, `"name":"pin",`, `"name":"pin","retrievable":false,`).Replace(fields)
	s := newSession(t, e.url, map[string]string{
		"hotels.json": fields, "new.json": hidden,
		"a.jsonl": `{"id":"1","name":"Ritz","room":{"n":1,"pin":"9"},"place":[-0.006929283495992422,0.1],"half":[0.1,-1.00048828125,1e-7],"byte":[1,-2]}` + "\n",
		"b.jsonl": `{"id":"1","name":"Ritz","room":{"n":2,"pin":"9"},"place":[-0.006929283495992422,0.1],"half":[0.1,-1.00048828125,1e-7],"byte":[1,-2]}` + "\n",
	})
	require.Zero(t, s.run("load", "-quiet", "-create", "hotels.json", "a.jsonl").code)
	require.Zero(t, s.run("backup", "-quiet", "nightly").code)
	const unseen = "azsearch: not compared: field name (retrievable:false), which index inns does not return\n" +
		"azsearch: not compared: field room/pin (retrievable:false), which index inns does not return\n"
	for _, c := range []struct {
		says string
		args []string
	}{
		{unseen, []string{"copy", "-quiet", "-create", "new.json", "hotels", "inns"}},
		{unseen, []string{"verify", "hotels", "inns"}}, {unseen, []string{"verify", "inns", "hotels"}}, {unseen, []string{"verify", "nightly", "inns"}},
		{unseen, []string{"verify", "a.jsonl", "inns"}},
		{"", []string{"verify", "a.jsonl", "hotels"}}, {"", []string{"verify", "hotels", "a.jsonl"}}, {"", []string{"verify", "nightly", "a.jsonl"}},
		{"", []string{"verify", "hotels", "nightly"}}, {"", []string{"verify", "-key", "id", "a.jsonl", "a.jsonl"}},
	} {
		got := s.run(c.args...)
		assert.Zero(t, got.code, "%v: %s%s", c.args, got.stdout, got.stderr)
		assert.Equal(t, c.says, got.stderr, "%v", c.args)
		assert.Equal(t, 2, strings.Count(got.stdout, "\t1 document\t"), "%v: %s", c.args, got.stdout)
	}
	for was, is := range map[string]string{"-0.006929283495992422": "-0.006929284", `[0.1,-1.00`: `[0.1001,-1.00`, "[1,-2]": "[1,-3]"} {
		s.write("c.jsonl", strings.Replace(s.file("a.jsonl"), was, is, 1))
		got := s.run("verify", "c.jsonl", "hotels")
		assert.Equal(t, 1, got.code, "%s %s", is, got.stderr)
	}
	for _, other := range []string{"hotels", "inns", "nightly"} {
		got := s.run("verify", "b.jsonl", other)
		assert.Equal(t, 1, got.code, got.stderr)
		assert.Contains(t, got.stdout, `"1": differs`)
	}
	require.Zero(t, s.run("backup", "-quiet", "-index", "inns", "small").code)
	got := s.run("verify", "small", "hotels")
	assert.Zero(t, got.code, got.stdout+got.stderr)
	assert.Contains(t, got.stderr, "not compared: field name (retrievable:false), which small does not have")
}
