package models_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

func decoded(t *testing.T, s string) models.Document {
	t.Helper()
	var d models.Document
	require.NoError(t, json.Unmarshal([]byte(s), &d))
	return d
}

func TestDocumentKeepsAllDigitsOfAnInteger(t *testing.T) {
	d := decoded(t, `{"max":9223372036854775807,"min":-9223372036854775808,"odd":9007199254740993,"list":[9007199254740993],"in":{"n":9007199254740993}}`)
	for field, want := range map[string]int64{"max": math.MaxInt64, "min": math.MinInt64, "odd": 9007199254740993} {
		got, err := d.Int64(field)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	list, err := d.Int64s("list")
	require.NoError(t, err)
	require.Equal(t, []int64{9007199254740993}, list)
	in, err := d.Object("in")
	require.NoError(t, err)
	n, err := in.Int64("n")
	require.NoError(t, err)
	require.Equal(t, int64(9007199254740993), n)
	b, err := json.Marshal(d)
	require.NoError(t, err)
	require.Contains(t, string(b), `"max":9223372036854775807`)
}

func TestInt64RefusesWhatIsNotExactlyAnInteger(t *testing.T) {
	d := decoded(t, `{"half":1.5,"big":9223372036854775808,"exp":1e300,"text":"7","none":null}`)
	d["float"], d["uint"], d["nan"], d["half float"] = float64(1<<53), uint64(math.MaxUint64), math.NaN(), 1.5
	for field := range d {
		_, err := d.Int64(field)
		var de *models.DocumentError
		require.ErrorAs(t, err, &de, field)
		require.Equal(t, field, de.Field)
		require.Equal(t, models.DataTypeInt64, de.Want)
	}
	_, err := d.Int64("none")
	require.ErrorIs(t, err, models.ErrNoField)
	_, err = d.Int64("text")
	require.NotErrorIs(t, err, models.ErrNoField)
	require.ErrorContains(t, err, `field "text" as Edm.Int64: it holds a string`)
}

func TestInt64ReadsEveryKindOfInteger(t *testing.T) {
	for _, v := range []any{7, int8(7), int16(7), int32(7), int64(7), uint(7), uint8(7), uint16(7), uint32(7), uint64(7), 7.0, json.Number("7"), json.Number("7.0"), json.Number("0.7e1")} {
		n, err := models.Document{"n": v}.Int64("n")
		require.NoError(t, err, "%T", v)
		require.Equal(t, int64(7), n, "%T", v)
		f, err := models.Document{"n": v}.Float64("n")
		require.NoError(t, err, "%T", v)
		require.Equal(t, 7.0, f, "%T", v)
	}
}

func TestFloat64ReadsWhatTheServiceWritesForNumbersThatJSONLacks(t *testing.T) {
	d := decoded(t, `{"inf":"INF","minus":"-INF","nan":"NaN","text":"1.5"}`)
	f, err := d.Float64("inf")
	require.NoError(t, err)
	require.True(t, math.IsInf(f, 1))
	f, err = d.Float64("minus")
	require.NoError(t, err)
	require.True(t, math.IsInf(f, -1))
	f, err = d.Float64("nan")
	require.NoError(t, err)
	require.True(t, math.IsNaN(f))
	_, err = d.Float64("text")
	require.Error(t, err)
	f, err = models.Document{"f": float32(0.1)}.Float64("f")
	require.NoError(t, err)
	require.Equal(t, 0.1, f)
}

func TestTimesAreRFC3339WithTheirOffset(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 2*3600))
	b, err := models.AppendAction(nil, models.ActionTypeUpload, models.Document{"at": at})
	require.NoError(t, err)
	require.Equal(t, `{"@search.action":"upload","at":"2026-01-02T03:04:05.006+02:00"}`, string(b))
	for _, v := range []any{at, "2026-01-02T03:04:05.006+02:00", "2026-01-02T01:04:05.006Z"} {
		got, err := models.Document{"at": v}.Time("at")
		require.NoError(t, err)
		require.True(t, at.Equal(got))
	}
	for _, v := range []any{"2026-01-02", "2026-01-02T03:04:05", "", 7, nil} {
		_, err := models.Document{"at": v}.Time("at")
		require.ErrorAs(t, err, new(*models.DocumentError))
	}
}

func TestGettersReadWhatJSONHolds(t *testing.T) {
	d := decoded(t, `{"s":"","b":false,"ss":["a","b"],"bs":[true],"fs":[1,2.5],"v":[0.1,-2],"ts":["2026-01-02T03:04:05Z"],
		"p":{"type":"Point","coordinates":[1,2]},"ps":[{"type":"Point","coordinates":[1,2]}],"o":{"x":"y"},"os":[{"x":"y"},{}],"empty":[]}`)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	point := models.GeographyPoint{Longitude: 1, Latitude: 2}
	requireGet(t, d.String, "s", "")
	requireGet(t, d.Bool, "b", false)
	requireGet(t, d.Strings, "ss", []string{"a", "b"})
	requireGet(t, d.Bools, "bs", []bool{true})
	requireGet(t, d.Float64s, "fs", []float64{1, 2.5})
	requireGet(t, d.Vector, "v", []float32{0.1, -2})
	requireGet(t, d.Times, "ts", []time.Time{at})
	requireGet(t, d.GeographyPoint, "p", point)
	requireGet(t, d.GeographyPoints, "ps", []models.GeographyPoint{point})
	requireGet(t, d.Object, "o", models.Document{"x": "y"})
	requireGet(t, d.Objects, "os", []models.Document{{"x": "y"}, {}})
	requireGet(t, d.Strings, "empty", []string{})
	require.True(t, d.Has("s"))
	require.False(t, d.Has("nonesuch"))
}

func TestGettersReadWhatAProgramPutThere(t *testing.T) {
	at := time.Now()
	point := models.GeographyPoint{Longitude: 1, Latitude: 2}
	d := models.Document{
		"ss": []string{"a"}, "bs": []bool{true}, "ns": []int64{1}, "fs": []float64{1}, "v": []float32{1}, "ts": []time.Time{at},
		"p": point, "pp": &point, "ps": []models.GeographyPoint{point}, "o": models.Document{"x": 1}, "m": map[string]any{"x": 1},
		"os": []models.Document{{"x": 1}}, "ms": []map[string]any{{"x": 1}},
	}
	requireGet(t, d.Strings, "ss", []string{"a"})
	requireGet(t, d.Bools, "bs", []bool{true})
	requireGet(t, d.Int64s, "ns", []int64{1})
	requireGet(t, d.Float64s, "fs", []float64{1})
	requireGet(t, d.Vector, "v", []float32{1})
	requireGet(t, d.Times, "ts", []time.Time{at})
	requireGet(t, d.GeographyPoint, "p", point)
	requireGet(t, d.GeographyPoint, "pp", point)
	requireGet(t, d.GeographyPoints, "ps", []models.GeographyPoint{point})
	requireGet(t, d.Object, "o", models.Document{"x": 1})
	requireGet(t, d.Object, "m", models.Document{"x": 1})
	requireGet(t, d.Objects, "os", []models.Document{{"x": 1}})
	requireGet(t, d.Objects, "ms", []models.Document{{"x": 1}})
}

func requireGet[V any](t *testing.T, get func(string) (V, error), field string, want V) {
	t.Helper()
	got, err := get(field)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestGetterOfAnotherTypeSaysWhatIsThere(t *testing.T) {
	for says, v := range map[string]any{
		"it holds a string":     "x",
		"it holds a boolean":    true,
		"it holds a number":     json.Number("1"),
		"it holds a list":       []any{json.Number("1"), nil},
		"it holds an object":    map[string]any{},
		"it holds a complex128": 1i,
		"field is absent or ":   nil,
	} {
		d := models.Document{"f": v}
		for name, err := range map[string]error{
			"string": second(d.String("f")), "bool": second(d.Bool("f")), "time": second(d.Time("f")), "point": second(d.GeographyPoint("f")),
			"int": second(d.Int64("f")), "float": second(d.Float64("f")), "object": second(d.Object("f")),
			"strings": second(d.Strings("f")), "bools": second(d.Bools("f")), "ints": second(d.Int64s("f")), "floats": second(d.Float64s("f")),
			"vector": second(d.Vector("f")), "times": second(d.Times("f")), "points": second(d.GeographyPoints("f")), "objects": second(d.Objects("f")),
		} {
			if err == nil {
				require.Contains(t, map[string]any{"string": "x", "bool": true, "int": json.Number("1"), "float": json.Number("1"), "object": map[string]any{}}, name)
				continue
			}
			require.ErrorAs(t, err, new(*models.DocumentError))
			if _, list := v.([]any); list && name[len(name)-1] == 's' || name == "vector" && list {
				require.ErrorContains(t, err, "element ")
			} else if name != "time" && (name != "point" || says != "it holds an object") {
				require.ErrorContains(t, err, says, name)
			}
		}
	}
	_, err := models.Document{"v": []any{1e300}}.Vector("v")
	require.ErrorContains(t, err, "element 0: 1e+300 is out of range")
	_, err = models.Document{"p": (*models.GeographyPoint)(nil)}.GeographyPoint("p")
	require.ErrorIs(t, err, models.ErrNoField)
	_, err = models.Document{"p": map[string]any{"type": "Polygon"}}.GeographyPoint("p")
	require.ErrorIs(t, err, models.ErrNotAPoint)
	_, err = models.Document{"p": map[string]any{"type": make(chan int)}}.GeographyPoint("p")
	require.ErrorAs(t, err, new(*models.DocumentError))
}

func TestDocumentIsOneJSONObject(t *testing.T) {
	for _, s := range []string{`[]`, `7`, `"x"`, `{`, `{"a":1}{"b":2}`, ``} {
		require.Error(t, new(models.Document).UnmarshalJSON([]byte(s)), s)
	}
	d := models.Document{"old": 1}
	require.NoError(t, json.Unmarshal([]byte(`{"new":1}`), &d))
	require.Equal(t, models.Document{"new": json.Number("1")}, d)
	require.NoError(t, d.UnmarshalJSON([]byte(`null`)))
	require.Nil(t, d)
}

func TestPointIsGeoJSONWithTheLongitudeFirst(t *testing.T) {
	p := models.GeographyPoint{Longitude: -122.131577, Latitude: 47.678581}
	b, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, `{"type":"Point","coordinates":[-122.131577,47.678581]}`, string(b))
	require.Equal(t, "POINT(-122.131577 47.678581)", p.String())
	for _, s := range []string{
		string(b),
		`{"coordinates":[-122.131577,47.678581],"type":"Point","crs":{"type":"name","properties":{"name":"EPSG:4326"}}}`,
		`{"type":"Point","coordinates":[-122.131577,47.678581],"crs":null}`,
		`{"type":"Point","coordinates":[-122.131577,47.678581],"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::4326"}}}`,
	} {
		var got models.GeographyPoint
		require.NoError(t, json.Unmarshal([]byte(s), &got))
		require.Equal(t, p, got)
	}
	require.NoError(t, json.Unmarshal([]byte("null"), &p))
	require.Equal(t, -122.131577, p.Longitude)
}

func TestWhatIsNoPointOnTheGlobeIsRefused(t *testing.T) {
	for _, s := range []string{
		`7`, `{}`, `[1,2]`, `"POINT(1 2)"`,
		`{"type":"point","coordinates":[1,2]}`,
		`{"type":"Polygon","coordinates":[1,2]}`,
		`{"type":"Point"}`, `{"type":"Point","coordinates":[1]}`, `{"type":"Point","coordinates":[1,2,3]}`, `{"type":"Point","coordinates":["1","2"]}`,
		`{"type":"Point","coordinates":[180.1,0]}`, `{"type":"Point","coordinates":[0,-90.1]}`,
		`{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"EPSG:3857"}}}`,
		`{"type":"Point","coordinates":[1,2],"crs":{"type":"link"}}`,
	} {
		p := models.GeographyPoint{Longitude: 9, Latitude: 9}
		require.ErrorIs(t, json.Unmarshal([]byte(s), &p), models.ErrNotAPoint, s)
		require.Equal(t, models.GeographyPoint{Longitude: 9, Latitude: 9}, p)
	}
	for _, p := range []models.GeographyPoint{{Longitude: 181}, {Latitude: -91}, {Longitude: math.NaN()}, {Latitude: math.Inf(1)}} {
		_, err := json.Marshal(p)
		require.ErrorIs(t, err, models.ErrNotAPoint)
		_, err = models.AppendAction(nil, models.ActionTypeUpload, models.Document{"where": []models.GeographyPoint{p}})
		var ee *models.EncodeError
		require.ErrorAs(t, err, &ee)
		require.Equal(t, "where[0]", ee.Field)
		require.NotEmpty(t, p.String())
	}
}

func TestPatchTellsNullFromAbsentFromZero(t *testing.T) {
	p := models.NewPatch("hotelId", "7").Set("rating", 0).Clear("description").Set("name", "<x>").Keep("name").Set("tags", []string{})
	p.In("address").Set("city", "Oslo").Clear("street")
	p.In("address").Set("zip", "0150")
	b, err := models.AppendAction(nil, models.ActionTypeMerge, p)
	require.NoError(t, err)
	require.Equal(t, `{"@search.action":"merge","address":{"city":"Oslo","street":null,"zip":"0150"},"description":null,"hotelId":"7","rating":0,"tags":[]}`, string(b))
	require.Equal(t, []string{"address", "description", "hotelId", "rating", "tags"}, p.Fields())
	v, ok := p.Get("description")
	require.True(t, ok)
	require.Nil(t, v)
	_, ok = p.Get("name")
	require.False(t, ok)

	value, err := models.AppendAction(nil, models.ActionTypeMerge, *p)
	require.NoError(t, err)
	require.Equal(t, b, value)
}

func TestPatchOfNothingIsAnEmptyObject(t *testing.T) {
	b, err := json.Marshal(models.Patch{})
	require.NoError(t, err)
	require.Equal(t, "{}", string(b))
	_, err = models.AppendAction(nil, models.ActionTypeMerge, (*models.Patch)(nil))
	require.ErrorIs(t, err, models.ErrNotAnObject)
}

func TestPatchRemembersWhatWasReadIntoIt(t *testing.T) {
	var p models.Patch
	require.NoError(t, json.Unmarshal([]byte(`{"a":null,"n":9007199254740993,"o":{"x":1}}`), &p))
	p.In("o").Set("y", 2)
	b, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, `{"a":null,"n":9007199254740993,"o":{"y":2}}`, string(b))
	require.Error(t, json.Unmarshal([]byte(`[]`), &p))
}

func TestKeyAndBadFieldOfAPatchAreFound(t *testing.T) {
	for name, get := range map[string]func(t *testing.T) (string, string, error){
		"pointer": keyNamed("hotelId", models.NewPatch("hotelId", "7")),
		"value":   keyNamed("hotelId", *models.NewPatch("hotelId", "7")),
		"any":     keyNamed[any]("hotelId", models.NewPatch("hotelId", "7")),
	} {
		t.Run(name, func(t *testing.T) {
			_, key, err := get(t)
			require.NoError(t, err)
			require.Equal(t, "7", key)
		})
	}
	p := models.NewPatch("hotelId", "7")
	p.In("a").In("b").Set("c", []float64{0, math.NaN()})
	_, err := models.AppendAction(nil, models.ActionTypeMerge, p)
	var ee *models.EncodeError
	require.ErrorAs(t, err, &ee)
	require.Equal(t, "a.b.c[1]", ee.Field)
}
