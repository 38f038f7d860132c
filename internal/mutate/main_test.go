package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const list = "# Mutants\n\nZero is one.\n\n```mutant\nfile: sub/a.go\n- \treturn 0\n- }\n+ \treturn 1\n+ }\ntest: ./sub TestZero -short\n```\n"

func TestAListIsRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "MUTANTS.md")
	require.NoError(t, os.WriteFile(file, []byte(list), 0o600))
	mutants, err := parse(file)
	require.NoError(t, err)
	assert.Equal(t, []mutant{{
		list: file, line: 5, file: filepath.Join(dir, "sub", "a.go"), old: "\treturn 0\n}\n", new: "\treturn 1\n}\n",
		test: []string{"./sub", "TestZero", "-short"},
	}}, mutants)
}

func TestAMutantWithoutATestIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "MUTANTS.md")
	require.NoError(t, os.WriteFile(file, []byte("```mutant\nfile: a.go\n- x\n+ y\n```\n"), 0o600))
	_, err := parse(file)
	assert.ErrorContains(t, err, ":1: a mutant needs")
}

func TestABlockWithoutAnEndIsAnError(t *testing.T) {
	const begun = "```mutant\nfile: a.go\n- x\n+ y\ntest: . TestX\n"
	for _, text := range []string{begun, begun + "```mutant\n", begun + "\nThe next one.\n"} {
		file := filepath.Join(t.TempDir(), "MUTANTS.md")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := parse(file)
		assert.Error(t, err)
	}
}

func TestALineThatIsNotThereIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, []byte("package a\n"), 0o600))
	_, _, err := mutant{file: file, old: "\treturn 0\n", new: "\treturn 1\n"}.apply()
	assert.ErrorContains(t, err, "occurs 0 times")
}

func TestAMutantWhoseTestIsGoneIsFound(t *testing.T) {
	for _, name := range []string{"TestAMutantWhoseTestIsGoneIsFound", "TestAMutant.*", "TestGone|TestAMutant.*", "TestAMutantWhoseTestIsGoneIsFound/sub"} {
		assert.NoError(t, mutant{test: []string{".", name}}.findTest(), name)
	}
	for _, name := range []string{"TestAMutant", "TestGone"} {
		assert.ErrorContains(t, mutant{test: []string{".", name}}.findTest(), "there is no test "+name+" in .")
	}
	assert.ErrorContains(t, mutant{test: []string{".", "Test("}}.findTest(), "missing closing")
}

func TestListsHaveAtMost150Mutants(t *testing.T) {
	assert.NoError(t, count(1))
	assert.NoError(t, count(most))
	assert.ErrorContains(t, count(0), "got no mutants")
	assert.ErrorContains(t, count(most+1), "got 151, want at most 150; delete")
}
