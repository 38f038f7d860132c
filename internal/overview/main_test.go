package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePictureShowsWhatTheTreeHas(t *testing.T) {
	boxes, err := parse(text)
	require.NoError(t, err)
	for _, b := range boxes {
		require.DirExists(t, filepath.Join("../..", filepath.FromSlash(b.folder)), b.title)
	}
	for name, colors := range themes {
		is, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
		require.NoError(t, err)
		require.Equal(t, draw(boxes, colors), string(is), "go run ./internal/overview writes %s", name)
	}
}

func TestABoxWithoutAFolderIsRefused(t *testing.T) {
	for _, line := range []string{"0 | a | b", "3 | a | b | c", "x | a | b | c"} {
		_, err := parse(line)
		require.Error(t, err, line)
	}
}
