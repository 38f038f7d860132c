package models_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

type room struct {
	Type string             `json:"type"`
	Rate float64            `json:"rate"`
	By   map[string]float32 `json:"by,omitempty"`
}

type hotel struct {
	ID     string    `json:"hotelId" search:"key"`
	Name   string    `json:"hotelName"`
	Rooms  []room    `json:"rooms,omitempty"`
	Vector []float32 `json:"vector,omitempty"`
	Any    any       `json:"any,omitempty"`
}

func TestActionComesFirstThenTheMembersOfTheDocument(t *testing.T) {
	for name, c := range map[string]struct {
		got  func() ([]byte, error)
		want string
	}{
		"struct":              {appended(models.ActionTypeUpload, hotel{ID: "1", Name: "a"}), `{"@search.action":"upload","hotelId":"1","hotelName":"a"}`},
		"pointer":             {appended(models.ActionTypeMerge, &hotel{ID: "1", Name: "a"}), `{"@search.action":"merge","hotelId":"1","hotelName":"a"}`},
		"map":                 {appended(models.ActionTypeMergeOrUpload, map[string]any{"id": "1", "n": nil}), `{"@search.action":"mergeOrUpload","id":"1","n":null}`},
		"Document":            {appended(models.ActionTypeDelete, models.Document{"id": "1"}), `{"@search.action":"delete","id":"1"}`},
		"interface":           {appended[any](models.ActionTypeUpload, hotel{ID: "1"}), `{"@search.action":"upload","hotelId":"1","hotelName":""}`},
		"raw, with spaces":    {appended(models.ActionTypeUpload, json.RawMessage(" { \"id\" : \"1\",\n\"a\":[ 1 ] } ")), `{"@search.action":"upload","id":"1","a":[1]}`},
		"raw behind pointer":  {appended(models.ActionTypeUpload, ptr(json.RawMessage(`{"a":1}`))), `{"@search.action":"upload","a":1}`},
		"empty map":           {appended(models.ActionTypeUpload, map[string]any{}), `{"@search.action":"upload"}`},
		"empty raw":           {appended(models.ActionTypeUpload, json.RawMessage("{ }")), `{"@search.action":"upload"}`},
		"empty struct":        {appended(models.ActionTypeUpload, struct{}{}), `{"@search.action":"upload"}`},
		"pointer to pointer":  {appended(models.ActionTypeUpload, ptr(&hotel{ID: "1"})), `{"@search.action":"upload","hotelId":"1","hotelName":""}`},
		"pointer marshaler":   {appended(models.ActionTypeUpload, byPointer{"x"}), `{"@search.action":"upload","via":"x"}`},
		"text in text":        {appended(models.ActionTypeUpload, map[string]string{"a": `{"@search.action":"x"}`}), `{"@search.action":"upload","a":"{\"@search.action\":\"x\"}"}`},
		"at sign in a value":  {appended(models.ActionTypeUpload, map[string]string{"a": "@search.me"}), `{"@search.action":"upload","a":"@search.me"}`},
		"at sign in a name":   {appended(models.ActionTypeUpload, map[string]int{"@searching": 1}), `{"@search.action":"upload","@searching":1}`},
		"reserved name below": {appended(models.ActionTypeUpload, map[string]any{"a": map[string]int{"@search.x": 1}}), `{"@search.action":"upload","a":{"@search.x":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.got()
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}

type byPointer struct{ v string }

func (p *byPointer) MarshalJSON() ([]byte, error) { return []byte(`{"via": "` + p.v + `"}`), nil }

func ptr[T any](v T) *T { return &v }

func appended[T any](typ models.ActionType, doc T) func() ([]byte, error) {
	return func() ([]byte, error) { return models.AppendAction(nil, typ, doc) }
}

func TestAppendActionKeepsWhatIsThere(t *testing.T) {
	dst := append(make([]byte, 0, 4096), "before,"...)
	got, err := models.AppendAction(dst, models.ActionTypeUpload, hotel{ID: "1"})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(got), `before,{"@search.action":"upload","hotelId"`))
	got, err = models.AppendAction(got, models.ActionTypeUpload, models.Document{"f": math.NaN()})
	require.Error(t, err)
	require.True(t, strings.HasSuffix(string(got), `"hotelName":""}`))
	got, err = models.AppendAction(dst, "", hotel{})
	require.Error(t, err)
	require.Equal(t, "before,", string(got))
	got, err = models.AppendAction(dst, models.ActionTypeUpload, []int{1})
	require.Error(t, err)
	require.Equal(t, "before,", string(got))
	got, err = models.AppendAction(dst, models.ActionTypeUpload, map[string]int{"@search.score": 1})
	require.Error(t, err)
	require.Equal(t, "before,", string(got))
}

func TestHTMLIsNotEscaped(t *testing.T) {
	got, err := models.AppendAction(nil, models.ActionTypeUpload, map[string]any{"a": "<b>&</b>", "r": json.RawMessage(`"<&>"`)})
	require.NoError(t, err)
	require.Equal(t, `{"@search.action":"upload","a":"<b>&</b>","r":"<&>"}`, string(got))
}

func TestFloat32KeepsItsDigits(t *testing.T) {
	got, err := models.AppendAction(nil, models.ActionTypeUpload, hotel{ID: "1", Vector: []float32{0.1, 1.0 / 3, math.MaxFloat32}})
	require.NoError(t, err)
	require.Contains(t, string(got), `"vector":[0.1,0.33333334,3.4028235e+38]`)
}

func TestInfinitiesAreWrittenAndReadAsTheServiceDoes(t *testing.T) {
	type tide struct {
		Height float64            `json:"height"`
		Quoted float64            `json:"quoted,string"`
		ByName map[string]float64 `json:"byName"`
	}
	low := math.Inf(-1)
	want := `{"@search.action":"upload","height":"-INF","quoted":"INF","byName":{"a":"INF","b":1}}`
	written := tide{Height: low, Quoted: math.Inf(1), ByName: map[string]float64{"a": math.Inf(1), "b": 1}}
	got, err := models.AppendAction(nil, models.ActionTypeUpload, written)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
	var read struct {
		Height float64            `json:"height"`
		ByName map[string]float64 `json:"byName"`
	}
	require.NoError(t, models.DecodeDocument(got, &read))
	require.Equal(t, written.Height, read.Height)
	require.Equal(t, written.ByName, read.ByName)
	for name, doc := range map[string]any{
		"map": models.Document{"height": low}, "pointer": &struct{ *tide }{&tide{Height: low}}, "patch": models.NewPatch("id", "1").Set("height", &low),
		"nested patch": func() any { p := models.NewPatch("id", "1"); p.In("a").Set("b", []any{low}); return p }(),
	} {
		got, err := models.AppendAction(nil, models.ActionTypeUpload, doc)
		require.NoError(t, err, name)
		require.Contains(t, string(got), `"-INF"`, name)
	}
}

func TestUnencodableDocumentIsRefusedWithThePathOfTheField(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	cyclic := models.Document{"id": "1"}
	cyclic["self"] = map[string]any{"again": cyclic}
	type link struct {
		Next *link `json:"next,omitempty"`
	}
	ring := new(link)
	ring.Next = ring
	for name, c := range map[string]struct {
		got  func() ([]byte, error)
		path string
	}{
		"float in a struct":          {appended(models.ActionTypeUpload, room{Rate: nan}), "rate"},
		"float in a slice of struct": {appended(models.ActionTypeUpload, &hotel{Rooms: []room{{}, {}, {Rate: nan}}}), "rooms[2].rate"},
		"float32 in a vector":        {appended(models.ActionTypeUpload, hotel{Vector: []float32{1, 2, float32(nan)}}), "vector[2]"},
		"float in a map":             {appended(models.ActionTypeUpload, hotel{Rooms: []room{{By: map[string]float32{"EUR": 1, "USD": float32(inf)}}}}), "rooms[0].by.USD"},
		"name that needs quotes":     {appended(models.ActionTypeUpload, models.Document{"a b": []any{1, map[string]any{"c.d": nan}}}), `["a b"][1]["c.d"]`},
		"float behind interface":     {appended(models.ActionTypeUpload, hotel{Any: &room{Rate: nan}}), "any.rate"},
		"float in an embedded":       {appended(models.ActionTypeUpload, struct{ room }{room{Rate: nan}}), "rate"},
		"channel":                    {appended(models.ActionTypeUpload, hotel{Any: []any{"x", make(chan int)}}), "any[1]"},
		"failing MarshalJSON":        {appended(models.ActionTypeUpload, hotel{Any: map[string]any{"x": failing{}}}), "any.x"},
		"panicking MarshalJSON":      {appended(models.ActionTypeUpload, hotel{Any: []any{panicking{}}}), "any[0]"},
		"document that panics":       {appended(models.ActionTypeUpload, panicking{}), ""},
		"document that fails":        {appended(models.ActionTypeUpload, failing{}), ""},
		"a document within itself":   {appended(models.ActionTypeUpload, cyclic), "self.again"},
		"a struct within itself":     {appended(models.ActionTypeUpload, ring), "next"},
		"int keys":                   {appended(models.ActionTypeUpload, map[string]any{"m": map[int]float64{2: 1, 7: nan}}), `m.7`},
		"left-out fields do no harm": {appended(models.ActionTypeUpload, struct {
			C chan int       `json:"c,omitempty"`
			Z *chan int      `json:"z,omitzero"`
			M map[int]func() `json:"m,omitempty"`
			F float64        `json:"f"`
		}{F: nan}), "f"},
		"malformed raw": {appended(models.ActionTypeUpload, hotel{Any: json.RawMessage(`{`)}), "any"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.got()
			var ee *models.EncodeError
			require.ErrorAs(t, err, &ee)
			require.Equal(t, c.path, ee.Field)
			require.Empty(t, got)
			if c.path != "" {
				require.ErrorContains(t, err, "field "+c.path+": ")
			}
		})
	}
}

type failing struct{}

var errFailing = errors.New("cannot")

func (failing) MarshalJSON() ([]byte, error) { return nil, errFailing }

type panicking struct{}

var errPanicking = errors.New("boom")

func (panicking) MarshalJSON() ([]byte, error) { panic(errPanicking) }

func TestCauseOfAnEncodeErrorIsInItsChain(t *testing.T) {
	_, err := models.AppendAction(nil, models.ActionTypeUpload, failing{})
	require.ErrorIs(t, err, errFailing)
	_, err = models.AppendAction(nil, models.ActionTypeUpload, panicking{})
	require.ErrorIs(t, err, errPanicking)
	_, err = models.AppendAction(nil, models.ActionTypeUpload, room{Rate: math.NaN()})
	var unsupported *json.UnsupportedValueError
	require.ErrorAs(t, err, &unsupported)
	require.ErrorContains(t, err, "NaN cannot be written in JSON")
}

func TestPanicLeavesTheEncoderUsable(t *testing.T) {
	for range 100 {
		_, err := models.AppendAction(nil, models.ActionTypeUpload, hotel{Name: "half", Any: panicking{}})
		require.Error(t, err)
		got, err := models.AppendAction(nil, models.ActionTypeUpload, models.Document{"a": 1})
		require.NoError(t, err)
		require.Equal(t, `{"@search.action":"upload","a":1}`, string(got))
	}
}

func TestDocumentThatIsNoObjectIsRefused(t *testing.T) {
	for name, got := range map[string]func() ([]byte, error){
		"null":           appended[any](models.ActionTypeUpload, nil),
		"nil pointer":    appended(models.ActionTypeUpload, (*hotel)(nil)),
		"nil map":        appended(models.ActionTypeUpload, map[string]any(nil)),
		"nil Document":   appended(models.ActionTypeUpload, models.Document(nil)),
		"null, raw":      appended(models.ActionTypeUpload, json.RawMessage("null")),
		"array":          appended(models.ActionTypeUpload, []hotel{{}}),
		"string":         appended(models.ActionTypeUpload, "{}"),
		"number":         appended(models.ActionTypeUpload, 7),
		"boolean":        appended(models.ActionTypeUpload, true),
		"text marshaler": appended(models.ActionTypeUpload, time.Unix(0, 0)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := got()
			var ee *models.EncodeError
			require.ErrorAs(t, err, &ee)
			require.ErrorIs(t, err, models.ErrNotAnObject)
		})
	}
}

func TestReservedNameIsRefusedHoweverItIsWritten(t *testing.T) {
	for name, got := range map[string]func() ([]byte, error){
		"struct": appended(models.ActionTypeUpload, struct {
			S float64 `json:"@search.score"`
		}{1}),
		"map":     appended(models.ActionTypeUpload, models.Document{"@search.score": 1}),
		"raw":     appended(models.ActionTypeUpload, json.RawMessage(`{"a":"b\\","@search.score":1}`)),
		"escaped": appended(models.ActionTypeUpload, json.RawMessage(`{"a":{"b":["]"]},"\u0040search.score":1}`)),
		"half":    appended(models.ActionTypeUpload, json.RawMessage(`{"@s\u0065arch.score":1}`)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := got()
			var ee *models.EncodeError
			require.ErrorAs(t, err, &ee)
			require.ErrorIs(t, err, models.ErrReservedName)
			require.Equal(t, "@search.score", ee.Field)
		})
	}
}

func TestUnknownActionIsRefused(t *testing.T) {
	for _, typ := range []models.ActionType{"", "Upload", `upload","x":"`} {
		_, err := models.AppendAction(nil, typ, hotel{})
		var ee *models.EncodeError
		require.ErrorAs(t, err, &ee)
	}
}

func TestDeleteNeedsOnlyTheKey(t *testing.T) {
	require.Equal(t, `x{"@search.action":"delete","hotelId":"1"}`, string(models.AppendDelete([]byte("x"), "hotelId", "1")))
	require.Equal(t, `{"@search.action":"delete","é\"":"<\\\n>"}`, string(models.AppendDelete(nil, `é"`, "<\\\n>")))
}

func TestAppendDeleteWritesAnyStringAsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field, key := rapid.String().Draw(t, "field"), rapid.String().Draw(t, "key")
		var got struct {
			Action string `json:"@search.action"`
		}
		b := models.AppendDelete(nil, "k"+field, key)
		require.NoError(t, json.Unmarshal(b, &got))
		require.Equal(t, "delete", got.Action)
		var all map[string]string
		require.NoError(t, json.Unmarshal(b, &all))
		require.Equal(t, strings.ToValidUTF8(key, "\ufffd"), all[strings.ToValidUTF8("k"+field, "\ufffd")])
	})
}

func TestBatchIsTheBodyOfTheRequest(t *testing.T) {
	b, err := models.NewIndexDocumentsBatch(models.UploadAction(hotel{ID: "1", Name: "<a>"}), models.DeleteAction(hotel{ID: "2"}).WithTag("not sent")).MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `{"value":[{"@search.action":"upload","hotelId":"1","hotelName":"<a>"},{"@search.action":"delete","hotelId":"2","hotelName":""}]}`, string(b))
	b, err = models.NewIndexDocumentsBatch[hotel]().MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `{"value":[]}`, string(b))
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(models.NewIndexDocumentsBatch(models.UploadAction(hotel{Name: "<a>"}))))
	require.Contains(t, buf.String(), `"<a>"`)
}

func TestBatchErrorNamesThePositionAndTheField(t *testing.T) {
	_, err := json.Marshal(models.NewIndexDocumentsBatch(models.UploadAction(room{}), models.UploadAction(room{Rate: math.NaN()})))
	var ee *models.EncodeError
	require.ErrorAs(t, err, &ee)
	require.Equal(t, "rate", ee.Field)
	require.ErrorContains(t, err, "action 1")
}

func TestAppendActionConcurrentSafe(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var b []byte
			for i := range 500 {
				var err error
				id := fmt.Sprintf("%d-%d", g, i)
				b, err = models.AppendAction(b[:0], models.ActionTypeUpload, hotel{ID: id})
				if want := `{"@search.action":"upload","hotelId":"` + id + `","hotelName":""}`; err != nil || string(b) != want {
					t.Errorf("got %s, %v; want %s", b, err, want)
				}
			}
		})
	}
	wg.Wait()
}

// benchHotel is a document of about 650 bytes, as in the project's other benchmarks.
func benchHotel() hotel {
	h := hotel{ID: "golang.org-x-tools-1234", Name: strings.Repeat("A hotel, plainly written. ", 20)}
	for i := range 4 {
		h.Rooms = append(h.Rooms, room{Type: "deluxe", Rate: 100.5 + float64(i)})
	}
	return h
}

func BenchmarkAppendAction(b *testing.B) {
	vector := make([]float32, 1536)
	for i := range vector {
		vector[i] = float32(math.Sin(float64(i)))
	}
	h := benchHotel()
	raw, err := json.Marshal(h)
	require.NoError(b, err)
	m := models.Document{"hotelId": h.ID, "hotelName": h.Name, "a": 1, "b": true, "c": []string{"x", "y"}}
	b.Run("struct of 650 bytes", func(b *testing.B) { benchAppend(b, h) })
	b.Run("pointer to struct of 650 bytes", func(b *testing.B) { benchAppend(b, &h) })
	b.Run("map of 600 bytes", func(b *testing.B) { benchAppend(b, m) })
	b.Run("raw JSON of 650 bytes", func(b *testing.B) { benchAppend(b, json.RawMessage(raw)) })
	b.Run("vector of 1536", func(b *testing.B) { benchAppend(b, hotel{ID: "1", Vector: vector}) })

	at := time.Date(2026, 2, 10, 12, 30, 0, 5000, time.FixedZone("", 3600))
	nested := models.Document{"id": "1", "at": at, "rooms": []any{models.Document{"rate": 1.5}, map[string]any{"rate": 2.5}}}
	b.Run("map with maps inside", func(b *testing.B) { benchAppend(b, nested) })
	b.Run("structs behind pointers", func(b *testing.B) {
		benchAppend(b, &struct {
			ID    string  `json:"id"`
			Hotel *hotel  `json:"hotel"`
			Best  *room   `json:"best"`
			Rooms []*room `json:"rooms"`
			Stars *int    `json:"stars"`
		}{ID: "1", Hotel: &h, Best: &h.Rooms[0], Rooms: []*room{&h.Rooms[1], nil, &h.Rooms[2]}})
	})
	b.Run("times", func(b *testing.B) {
		benchAppend(b, &struct {
			ID      string      `json:"id"`
			Built   time.Time   `json:"built"`
			Closed  *time.Time  `json:"closed"`
			Seasons []time.Time `json:"seasons"`
		}{ID: "1", Built: at, Closed: &at, Seasons: []time.Time{at, at.UTC()}})
	})
	b.Run("a field of raw JSON", func(b *testing.B) {
		benchAppend(b, &struct {
			ID   string          `json:"id"`
			More json.RawMessage `json:"more"`
		}{ID: "1", More: raw})
	})
}

func benchAppend[T any](b *testing.B, doc T) {
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = models.AppendAction(buf[:0], models.ActionTypeUpload, doc); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(buf)))
}

// BenchmarkEncodingJSON encodes the same documents as BenchmarkAppendAction with encoding/json: with one encoder for
// all, and in the usual way.
func BenchmarkEncodingJSON(b *testing.B) {
	vector := make([]float32, 1536)
	for i := range vector {
		vector[i] = float32(math.Sin(float64(i)))
	}
	for name, doc := range map[string]hotel{"struct of 650 bytes": benchHotel(), "vector of 1536": {ID: "1", Vector: vector}} {
		b.Run(name+", one Encoder", func(b *testing.B) {
			var buf bytes.Buffer
			encoder := json.NewEncoder(&buf)
			encoder.SetEscapeHTML(false)
			b.ReportAllocs()
			for b.Loop() {
				buf.Reset()
				require.NoError(b, encoder.Encode(&doc))
			}
			b.SetBytes(int64(buf.Len()))
		})
		b.Run(name+", Marshal", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := json.Marshal(doc)
				require.NoError(b, err)
				b.SetBytes(int64(len(out)))
			}
		})
	}
}
