package searchtest

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
)

// The service normalizes values, whatever form they were sent in.
func TestValuesReadBackInTheServicesForm(t *testing.T) {
	p := newProbe(t, nil)
	const point = `{"type":"Point","coordinates":[-122.131577,47.678581],"crs":{"type":"name","properties":{"name":"EPSG:4326"}}}`
	for _, test := range []struct{ name, field, in, out string }{
		{"strings are escaped to ASCII", "s", `"Zürich \ud83d\ude00 \"q\" \\ \/ \u0001 <&>"`, `"Z\u00fcrich \ud83d\ude00 \"q\" \\ / \u0001 <&>"`},
		{"the empty string is kept", "s", `""`, `""`},
		{"a lone surrogate becomes the replacement character", "s", `"a\ud800b"`, `"a\ufffdb"`},
		{"null stays null", "s", `null`, `null`},
		{"true", "b", `true`, `true`},
		{"false", "b", `false`, `false`},
		{"the smallest Int32", "i", `-2147483648`, `-2147483648`},
		{"the largest Int32", "i", `2147483647`, `2147483647`},
		{"an Int64 that no float64 can hold", "l", `9007199254740993`, `9007199254740993`},
		{"the smallest Int64", "l", `-9223372036854775808`, `-9223372036854775808`},
		{"the largest Int64", "l", `9223372036854775807`, `9223372036854775807`},
		{"whole doubles get a decimal point", "d", `5`, `5.0`},
		{"doubles with an exponent", "d", `1.5e3`, `1500.0`},
		{"the smallest double", "d", `5e-324`, `4.94065645841247E-324`},
		{"the largest double", "d", `1.7976931348623157e308`, `1.7976931348623157E+308`},
		{"NaN", "d", `"NaN"`, `"NaN"`},
		{"infinity", "d", `"INF"`, `"INF"`},
		{"minus infinity", "d", `"-INF"`, `"-INF"`},
		{"infinity in Java's words", "ds", `["Infinity","-Infinity"]`, `["INF","-INF"]`},
		{"times are UTC", "t", `"2010-01-01T00:00:00-08:00"`, `"2010-01-01T08:00:00Z"`},
		{"times without seconds", "t", `"2010-01-01T00:00Z"`, `"2010-01-01T00:00:00Z"`},
		{"times are cut to milliseconds", "t", `"2024-02-29T12:34:56.789999999+05:30"`, `"2024-02-29T07:04:56.789Z"`},
		{"fractions have no zeros at the end", "t", `"2024-01-01T00:00:00.500Z"`, `"2024-01-01T00:00:00.5Z"`},
		{"the first instant", "t", `"0001-01-01T00:00:00Z"`, `"0001-01-01T00:00:00Z"`},
		{"the last instant", "t", `"9999-12-31T23:59:59.999Z"`, `"9999-12-31T23:59:59.999Z"`},
		{"points get their coordinate system", "g", `{"type":"Point","coordinates":[-122.131577,47.678581]}`, point},
		{"points keep their coordinate system", "g", point, point},
		{"members of points in another order", "g", `{"crs":null,"coordinates":[-122.131577,47.678581,12],"type":"Point","bbox":[1]}`, point},
		{"complex objects are filled up with nulls", "c", `{"y":1}`, `{"x":null,"y":1,"n":null}`},
		{"empty objects are full of nulls", "c", `{}`, `{"x":null,"y":null,"n":null}`},
		{"members are in the order of the definition", "c", `{"n":{"w":1,"z":"a"},"y":2,"x":"b"}`, `{"x":"b","y":2,"n":{"z":"a","w":1}}`},
		{"a null collection reads back empty", "ss", `null`, `[]`},
		{"strings", "ss", `["a","","ü"]`, `["a","","\u00fc"]`},
		{"booleans", "bs", `[true,false]`, `[true,false]`},
		{"Int32s", "is", `[1,-2]`, `[1,-2]`},
		{"Int64s", "ls", `[9007199254740993]`, `[9007199254740993]`},
		{"doubles", "ds", `["-INF",0,2.78,"NaN"]`, `["-INF",0.0,2.78,"NaN"]`},
		{"times", "ts", `["2019-04-14T14:24:00Z"]`, `["2019-04-14T14:24:00Z"]`},
		{"no points", "gs", `[ ]`, `[]`},
		{"complex objects", "cs", `[{},{"x":"a","in":[{"z":"q"},{}]}]`, `[{"x":null,"y":null,"tags":[],"in":[]},{"x":"a","y":null,"tags":[],"in":[{"z":"q"},{"z":null}]}]`},
		{"single precision vectors keep 32 bits", "v", `[0.1,1,-2e10]`, `[0.1,1.0,-2E+10]`},
		{"half precision vectors are rounded", "vh", `[0.1,65504]`, `[0.0999755859,65504.0]`},
		{"Int16 vectors", "vi", `[-32768,32767]`, `[-32768,32767]`},
		{"SByte vectors", "vs", `[-128,127]`, `[-128,127]`},
		{"packed bits", "vb", `[0,255]`, `[0,255]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := probe{t, p.Server}
			p.indexed(`{"id":"1","` + test.field + `":` + test.in + `}`)
			assert.Equal(t, `{"`+test.field+`":`+test.out+`}`, p.lookup("1", test.field))
		})
	}
}

// A value that does not fit its field makes the whole request fail.
func TestValuesOfTheWrongTypeRefuseTheRequest(t *testing.T) {
	const unexpected, cannot, contents = "node was found for property named", "Cannot convert the literal", "when trying to read the contents of the property"
	for _, test := range []struct{ field, in, message string }{
		{"s", `1`, cannot}, {"s", `true`, cannot}, {"s", `{}`, unexpected}, {"s", `[]`, unexpected},
		{"b", `"yes"`, cannot}, {"b", `1`, cannot}, {"b", `[true]`, unexpected},
		{"i", `2147483648`, cannot}, {"i", `-2147483649`, cannot}, {"i", `1.0`, cannot}, {"i", `1e2`, cannot}, {"i", `"1.0"`, cannot}, {"i", `true`, cannot},
		{"l", `9223372036854775808`, cannot}, {"l", `1.5`, cannot}, {"l", `"one"`, cannot},
		{"d", `"nan"`, cannot}, {"d", `"1.5.0"`, cannot}, {"d", `1e400`, cannot}, {"d", `true`, cannot},
		{"t", `"2010-01-01"`, cannot}, {"t", `"2010-01-01T00:00:00"`, cannot}, {"t", `"2010-02-30T00:00:00Z"`, cannot}, {"t", `"2010-13-01T00:00:00Z"`, cannot},
		{"t", `"0000-01-01T00:00:00Z"`, cannot}, {"t", `"0001-01-01T00:00:00+01:00"`, cannot}, {"t", `"9999-12-31T23:59:59-01:00"`, cannot}, {"t", `1262304000`, cannot},
		{"t", `"2010-01-01T24:00:00Z"`, cannot}, {"t", `"2010-01-01T00:60:00Z"`, cannot}, {"t", `"2010-01-01T00:00:60Z"`, cannot},
		{"t", `"2010-01-01T00:00:00.Z"`, cannot}, {"t", `"2010-01-01T00:00:00.5"`, cannot}, {"t", `"2010-01-01T00:00:00+15:00"`, cannot},
		{"t", `"2010-01-01T00:00:00+0100"`, cannot}, {"t", `"201a-01-01T00:00:00Z"`, cannot}, {"t", `""`, cannot}, {"t", `"2010-01-01T00:00:0Z"`, cannot},
		{"g", `"POINT(1 2)"`, cannot}, {"g", `[1,2]`, unexpected}, {"g", `{}`, "type must be 'Point'"}, {"g", `{"type":"Point"}`, "coordinates"},
		{"g", `{"type":"Polygon","coordinates":[1,2]}`, "type must be 'Point'"}, {"g", `{"type":5,"coordinates":[1,2]}`, "type must be 'Point'"},
		{"g", `{"type":"Point","coordinates":[]}`, "coordinates"}, {"g", `{"type":"Point","coordinates":[1]}`, "coordinates"},
		{"g", `{"type":"Point","coordinates":["1","2"]}`, "coordinates"}, {"g", `{"type":"Point","coordinates":5}`, "coordinates"},
		{"g", `{"type":"Point","coordinates":[181,0]}`, "longitudes"}, {"g", `{"type":"Point","coordinates":[0,-91]}`, "longitudes"},
		{"g", `{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"EPSG:3857"}}}`, "EPSG:4326"},
		{"c", `"x"`, contents}, {"c", `[]`, contents}, {"c", `{"x":1}`, cannot}, {"c", `{"nope":1}`, "does not exist"},
		{"ss", `"a"`, contents}, {"ss", `{}`, contents}, {"ss", `["a",null]`, "does not allow null values"}, {"ss", `[1]`, cannot}, {"ss", `[["a"]]`, unexpected},
		{"is", `[1.5]`, cannot}, {"cs", `{}`, contents}, {"cs", `[null]`, "does not allow null values"}, {"cs", `["a"]`, contents}, {"cs", `[{"x":"a","x":"b"}]`, "Multiple properties"},
		{"v", `[1,2]`, "mismatch in vector dimensions"}, {"v", `[]`, "mismatch in vector dimensions"}, {"v", `[1,2,3,4]`, "expects a length of '3'"}, {"v", `[1,2,"NaN"]`, cannot}, {"v", `[1,2,1e39]`, cannot},
		{"vh", `[1,65520]`, cannot}, {"vi", `[1,32768]`, cannot}, {"vi", `[1,1.5]`, cannot}, {"vs", `[1,-129]`, cannot}, {"vb", `[1,256]`, cannot}, {"vb", `[1,-1]`, cannot}, {"vb", `[1]`, "mismatch in vector dimensions"},
		{"nope", `1`, "The property 'nope' does not exist on type 'search.documentFields'"},
		{"nope", `[1]`, "Cannot find nested property 'nope' on the resource type 'search.documentFields'."},
		{"nope", `{"a":1}`, "Cannot find nested property 'nope' on the resource type 'search.documentFields'."},
	} {
		t.Run(test.field+"="+test.in, func(t *testing.T) {
			p := newProbe(t, nil)
			a := p.index(`{"id":"1"}`, `{"id":"2","`+test.field+`":`+test.in+`}`)
			assert.Equal(t, http.StatusBadRequest, a.status, a.body)
			assert.Contains(t, a.message(), test.message)
			assert.Contains(t, a.message(), "The request is invalid. Details: ")
			assert.Equal(t, "0", p.count(), "nothing of a refused request may be applied")
		})
	}
}

func TestVectorOfTheWrongLengthNamesActionFieldAndLengths(t *testing.T) {
	a := newProbe(t, nil).index(`{"id":"1"}`, `{"id":"2","v":[1,2]}`)
	assert.Contains(t, a.body, `"code":"OperationNotAllowed"`)
	assert.Contains(t, a.message(), "actions : 1: There's a mismatch in vector dimensions. The vector field 'v', with dimension of '3', expects a length of '3'. However, the provided vector has a length of '2'.")
}

func TestDoublesReadBackAsTheSameNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return
		}
		text := string(reply.AppendDouble(nil, f))
		back, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		require.Equal(t, f, back, text)
		require.True(t, strings.ContainsAny(text, ".E"), "%s must not look like an integer", text)
		single := math.Float32frombits(rapid.Uint32().Draw(t, "single"))
		if single != single || math.IsInf(float64(single), 0) {
			return
		}
		text = string(reply.AppendSingle(nil, single))
		back, err = strconv.ParseFloat(text, 32)
		require.NoError(t, err)
		require.Equal(t, single, float32(back), text)
	})
}

func TestDoublesArePrintedAsDotNetDoes(t *testing.T) {
	for in, out := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 0.1: "0.1", 100: "100.0", 123456.789: "123456.789",
		0.00001: "1E-05", 0.0001: "0.0001", 0.000012345: "1.2345E-05",
		1e14: "100000000000000.0", 1e15: "1E+15", 1e21: "1E+21", 1.5e300: "1.5E+300",
		0.30000000000000004: "0.30000000000000004", 123456789012345680: "1.2345678901234568E+17",
		999999999999999: "999999999999999.0", 1234567890123456.8: "1234567890123456.8", 40.760586: "40.760586",
	} {
		assert.Equal(t, out, string(reply.AppendDouble(nil, in)))
	}
}

func TestHalvesAreRoundedToTheNearest(t *testing.T) {
	for in, out := range map[float32]float32{
		0: 0, 1: 1, 1.0004883: 1, 1.0004884: 1.0009766, 2049: 2048, 2051: 2052, 65504: 65504, 65519: 65504, -0.1: -0.099975586,
		5.9604645e-08: 5.9604645e-08, 2.9e-08: 0, 3.1e-08: 5.9604645e-08,
	} {
		assert.Equal(t, out, batch.RoundToHalf(in), "%v", in)
	}
}

func TestEscapesMeanWhatTheyStandFor(t *testing.T) {
	p := newProbe(t, nil)
	a := p.send("POST", indexPath, `{"\u0076alue":[{"@search.action":"\u0075pload","id":"1","t":"2024-01-01T00:00:00\u002B01:00","d":"\u0049NF","g":{"\u0074ype":"\u0050oint","coordinates":[1,2]}}]}`)
	assert.Equal(t, 200, a.status, a.body)
	assert.Equal(t, `{"d":"INF","t":"2023-12-31T23:00:00Z"}`, p.lookup("1", "d,t"))
	assert.Contains(t, p.lookup("1", "g"), `"coordinates":[1.0,2.0]`)
}

func TestActionsAboveTheLimitAreOnlyCounted(t *testing.T) {
	p := newProbe(t, nil)
	ix, _ := p.kept.LookupIndex("types")
	body := `{"value":[{"id":"1"}` + strings.Repeat(`,{"id":"1"}`, 1000) + strings.Repeat(",0", 100_000) + `]}`
	parser := batch.NewParser([]byte(body), ix.Definition(), latest, p.opts.limits())
	serr := parser.Parse()
	if assert.NotNil(t, serr) {
		assert.Contains(t, serr.Message, "Too many indexing actions found in the request: 101001.")
	}
	assert.Less(t, cap(parser.Actions), 10_000)
	parser.Actions, parser.Buf = make([]batch.Action, batch.LargestPooledActions+1), make([]byte, batch.LargestPooledDocument+1)
	parser.Release()
	assert.Nil(t, parser.Actions)
	assert.Nil(t, parser.Buf)
}
