package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var at = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func TestArchivesAreTheSameEachTimeAndTheProgramIsExecutable(t *testing.T) {
	program := filepath.Join(t.TempDir(), "azsearch")
	require.NoError(t, os.WriteFile(program, []byte("program"), 0o600))
	members := []member{{"azsearch", program, 0o755}}
	for name, write := range map[string]func(io.Writer, string, []member, time.Time) error{"tar": writeTar, "zip": writeZip} {
		var first, second bytes.Buffer
		require.NoError(t, write(&first, "azsearch_1.0.0_linux_amd64", members, at))
		require.NoError(t, os.Chtimes(program, time.Now(), time.Now().Add(-time.Hour)))
		require.NoError(t, write(&second, "azsearch_1.0.0_linux_amd64", members, at))
		assert.Equal(t, first.Bytes(), second.Bytes(), name)
		if name == "zip" {
			z, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
			require.NoError(t, err)
			assert.Equal(t, "azsearch_1.0.0_linux_amd64/azsearch", z.File[0].Name)
			continue
		}
		unzipped, err := gzip.NewReader(&first)
		require.NoError(t, err)
		h, err := tar.NewReader(unzipped).Next()
		require.NoError(t, err)
		assert.Equal(t, "azsearch_1.0.0_linux_amd64/azsearch", h.Name)
		assert.EqualValues(t, 0o755, h.Mode)
		assert.True(t, at.Equal(h.ModTime))
	}
}

func TestTheBillListsEveryModuleAndTheStandardLibrary(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.1", Main: debug.Module{Path: "example.com/m", Version: "v1.2.3"},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:a"},
			{Path: "example.com/b", Version: "v2.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v3.0.0", Sum: "h1:c"}},
		},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "-ldflags", Value: "-s"}},
	}
	text, err := billOf(info, "linux", "arm64", at)
	require.NoError(t, err)
	var b bill
	require.NoError(t, json.Unmarshal(text, &b))
	assert.Equal(t, "CycloneDX", b.Format)
	assert.Equal(t, "pkg:golang/example.com/m@v1.2.3", b.Metadata.Component.URL)
	assert.Equal(t, []property{{"goos", "linux"}, {"goarch", "arm64"}, {"vcs.revision", "abc"}}, b.Metadata.Component.Properties)
	var urls []string
	for _, c := range b.Components {
		urls = append(urls, c.URL)
	}
	assert.Equal(t, []string{"pkg:golang/std@1.26.1", "pkg:golang/example.com/a@v1.0.0", "pkg:golang/example.com/c@v3.0.0"}, urls)
}

func TestSystemsThatAreNotBuiltAreRefused(t *testing.T) {
	require.ErrorContains(t, run(t.TempDir(), false, []string{"plan9/amd64"}), "linux/arm64")
	require.ErrorContains(t, run(t.TempDir(), true, []string{"linux/amd64"}), "-try")
	require.ErrorContains(t, run("", false, nil), "-out")
}

func TestModulesWithoutALicenseAreRefused(t *testing.T) {
	dir, text := t.TempDir(), new(bytes.Buffer)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "license.go"), []byte("package m"), 0o600))
	require.ErrorContains(t, addLicenses(text, "example.com/m v1.0.0", dir), "example.com/m v1.0.0 has no license file")
	for _, name := range []string{"LICENSE-3RD-PARTY.md", "NOTICE", "Licence.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("words of "+name+"\n\n"), 0o600))
	}
	require.NoError(t, addLicenses(text, "m", dir))
	assert.Contains(t, text.String(), "==== m: LICENSE-3RD-PARTY.md ====\n\nwords of LICENSE-3RD-PARTY.md\n\n====")
	assert.Equal(t, 3, bytes.Count(text.Bytes(), []byte("words of")))
}
