package searchtest

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The names of faults are the tags of Faults and the constants next to it. All other lists of names are compared with
// them here.

var (
	commented = regexp.MustCompile(`(?m)^//\t(.*)$`)
	// reported matches the fields that a problem names: bad("cut: …"), with("cut", …).
	reported = regexp.MustCompile(`(?:bad\("|(?:within|notNegative|among|checkPattern)\(bad, "|\.with\(")([a-z][A-Za-z]*)(?::|")`)
	// zeroed matches the members whose zero value has another meaning.
	zeroed   = regexp.MustCompile(`(?m)^\t"([a-zA-Z]+)": +"`)
	constant = regexp.MustCompile(`(?m)^\t[A-Za-z]+ +(RetryAfterForm|Cut|BodyFault|ResultsFault|SemanticFault) += "([^"]+)"`)
)

func source(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// scriptNames returns the JSON names of a script.
func scriptNames() []string {
	var names []string
	for _, typ := range []reflect.Type{reflect.TypeFor[Faults](), reflect.TypeFor[Fault](), reflect.TypeFor[DocumentFault](), reflect.TypeFor[Capacity]()} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

func TestScriptsInTheDocumentationAreRead(t *testing.T) {
	var doc strings.Builder
	above, _, _ := strings.Cut(source(t, "faults.go"), "\ntype Faults struct")
	for _, line := range commented.FindAllStringSubmatch(above, -1) {
		doc.WriteString(line[1] + "\n")
	}
	scripts := []string{doc.String()}
	above, _, _ = strings.Cut(source(t, "../../cmd/azsearch/main.go"), "\npackage main")
	doc.Reset()
	for _, line := range commented.FindAllStringSubmatch(above[strings.Index(above, "//\t{"):], -1) {
		doc.WriteString(line[1] + "\n")
	}
	scripts = append(scripts, doc.String())
	for _, script := range scripts {
		faults, err := ParseFaults(strings.NewReader(script))
		require.NoError(t, err, script)
		assert.NotEmpty(t, faults.Rules)
	}
}

func TestProblemsNameMembersOfAScript(t *testing.T) {
	names := scriptNames()
	zeros := zeroed.FindAllStringSubmatch(source(t, "internal/faults/parse.go"), -1)
	require.Greater(t, len(zeros), 10)
	for _, match := range zeros {
		assert.Contains(t, names, match[1])
	}
	found := reported.FindAllStringSubmatch(source(t, "internal/faults/check.go"), -1)
	require.Greater(t, len(found), 40)
	for _, match := range found {
		assert.Contains(t, names, match[1], match[0])
	}
}

// A field that internal/faults does not receive would have no effect.
func TestEveryFieldOfAScriptIsCarriedOut(t *testing.T) {
	f := Faults{Seed: 1, Capacity: &Capacity{}, Rules: []Fault{{Documents: []DocumentFault{{}}}}}
	for _, pair := range [][2]any{{&f, f.parsed}, {&f.Rules[0], f.Rules[0].parsed}, {f.Capacity, f.Capacity.parsed}} {
		of := reflect.ValueOf(pair[0]).Elem()
		for i := range of.NumField() {
			switch field := of.Field(i); field.Kind() {
			case reflect.String:
				field.SetString("x")
			case reflect.Bool:
				field.SetBool(true)
			case reflect.Float64:
				field.SetFloat(1)
			case reflect.Int, reflect.Int64:
				field.SetInt(1)
			}
			parsed := reflect.Indirect(reflect.ValueOf(pair[1]).Call(nil)[0]).FieldByName(of.Type().Field(i).Name)
			assert.False(t, parsed.IsZero(), of.Type().Field(i).Name)
		}
	}
}

// A constant that the check does not list could not be used.
func TestEveryNameOfAFaultIsAccepted(t *testing.T) {
	found := constant.FindAllStringSubmatch(source(t, "faults.go"), -1)
	require.Len(t, found, 4+2+3+5+4)
	for _, match := range found {
		var f Fault
		switch typ, name := match[1], match[2]; typ {
		case "RetryAfterForm":
			f = Fault{Status: 503, RetryAfter: 1, RetryAfterForm: RetryAfterForm(name)}
			capacity := Capacity{DocumentsPerSecond: 1, Status: 503, RetryAfter: 1, RetryAfterForm: RetryAfterForm(name)}
			assert.NoError(t, (&Faults{Capacity: &capacity}).Validate())
		case "Cut":
			f = Fault{Cut: Cut(name)}
		case "BodyFault":
			f = Fault{Body: BodyFault(name)}
		case "ResultsFault":
			f = Fault{Results: ResultsFault(name)}
		case "SemanticFault":
			f = Fault{Semantic: SemanticFault(name)}
		}
		assert.NoError(t, (&Faults{Rules: []Fault{f}}).Validate(), match[0])
	}
}
