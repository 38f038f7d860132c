package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The test fails if a type of models was added or removed, or got a method of its own, since go generate ran.
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
