package archtest

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSourceIsEasyToTakeIn(t *testing.T) {
	broken, err := CheckSource(os.DirFS(root))
	require.NoError(t, err)
	for _, line := range broken {
		t.Error(line)
	}
}

// mostOwed limits the number of declarations that are longer than allowed. It only decreases.
const mostOwed = 12

func TestWhatIsOwedOnlyShrinks(t *testing.T) {
	owed, err := Owed(os.DirFS(root))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(owed), mostOwed, "divide a declaration, do not owe it:\n%s", strings.Join(owed, "\n"))
	assert.GreaterOrEqual(t, len(owed), mostOwed, "lower mostOwed")
}

func TestLongSourceIsFound(t *testing.T) {
	file := func(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package p\n" + content)} }
	lines, fields := strings.Repeat("\n", 79), "a"+strings.Repeat(", a", 25)+" int"
	words := strings.Repeat("word ", 24)
	broken, err := CheckSource(fstest.MapFS{
		"a/func.go":       file("func f() {" + lines + "\n}"),
		"a/struct.go":     file("type t struct { in struct { " + fields + " } }"),
		"a/comment.go":    file("// " + words + "\n"),
		"a/assertion.go":  file("func f(x any) { _ = x.(interface{ M() }) }"),
		"a/conversion.go": file("func f() { _ = (interface{ M() })(nil) }"),
		"a/fine.go": file("//archtest:long rows of one table\nfunc f() {" + lines + "\n}\n" +
			"//archtest:long options of users\ntype t struct { " + fields + " }\n" +
			"func g() {" + lines + "}\ntype i interface{ M() }\nfunc h(any) { h(interface{}(nil)) }\n" +
			"//\t" + words + "\n// https://example.com/" + strings.Repeat("a", 120) + "\n"),
		"a/a_test.go":          file("func f(x any) { _ = x.(interface{ M() })" + lines + "\n}\n// Output:\n// " + words),
		"a/testdata/a.go":      file("// " + words),
		"a/silent.go":          file("//archtest:long\ntype t struct { " + fields + " }"),
		"bench/compare/b.go":   file("type t struct { " + fields + " }"),
		"a/generic.go":         file("func f[T interface{ M() }](T) {}"),
		"a/several/grouped.go": file("type (\n\ta int\n\t//archtest:long options of users\n\tt struct { " + fields + " }\n)"),
	})
	require.NoError(t, err)
	const fix = ": divide it, or give the reason in a comment //archtest:long"
	const unnamed = ": got an interface without a name, want a type: name it here, or in models/optional.go if another package implements it"
	assert.Equal(t, []string{
		"a/assertion.go:2:24" + unnamed,
		"a/comment.go:2:1: got a comment of 123 columns, want 120 at most: break the line",
		"a/conversion.go:2:17" + unnamed,
		"a/func.go:2:1: got 81 lines in f, want 80 at most" + fix,
		"a/silent.go:3:6: got 26 fields in t, want 25 at most" + fix,
		"a/struct.go:2:6: got 26 fields in t, want 25 at most" + fix,
		"bench/compare/b.go:2:6: got 26 fields in t, want 25 at most" + fix,
	}, broken)
}
