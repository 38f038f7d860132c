package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGeneratedMethodsAreThoseOfThePackages fails when a type of models has come, gone or got a
// method of its own since go generate ran.
func TestGeneratedMethodsAreThoseOfThePackages(t *testing.T) {
	for _, folder := range []string{"", "indexers", "knowledge", "skills"} {
		folder = filepath.Join("../../..", folder)
		files, err := generate(folder)
		require.NoError(t, err)
		require.Len(t, files, 2)
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got), "run go generate ./models/... to write %s", filepath.Join(folder, name))
		}
	}
}
