package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Messages end up in CI logs.
func TestNoMessageRepeatsThePasswordOfAnArgument(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("AZURE_SEARCH_ENDPOINT", "emulator")
	const redis, postgres, web, sas = "redis://u:S3CRET@h:6379/0?name=q", "postgres://app:S3CRET@h/db", "https://u:S3CRET@h/x", "https://acct.blob.core.windows.net/x.jsonl?sig=S3CRET"
	for _, args := range [][]string{
		{redis}, {"queue", redis}, {"outbox", postgres}, {"queue", "u:S3CRET@h"}, {"outbox", "Password=S3CRET;x"}, {"version", web}, {"emulator", web},
		{"queue", "redis://u:S3 CRET@h"}, {"queue", "redis://u:S3CRET/%zz@h"}, {"queue", "redis://u:S3CRET/1@h"}, {"indexer", web},
		{"queue", "stats", redis, redis}, {"queue", "stats", "file://u:S3CRET@h/d"}, {"queue", "stats", "file://u:S3CRET%zz@h/d"}, {"queue", "stats", "u:S3CRET@h:6379"},
		{"outbox", "retry", "sqlite:x?name=q", web}, {"outbox", "lag", "sqlite:x?name=q", web}, {"queue", "parked", "-limit", redis, "d"},
		{"load", "-index", "tt", sas}, {"load", "-index", "tt", redis}, {"load", "-index", web, "x"}, {"load", "-create", sas, "x"}, {"load", "-resume", sas, "-index", "tt", "x"},
		{"infer", sas}, {"repair", "-index", "tt", sas}, {"verify", redis, "tt"}, {"verify", "tt", web}, {"verify", postgres, web},
		{"copy", web, "tt"}, {"copy", "tt", postgres}, {"export", web}, {"export", "-o", sas, "tt"}, {"get", web, "1"}, {"get", "tt", sas}, {"search", web}, {"stats", web},
		{"delete", web}, {"replay", redis}, {"pull", web}, {"pull", postgres}, {"apply", web}, {"backup", web}, {"restore", web}, {"backup", sas},
		{"indexer", "run", web}, {"indexer", "status", web}, {"doctor", redis}, {"bench", redis}, {"doctor", "-index", web}, {"emulator", "-seed", sas},
		{"stats", "-endpoint", "u:S3CRETpw@h"}, {"stats", "-endpoint", "https:u:S3CRET@h"}, {"doctor", "-endpoint", "u:S3CRETpw@h"}, {"doctor", "-endpoint", "https:u:S3CRET@h"},
		{"copy", "-to-endpoint", "u:S3CRETpw@h", "a", "b"}, {"doctor", "-endpoint", "https://u:S3CRET/x@h"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"azsearch"}, args...), &stdout, &stderr)
		assert.NotZero(t, code, "%v: %s", args, &stderr)
		said := stdout.String() + stderr.String()
		assert.False(t, strings.Contains(said, "S3CRET") || strings.Contains(said, "CRET@"), "%v: %s", args, said)
	}
	made, err := os.ReadDir(".")
	assert.NoError(t, err)
	assert.Empty(t, made, "no file has such a name")
}

func TestURLIsRefusedByNameWhereAFileIsMeant(t *testing.T) {
	for says, args := range map[string][]string{
		`unknown argument "redis://***@h/0?***": did you mean resume? (see azsearch queue -help)`:                                              {"queue", "redis://u:p@h/0?name=q"},
		`https://h/x.jsonl?*** is a URL, and cannot be FILE (see azsearch load -help)`:                                                         {"load", "-index", "tt", "https://h/x.jsonl?sig=s"},
		`https://h/x is a URL, and cannot be DIR (see azsearch pull -help)`:                                                                    {"pull", "https://h/x"},
		`https://h/a is a URL, and cannot be FROM (see azsearch copy -help); https://h/b is a URL, and cannot be TO (see azsearch copy -help)`: {"copy", "https://h/a", "https://h/b"},
	} {
		var stderr bytes.Buffer
		assert.Equal(t, 2, run(t.Context(), append([]string{"azsearch"}, args...), &bytes.Buffer{}, &stderr))
		assert.Equal(t, "azsearch: "+says+"\n", stderr.String())
	}
}
