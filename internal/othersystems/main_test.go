package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMistakesThatOnlyAnotherSystemHasAreFound(t *testing.T) {
	testkit.Long(t)
	for name, c := range map[string]struct {
		file, source, says string
	}{
		"none":                            {"a.go", "package a\n\nvar Mask uint32 = 1 << 31\n", ""},
		"a constant for 64 bits":          {"a.go", "package a\n\nvar Mask int = 1 << 31\n", "overflows"},
		"a file of that system":           {"a_windows.go", "package a\n\nvar Mask = missing\n", "undefined: missing"},
		"in a function":                   {"a_windows.go", "package a\n\nfunc F() { unused := 1 }\n", "declared and not used"},
		"in a test":                       {"b_windows_test.go", "package a\n\nvar _ = missing\n", "undefined: missing"},
		"in a test from outside":          {"b_windows_test.go", "package a_test\n\nimport \"example.com/a\"\n\nvar _ = a.Missing\n", "undefined: a.Missing"},
		"code that does not parse":        {"a_windows.go", "package a\n\nfunc {\n", "expected"},
		"names that this system lacks":    {"a_windows.go", "package a\n\nimport \"syscall\"\n\nvar _ = syscall.SIGSTOP\n", "undefined: syscall.SIGSTOP"},
		"names that another system needs": {"a_linux.go", "package a\n\nvar Mask = missing\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, source := range map[string]string{"go.mod": "module example.com/a\n\ngo 1.26\n", "doc.go": "package a\n", c.file: c.source} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(source), 0o600))
			}
			problems, packages, err := check(dir, "windows/386")
			if c.says == "" {
				require.NoError(t, err)
				assert.Empty(t, problems)
				assert.Equal(t, 1, packages)
				return
			}
			if err != nil { // reported by the go command
				assert.ErrorContains(t, err, c.says)
				return
			}
			require.NotEmpty(t, problems)
			assert.ErrorContains(t, problems[0], c.says)
		})
	}
}

func TestASystemThatNobodyKnowsIsAnError(t *testing.T) {
	for _, system := range []string{"windows", "windows/z80"} {
		_, _, err := check(".", system)
		assert.ErrorContains(t, err, "want GOOS/GOARCH")
	}
}
