package models_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func TestEncodedDocumentIsSplicedInAsItIs(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"compact":            {`{"id":"1","a":[1,2]}`, `{"@search.action":"merge","id":"1","a":[1,2]}`},
		"white space inside": {"{ \"id\" : \"1\",\n\"a\":[ 1 ] }", "{\"@search.action\":\"merge\", \"id\" : \"1\",\n\"a\":[ 1 ] }"},
		"white space around": {" \t\r\n{\"id\":\"1\"} \t\r\n", `{"@search.action":"merge","id":"1"}`},
		"no member":          {"{ \n}", `{"@search.action":"merge"}`},
		"HTML and U+2028":    {"{\"a\":\"<&>\u2028\"}", "{\"@search.action\":\"merge\",\"a\":\"<&>\u2028\"}"},
		"reserved below":     {`{"a":{"@search.x":1}}`, `{"@search.action":"merge","a":{"@search.x":1}}`},
		"a name as a value":  {`{"a":"@search.x","b":["\u0040search.x"]}`, `{"@search.action":"merge","a":"@search.x","b":["\u0040search.x"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := models.AppendEncoded([]byte("before,"), models.ActionTypeMerge, []byte(c.doc))
			require.NoError(t, err)
			require.Equal(t, "before,"+c.want, string(got))
		})
	}
}

func TestEncodedDocumentThatIsNotJSONIsRefusedWithThePlace(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"an unknown word":          {`{"id":"1","x":nope}`, "not valid JSON at offset 15: invalid character 'o' in literal null (expecting 'u')"},
		"counted from the start":   {"\n {\"x\":NaN}", "not valid JSON at offset 7: invalid character 'N' looking for beginning of value"},
		"deep inside":              {`{"a":[{"b":{"c":[1,2,03]}}]}`, "not valid JSON at offset 22: invalid character '3' after array element"},
		"a comma too many":         {`{"a":1,}`, `not valid JSON at offset 7: invalid character '}' looking for beginning of object key string`},
		"a line feed in a string":  {"{\"a\":\"x\ny\"}", `not valid JSON at offset 7: invalid character '\n' in string literal`},
		"an unknown escape":        {`{"a":"\x"}`, `not valid JSON at offset 7: invalid character 'x' in string escape code`},
		"the end is missing":       {`{"a":1`, "not valid JSON: it ends too early, after 6 bytes"},
		"the end of a number, too": {`{"a":-`, "not valid JSON: it ends too early, after 6 bytes"},
		"a second document":        {`{"id":"1"},{"id":"2"}`, "not valid JSON at offset 10: invalid character ',' after top-level value"},
		"another format":           {"\x81\xa2id\xa11", `not valid JSON at offset 0: invalid character '\u0081' looking for beginning of value`},
		"a byte order mark":        {"\ufeff{}", "not valid JSON: it begins with a byte order mark; remove it with bytes.TrimPrefix(doc, []byte(\"\\ufeff\"))"},
		"not UTF-8":                {"{\"a\":\"b\xff\"}", "at offset 7: the text is not valid UTF-8; strings.ToValidUTF8(text, \"\\ufffd\") replaces what is wrong"},
		"nested too deep":          {`{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}", "not valid JSON at offset 10004: invalid character '[' exceeded max depth"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := models.AppendEncoded([]byte("before,"), models.ActionTypeUpload, []byte(c.doc))
			require.ErrorAs(t, err, new(*models.EncodeError))
			require.EqualError(t, err, "encode document: "+c.want)
			require.Equal(t, "before,", string(got))
		})
	}
}

func TestEncodedDocumentIsOneObjectWithoutReservedNames(t *testing.T) {
	for doc, want := range map[string]error{
		"": models.ErrNotAnObject, " \n": models.ErrNotAnObject, "null": models.ErrNotAnObject, `[{"id":"1"}]`: models.ErrNotAnObject,
		`"{}"`: models.ErrNotAnObject, "7": models.ErrNotAnObject, " true": models.ErrNotAnObject,
		`{"@search.action":"delete"}`: models.ErrReservedName, `{"id":"1", "\u0040search.score":1}`: models.ErrReservedName,
		`{"a@b":"@","\\":1,"@s\u0065arch.score":1}`: models.ErrReservedName,
	} {
		_, err := models.AppendEncoded(nil, models.ActionTypeUpload, []byte(doc))
		require.ErrorAs(t, err, new(*models.EncodeError), doc)
		require.ErrorIs(t, err, want, doc)
	}
	_, err := models.AppendEncoded(nil, "Upload", []byte(`{}`))
	require.ErrorContains(t, err, `unknown action "Upload"`)
}

// AppendEncoded and AppendAction accept the same raw documents, and their results differ only in white space.
func FuzzEncodedDocument(f *testing.F) {
	for _, b := range recorded(f, "document_*.json") {
		f.Add(b)
	}
	for _, s := range []string{`{}`, ` { } `, `null`, `[]`, `{"\u0040search.x":1}`, `{"a":"\ud800","@":[{"@search.x":0}]}`, `{"id":"1","x":nope}`, `{"a":1}}`, "\v{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := models.AppendEncoded([]byte("x"), models.ActionTypeUpload, b)
		want, wantErr := models.AppendAction([]byte("x"), models.ActionTypeUpload, json.RawMessage(b))
		require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
		if err != nil {
			require.Equal(t, "x", string(out))
			for _, is := range []error{models.ErrNotAnObject, models.ErrReservedName} {
				require.Equal(t, errors.Is(wantErr, is), errors.Is(err, is) && len(bytes.Trim(b, " \t\r\n")) > 0, "%v, %v", wantErr, err)
			}
			return
		}
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, out[1:]))
		require.Equal(t, string(want[1:]), compact.String())
	})
}
