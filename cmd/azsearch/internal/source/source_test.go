package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source/jsontext"
	"github.com/go-azsearch/azsearch/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// all reads a file to its end and checks that its blocks are contiguous.
func all(t *testing.T, f *File) (content string, err error) {
	t.Helper()
	defer f.Close()
	at := f.at
	for {
		b, err := f.Next()
		if errors.Is(err, io.EOF) {
			return content, nil
		}
		if err != nil {
			return content, err
		}
		assert.Equal(t, at, b.Start)
		at = b.End
		content += string(b.Data)
		b.Free()
	}
}

func packed(t *testing.T, text string, zip bool) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if !zip {
		z, err := zstd.NewWriter(&b)
		require.NoError(t, err)
		w = z
	}
	_, err := io.WriteString(w, text)
	require.NoError(t, errors.Join(err, w.Close()))
	return b.String()
}

func TestKindIsFoundOut(t *testing.T) {
	const lines, array, csv = "{\"id\":\"1\"}\n", "[{\"id\":\"1\"}]", "id,name\n1,a\n"
	for _, c := range []struct {
		name, content string
		kind          Kind
	}{
		{"a.jsonl", lines, JSONLines}, {"a.ndjson", lines, JSONLines}, {"a.json", lines, JSONLines}, {"a", lines, JSONLines},
		{"a.jsonl.gz", packed(t, lines, true), JSONLines}, {"a.zst", packed(t, lines, false), JSONLines}, {"gzip without its name", packed(t, csv, true), CSV},
		{"a.json", array, JSON}, {"a.jsonl", " \n" + array, JSON}, {"a.json", "{\n\"id\":\"1\"\n}\n{\n\"id\":\"2\"}", JSON},
		{"a.csv", csv, CSV}, {"a.TSV", "id\tname\n", CSV}, {"a", csv, CSV}, {"a.csv.gz", packed(t, csv, true), CSV}, {"a.csv", "\ufeffid\n1\n", CSV},
		{"a.jsonl", RejectMark + ",\"file\":\"x\"}\n", Rejects}, {"empty.json", "", JSONLines}, {"empty.csv", "", CSV}, {"empty", "", JSONLines},
	} {
		f, err := Open(t.Context(), file(t, c.name, c.content), Options{})
		require.NoError(t, err, c.name)
		assert.Equal(t, c.kind, f.Kind, c.name)
		_, err = all(t, f)
		assert.NoError(t, err)
	}
}

func TestFileThatCannotBeReadSaysWhatToDo(t *testing.T) {
	for _, c := range []struct{ name, content, kind, says string }{
		{"a.csv", "id,id\n1,2\n", "", "columns 1 and 2 are both named \"id\""},
		{"a.csv", "id,\n1,2\n", "", "ends with a separator"},
		{"a.csv", "\"id\nx", "", "quote is not closed"},
		{"a.csv", "id,name\r1,x\r2,y\r", "", "tr '\\r' '\\n'"},
		{"a.csv", "\xff\xfei\x00d\x00", "", "iconv"},
		{"a.parquet", "no", "", "-format"},
		{"a.parquet", "PAR1", "", "not a Parquet file"},
		{"a.gz", "\x1f\x8bno", "", "a.gz"},
		{"a", "x", "xml", "jsonl"},
	} {
		_, err := Open(t.Context(), file(t, c.name, c.content), Options{Kind: c.kind})
		assert.ErrorContains(t, err, c.says, c.name)
	}
	_, err := Open(t.Context(), t.TempDir(), Options{})
	assert.ErrorContains(t, err, "*.jsonl")
	_, err = Open(t.Context(), Stdin, Options{Stdin: strings.NewReader("PAR1")})
	assert.ErrorContains(t, err, "save it as a file")
	_, err = Open(t.Context(), Stdin, Options{Stdin: iotest.ErrReader(errors.New("gone"))})
	assert.ErrorContains(t, err, "gone")
}

func TestFileThatIsCutOffIsAnErrorAndItsWholeRecordsAreRead(t *testing.T) {
	lines := strings.Repeat("{\"id\":\"1\"}\n", 100_000)
	zipped := packed(t, lines, true)
	for name, c := range map[string]struct{ content, says string }{
		"a.json":     {"[" + strings.Repeat("{\"id\":\"1\"},\n", 100_000), "the array does not end"},
		"a.jsonl.gz": {zipped[:len(zipped)/2], "the file is cut off"},
	} {
		f, err := Open(t.Context(), file(t, name, c.content), Options{})
		require.NoError(t, err)
		content, err := all(t, f)
		assert.ErrorContains(t, err, c.says)
		assert.NotEmpty(t, content)
		assert.Equal(t, byte('\n'), content[len(content)-1])
	}
}

func TestFileThatBecomesShorterIsAnError(t *testing.T) {
	name := file(t, "a.jsonl", strings.Repeat("{\"id\":\"1\"}\n", 100_000))
	f, err := Open(t.Context(), name, Options{})
	require.NoError(t, err)
	b, err := f.Next()
	require.NoError(t, err)
	b.Free()
	require.NoError(t, os.Truncate(name, f.raw.n.Load()/11*11)) // at a record boundary
	_, err = all(t, f)
	assert.ErrorContains(t, err, "became shorter")
}

func TestReadingContinuesAtAPosition(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,text\n")
	for i := range 40_000 {
		fmt.Fprintf(&text, "%d,\"line\nof %d\"\n", i, i)
	}
	for name, content := range map[string]string{"a.csv": text.String(), "a.csv.gz": packed(t, text.String(), true), "a.csv.zst": packed(t, text.String(), false), "bom.csv": "\ufeff" + text.String()} {
		path := file(t, name, content)
		f, err := Open(t.Context(), path, Options{})
		require.NoError(t, err)
		b, err := f.Next()
		require.NoError(t, err)
		to := b.End
		rest, err := all(t, f)
		require.NoError(t, err)
		assert.NotEmpty(t, rest)

		again, err := Open(t.Context(), path, Options{})
		require.NoError(t, err)
		require.NoError(t, again.Seek(to))
		got, err := all(t, again)
		require.NoError(t, err)
		assert.Equal(t, rest, got, name)
		assert.Equal(t, int64(len(content)), again.Read(), name)
	}
}

// A load that was killed behind the last block of a file continues there, and then with the next file.
func TestReadingContinuesBehindTheLastRecordOfAnArray(t *testing.T) {
	const whole, cut = "[{\"id\":\"1\"},\n{\"id\":\"2\"}\n]\n \n", "[{\"id\":\"1\"},\n{\"id\":\"2\"},\n"
	for _, c := range []struct{ name, content, text string }{
		{"a.json", whole, whole}, {"a.json.gz", packed(t, whole, true), whole}, {"bom.json", "\ufeff" + whole, "\ufeff" + whole},
		{"long.json", whole + strings.Repeat(" ", headBytes/2), whole + strings.Repeat(" ", headBytes/2)},
		{"cut.json", cut, cut}, {"cut.json.gz", packed(t, cut, true), cut},
	} {
		f, err := Open(t.Context(), file(t, c.name, c.content), Options{})
		require.NoError(t, err)
		require.NoError(t, f.Seek(Position{}.Behind([]byte(c.text))))
		content, err := all(t, f)
		assert.Empty(t, content)
		if strings.HasPrefix(c.name, "cut") {
			assert.ErrorContains(t, err, "the array does not end", c.name)
		} else {
			assert.NoError(t, err, c.name)
		}
	}
}

func TestRecordThatIsTooLongIsPassedOver(t *testing.T) {
	text := &text{r: strings.NewReader("short\n" + strings.Repeat("x", 2_000_000) + "\nlast\n"), cut: jsontextLines{}, mostRecord: 1 << 20}
	data, err := text.next(false, nil)
	require.NoError(t, err)
	assert.Equal(t, "short\n", string(data))
	data, err = text.next(false, nil)
	require.NoError(t, err)
	assert.True(t, text.tooLong)
	assert.Equal(t, int64(2_000_001), int64(len(data))+text.skipped)
	data, err = text.next(false, nil)
	require.NoError(t, err)
	assert.Equal(t, "last\n", string(data))
	_, err = text.next(false, nil)
	assert.ErrorIs(t, err, io.EOF)
}

// A value of JSON does not end with its line, so the lines behind the limit may be parts of it.
func TestNothingOfAValueThatIsTooLongIsARecord(t *testing.T) {
	long := "{\"id\":\"9\",\"text\":\"" + strings.Repeat("x", 2_000_000) + "\",\n\"chunks\":[\n{\"id\":\"5\"},\n{\"id\":\"6\"}]}"
	for _, content := range []string{"[{\"id\":\"1\"},\n" + long + "]\n", "{\"id\":\"1\"}\n" + long + "\n", "[{\"id\":\"1\"}, " + long + ",{\"id\":\"2\"}]"} {
		text := &text{r: strings.NewReader(content), cut: jsontext.Values{}, array: content[0] == '[', mostRecord: 1 << 20}
		data, err := text.next(false, nil)
		require.NoError(t, err)
		assert.Contains(t, string(data), `{"id":"1"}`)
		data, err = text.next(false, nil)
		assert.ErrorContains(t, err, "the value has more than 1 MiB, and what follows it cannot be read")
		assert.Empty(t, data)
	}
}

func TestLineOfTenMegabytesIsARecord(t *testing.T) {
	long := "{\"id\":\"" + strings.Repeat("x", 10<<20) + "\"}\n"
	f, err := Open(t.Context(), file(t, "a.jsonl", "{}\n"+long+"{}\n"), Options{})
	require.NoError(t, err)
	content, err := all(t, f)
	require.NoError(t, err)
	assert.Equal(t, "{}\n"+long+"{}\n", content)
}

func TestEmptyReadsEndAtLast(t *testing.T) {
	_, err := Open(t.Context(), Stdin, Options{Stdin: emptyReader{}})
	assert.ErrorIs(t, err, io.ErrNoProgress)
	f, err := Open(t.Context(), Stdin, Options{Stdin: iotest.OneByteReader(strings.NewReader("{}\n{}"))})
	require.NoError(t, err)
	content, err := all(t, f)
	require.NoError(t, err)
	assert.Equal(t, "{}\n{}", content)
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }

type jsontextLines struct{}

func (jsontextLines) Next(b []byte, final bool) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 || !final {
		return i + 1
	}
	return len(b)
}

// The lines of a cell that is too long may look like rows.
func TestNothingOfACellThatIsTooLongIsARow(t *testing.T) {
	for name, end := range map[string]string{"closed": "\"\n3,x,y\n", "open": "\n3,x,y\n"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.csv")
			require.NoError(t, os.WriteFile(file, []byte("id,a,b\n1,x,y\n2,\"p\nq\",\""+strings.Repeat("5,part,of\n", 200_000)+end), 0o600))
			f, err := Open(t.Context(), file, Options{})
			require.NoError(t, err)
			defer f.Close()
			f.text.mostRecord = 1 << 20
			b, err := f.Next()
			require.NoError(t, err)
			assert.Equal(t, "1,x,y\n", string(b.Data))
			_, err = f.Next()
			assert.EqualError(t, err, file+":4: the quote that begins column 3 is not closed within 1 MiB; close it, or leave the cell out")
		})
	}
}
