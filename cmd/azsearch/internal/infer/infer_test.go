package infer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/convert"
	"github.com/go-azsearch/azsearch/cmd/azsearch/internal/source"
	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search/searchtest/clienttest"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func inferred(t *testing.T, name, content string) (models.SearchIndex, []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	definition, notes, err := Files(t.Context(), []string{path}, source.Options{}, "hotels")
	require.NoError(t, err)
	clienttest.NewClient(t, definition, nil) // the definition can be created
	return definition, notes
}

func types(fields []models.SearchField) string {
	var s []string
	for _, f := range fields {
		text := f.Name + " " + strings.ReplaceAll(string(f.Type), "Edm.", "")
		if f.Key != nil {
			text += "*"
		}
		if f.Fields != nil {
			text += "{" + types(f.Fields) + "}"
		}
		s = append(s, text)
	}
	return strings.Join(s, " ")
}

func TestTypesHoldEveryValueOfTheFile(t *testing.T) {
	vector := strings.TrimSuffix(strings.Repeat("0.5,", 64), ",")
	for _, c := range []struct{ name, content, fields, note string }{
		{"a.jsonl", `{"name":"a","hotelId":1,"n":1,"big":3000000000,"x":1.5,"on":true,"at":"2024-01-31","p":{"type":"Point","coordinates":[1,2]}}` + "\n" +
			`{"name":"a","hotelId":2,"n":2147483648,"big":1,"x":2,"on":null,"at":"2024-01-31T08:00:00Z"}`,
			"name String hotelId String* n Int64 big Int64 x Double on Boolean at DateTimeOffset p GeographyPoint", ""},
		{"a.jsonl", `{"id":"1","a":{"b":1,"c":["x"]},"l":[{"d":1},{"d":2.5}],"v":[` + vector + `],"m":1,"e":[]}` + "\n" + `{"id":"2","m":"text"}`,
			"id String* a ComplexType{b Int32 c Collection(String)} l Collection(ComplexType){d Double} v Collection(Single) m String e Collection(String)", ""},
		{"a.csv", "zip,id,n,on,when,x\n01234,a,5,TRUE,2024-01-31 08:00,1.5\n12345,b,,false,,2\n", "zip String id String* n Int32 on Boolean when DateTimeOffset x Double", ""},
		{"a.csv", "id,n\na,1\nid,n\nb,2\n", "id String* n Int32", ""},
		{"a.csv", "path,n\n/a b,1\n/c d,1\n", "id String* path String n Int32", "-key COLUMN"},
		{"a.csv", "name,id\nRitz,3/4\nInn,5\n", "name String id String*", "load with -key id"},
		{"a.jsonl", `{"id":"1","first name":"x","mixed":[1]}` + "\n" + `{"id":"2","mixed":1}`, "id String* first_name String", "mixed: lists"},
		{"a.csv", "Hotel ID,Hotel Name,Price (EUR)\n1,Ritz,5\n2,Inn,7.5\n", "Hotel_ID String* Hotel_Name String Price_EUR Double", "load with -map 'Hotel ID=Hotel_ID'"},
		{"a.csv", "id,a b,a-b,a_b,1st,é\n1,,,,,\n", "id String* a_b_2 String a_b_3 String a_b String f1st String f String", "load with -map 'a b=a_b_2'"},
		{"a.jsonl", `{"id":"1","c":{"1":2}}`, "id String* c ComplexType{f1 Int32}", "c/1: not a valid field name; rename it to f1 with -jq"},
		{"a.csv", "id,x,y\n1,1,NaN\n2,NaN,text\n3,-INF,1\n", "id String* x Double y String", ""},
	} {
		definition, notes := inferred(t, c.name, c.content)
		assert.Equal(t, c.fields, types(definition.Fields), c.content)
		assert.Contains(t, strings.Join(notes, "\n"), c.note)
	}
}

func TestDoubtfulChoicesNameTheLineThatCausedThem(t *testing.T) {
	for _, c := range []struct {
		content string
		notes   []string
	}{
		{"id,price\n1,5\n2,abc\n3,7\n4,n/a\n", []string{`price: Edm.String, because of "abc" (FILE:3; 2 of 4 values)`, `the key is "id": its name says so (its values are distinct, valid keys in 4 records)`}},
		{"id,n\n1,5\n2,12345678901234567890\n", []string{`n: Edm.Double, because Edm.Int64 cannot hold "12345678901234567890" (FILE:3; 1 of 2 values), and a load rounds it`}},
		{"id,n,x\n1,5,1\n2,3000000000,1.5\n", []string{`n: Edm.Int64, because of "3000000000" (FILE:3; 1 of 2 values)`, `x: Edm.Double, because of "1.5" (FILE:3; 1 of 2 values)`}},
		{"id,n,x\n1,3000000000,1.5\n2,3000000001,2.5\n3,5,1\n", []string{`n: Edm.Int64, because of "3000000000" (FILE:2; 2 of 3 values)`, `x: Edm.Double, because of "1.5" (FILE:2; 2 of 3 values)`}},
		{"id,on\n1,true\n2,1\n3,false\n", []string{`on: Edm.String, because of "1" (FILE:3; 1 of 3 values)`}},
		{"name,n\nRitz,1\nInn,1\n", []string{`the key is "name": no name says so, and it is text (its values are distinct, valid keys in 2 records)`}},
		{"id,n\n1,1\n2\n3,1\n4\n", []string{"2 records cannot be read, the first at FILE:3; a load rejects what cannot be read"}},
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
		_, notes, err := Files(t.Context(), []string{path}, source.Options{}, "hotels")
		require.NoError(t, err)
		for _, note := range c.notes {
			assert.Contains(t, notes, strings.ReplaceAll(note, "FILE", path), c.content)
		}
	}
	_, notes := inferred(t, "a.json", "[\n{\"id\":\"a\",\n\"l\":[1]},\n{\"id\":\"b\",\"l\":[2,\"x\"]}]")
	assert.Regexp(t, `l: a collection of Edm.String, because of "x" \(.*a.json:4; 1 of 3 values\)`, strings.Join(notes, "\n"))
	_, notes = inferred(t, "a.jsonl", "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n")
	assert.Len(t, notes, 1, "only the key")
}

func TestEveryRecordFitsItsDefinition(t *testing.T) {
	content := `{"id":1,"a":true,"b":["x",1],"c":{"d":"2024-01-31"},"e":9999999999}` + "\n" + `{"id":"2","a":"yes","b":[],"c":{"d":7},"e":1e400}`
	definition, _ := inferred(t, "a.jsonl", content)
	plan, err := convert.NewPlan(&definition, convert.Options{})
	require.NoError(t, err)
	for line := range strings.Lines(content) {
		doc, problem := convert.NewConverter(plan).JSON(nil, []byte(line))
		if strings.Contains(line, "1e400") {
			assert.NotNil(t, problem, "no type holds it")
			continue
		}
		require.Nil(t, problem, line)
		assert.True(t, json.Valid(doc.JSON))
	}
	_, _, err = Files(t.Context(), []string{os.DevNull}, source.Options{}, "x")
	assert.ErrorContains(t, err, "no records")
}
