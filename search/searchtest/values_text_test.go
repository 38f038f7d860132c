package searchtest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/query"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// Programs send strings for values of other types: Semantic Kernel's memory sends "False" for an Edm.Boolean.
func TestStringsAreTakenForValuesOfEveryPrimitiveType(t *testing.T) {
	p := newProbe(t, nil)
	for _, test := range []struct{ field, in, out string }{
		{"b", `"False"`, `false`},
		{"b", `"True"`, `true`},
		{"b", `"true"`, `true`},
		{"b", `"fAlSe"`, `false`},
		{"b", `" \u00a0true\t\u0000"`, `true`},
		{"bs", `["true",false,"FALSE"]`, `[true,false,false]`},
		{"i", `"12"`, `12`},
		{"i", `"\u0031"`, `1`},
		{"i", `" \t-0012\n\u0000"`, `-12`},
		{"i", `"+7"`, `7`},
		{"i", `"-2147483648"`, `-2147483648`},
		{"is", `["1",2]`, `[1,2]`},
		{"l", `"9007199254740993"`, `9007199254740993`},
		{"l", `"-9223372036854775808"`, `-9223372036854775808`},
		{"l", `"-0"`, `0`},
		{"d", `"1.5"`, `1.5`},
		{"d", `"-.5"`, `-0.5`},
		{"d", `"+5."`, `5.0`},
		{"d", `"1.5e3"`, `1500.0`},
		{"d", `" 15E-1 "`, `1.5`},
		{"d", `"1,234,5.5"`, `12345.5`},
		{"d", `"1,"`, `1.0`},
		{"d", `"NaN"`, `"NaN"`},
		{"d", `" INF\t"`, `"INF"`},
		{"d", `"-INF"`, `"-INF"`},
		{"d", `"Infinity"`, `"INF"`},
		{"d", `"-Infinity"`, `"-INF"`},
		{"v", `["0.1",1,"-2e10"]`, `[0.1,1.0,-2E+10]`},
		{"vh", `["0.1","65504"]`, `[0.0999755859,65504.0]`},
		{"vi", `["-32768","32767"]`, `[-32768,32767]`},
		{"vs", `["-128","127"]`, `[-128,127]`},
		{"vb", `["-0","255"]`, `[0,255]`},
	} {
		t.Run(test.field+"="+test.in, func(t *testing.T) {
			p := probe{t, p.Server}
			p.indexed(`{"id":"1","` + test.field + `":` + test.in + `}`)
			assert.Equal(t, `{"`+test.field+`":`+test.out+`}`, p.lookup("1", test.field))
		})
	}
}

// The messages are those that users reported for numbers in string fields.
func TestValuesThatCannotBeConvertedAreQuotedWithTheTypeThatWasExpected(t *testing.T) {
	for _, test := range []struct{ field, in, literal, typ string }{
		{"s", `0`, "0", "Edm.String"},
		{"s", `-0.009656427428126335`, "-0.009656427428126335", "Edm.String"},
		{"s", `true`, "True", "Edm.String"},
		{"i", `false`, "False", "Edm.Int32"},
		{"b", `0`, "0", "Edm.Boolean"},
		{"b", `"1"`, "1", "Edm.Boolean"},
		{"b", `"falſe"`, "falſe", "Edm.Boolean"},
		{"b", `""`, "", "Edm.Boolean"},
		{"i", `""`, "", "Edm.Int32"},
		{"i", `"-"`, "-", "Edm.Int32"},
		{"i", `"+-1"`, "+-1", "Edm.Int32"},
		{"i", `"1.0"`, "1.0", "Edm.Int32"},
		{"i", `"1,000"`, "1,000", "Edm.Int32"},
		{"i", `"1e2"`, "1e2", "Edm.Int32"},
		{"i", `"0x10"`, "0x10", "Edm.Int32"},
		{"i", `"1_000"`, "1_000", "Edm.Int32"},
		{"i", `"2147483648"`, "2147483648", "Edm.Int32"},
		{"i", `"\u00a01"`, "\u00a01", "Edm.Int32"},
		{"i", `"1\u0000 "`, "1\x00 ", "Edm.Int32"},
		{"l", `"9223372036854775808"`, "9223372036854775808", "Edm.Int64"},
		{"d", `""`, "", "Edm.Double"},
		{"d", `"."`, ".", "Edm.Double"},
		{"d", `"1.5.2"`, "1.5.2", "Edm.Double"},
		{"d", `"1e"`, "1e", "Edm.Double"},
		{"d", `"e1"`, "e1", "Edm.Double"},
		{"d", `"1 5"`, "1 5", "Edm.Double"},
		{"d", `"- 1"`, "- 1", "Edm.Double"},
		{"d", `",1"`, ",1", "Edm.Double"},
		{"d", `"1.0,0"`, "1.0,0", "Edm.Double"},
		{"d", `"1e400"`, "1e400", "Edm.Double"},
		{"d", `"0x1p4"`, "0x1p4", "Edm.Double"},
		{"d", `"inf"`, "inf", "Edm.Double"},
		{"d", `"+INF"`, "+INF", "Edm.Double"},
		{"d", `" Infinity"`, " Infinity", "Edm.Double"},
		{"v", `[1,2,"NaN"]`, "NaN", "Edm.Single"},
		{"v", `[1,2,"1e39"]`, "1e39", "Edm.Single"},
		{"vh", `[1,"65520"]`, "65520", "Edm.Half"},
		{"vi", `["32768",1]`, "32768", "Edm.Int16"},
		{"vb", `[1,"-1"]`, "-1", "Edm.Byte"},
		{"t", `"yesterday"`, "yesterday", "Edm.DateTimeOffset"},
	} {
		t.Run(test.field+"="+test.in, func(t *testing.T) {
			p := newProbe(t, nil)
			a := p.index(`{"id":"1","` + test.field + `":` + test.in + `}`)
			assert.Equal(t, http.StatusBadRequest, a.status, a.body)
			assert.Equal(t, "The request is invalid. Details: Cannot convert the literal '"+test.literal+"' to the expected type '"+test.typ+"'.", a.message())
			assert.Equal(t, "0", p.count())
		})
	}
}

var (
	wholePattern = regexp.MustCompile(`^[ \t-\r]*[+-]?[0-9]+[ \t-\r]*\x00*$`)
	floatPattern = regexp.MustCompile(`^[ \t-\r]*[+-]?([0-9][0-9,]*\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t-\r]*\x00*$`)
)

// The test compares the conversion of strings with a pattern and strconv, and checks that refused values leave no
// bytes behind.
func FuzzTextForAValue(f *testing.F) {
	for _, seed := range []string{
		"", "True", " false\x00", "12", "+012 \x00", "-", "--1", "1.5", ".5", "5.", ".", "1,2.5e-3", "1e", "1e+", "NaN", " INF", "-Infinity", "1_0", "0x1", "\x00", "1\x00 ",
		"99999999999999999999", "1e999", "-0", "1,,", ",1", "١",
	} {
		f.Add(seed)
	}
	sc, fault := schema.Compile([]byte(everyType), latest)
	require.Nil(f, fault)
	taken := func(field, text string) ([]byte, bool) {
		p := batch.Parser{Schema: sc}
		ok := p.ConvertText(sc.ByName[field], []byte(text))
		return p.Buf, ok
	}
	shown := func(field string, value []byte) string {
		data, body := stored.OpenMember(nil, sc.ByName[field].Ordinal)
		data = append(data, value...)
		stored.CloseMember(data, body)
		return string(query.WholeDocument(sc, data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		bare := strings.Trim(strings.TrimRight(text, "\x00"), " \t\n\v\f\r")

		got, ok := taken("l", text)
		number, err := strconv.ParseInt(bare, 10, 64)
		require.Equal(t, err == nil && wholePattern.MatchString(text), ok, "Edm.Int64")
		if ok {
			require.Contains(t, shown("l", got), `"l":`+strconv.FormatInt(number, 10)+",")
		}

		got, ok = taken("d", text)
		double, err := strconv.ParseFloat(strings.ReplaceAll(bare, ",", ""), 64)
		_, special := batch.TextToSpecial([]byte(text))
		require.Equal(t, err == nil && floatPattern.MatchString(text) || special, ok, "Edm.Double")
		if ok && !special {
			require.Contains(t, shown("d", got), `"d":`+string(reply.AppendDouble(nil, double))+",")
		}

		_, ok = taken("b", text)
		truth := strings.ToLower(strings.TrimFunc(text, batch.IsSpaceOrNUL))
		require.Equal(t, truth == "true" || truth == "false", ok, "Edm.Boolean")

		// In a request the reply is the service's, whatever the text is.
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		for _, field := range []string{"s", "b", "i", "l", "d", "t"} {
			opts := (*Options)(nil).withDefaults()
			p := batch.NewParser([]byte(`{"value":[{"id":"1","`+field+`":`+string(quoted)+`}]}`), sc, latest, opts.limits())
			if fault := p.Parse(); fault != nil {
				require.Contains(t, fault.Message, "Cannot convert the literal '")
			} else {
				require.True(t, json.Valid(query.WholeDocument(sc, p.Actions[0].Data)))
			}
			p.Release()
		}
	})
}
