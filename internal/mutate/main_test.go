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

func TestAMutantThatDoesNotCompileIsFound(t *testing.T) {
	var c compiler
	source, err := os.ReadFile("compile.go")
	require.NoError(t, err)
	t.Chdir("../..") // load looks at the whole module
	require.NoError(t, c.compile("internal/mutate/compile.go", source))
	broken := append(source, "\nvar _ = undefinedHere\n"...)
	assert.ErrorContains(t, c.compile("internal/mutate/compile.go", broken), "undefined: undefinedHere")
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

func TestThePartsAreAll(t *testing.T) {
	all := []mutant{{line: 1}, {line: 2}, {line: 3}, {line: 4}}
	for part, lines := range map[string][]mutant{"1/1": all, "1/3": {{line: 1}, {line: 4}}, "2/3": {{line: 2}}, "3/3": {{line: 3}}, "5/5": nil} {
		some, err := partOf(all, part)
		require.NoError(t, err)
		assert.Equal(t, lines, some, part)
	}
	for _, part := range []string{"", "0/3", "4/3", "1", "1/", "1/3x", "-1/3", "a/b"} {
		_, err := partOf(all, part)
		assert.ErrorContains(t, err, "2/3 for example", part)
	}
}
