package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// The test runs the suite against the emulator with a foreign index, and searches the output for secrets.
func TestTheSuitePassesAndLeavesNothingBehind(t *testing.T) {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	opts := &search.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: srv}}
	client, err := search.NewIndexClientWithKey(srv.URL(), azcore.NewKeyCredential(searchtest.AdminKey), opts)
	require.NoError(t, err)
	_, err = client.CreateIndex(t.Context(), index("theirs"), nil)
	require.NoError(t, err)

	var recording, table bytes.Buffer
	s, err := newSuite(srv.URL(), searchtest.AdminKey, srv, &recording)
	require.NoError(t, err)
	s.beginsIn = 0
	err = s.run(t.Context(), &table)
	t.Log(table.String())
	require.NoError(t, err)
	assert.Equal(t, len(steps)+3, strings.Count(table.String(), "\n"))
	var left []string
	for name, err := range client.ListIndexNames(t.Context(), nil) {
		require.NoError(t, err)
		left = append(left, name)
	}
	assert.Equal(t, []string{"theirs"}, left)
	for _, secret := range append([]string{connection, "bm9uZQ==", "theirs"}, s.recorder.secrets...) {
		assert.NotContains(t, recording.String()+table.String(), secret)
	}
	assert.Greater(t, strings.Count(recording.String(), "\n"), 25)
}

func TestAFailureIsShownAndCleanedUp(t *testing.T) {
	srv := searchtest.NewServer(nil)
	defer srv.Close()
	srv.SetFaults(&searchtest.Faults{Rules: []searchtest.Fault{{Operation: "createSkillset", Status: 403}}})
	var recording, table bytes.Buffer
	s, err := newSuite(srv.URL(), searchtest.AdminKey, srv, &recording)
	require.NoError(t, err)
	s.beginsIn = 0
	require.ErrorContains(t, s.run(t.Context(), &table), "steps failed")
	assert.Contains(t, table.String(), "| a skillset and an indexer that does not run | **failed**: ")
	assert.Contains(t, table.String(), "| everything is removed | ")
	for _, err := range s.indexes.ListIndexes(t.Context(), nil) {
		require.NoError(t, err)
		t.Error("an index is left")
	}
}
