package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/bufferedsender/queue/filequeue"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The session checks a service, an index with hidden fields, a queue and an outbox, and then broken ones.
func TestDoctorSession(t *testing.T) {
	_, s := withRooms(t, strings.Replace(roomFields, `"retrievable":true`, `"retrievable":false,"stored":false`, 1), nil)
	q, err := filequeue.Open(filepath.Join(s.dir, "queue"), nil)
	require.NoError(t, err)
	require.NoError(t, q.Close())

	got := s.run("doctor")
	assert.Zero(t, got.code, got.stdout)
	assert.Regexp(t, `^ok +endpoint +http://127.0.0.1:\d+
ok +tcp +connected to 127.0.0.1:\d+
ok +clock +within 30s of the clock of the service
ok +credential +an admin key
ok +api-version +\d{4}-\d\d-\d\d\S*
$`, got.stdout)
	got = s.run("doctor", "-index", "rooms", "-queue", "queue")
	assert.Zero(t, got.code, got.stdout)
	assert.Contains(t, got.stdout, `ok       key field    "id" is filterable and sortable`)
	assert.Contains(t, got.stdout, "warning  fields       cannot be read back: place (stored:false)\n                      → keep their source")
	assert.Contains(t, got.stdout, "ok       index        3 documents, storage ")
	assert.Contains(t, got.stdout, "ok       queue        0 waiting, 0 leased\n")

	got = s.run("doctor", "-index", "none", "-queue", "none", "-outbox", "sqlite:none.db?name=x", "-json")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "azsearch: failures: 3\n", got.stderr)
	var report struct {
		Failures int
		Findings []struct{ Check, State, Says, Do string }
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	assert.Equal(t, 3, report.Failures)
	for _, x := range report.Findings {
		assert.Equal(t, x.Check == "index" || x.Check == "queue" || x.Check == "outbox", x.State == "failure", x)
	}
	got = s.run("doctor", "-outbox", "postgres://u:S3CRET@127.0.0.1:1/x?name=hotels&password=S3CRET")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "postgres://u@127.0.0.1:1/x cannot be reached")
	assert.NotContains(t, got.stdout+got.stderr, "S3CRET")

	for key, want := range map[string]ended{
		searchtest.QueryKey: {0, "warning  credential   a query key", ""},
		"wrong":             {1, "failure  credential ", "azsearch: failures: 1\n"},
	} {
		cmd := s.command("doctor", "-index", "rooms")
		cmd.Env = append(cmd.Env, "AZURE_SEARCH_API_KEY="+key)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // the exit code has the result
		assert.Equal(t, want.code, cmd.ProcessState.ExitCode())
		assert.Contains(t, stdout.String(), want.stdout)
		assert.Equal(t, want.stderr, stderr.String())
	}
	assert.Equal(t, 2, s.run("doctor", "rooms").code)
	got = s.run("doctor", "-endpoint", "rooms.search.windows.net", "-queue", "queue")
	assert.Equal(t, 1, got.code)
	assert.Regexp(t, `^failure +endpoint .*does not start with https://.*
 +→ set AZURE_SEARCH_ENDPOINT or -endpoint to the URL .*
ok +queue `, got.stdout)
}
