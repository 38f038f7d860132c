package deadletter

import (
	"encoding/json"
	"testing"

	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type hotel struct {
	ID     string   `json:"id" search:"key"`
	Name   *string  `json:"name,omitempty"`
	Rating float64  `json:"rating,omitempty"`
	Rooms  int64    `json:"rooms,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

func decode[T any](action models.ActionType, document string) (any, error) {
	return Decode[T](Letter{Action: action, Document: json.RawMessage(document)})
}

func TestDecodeRefusesToChangeADocument(t *testing.T) {
	for name, c := range map[string]struct {
		decode   func(models.ActionType, string) (any, error)
		document string
		differs  string // the field, or "" if nothing does
	}{
		"same":                            {decode[hotel], `{"id":"7","name":"x","tags":["a"]}`, ""},
		"pointer":                         {decode[*hotel], `{"id":"7","name":"x"}`, ""},
		"other order":                     {decode[hotel], `{"name":"x","id":"7"}`, ""},
		"number written otherwise":        {decode[hotel], `{"id":"7","rating":1.50e1}`, ""},
		"a field that the type lacks":     {decode[hotel], `{"id":"7","stars":5}`, "stars"},
		"a null that omitempty drops":     {decode[hotel], `{"id":"7","name":null}`, "name"},
		"a zero that omitempty drops":     {decode[hotel], `{"id":"7","rating":0}`, "rating"},
		"a field that the type adds":      {decode[doc], `{"id":"7"}`, "v"},
		"digits that any loses":           {decode[any], `{"id":"7","n":9007199254740993}`, "n"},
		"digits that Document keeps":      {decode[models.Document], `{"id":"7","n":9007199254740993}`, ""},
		"raw, word for word":              {decode[json.RawMessage], `{"id":"7","n":9007199254740993,"x":null}`, ""},
		"raw, empty":                      {decode[json.RawMessage], `{}`, ""},
		"raw, with HTML":                  {decode[json.RawMessage], `{"id":"<b>&","s":"` + "\u2028" + `"}`, ""},
		"a null in Document":              {decode[models.Document], `{"id":"7","x":{"y":[null,{"z":null}]}}`, ""},
		"an array in any":                 {decode[map[string]any], `{"id":"7","x":[1,2.5,"3",true]}`, ""},
		"a list that has become shorter":  {decode[struct{ X [1]int }], `{"X":[1,2]}`, "X"},
		"within an object":                {decode[struct{ O struct{ A, B int } }], `{"O":{"A":1,"B":2,"C":3}}`, "O"},
		"a member instead of another one": {decode[struct{ O map[string]*int }], `{"O":{"A":null}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, action := range []models.ActionType{models.ActionTypeUpload, models.ActionTypeMerge, models.ActionTypeMergeOrUpload} {
				_, err := c.decode(action, c.document)
				if c.differs == "" {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, ErrChanged)
				require.ErrorContains(t, err, `field "`+c.differs+`"`)
			}
			_, err := c.decode(models.ActionTypeDelete, c.document)
			require.NoError(t, err, "only the key counts")
		})
	}
}

func TestDecodeOfALetterWithoutAnUsableDocument(t *testing.T) {
	_, err := Decode[hotel](Letter{Action: models.ActionTypeDelete})
	require.ErrorIs(t, err, ErrRedacted)
	_, err = decode[hotel](models.ActionTypeUpload, `{"id":7}`)
	require.ErrorAs(t, err, new(*json.UnmarshalTypeError))
	_, err = decode[json.RawMessage](models.ActionTypeUpload, `[]`)
	require.ErrorIs(t, err, models.ErrNotAnObject)
	_, err = decode[models.Document](models.ActionTypeUpload, `{"@search.score":1}`)
	require.ErrorIs(t, err, models.ErrReservedName)
}

// What is recommended for documents of unknown shape keeps their key findable.
func TestTheKeyOfADecodedDocumentIsFoundByItsName(t *testing.T) {
	l := Letter{Action: models.ActionTypeMerge, Document: json.RawMessage(`{"v":1,"id":"k\u00407"}`)}
	byDocument, err := models.KeyFieldByName[models.Document]("id")
	require.NoError(t, err)
	document, err := Decode[models.Document](l)
	require.NoError(t, err)
	key, err := byDocument.Get(document)
	require.NoError(t, err)
	assert.Equal(t, "k@7", key)

	byRaw, err := models.KeyFieldByName[json.RawMessage]("id")
	require.NoError(t, err)
	raw, err := Decode[json.RawMessage](l)
	require.NoError(t, err)
	key, err = byRaw.Get(raw)
	require.NoError(t, err)
	assert.Equal(t, "k@7", key)
}

func anyJSON(depth int) *rapid.Generator[any] {
	scalars := rapid.OneOf(
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(),
		rapid.Int64().AsAny(), rapid.Float64().AsAny(), rapid.Float32().AsAny(),
	)
	if depth == 0 {
		return scalars
	}
	return rapid.OneOf(scalars,
		rapid.SliceOfN(anyJSON(depth-1), 0, 3).AsAny(),
		rapid.MapOfN(rapid.StringMatching("[a-c]{1,2}"), anyJSON(depth-1), 0, 3).AsAny())
}

// Whatever a sender sends arrives again as it was.
func TestDocumentAndRawMessageSurviveALetter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		document := models.Document(rapid.MapOfN(rapid.StringMatching("[a-c]{1,2}"), anyJSON(2), 0, 4).Draw(rt, "document"))
		action := rapid.SampledFrom([]models.ActionType{models.ActionTypeUpload, models.ActionTypeMerge}).Draw(rt, "action")
		sent, err := models.AppendAction(nil, action, document)
		if err != nil {
			rt.Fatal(err)
		}
		body, err := json.Marshal(document)
		if err != nil {
			rt.Fatal(err)
		}
		encoded, err := encodeLetter(Letter{Action: action, Document: body})
		if err != nil {
			rt.Fatal(err)
		}
		r, err := parseRecord(appendRecord(nil, 1, encoded))
		if err != nil {
			rt.Fatal(err)
		}
		decoded, err := Decode[models.Document](r.Letter)
		if err != nil {
			rt.Fatal(err)
		}
		if again, err := models.AppendAction(nil, action, decoded); err != nil || string(again) != string(sent) {
			rt.Fatalf("%s became %s, %v", sent, again, err)
		}
		raw, err := Decode[json.RawMessage](r.Letter)
		if err != nil {
			rt.Fatal(err)
		}
		if string(raw) != string(r.Document) {
			rt.Fatalf("%s became %s", r.Document, raw)
		}
	})
}
