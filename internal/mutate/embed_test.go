package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
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

func recovers() {
	v := recover()
	_ = v
}
`

func TestAMutantIsACopyOfTheBody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, []byte(functions), 0o600))
	const begin = "\nif mutateChosen == \"L.md:7\" {\n"
	for _, tc := range []struct{ old, new, copied string }{
		{"func short(n int) int { return n + 1 }\n", "func short(n int) int { return n + 2 }\n",
			begin + "return func() int {\n//line L.md:7 mutant:1\n return n + 2 }()\n}\n//line a.go:5\n"},
		{"\t*n++\n", "\t*n--\n", begin + "func()  {\n//line L.md:7 mutant:1\n\n\t*n--\n}()\nreturn\n}\n//line a.go:7\n"},
		{"\tm, err = n, nil\n", "\tm, err = n, err\n",
			begin + "return func() (m int, err error) {\n//line L.md:7 mutant:1\n\n\tm, err = n, err\n\treturn\n}()\n}\n//line a.go:11\n"},
	} {
		inserted, err := mutant{list: "L.md", line: 7, file: file, old: tc.old, new: tc.new}.embed()
		require.NoError(t, err)
		assert.Equal(t, tc.copied, inserted.text)
	}
	for _, tc := range []struct{ old, new, err string }{
		{"func short(n int) int { return n + 1 }\n", "func short(m int) int { return m + 2 }\n", "not inside one function"},
		{"var table = map[string]int{\"one\": 1}\n", "var table = map[string]int{\"one\": 2}\n", "not inside one function"},
		{"\tv := recover()\n", "\t_ = recover()\n\tv := 0\n", "recover has no effect in a copy"},
	} {
		_, err := mutant{file: file, old: tc.old, new: tc.new}.embed()
		assert.ErrorContains(t, err, tc.err)
	}
}

const module = "module example.com/a\n\ngo 1.26.0\n"

func TestMutantsAreTriedOneByOneAlthoughBuiltTogether(t *testing.T) {
	testkit.Long(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("a", 0o700))
	for name, content := range map[string]string{
		"go.mod": module,
		"a/a.go": "package a\n\nfunc one() int {\n\treturn 1\n}\n\nfunc two() (n int) {\n\tn, m := 1, one()\n\treturn n + m\n}\n\n" +
			"func first() int {\nloop:\n\tfor i := 0; ; i++ {\n\t\tif i == 1 {\n\t\t\tbreak loop\n\t\t}\n\t}\n\treturn 1\n}\n",
		"a/b.go": "package a\n\nfunc three() int {\n\treturn two() + 1\n}\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\n" +
			"func TestOne(t *testing.T) {\n\tif first() != 1 {\n\t\tt.Fatal(first())\n\t}\n}\n\n" +
			"func TestTwo(t *testing.T) {\n\tif two() != 2 || three() != 3 {\n\t\tt.Fatal(two())\n\t}\n}\n\n" +
			"func TestBroken(t *testing.T) {\n\tt.Fatal()\n}\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	line := 0
	of := func(file, old, new, test string) mutant {
		line++
		return mutant{list: "MUTANTS.md", line: line, file: "a/" + file, old: old, new: new, test: []string{"./a", test}}
	}
	for name, tc := range map[string]struct {
		mutants   []mutant
		survivors int
	}{
		"noticed": {[]mutant{
			of("a.go", "\treturn 1\n}\n\nfunc two", "\treturn 3\n}\n\nfunc two", "TestTwo"),
			of("a.go", "\tn, m := 1, one()\n", "\tn, m := 2, one()\n", "TestTwo"),                                               // assigns to the result
			of("a.go", "\tn, m := 1, one()\n", "\tn, m := 1, one()\n\tfor n > 0 {\n\t\tn = 1\n\t}\n", "TestTwo"),                // hangs
			of("a.go", "\tfor i := 0; ; i++ {\n", "\tfor i := 0; ; i++ {\n\t\tif i == 0 {\n\t\t\treturn 0\n\t\t}\n", "TestOne"), // next to a label
			of("b.go", "\treturn two() + 1\n", "\treturn two()\n", "TestTwo"),
		}, 0},
		"survives": {[]mutant{
			of("b.go", "\treturn two() + 1\n", "\treturn two()\n", "TestOne"),
			of("a.go", "\tn, m := 1, one()\n", "\tn, m := 2 - 1, one()\n", "TestTwo"),
			of("a.go", "\tn, m := 1, one()\n", "\tn, m := 2, one()\n", "TestTwo"),
		}, 2},
		"no such test":                     {[]mutant{of("b.go", "\treturn two() + 1\n", "\treturn two()\n", "TestNone")}, 1},
		"fails without a breakage as well": {[]mutant{of("b.go", "\treturn two() + 1\n", "\treturn two()\n", "TestBroken")}, 1},
		"does not compile":                 {[]mutant{of("b.go", "\treturn two() + 1\n", "\treturn x\n", "TestTwo")}, 1},
		"is in no function":                {[]mutant{of("b.go", "package a\n", "package a\n\nvar x = 1\n", "TestTwo")}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			survivors, err := tryAll(tc.mutants)
			require.NoError(t, err)
			assert.Equal(t, tc.survivors, survivors)
		})
	}
}

func TestMutantsThatCannotBeTriedAreFoundWithoutATest(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("a", 0o700))
	for name, content := range map[string]string{
		"go.mod":      module,
		"a/a.go":      "package a\n\nfunc one() int {\n\treturn 1\n}\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tt.Fatal(one())\n}\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	of := func(new, test string) mutant {
		return mutant{list: "MUTANTS.md", line: 7, file: "a/a.go", old: "\treturn 1\n", new: new, test: []string{"./a", test}}
	}
	for name, tc := range map[string]struct {
		mutant mutant
		wrong  int
	}{
		"right":            {of("\treturn 2\n", "TestOne"), 0},
		"no such test":     {of("\treturn 2\n", "TestTwo"), 1},
		"does not compile": {of("\treturn two\n", "TestOne"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			wrong, err := checkAll([]mutant{tc.mutant})
			require.NoError(t, err)
			assert.Equal(t, tc.wrong, wrong)
		})
	}
}
