package archtest

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOnlyTheTableNamesAPIVersions(t *testing.T) {
	broken, err := CheckVersions(os.DirFS(root))
	require.NoError(t, err)
	for _, line := range broken {
		t.Error(line)
	}
}

func TestNamedAPIVersionsAreFound(t *testing.T) {
	file := func(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package p\n" + content)} }
	broken, err := CheckVersions(fstest.MapFS{
		"search/a.go":                file(`func f(version string) bool { return version >= "2024-07-01" }`),
		"search/b.go":                file("const c = `2023-10-01-Preview`"),
		"cmd/c.go":                   file(`const c = "/indexes?api-version=2024-07-01"`),
		"search/fine.go":             file("// From 2024-07-01 on.\nconst layout, text = \"2006-01-02\", \"in 2024-07-01\""),
		"search/a_test.go":           file(`const c = "2024-07-01"`),
		"bench/a.go":                 file(`const c = "2024-07-01"`),
		"internal/apiversion/row.go": file(`const c = "2024-07-01"`),
	})
	require.NoError(t, err)
	const want = ", want a capability of internal/apiversion: ask Version.Has by name, and add what is missing to its table"
	assert.Equal(t, []string{
		`cmd/c.go:2:11: got the api-version "/indexes?api-version=2024-07-01"` + want,
		`search/a.go:2:49: got the api-version "2024-07-01"` + want,
		`search/b.go:2:11: got the api-version "2023-10-01-Preview"` + want,
	}, broken)
}
