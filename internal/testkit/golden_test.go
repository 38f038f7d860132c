package testkit

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGoldenReadsTestdataOfThePackage(t *testing.T) {
	Golden(t, "golden/sample.txt", []byte("first\nsecond\n"))
}

func TestGoldenFailsTheTestThatDiffers(t *testing.T) {
	was := *update
	*update = false
	defer func() { *update = was }()
	fake := &recorder{TB: t}
	Golden(fake, "golden/sample.txt", []byte("first\nother\n"))
	require.Len(t, fake.errs, 1)
}

type recorder struct {
	testing.TB
	errs []any
}

func (r *recorder) Error(args ...any) { r.errs = append(r.errs, args...) }

func TestMissingGoldenFileIsAFailureAndIsNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	require.ErrorIs(t, golden(path, nil, false), fs.ErrNotExist)
	require.NoFileExists(t, path)
}

func TestUpdateWritesWhatTheNextRunReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "a.json")
	require.NoError(t, golden(path, []byte("{}\n"), true))
	require.NoError(t, golden(path, []byte("{}\n"), false))
	require.Error(t, golden(path, []byte("{}"), false))
}

func TestDifferenceNamesTheLineAndShowsBothSides(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		want, got string
		says      []string
	}{
		"another line":          {"a\nb\nc\n", "a\nB\nc\n", []string{"line 2", `want "b\n"`, `got "B\n"`}},
		"shorter":               {"a\nb\n", "a\n", []string{"line 2", `want "b\n"`, "got (end of file)"}},
		"longer":                {"a\n", "a\nb\n", []string{"line 2", "want (end of file)", `got "b\n"`}},
		"last newline missing":  {"a\n", "a", []string{"line 1", `want "a\n"`, `got "a"`}},
		"empty":                 {"a\n", "", []string{"line 1", "got (end of file)"}},
		"middle of a long line": {long + "1" + long, long + "2" + long, []string{"line 1", "byte 5000", "x1x", "x2x"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := differ("f", []byte(c.want), []byte(c.got))
			require.Error(t, err)
			for _, s := range c.says {
				require.ErrorContains(t, err, s)
			}
			require.Less(t, len(err.Error()), 1000)
		})
	}
	require.NoError(t, differ("f", []byte("a\n"), bytes.Clone([]byte("a\n"))))
}
