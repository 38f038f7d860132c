//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v3"

	"github.com/go-azsearch/azsearch/bufferedsender/deadletter"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/database"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// leaves calls visit for each command without commands of its own.
func leaves(c *cli.Command, name string, visit func(name string, c *cli.Command)) {
	if len(c.Commands) == 0 {
		visit(name, c)
	}
	for _, sub := range c.Commands {
		leaves(sub, name+" "+sub.Name, visit)
	}
}

// examplesOf returns the lines of a help text that are commands.
func examplesOf(c *cli.Command) (all []string) {
	for line := range strings.Lines(c.Description) {
		if command, is := strings.CutPrefix(line, "   azsearch"); is {
			all = append(all, strings.TrimSpace("azsearch"+command))
		}
	}
	return all
}

func TestEveryCommandHasThreeExamplesAndNoMisleadingDefault(t *testing.T) {
	t.Setenv(adminKeyVariable, "S3CRET")
	t.Setenv(tokenVariable, "S3CRET")
	check := func(name string, c *cli.Command) {
		all := examplesOf(c)
		assert.GreaterOrEqual(t, len(all), 3, name)
		for _, example := range all {
			assert.Contains(t, example, name, "the example is of this command")
		}
		var help bytes.Buffer
		root := newCommand(&help, io.Discard)
		require.NoError(t, root.Run(t.Context(), append(strings.Fields(name), "-help")))
		assert.NotRegexp(t, `default: 0s?\)`, help.String(), "0 is no limit that one would choose")
		assert.NotContains(t, help.String(), "S3CRET")
		for _, example := range all {
			assert.Contains(t, help.String(), example)
		}
	}
	root := newCommand(io.Discard, io.Discard)
	leaves(root, "azsearch", check)
	for _, c := range root.Commands {
		if len(c.Commands) > 0 {
			check("azsearch "+c.Name, c)
		}
	}
	completion := &cli.Command{}
	correctCompletion(completion)
	check("azsearch completion", completion)
}

const (
	inn = `{"id":"17","name":"Quiet rooms, wifi pool","stars":5,"rating":4.5,"tags":["wifi"],"country":"XX","closed":"2019-01-01T00:00:00Z","address":{"city":"Rome"},"town":"Rome","internal":"x","place":[1,0]}`

	innFields = `{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},{"name":"name","type":"Edm.String","searchable":true},
		{"name":"stars","type":"Edm.Int32","filterable":true,"sortable":true,"facetable":true},{"name":"rating","type":"Edm.Double","filterable":true},
		{"name":"tags","type":"Collection(Edm.String)","filterable":true,"facetable":true},{"name":"country","type":"Edm.String","filterable":true},
		{"name":"closed","type":"Edm.DateTimeOffset","filterable":true},{"name":"address","type":"Edm.ComplexType","fields":[{"name":"city","type":"Edm.String"}]},
		{"name":"town","type":"Edm.String"},{"name":"internal","type":"Edm.String"},{"name":"place","type":"Collection(Edm.Single)","searchable":true,"dimensions":2,"vectorSearchProfile":"p"}],
		"vectorSearch":{"algorithms":[{"name":"a","kind":"exhaustiveKnn"}],"profiles":[{"name":"p","algorithm":"a"}]}}`
)

// inHelp are the places that examples name, and those of the test.
func inHelp(e, other *emulator) *strings.Replacer {
	return strings.NewReplacer(
		"https://other.search.windows.net", other.url, "https://NAME.search.windows.net", e.url, "/var/lib/hotels/", "./",
		"'postgres://app@db/shop?name=hotels'", "'sqlite:shop.db?name=hotels'", "to_json(tags)", "tags", "postgres://app@db/shop", "sqlite:shop.db",
		"'redis://localhost:6379/0?name=hotels'", "./redis", "huge.parquet", "huge.jsonl", // other tests have servers, and Parquet
		" DIR", " ./queue", " OTHER", " ./other", "'URL?", "'sqlite:shop.db?", " URL", " 'sqlite:shop.db?name=hotels'", "-for 1m", "-for 1s", "-for 30s", "-for 1s")
}

// unusual are the examples that do not end with 0, or cannot be run here.
var unusual = map[string]struct {
	code int
	says string
}{
	"azsearch bench":               {2, "-yes"}, // it asks
	"azsearch bench -index hotels": {2, "-yes"},
	"azsearch delete hotels -filter 'closed lt 2020-01-01T00:00:00Z' -yes -expect 1200 -json > receipt.json": {1, "-expect is 1200, and the filter matches 1 document"},
	"azsearch repair -index hotels -yes -allow-deletes 1200 'export/*.csv.gz'":                               {1, "-allow-deletes to 2"},
	"azsearch verify -query 'SELECT id, name FROM hotels' sqlite:shop.db hotels":                             {1, "differ"},
	"azsearch verify hotels.csv hotels":                                                                      {1, "differ"},
	// The emulator runs no indexers.
	"azsearch indexer run -wait hotels":                                  {1, "searchtest does not run indexers"},
	"azsearch indexer run -wait -timeout 2h -json hotels > run.json":     {1, "searchtest does not run indexers"},
	"azsearch indexer reset hotels && azsearch indexer run -wait hotels": {1, "searchtest does not run indexers"},
	"azsearch outbox check 'URL?prefix=search.outbox'":                   {1, "with a schema, which sqlite does not have"},
}

// TestEveryExampleOfEveryHelpDoesWhatItSays runs the examples as they are printed, each with a service and a folder of
// its own, by a shell.
func TestEveryExampleOfEveryHelpDoesWhatItSays(t *testing.T) {
	program(t)
	visit := func(name string, c *cli.Command) {
		for _, example := range examplesOf(c) {
			t.Run(example, func(t *testing.T) {
				if name == "azsearch emulator" {
					emulated(t, strings.Fields(example)[2:])
					return
				}
				command, _ := strings.CutPrefix(name, "azsearch ")
				s, e, other := setting(t, command)
				cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", inHelp(e, other).Replace(example))
				run := s.command()
				cmd.Dir, cmd.Env = run.Dir, append(run.Env, "PATH="+s.dir+"/bin:"+os.Getenv("PATH"), "AZURE_SEARCH_TO_API_KEY="+searchtest.AdminKey)
				var said bytes.Buffer
				cmd.Stdout, cmd.Stderr = &said, &said
				_ = cmd.Run() // the exit code says it
				want := unusual[example]
				assert.Equal(t, want.code, cmd.ProcessState.ExitCode(), said.String())
				assert.Contains(t, said.String(), want.says)
			})
		}
	}
	root := newCommand(io.Discard, io.Discard)
	leaves(root, "azsearch", visit)
	for _, c := range root.Commands {
		if len(c.Commands) > 0 {
			visit("azsearch "+c.Name, c)
		}
	}
}

func emulated(t *testing.T, args []string) {
	s := newSession(t, "", map[string]string{"faults.json": `{"rules":[{"every":7,"status":503}]}`, "hotels.json": `{"indexes":[]}`})
	t.Chdir(s.dir)
	e := startEmulator(t, args...)
	assert.Equal(t, 0, e.stop(t, os.Interrupt).code)
}

// setting returns a folder with the files of the examples of a command, and two services. Where a command writes to a
// service, that is the second one, and empty.
func setting(t *testing.T, command string) (s *session, e, other *emulator) {
	line := inn + "\n" + strings.ReplaceAll(inn, "17", "18") + "\n" + strings.ReplaceAll(inn, "17", "19") + "\n"
	line = strings.ReplaceAll(line, `"XX"`, `"IT"`)
	line = strings.Replace(line, `"IT"`, `"XX"`, 1)
	line = strings.Replace(line, "2019", "2029", 2)
	s = newSession(t, "", map[string]string{
		"hotels.jsonl": line, "huge.jsonl": line, "sample.jsonl": line, "hotels.csv": "id,name\n17,x\n", "query.json": "[1,0]", "keys.txt": "17 18\n",
		"hotels.json": `{"name":"hotels","fields":[` + innFields, "new.json": `{"name":"hotels","fields":[` + innFields,
		"seed.json": `{"indexes":[{"definition":{"name":"hotels","fields":[` + innFields + `,"documents":[` + strings.ReplaceAll(strings.TrimSpace(line), "\n", ",") + `]},
			{"definition":{"name":"rooms","fields":[` + innFields + `,"documents":[]}]}`,
	})
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "bin"), 0o700))
	require.NoError(t, os.Symlink(program(t), filepath.Join(s.dir, "bin", "azsearch")))
	for _, tool := range []string{"jq", "git"} { // a machine may lack them
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, "bin", tool), []byte("#!/bin/sh\n[ $0 = ${0%git} ] && cat\nexit 0\n"), 0o700)) //nolint:gosec // it is run
	}
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "export"), 0o700))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := io.WriteString(w, map[bool]string{false: "id,name,city,tags\n17,x,Rome,a;b\n", true: "id,name\n17,x\n"}[command == "repair"])
	require.NoError(t, err)
	require.NoError(t, w.Close())
	s.write("export/a.csv.gz", packed.String())

	e = startEmulator(t, "-quiet", "-seed", filepath.Join(s.dir, "seed.json"))
	other = startEmulator(t, "-quiet")
	s.url = e.url
	must := func(args ...string) {
		t.Helper()
		got := s.run(args...)
		require.Zero(t, got.code, "%v: %s", args, got.stderr)
	}
	switch command, _, _ = strings.Cut(command, " "); command {
	case "restore":
		must("backup", "-quiet", "nightly")
		e, s.url = other, other.url
		other = startEmulator(t, "-quiet")
	case "verify":
		must("backup", "-quiet", "nightly")
		must("copy", "-quiet", "hotels", "hotels-copy")
		s.url = other.url
		must("load", "-quiet", "-create", "hotels.json", "hotels.jsonl")
		s.url = e.url
	case "apply", "indexer":
		for _, c := range [][2]string{
			{"/datasources('blobs')", `{"name":"blobs","type":"azureblob","credentials":{"connectionString":"S3CRET"},"container":{"name":"c"}}`},
			{"/indexers('hotels')", `{"name":"hotels","dataSourceName":"blobs","targetIndexName":"hotels","disabled":true}`}, // no run of the creation
			{"/indexers('hotels')", `{"name":"hotels","dataSourceName":"blobs","targetIndexName":"hotels"}`},
		} {
			if command == "indexer" {
				status, _, said := e.call(t, http.DefaultClient, http.MethodPut, c[0], searchtest.AdminKey, c[1])
				require.Less(t, status, 300, said)
			}
		}
		must("pull", "definitions")
	case "replay":
		f, err := deadletter.Open(filepath.Join(s.dir, "dead"), nil)
		require.NoError(t, err)
		require.NoError(t, f.Write(t.Context(), []deadletter.Letter{{Endpoint: e.url, Index: "hotels", Key: "17", Action: models.ActionTypeUpload, Document: []byte(inn)}}))
		require.NoError(t, f.Close())
	}
	if slices.Contains([]string{"queue", "doctor", "outbox", "load", "verify", "repair"}, command) {
		fillPlaces(t, s.dir)
	}
	return s, e, other
}

// fillPlaces makes queues with parked keys, and a database with a table and an outbox.
func fillPlaces(t *testing.T, dir string) {
	for _, place := range []string{"queue", "redis"} {
		q := openDirectory(t, filepath.Join(dir, place))
		uploads(t, q, "1", "17", "18", "19")
		_, err := q.Park(t.Context(), "for a look", "17", "18", "19")
		require.NoError(t, err)
		require.NoError(t, q.Close())
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.db"), nil, 0o600))
	fillOutbox(t, "sqlite:"+filepath.Join(dir, "shop.db"))
	place, err := database.Parse("sqlite:" + filepath.Join(dir, "shop.db"))
	require.NoError(t, err)
	db, err := place.Open(t.Context())
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TABLE hotels (id TEXT, name TEXT, tags TEXT); INSERT INTO hotels VALUES ('17', 'x', '["a"]');
		DELETE FROM azsearch_outbox_dead WHERE newer > 0;
		INSERT INTO azsearch_outbox_dead SELECT queue, seq + n, class, key || n, op, body, written, attempts, status, reason, message, died, newer
			FROM azsearch_outbox_dead, (SELECT 12 AS n UNION SELECT 13 UNION SELECT 14) WHERE seq = 5`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestCommandsSuggestNoHelpWhereAFileIsExpected(t *testing.T) {
	leaves(newCommand(io.Discard, io.Discard), "azsearch", func(name string, _ *cli.Command) {
		var stdout bytes.Buffer
		require.NoError(t, newCommand(&stdout, io.Discard).Run(t.Context(), append(strings.Fields(name), "--generate-shell-completion")))
		assert.Empty(t, stdout.String(), name)
	})
}
