package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

// repository is a module of four packages: b imports a, the test of c imports b, and d imports nothing.
func repository(t *testing.T) (dir string) {
	t.Helper()
	for _, key := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} { // set by a hook that runs the tests
		t.Setenv(key, "")
		require.NoError(t, os.Unsetenv(key))
	}
	dir = t.TempDir()
	for file, content := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26\n",
		"README.md":   "m\n",
		".ci/run":     "true\n",
		"a/a.go":      "package a\n",
		"b/b.go":      "package b\n\nimport _ \"example.com/m/a\"\n",
		"c/c.go":      "package c\n",
		"c/c_test.go": "package c_test\n\nimport _ \"example.com/m/b\"\n",
		"d/d.go":      "package d\n",
	} {
		write(t, dir, file, content)
	}
	run(t, dir, "init", "--quiet", "--initial-branch=main")
	run(t, dir, "config", "user.name", "A")
	run(t, dir, "config", "user.email", "a@example.com")
	commit(t, dir)
	return dir
}

func write(t *testing.T, dir, file, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600))
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	_, err := git(dir, args...)
	require.NoError(t, err)
}

func commit(t *testing.T, dir string) {
	t.Helper()
	run(t, dir, "add", "--all")
	run(t, dir, "commit", "--quiet", "--allow-empty", "--message", "x: change")
}

var everything = []string{"./a", "./b", "./c", "./d"}

func TestAChangeReachesWhoeverImportsIt(t *testing.T) {
	testkit.Long(t)
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"code":                       {"a/a.go", []string{"./a", "./b", "./c"}},
		"a new file":                 {"b/new.go", []string{"./b", "./c"}},
		"a test":                     {"c/c_test.go", []string{"./c"}},
		"data of a test":             {"d/testdata/deep/x.json", []string{"./d"}},
		"mutants":                    {"d/MUTANTS.md", []string{"./d"}},
		"text":                       {"a/DESIGN.md", nil},
		"the first text":             {"README.md", nil},
		"another module":             {"bench/main.go", nil},
		"dependencies":               {"go.mod", everything},
		"the check":                  {".ci/run", everything},
		"a file of no package":       {"Makefile", everything},
		"code that no package holds": {"a/gone/x.go", everything},
	} {
		t.Run(name, func(t *testing.T) {
			for _, committed := range []bool{true, false} {
				dir := repository(t)
				run(t, dir, "branch", "base")
				content := "package " + filepath.Base(filepath.Dir(c.file)) + "\n"
				switch c.file {
				case "go.mod":
					content = "module example.com/m\n\ngo 1.25\n"
				case "c/c_test.go":
					content = "package c\n"
				case "a/gone/x.go":
					content = "//go:build never\n\npackage gone\n"
				case "a/a.go":
					content += "\nvar A int\n"
				}
				write(t, dir, c.file, content)
				if committed {
					commit(t, dir)
				}
				packages, why, err := reached(dir, "base")
				require.NoError(t, err)
				assert.Equal(t, c.want, packages, why)
			}
		})
	}
}

func TestAPackageThatWasMovedReachesEverything(t *testing.T) {
	dir := repository(t)
	run(t, dir, "branch", "base")
	run(t, dir, "mv", "d", "e")
	commit(t, dir)
	packages, why, err := reached(dir, "base")
	require.NoError(t, err)
	assert.Equal(t, []string{"./a", "./b", "./c", "./e"}, packages, why)
}

func TestWithoutABaseEverythingIsReached(t *testing.T) {
	dir := repository(t)
	write(t, dir, "d/d.go", "package d\n\nvar D int\n")
	commit(t, dir)
	for _, base := range []string{"", "all", "HEAD"} {
		packages, why, err := reached(dir, base)
		require.NoError(t, err)
		assert.Equal(t, everything, packages, "%q: %s", base, why)
	}
	run(t, dir, "update-ref", "refs/remotes/origin/main", "HEAD~1")
	packages, why, err := reached(dir, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"./d"}, packages, why)
	_, _, err = reached(dir, "nowhere")
	assert.ErrorContains(t, err, "nowhere")
}
