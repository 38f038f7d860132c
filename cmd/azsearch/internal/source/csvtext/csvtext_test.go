package csvtext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rows splits a complete text into rows.
func rows(f Format, text string) (rows []string) {
	for len(text) > 0 {
		n := f.Next([]byte(text), true)
		rows, text = append(rows, text[:n]), text[n:]
	}
	return rows
}

func texts(t *testing.T, f Format, row string) ([]string, error) {
	t.Helper()
	cells, _, err := f.Cells(nil, nil, []byte(row))
	var s []string
	for _, c := range cells {
		s = append(s, string(c.Text))
	}
	return s, err
}

func TestFormatIsFoundOut(t *testing.T) {
	for head, want := range map[string]Format{
		"a,b,c\n1,2,3\n":      {',', '"'},
		"a;b;c\n1,5;2;3\n":    {';', '"'},
		"a\tb\n":              {'\t', '"'},
		"a|b|c,d\n":           {'|', '"'},
		"\"a;b;c;d\",e,f\n":   {',', '"'},
		"'a','b'\n":           {',', '\''},
		"id\n1\n":             {',', '"'},
		"":                    {',', '"'},
		"\"a\"\"b;\";c;\"d\"": {';', '"'},
	} {
		assert.Equal(t, want, Detect([]byte(head)), "%q", head)
	}
}

func TestRowsAndCells(t *testing.T) {
	f := Format{',', '"'}
	for _, c := range []struct {
		about, text string
		rows        [][]string
	}{
		{"plain", "a,b\n1,2\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"the line end of Windows", "a,b\r\n1,2\r\n", [][]string{{"a", "b"}, {"1", "2"}}},
		{"no line end", "a,b\n1,2", [][]string{{"a", "b"}, {"1", "2"}}},
		{"empty cells", ",\n\"\",\n", [][]string{{"", ""}, {"", ""}}},
		{"quotes in quotes", "\"say \"\"hi\"\"\",\"\"\"\"\n", [][]string{{"say \"hi\"", "\""}}},
		{"a line end in quotes", "\"a\nb\",2\n3,4\n", [][]string{{"a\nb", "2"}, {"3", "4"}}},
		{"a separator in quotes", "\"a,b\",2\n", [][]string{{"a,b", "2"}}},
		{"a quote that is text", "5\" disk,2\n6\",3\n", [][]string{{"5\" disk", "2"}, {"6\"", "3"}}},
	} {
		var got [][]string
		for _, row := range rows(f, c.text) {
			cells, err := texts(t, f, row)
			require.NoError(t, err, c.about)
			got = append(got, cells)
		}
		assert.Equal(t, c.rows, got, c.about)
	}
}

func TestOpenQuoteIsAnErrorOfItsLineAlone(t *testing.T) {
	f := Format{',', '"'}
	got := rows(f, "1,\"open\n2,b\n3,c\n")
	assert.Equal(t, []string{"1,\"open\n", "2,b\n", "3,c\n"}, got)
	_, err := texts(t, f, got[0])
	assert.ErrorIs(t, err, errOpen)
	_, err = texts(t, f, `"a"b,c`)
	assert.ErrorContains(t, err, "after the closing quote")
}

func TestMoreIsAskedForWhereARowMayContinue(t *testing.T) {
	f := Format{',', '"'}
	for _, text := range []string{"1,2", "\"a\n", "\"a\"", "\"a\"\"\n", "1,\"x\ny\""} {
		assert.Zero(t, f.Next([]byte(text), false), "%q", text)
	}
}

// Rows add up to the text, wherever the input is split, and the output of encoding/csv is read back.
func FuzzRows(f *testing.F) {
	for _, s := range []string{"a,b\n", "\"a\"\"\n\",b\r\n", "\"", "\"a\"b\n", "a\"\n\""} {
		f.Add(s, byte('"'))
	}
	f.Fuzz(func(t *testing.T, text string, quote byte) {
		format := Format{',', '"'}
		if quote == '\'' {
			format.Quote = quote
		}
		all := rows(format, text)
		assert.Equal(t, text, strings.Join(all, ""))
		for _, row := range all {
			cells, _, err := format.Cells(nil, nil, []byte(row))
			if err == nil {
				assert.NotEmpty(t, cells)
			}
		}
		// A row that is read from a prefix is the same with more input, or the reader asks for more.
		for cut := range len(text) {
			if n := format.Next([]byte(text[:cut]), false); n > 0 {
				assert.Equal(t, len(all[0]), n, "%q", text[:cut])
			}
		}
	})
}
