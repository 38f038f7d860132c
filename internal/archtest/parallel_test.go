package archtest

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNoTestSetsWhatParallelTestsRead(t *testing.T) {
	broken, err := CheckParallel(os.DirFS(root))
	require.NoError(t, err)
	require.Empty(t, broken)
}

func TestCheckParallelSeesVariablesOfThePackageOnly(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package p\n" + s)} }
	broken, err := CheckParallel(fstest.MapFS{
		"p/p.go":      file("var patience, other = 1, 2"),
		"p/a_test.go": file("func TestA(t *testing.T) { t.Parallel() }"),
		"p/b_test.go": file("func TestB(t *testing.T) { defer func() { patience = 3 }(); other := 1; other = 2 }"),
		"q/q.go":      file("var patience = 1"),
		"q/b_test.go": file("func TestB(t *testing.T) { patience = 2 }"),
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"p/b_test.go:2:43: TestB sets patience, which tests that run in parallel read: make it a field"}, broken)
}
