//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only a regular file is replaced, and nothing of the user's is removed for it.
func TestExportLeavesWhatIsNoFileAsItIs(t *testing.T) {
	_, s := withRooms(t, roomFields, nil)
	want := s.run("export", "rooms").stdout
	path := func(name string) string { return filepath.Join(s.dir, name) }
	require.NoError(t, syscall.Mkfifo(path("pipe"), 0o600))
	require.NoError(t, os.Mkdir(path("folder"), 0o700))
	require.NoError(t, os.Symlink(path("target"), path("link")))
	s.write("target", "old")
	s.write("rooms.jsonl.tmp", "of the user")
	before, err := os.ReadDir(s.dir)
	require.NoError(t, err)

	read := make(chan string, 1)
	go func() {
		content, _ := os.ReadFile(path("pipe"))
		read <- string(content)
	}()
	got := s.run("export", "-quiet", "-o", "pipe", "rooms")
	require.Zero(t, got.code, got.stderr)
	info, err := os.Lstat(path("pipe"))
	require.NoError(t, err)
	require.Equal(t, os.ModeNamedPipe, info.Mode().Type(), "else its reader waits for ever")
	assert.Equal(t, want, <-read)

	got = s.run("export", "-quiet", "-o", "link", "rooms")
	require.Zero(t, got.code, got.stderr)
	assert.Equal(t, want, s.file("target"))
	info, err = os.Lstat(path("link"))
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())

	got = s.run("export", "-quiet", "-endpoint", "http://127.0.0.1:1", "-o", "folder", "rooms")
	assert.Equal(t, 1, got.code)
	assert.Equal(t, "azsearch: -o folder is a directory: name a file in it\n", got.stderr, "before the service is asked")
	after, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	assert.Len(t, after, len(before), "no other file is left")

	require.Zero(t, s.run("export", "-quiet", "-o", "rooms.jsonl", "rooms").code)
	assert.Equal(t, want, s.file("rooms.jsonl"))
	assert.Equal(t, "of the user", s.file("rooms.jsonl.tmp"))
}
