package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models/indexers"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The emulator cannot run indexers, so each run ends with an error that says so.
func TestIndexerSession(t *testing.T) {
	e, s := withRooms(t, roomFields, nil)
	assert.Equal(t, ended{0, "the service has no indexers\n", ""}, s.run("indexer", "status"))
	for _, c := range [][2]string{
		{"/datasources('blobs')", `{"name":"blobs","type":"azureblob","credentials":{"connectionString":"S3CRET"},"container":{"name":"c"}}`},
		{"/indexers('feed')", `{"name":"feed","dataSourceName":"blobs","targetIndexName":"rooms","disabled":true}`}, // no run of the creation
		{"/indexers('feed')", `{"name":"feed","dataSourceName":"blobs","targetIndexName":"rooms"}`},
	} {
		status, _, said := e.call(t, http.DefaultClient, http.MethodPut, c[0], searchtest.AdminKey, c[1])
		require.Less(t, status, 300, said)
	}
	assert.Equal(t, ended{0, "feed: ready, has never run\n", ""}, s.run("indexer", "status", "feed"))
	assert.Equal(t, ended{0, "reset; the next run of feed reads everything again\n", ""}, s.run("indexer", "reset", "feed"))
	assert.Equal(t, ended{0, "started; azsearch indexer status feed shows the outcome\n", ""}, s.run("indexer", "run", "feed"))

	got := s.run("indexer", "run", "-wait", "feed") // waits for the run that was requested, or after it for another
	assert.Equal(t, 1, got.code)
	assert.Regexp(t, `^  \w+Failure  \S+Z  1s  0 items  0 failed  .+\n    "" \(501\): .+\n$`, got.stdout)
	assert.Contains(t, got.stderr, `indexer "feed": execution ended with status`)

	got = s.run("indexer", "status", "feed")
	assert.Equal(t, 1, got.code)
	assert.Regexp(t, `^feed: ready\n(  \w+Failure .+\n){1,2}  reset .+\n    "" \(501\): .+\n$`, got.stdout)
	assert.Contains(t, got.stderr, "the last run, or an item of it, failed: feed;")
	got = s.run("indexer", "status", "-json")
	var status indexers.Status
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &status))
	assert.Equal(t, "feed", status.Name)

	assert.Equal(t, 3, s.run("indexer", "run", "none").code)
	assert.Equal(t, 2, s.run("indexer", "run", "feed", "-timeout", "1s").code)
	assert.Equal(t, 2, s.run("indexer", "reset").code)
}
