package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const functions = `package a

var table = map[string]int{"one": 1}

func short(n int) int { return n + 1 }

func nothing(n *int) {
	*n++
}

func named(n int) (m int, err error) {
	m, err = n, nil
	return
}

func anew(n int) (err error) {
	m, err := n, error(nil)
	_ = m
	return err
}

func labelled() {
loop:
	for {
		break loop
	}
}
`

func TestAMutantIsACopyOfTheBody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, []byte(functions), 0o600))
	for _, tc := range []struct{ old, new, copied string }{
		{"func short(n int) int { return n + 1 }\n", "func short(n int) int { return n + 2 }\n", "\nif mutateChosen == \"7\" { return n + 2 \n}\n"},
		{"\t*n++\n", "\t*n--\n", "\nif mutateChosen == \"7\" {\n\t*n--\n\nreturn\n}\n"},
		{"\tm, err = n, nil\n", "\tm, err = n, err\n", "\nif mutateChosen == \"7\" {\n\tm, err = n, err\n\treturn\n\n}\n"},
		{"func short(n int) int { return n + 1 }\n", "func short(m int) int { return m + 2 }\n", ""}, // not only the body
		{"var table = map[string]int{\"one\": 1}\n", "var table = map[string]int{\"one\": 2}\n", ""}, // in no function
		{"\t_ = m\n", "\t_ = n\n", ""},      // := assigns to the result
		{"\t\tbreak loop\n", "break\n", ""}, // the label would be there twice
	} {
		inserted, ok, err := mutant{file: file, old: tc.old, new: tc.new}.embed(7)
		require.NoError(t, err)
		assert.Equal(t, tc.copied, inserted.text)
		assert.Equal(t, tc.copied != "", ok)
	}
}

func TestMutantsAreTriedOneByOneAlthoughBuiltTogether(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"go.mod": "module example.com/a\n\ngo 1.26.0\n",
		"a.go":   "package a\n\nvar zero = 0\n\nfunc one() int {\n\treturn 1\n}\n\nfunc two() int {\n\tn := 1\n\treturn n + one()\n}\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\n" +
			"func TestZero(t *testing.T) {\n\tif zero != 0 {\n\t\tt.Fatal(zero)\n\t}\n}\n\n" +
			"func TestTwo(t *testing.T) {\n\tif two() != 2 {\n\t\tt.Fatal(two())\n\t}\n}\n\n" +
			"func TestBroken(t *testing.T) {\n\tt.Fatal()\n}\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	of := func(old, new, test string) mutant {
		return mutant{file: "a.go", old: old, new: new, test: []string{".", test}}
	}
	for name, tc := range map[string]struct {
		mutants   []mutant
		survivors int
	}{
		"noticed": {[]mutant{
			of("\treturn 1\n", "\treturn 3\n", "TestTwo"),
			of("\tn := 1\n", "\tn := 2\n", "TestTwo"),
			of("\tn := 1\n", "\tfor n := 1; n > 0; n-- {\n\t\tn++\n\t}\n\tn := 1\n", "TestTwo"), // hangs
			of("var zero = 0\n", "var zero = 1\n", "TestZero"),                                  // built alone
		}, 0},
		"survives": {[]mutant{
			of("\treturn 1\n", "\treturn 3\n", "TestZero"),
			of("\tn := 1\n", "\tn := 2 - 1\n", "TestTwo"),
			of("\tn := 1\n", "\tn := 2\n", "TestTwo"),
		}, 2},
		"no such test":                     {[]mutant{of("\treturn 1\n", "\treturn 3\n", "TestNone")}, 1},
		"fails without a breakage as well": {[]mutant{of("\treturn 1\n", "\treturn 3\n", "TestBroken")}, 1},
		"does not compile":                 {[]mutant{of("\treturn 1\n", "\treturn x\n", "TestTwo")}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			survivors, err := tryAll(tc.mutants)
			require.NoError(t, err)
			assert.Equal(t, tc.survivors, survivors)
		})
	}
}
