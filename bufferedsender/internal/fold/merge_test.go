package fold_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// pair has the members of two actions without their key, and the expected result of folding them; "" means a refusal.
type pair struct{ a, b, want string }

// check folds the pair as actions of all merged types. For each type it compares the result with the expectation (""
// means a refusal), and with the emulator on every start.
func (p pair) check(t *testing.T, asUpload, asMergeOrUpload, asMerge string) {
	t.Helper()
	for _, x := range []struct {
		a, b act
		want string
	}{
		{upload(p.a), mergeOrUpload(p.b), asUpload},
		{upload(p.a), merge(p.b), asUpload},
		{mergeOrUpload(p.a), mergeOrUpload(p.b), asMergeOrUpload},
		{mergeOrUpload(p.a), merge(p.b), asMergeOrUpload},
		{merge(p.a), merge(p.b), asMerge},
	} {
		if x.want == "" {
			requireRefused(t, x.a, x.b, act{})
		} else {
			requireFolded(t, x.a, x.b, action(x.a.typ, x.want))
		}
	}
}

func (p pair) checkAll(t *testing.T) {
	t.Helper()
	p.check(t, p.want, p.want, p.want)
}

func TestTheLaterScalarWins(t *testing.T) {
	pair{`"name":"a","rooms":1`, `"name":"b"`, `"name":"b","rooms":1`}.checkAll(t)
}

func TestNullOverwritesAndIsOverwritten(t *testing.T) {
	pair{`"name":"a"`, `"name":null`, `"name":null`}.checkAll(t)
	pair{`"name":null`, `"name":"b"`, `"name":"b"`}.checkAll(t)
	pair{`"name":null`, `"name":null`, `"name":null`}.checkAll(t)
}

// A missing member is not null: its value stays.
func TestAMissingMemberKeepsWhatTheOtherSays(t *testing.T) {
	pair{`"name":null`, `"rooms":2`, `"name":null,"rooms":2`}.checkAll(t)
	pair{`"rooms":1`, `"name":null`, `"rooms":1,"name":null`}.checkAll(t)
	pair{``, `"name":"b"`, `"name":"b"`}.checkAll(t)
	pair{`"name":"a"`, ``, `"name":"a"`}.checkAll(t)
}

// Elements of a collection have no identity, so the service replaces the collection.
func TestCollectionsAreReplacedWhole(t *testing.T) {
	pair{`"tags":["x","y"]`, `"tags":["z"]`, `"tags":["z"]`}.checkAll(t)
	pair{`"tags":["x"]`, `"tags":[]`, `"tags":[]`}.checkAll(t)
	pair{`"tags":["x"]`, `"tags":null`, `"tags":null`}.checkAll(t)
	pair{`"tags":null`, `"tags":["z"]`, `"tags":["z"]`}.checkAll(t)
}

// Objects in collections are not merged either, and {} in them is a value.
func TestObjectsInCollectionsAreNotMerged(t *testing.T) {
	pair{
		`"prices":[{"amount":1,"note":"x","tax":{"rate":1}}]`, `"prices":[{"amount":2,"tax":{}},{}]`,
		`"prices":[{"amount":2,"tax":{}},{}]`,
	}.checkAll(t)
	pair{`"name":"a"`, `"prices":[{},{"tax":null}]`, `"name":"a","prices":[{},{"tax":null}]`}.checkAll(t)
	pair{`"prices":null`, `"prices":[{"tax":{}}]`, `"prices":[{"tax":{}}]`}.checkAll(t)
}

func TestObjectsAreMergedMemberByMember(t *testing.T) {
	pair{
		`"address":{"street":"a","city":"a","country":{"code":"A"}},"rooms":1`,
		`"address":{"country":{"name":"B"},"city":"b"}`,
		`"address":{"street":"a","city":"b","country":{"code":"A","name":"B"}},"rooms":1`,
	}.checkAll(t)
	pair{`"address":{"street":"a"}`, `"address":{"street":null}`, `"address":{"street":null}`}.checkAll(t)
}

// A has an object, B null: null replaces the whole object.
func TestNullOverAnObjectIsNull(t *testing.T) {
	pair{`"address":{"street":"a"}`, `"address":null`, `"address":null`}.checkAll(t)
	pair{`"address":{}`, `"address":null`, `"address":null`}.checkAll(t)
	pair{`"address":{"country":{"code":"A"}}`, `"address":{"country":null}`, `"address":{"country":null}`}.checkAll(t)
}

// The address is removed and added again with a city. A single merge would keep the old street. Only an upload
// expresses that there is no street.
func TestAnObjectOverNullIsFoldedOnlyIntoAnUpload(t *testing.T) {
	a, b := `"address":null`, `"address":{"city":"b"}`
	pair{a, b, ``}.check(t, b, "", "")
	requireRefused(t, merge(a), merge(b), merge(b))
	requireRefused(t, mergeOrUpload(a), merge(b), mergeOrUpload(b))
}

func TestAnObjectOverNullIsFoldedOnlyIntoAnUploadAtAnyDepth(t *testing.T) {
	a, b := `"address":{"city":"a","country":null}`, `"address":{"country":{"code":"B"}}`
	naive := `"address":{"city":"a","country":{"code":"B"}}`
	pair{a, b, ``}.check(t, naive, "", "")
	requireRefused(t, merge(a), merge(b), merge(naive))
	requireRefused(t, mergeOrUpload(a), merge(b), mergeOrUpload(naive))
}

// A has no such object, so B's object merges into the document's, folded or not.
func TestAnObjectThatOnlyTheSecondHasIsTaken(t *testing.T) {
	pair{`"name":"a"`, `"address":{"city":"b","country":{"code":"B"}}`, `"name":"a","address":{"city":"b","country":{"code":"B"}}`}.checkAll(t)
	pair{`"name":"a"`, `"address":{"city":"b","country":null}`, `"name":"a","address":{"city":"b","country":null}`}.checkAll(t)
	pair{`"address":{"city":"a"}`, `"address":{"country":{"code":"B"}}`, `"address":{"city":"a","country":{"code":"B"}}`}.checkAll(t)
}

func TestAnEmptyObjectChangesNothing(t *testing.T) {
	pair{`"address":{"city":"a"}`, `"address":{}`, `"address":{"city":"a"}`}.checkAll(t)
	pair{`"address":{"country":{}}`, `"address":{}`, `"address":{"country":{}}`}.checkAll(t)
	pair{`"address":{"country":{"code":"A"}}`, `"address":{"country":{}}`, `"address":{"country":{"code":"A"}}`}.checkAll(t)
}

// An upload of {} creates an object of nulls, a merge of {} changes nothing. In both cases B's value is the result.
func TestAnObjectOverAnEmptyOneIsTaken(t *testing.T) {
	pair{`"address":{}`, `"address":{"city":"b"}`, `"address":{"city":"b"}`}.checkAll(t)
	pair{`"address":{}`, `"address":{}`, `"address":{}`}.checkAll(t)
}

// Merging {} into nothing changes nothing, but creating a document with {} creates an object. So B's {} must not be
// folded into an action that creates the document.
func TestAnEmptyObjectThatOnlyTheSecondHasIsFoldedOnlyIntoAMerge(t *testing.T) {
	a, b := `"name":"a"`, `"address":{}`
	pair{a, b, ``}.check(t, "", "", a+","+b)
	requireRefused(t, upload(a), merge(b), upload(a+","+b))
	requireRefused(t, mergeOrUpload(a), merge(b), mergeOrUpload(a+","+b))
}

func TestAnEmptyObjectInsideWhatOnlyTheSecondHasIsFoldedOnlyIntoAMerge(t *testing.T) {
	a, b := `"name":"a"`, `"address":{"city":"b","country":{}}`
	pair{a, b, ``}.check(t, "", "", a+","+b)
	requireRefused(t, upload(a), merge(b), upload(a+","+b))
	requireRefused(t, mergeOrUpload(a), merge(b), mergeOrUpload(a+","+b))
	// {"country":{}} is not empty: it creates an address.
	b = `"address":{"country":{}}`
	pair{a, b, ``}.check(t, "", "", a+","+b)
	requireRefused(t, mergeOrUpload(a), merge(b), mergeOrUpload(a))
}

func TestAnEmptyObjectInsideWhatMeetsAnEmptyOneIsFoldedOnlyIntoAMerge(t *testing.T) {
	a, b := `"address":{}`, `"address":{"city":"b","country":{}}`
	pair{a, b, ``}.check(t, "", "", b)
	requireRefused(t, upload(a), merge(b), upload(b))
	requireRefused(t, mergeOrUpload(a), merge(b), mergeOrUpload(b))
	pair{`"address":{"country":{}}`, `"address":{"country":{},"city":"b"}`, `"address":{"country":{},"city":"b"}`}.checkAll(t)
}

// The effect of {} on a null is not documented, except as "changes nothing", so it is never folded.
func TestAnEmptyObjectOverNullIsRefused(t *testing.T) {
	pair{`"address":null`, `"address":{}`, ``}.checkAll(t)
	pair{`"address":null`, `"address":{"city":"b","country":{}}`, ``}.checkAll(t)
	requireRefused(t, upload(`"address":null`), merge(`"address":{}`), upload(`"address":{}`))
}

// The service treats a point as one value. Its text merges like any object, and B's members are complete.
func TestAPointOverAPointIsTheSecond(t *testing.T) {
	pair{
		`"location":{"type":"Point","coordinates":[1,2]}`, `"location":{"type":"Point","coordinates":[3,4]}`,
		`"location":{"type":"Point","coordinates":[3,4]}`,
	}.checkAll(t)
	crs := `"crs":{"type":"name","properties":{"name":"EPSG:4326"}}`
	pair{
		`"location":{"type":"Point","coordinates":[1,2],` + crs + `}`, `"location":{"coordinates":[3,4],"type":"Point"}`,
		`"location":{"type":"Point","coordinates":[3,4],` + crs + `}`,
	}.checkAll(t)
	pair{
		`"location":{"type":"Point","coordinates":[1,2]}`, `"location":{"type":"Point","coordinates":[3,4],` + crs + `}`,
		`"location":{"type":"Point","coordinates":[3,4],` + crs + `}`,
	}.checkAll(t)
	pair{
		`"address":{"city":"a","where":{"type":"Point","coordinates":[1,2]}}`, `"address":{"where":{"type":"Point","coordinates":[3,4]}}`,
		`"address":{"city":"a","where":{"type":"Point","coordinates":[3,4]}}`,
	}.checkAll(t)
}

func TestNullOverAPointIsNull(t *testing.T) {
	pair{`"location":{"type":"Point","coordinates":[1,2]}`, `"location":null`, `"location":null`}.checkAll(t)
}

// Folding would be right here, but a complex field with the sub-fields type and coordinates has the same text, and
// there it would be wrong.
func TestAPointOverNullIsTakenForAnyObject(t *testing.T) {
	b := `"location":{"type":"Point","coordinates":[3,4]}`
	pair{`"location":null`, b, ``}.check(t, b, "", "")

	definition := `{"name":"points","fields":[{"name":"id","type":"Edm.String","key":true},
		{"name":"location","type":"Edm.ComplexType","fields":[{"name":"type","type":"Edm.String"},
			{"name":"coordinates","type":"Collection(Edm.Double)"},{"name":"height","type":"Edm.Int32"}]}]}`
	before := upload(`"location":{"height":5}`)
	s := newService(t, definition)
	assert.NotEqual(t, s.after(before, merge(`"location":null`), merge(b)), s.after(before, merge(b)))
}

// As a complex field the same text keeps members that only A has.
func TestWhatLooksLikeAPointIsMergedLikeAnyObject(t *testing.T) {
	both, ok := folded(t, merge(`"location":{"type":"Point","coordinates":[1,2],"height":5}`), merge(`"location":{"type":"Point","coordinates":[3,4]}`))
	require.True(t, ok)
	assert.Equal(t, merge(`"location":{"type":"Point","coordinates":[3,4],"height":5}`), both)
}

// One of the two has the wrong type and would be refused alone. A folded action would hide that.
func TestValuesOfDifferentShapesAreRefused(t *testing.T) {
	for _, p := range []pair{
		{`"address":{"city":"a"}`, `"address":"b"`, ``},
		{`"address":{"city":"a"}`, `"address":["b"]`, ``},
		{`"address":"a"`, `"address":{"city":"b"}`, ``},
		{`"address":"a"`, `"address":{}`, ``},
		{`"address":["a"]`, `"address":{"city":"b"}`, ``},
		{`"address":{}`, `"address":1`, ``},
		{`"tags":["a"]`, `"tags":"b"`, ``},
		{`"tags":true`, `"tags":["b"]`, ``},
		{`"address":{"city":["a"]}`, `"address":{"city":"b"}`, ``},
	} {
		p.checkAll(t)
	}
	// Alone, A's name would not be written.
	s := newService(t, hotelIndex)
	assert.Equal(t, http.StatusBadRequest, s.send(upload(`"name":"a","address":["a"]`)))
	s.sendAll(mergeOrUpload(`"address":{"city":"b"}`))
	document, _ := s.Document("hotels", "1")
	assert.Contains(t, string(document), `"name":null`)
}

// Doubles are numbers or the strings "INF", "-INF" and "NaN".
func TestNumbersAndStringsReplaceEachOther(t *testing.T) {
	pair{`"stars":1`, `"stars":"INF"`, `"stars":"INF"`}.checkAll(t)
	pair{`"stars":"NaN"`, `"stars":2.50`, `"stars":2.50`}.checkAll(t)
}

func TestNamesAreComparedUnescaped(t *testing.T) {
	pair{`"n\u0061me":"a"`, `"name":"b"`, `"name":"b"`}.checkAll(t)
	pair{`"name":"a"`, `"\u006e\u0061me":"b"`, `"\u006e\u0061me":"b"`}.checkAll(t)
	pair{`"\u0061ddress":{"city":"a"}`, `"address":{"\u0063ity":"b","street":"b"}`, `"\u0061ddress":{"\u0063ity":"b","street":"b"}`}.checkAll(t)
	both, ok := folded(t, merge(`"\u00fc":1,"Ü":3`), merge(`"ü":2,"\u00dC":4`))
	require.True(t, ok)
	assert.Equal(t, merge(`"ü":2,"\u00dC":4`), both)
	both, ok = folded(t, merge(`"\ud83d\ude00":1`), merge(`"😀":2`))
	require.True(t, ok)
	assert.Equal(t, merge(`"😀":2`), both)
}

func TestNamesThatDifferInCaseAreTwo(t *testing.T) {
	both, ok := folded(t, merge(`"Name":"a"`), merge(`"name":"b"`))
	require.True(t, ok)
	assert.Equal(t, merge(`"Name":"a","name":"b"`), both)
}

// The service refuses such an action, so folding must not repair it.
func TestANameThatOccursTwiceIsRefused(t *testing.T) {
	pair{`"name":"a","name":"c"`, `"rooms":2`, ``}.checkAll(t)
	pair{`"name":"a","name":"c"`, `"name":"b"`, ``}.checkAll(t)
	pair{`"name":"a"`, `"name":"b","name":"c"`, ``}.checkAll(t)
	pair{`"rooms":1`, `"name":"b","name":"c"`, ``}.checkAll(t)
	pair{`"rooms":1`, `"name":"b","n\u0061me":"c"`, ``}.checkAll(t)
	pair{`"address":{"city":"a","street":"a","city":"a"}`, `"address":{"street":"b"}`, ``}.checkAll(t)
	assert.Equal(t, http.StatusBadRequest, newService(t, hotelIndex).send(upload(`"name":"a","name":"c"`)))
}

// Annotations are not fields: an object with only annotations counts as empty.
func TestAnnotationsAreRefused(t *testing.T) {
	pair{`"@odata.etag":"x"`, `"name":"b"`, ``}.checkAll(t)
	pair{`"name":"a"`, `"name@odata.type":"b"`, ``}.checkAll(t)
	pair{`"name":"a"`, `"\u0040search.action":"delete"`, ``}.checkAll(t)
	pair{`"address":{"city":"a"}`, `"address":{"@odata.type":"b"}`, ``}.checkAll(t)
	b := `"address":{"@odata.type":"b"}`
	pair{`"name":"a"`, b, ``}.check(t, "", "", `"name":"a",`+b)
	requireRefused(t, upload(`"name":"a"`), merge(b), upload(`"name":"a",`+b))
}

// Values are not decoded, so nothing is lost that a float64 or a Go string cannot hold.
func TestValuesAreTakenByteForByte(t *testing.T) {
	for _, value := range []string{`9007199254740993`, `1.10`, `1E+2`, `-0`, `0.1e-7`, `"\u003c\/\ud800 <>&"`, `"` + "\xff" + `"`, `[1.0,{"b":1,"a":[ ]}]`} {
		compact := strings.ReplaceAll(value, " ]", "]")
		for _, p := range []pair{
			{`"x":` + compact, `"y":1`, `"x":` + compact + `,"y":1`},
			{`"y":1`, `"x":` + compact, `"y":1,"x":` + compact},
		} {
			both, ok := folded(t, merge(p.a), merge(p.b))
			require.True(t, ok, compact)
			assert.Equal(t, merge(p.want), both)
		}
	}
}

func TestMembersKeepTheirOrder(t *testing.T) {
	both, ok := folded(t, upload(`"z":1,"y":{"d":1,"c":1},"x":1`), merge(`"w":2,"x":2,"y":{"b":2,"c":2,"a":2},"v":2`))
	require.True(t, ok)
	assert.Equal(t, upload(`"z":1,"y":{"d":1,"c":2,"b":2,"a":2},"x":2,"w":2,"v":2`), both)
}

// The service keeps no copy of a vector that is not stored, so a merge after the upload loses it. Folded, the vector
// arrives, as the caller intended.
func TestFoldingCarriesAVectorThatAMergeWouldLose(t *testing.T) {
	a, b := upload(`"lost":[1,2]`), merge(`"rooms":2`)
	both, ok := folded(t, a, b)
	require.True(t, ok)
	assert.Equal(t, upload(`"lost":[1,2],"rooms":2`), both)
	s := newService(t, hotelIndex)
	assert.Contains(t, s.after(act{}, a, b), `"lost":[]`)
	assert.Contains(t, s.after(act{}, both), `"lost":[1.0,2.0]`)
}

// If one part would be refused alone, the whole folded write is refused, and all parts share its outcome.
func TestABadPartTakesAGoodOneWithIt(t *testing.T) {
	both, ok := folded(t, upload(`"name":"a"`), merge(`"rooms":"many"`))
	require.True(t, ok)
	assert.Equal(t, http.StatusBadRequest, newService(t, hotelIndex).send(both))
	both, ok = folded(t, upload(`"rooms":"many"`), merge(`"rooms":2`))
	require.True(t, ok)
	assert.Equal(t, http.StatusCreated, newService(t, hotelIndex).send(both))
}

func TestNestingIsBounded(t *testing.T) {
	nested := func(open, inner, end string, n int) string {
		return `"x":` + strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for _, test := range []struct{ open, inner, end string }{{`{"x":`, `1`, `}`}, {`[`, ``, `]`}, {`[{"x":`, `{}`, `}]`}, {`{"x":`, `{}`, `}`}} {
		levels := 63 // and the document
		if len(test.open) > 5 {
			levels = 31 // of two each, and the {} inside
		} else if test.inner == `{}` {
			levels = 62
		}
		deep := nested(test.open, test.inner, test.end, levels)
		both, ok := folded(t, merge(`"y":1`), merge(deep))
		require.True(t, ok, deep)
		assert.Equal(t, merge(`"y":1,`+deep), both)
		_, ok = folded(t, merge(deep), merge(deep))
		require.True(t, ok, deep)

		deeper := nested(test.open, test.inner, test.end, levels+1)
		requireRefused(t, merge(`"y":1`), merge(deeper), act{})
		requireRefused(t, merge(deeper), merge(`"y":1`), act{})
	}
	bottomless := nested(`{"x":`, `1`, `}`, 1_000_000)
	requireRefused(t, merge(bottomless), merge(bottomless), act{})
	bottomless = nested(`[`, ``, `]`, 1_000_000)
	requireRefused(t, merge(bottomless), merge(bottomless), act{})
}

func TestWhatIsNotCompactJSONIsRefused(t *testing.T) {
	const start = `{"@search.action":"merge"`
	for _, text := range []string{
		start + ` }`, start + `} `, start + `}}`, start + `,}`, start + `,"x":1,}`, start + `,"x":1`, start + `,"x":1]`, start + `:1}`,
		start + `,x:1}`, start + `,"x"}`, start + `,"x" :1}`, start + `,"x": 1}`, start + `,"x":}`, start + `,"x":1 }`, start + `, "x":1}`,
		start + `,"x":01}`, start + `,"x":-}`, start + `,"x":1.}`, start + `,"x":.1}`, start + `,"x":1e}`, start + `,"x":1e+}`, start + `,"x":+1}`, start + `,"x":0x1}`,
		start + `,"x":nul}`, start + `,"x":nulls}`, start + `,"x":True}`, start + `,"x":fals`, start + `,"x":NaN}`,
		start + `,"x":"}`, start + `,"x":"\x"}`, start + `,"x":"\u12g4"}`, start + `,"x":"\u12"}`, start + `,"x":"\`, start + `,"x":"\u12`, start + `,"x":"` + "\n" + `"}`, start + `,"x":"` + "\x00" + `"}`,
		start + `,"x":[1,]}`, start + `,"x":[,1]}`, start + `,"x":[1 ]}`, start + `,"x":[1}}`, start + `,"x":{"y":1]}`, start + `,"x":[{"y"}]}`, start + `,"x":[{y:1}]}`,
		start + `,"x":[{"y":1,}]}`, start + `,"x":{,}}`, start + `,"x\q":1}`, start + `,"\ud800`, start + `,"x":` + "\x00" + `}`,
	} {
		requireRefused(t, act{models.ActionTypeMerge, text}, merge(`"y":1`), act{})
		requireRefused(t, merge(`"y":1`), act{models.ActionTypeMerge, text}, act{})
	}
}
