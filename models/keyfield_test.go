package models_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

type hotelID string

type uuid [4]byte

func (u uuid) MarshalText() ([]byte, error) {
	if u == (uuid{}) {
		return nil, errors.New("no id")
	}
	return []byte(hex.EncodeToString(u[:])), nil
}

type numericID int

func (n *numericID) MarshalJSON() ([]byte, error) {
	return []byte(`"n` + strings.Repeat("i", int(*n)) + `"`), nil
}

type base struct {
	ID string `json:"id" search:" key , filterable"`
}

type (
	named struct {
		ID hotelID `search:"key"`
	}
	pointed struct {
		ID **string `json:"id" search:"key"`
	}
	embedding struct {
		base
		Name string
	}
	embeddingPointer struct {
		*base
		Name string
	}
	shadowing struct {
		base
		Mine string `json:"id"`
	}
	texted struct {
		ID *uuid `json:"id" search:"key"`
	}
	jsoned struct {
		ID numericID `json:"id" search:"key"`
	}
	twoKeys struct {
		A string `search:"key"`
		base
	}
	intKey struct {
		ID int `search:"key"`
	}
	quotedKey struct {
		ID string `json:",string" search:"key"`
	}
	hiddenKey struct {
		ID string `json:"-" search:"key"`
	}
	unexportedKey struct {
		id string `search:"key"` //nolint:unused // on purpose: nothing can set it
	}
	noKey struct{ ID string }
)

func keyOf[T any](doc T) func(t *testing.T) (name, key string, err error) {
	return func(t *testing.T) (string, string, error) {
		k, err := models.KeyFieldOf[T]()
		require.NoError(t, err)
		key, err := k.Get(doc)
		return k.Name, key, err
	}
}

func keyNamed[T any](name string, doc T) func(t *testing.T) (string, string, error) {
	return func(t *testing.T) (string, string, error) {
		k, err := models.KeyFieldByName[T](name)
		require.NoError(t, err)
		key, err := k.Get(doc)
		return k.Name, key, err
	}
}

func TestKeyIsFoundByItsTag(t *testing.T) {
	id := ptr("7")
	for name, c := range map[string]struct {
		get       func(t *testing.T) (string, string, error)
		name, key string
	}{
		"struct":                         {keyOf(hotel{ID: "7"}), "hotelId", "7"},
		"pointer":                        {keyOf(&hotel{ID: "7"}), "hotelId", "7"},
		"pointer to pointer":             {keyOf(ptr(&hotel{ID: "7"})), "hotelId", "7"},
		"named string without json name": {keyOf(named{"7"}), "ID", "7"},
		"pointers to a string":           {keyOf(pointed{&id}), "id", "7"},
		"embedded":                       {keyOf(embedding{base: base{"7"}}), "id", "7"},
		"embedded pointer":               {keyOf(&embeddingPointer{base: &base{"7"}}), "id", "7"},
		"type that marshals text":        {keyOf(texted{&uuid{1, 2, 3, 4}}), "id", "01020304"},
		"type that marshals JSON":        {keyOf(jsoned{3}), "id", "niii"},
		"empty":                          {keyOf(hotel{}), "hotelId", ""},
	} {
		t.Run(name, func(t *testing.T) {
			n, key, err := c.get(t)
			require.NoError(t, err)
			require.Equal(t, c.name, n)
			require.Equal(t, c.key, key)
		})
	}
}

func TestTypeWithoutAKeyTagHasNoKeyField(t *testing.T) {
	for name, get := range map[string]func(t *testing.T) (string, string, error){
		"struct":                             keyOf(noKey{"1"}),
		"map":                                keyOf(map[string]any{"key": "1"}),
		"any":                                keyOf[any](hotel{ID: "1"}),
		"hidden by a field of the same name": keyOf(shadowing{}),
		"string":                             keyOf("1"),
		"raw":                                keyOf(json.RawMessage(`{"id":"1"}`)),
		"word within a word": keyOf(struct {
			A string `search:"keyed,monkey"`
		}{}),
	} {
		t.Run(name, func(t *testing.T) {
			n, _, err := get(t)
			require.Empty(t, n)
			require.ErrorIs(t, err, models.ErrNoKey)
			require.ErrorAs(t, err, new(*models.EncodeError))
		})
	}
}

func TestBadKeyDeclarationNamesTypeAndFields(t *testing.T) {
	errOf := func(_ any, err error) error { return err }
	for name, c := range map[string]struct {
		err         error
		typ, fields string
	}{
		"two keys":          {second(models.KeyFieldOf[*twoKeys]()), "models_test.twoKeys", "A, base.ID"},
		"int":               {second(models.KeyFieldOf[intKey]()), "models_test.intKey", "ID"},
		"string option":     {second(models.KeyFieldOf[quotedKey]()), "models_test.quotedKey", "ID"},
		"json minus":        {second(models.KeyFieldOf[hiddenKey]()), "models_test.hiddenKey", "ID"},
		"unexported":        {second(models.KeyFieldOf[unexportedKey]()), "models_test.unexportedKey", "id"},
		"no such name":      {second(models.KeyFieldByName[hotel]("ID")), "models_test.hotel", ""},
		"name of a number":  {second(models.KeyFieldByName[room]("rate")), "models_test.room", "Rate"},
		"empty name":        {second(models.KeyFieldByName[models.Document]("")), "models.Document", ""},
		"name of a hidden":  {second(models.KeyFieldByName[hiddenKey]("ID")), "models_test.hiddenKey", ""},
		"name of a rivalry": {errOf(models.KeyFieldByName[rivals]("Code")), "models_test.rivals", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var fe *models.FieldError
			require.ErrorAs(t, c.err, &fe)
			require.Equal(t, c.typ, fe.Type)
			require.Equal(t, c.fields, fe.Field)
			require.ErrorContains(t, c.err, c.typ)
			require.ErrorContains(t, c.err, c.fields)
		})
	}
}

type (
	left  struct{ Code string }
	right struct{ Code string }
	// rivals has two fields "Code" at one depth, so encoding/json writes neither.
	rivals struct {
		left
		right
	}
)

func second[T any](_ T, err error) error { return err }

func TestKeyIsFoundByItsNameInJSON(t *testing.T) {
	doc := `{"a":{"id":"no"},"b":"\"id\":\"no\"","\u0069d":"\u0037\n"}`
	for name, c := range map[string]struct {
		get func(t *testing.T) (string, string, error)
		key string
	}{
		"struct":                    {keyNamed("hotelName", hotel{Name: "x"}), "x"},
		"pointer to struct":         {keyNamed("hotelName", &hotel{Name: "x"}), "x"},
		"embedded":                  {keyNamed("id", embedding{base: base{"x"}}), "x"},
		"shadowed":                  {keyNamed("id", shadowing{Mine: "x", base: base{"y"}}), "x"},
		"map":                       {keyNamed("id", map[string]any{"id": "x"}), "x"},
		"map of strings":            {keyNamed("id", map[string]string{"id": "x"}), "x"},
		"map with a named string":   {keyNamed("id", map[string]any{"id": hotelID("x")}), "x"},
		"map with a UUID":           {keyNamed("id", map[string]any{"id": uuid{1}}), "01000000"},
		"map with a pointer":        {keyNamed("id", map[string]any{"id": ptr("x")}), "x"},
		"Document":                  {keyNamed("id", models.Document{"id": "x"}), "x"},
		"pointer to Document":       {keyNamed("id", &models.Document{"id": "x"}), "x"},
		"raw":                       {keyNamed("id", json.RawMessage(doc)), "7\n"},
		"pointer to raw":            {keyNamed("id", ptr(json.RawMessage(doc))), "7\n"},
		"any holding a struct":      {keyNamed[any]("hotelId", hotel{ID: "x"}), "x"},
		"any holding raw":           {keyNamed[any]("id", json.RawMessage(` { "id" : "x" } `)), "x"},
		"own MarshalJSON":           {keyNamed("via", byPointer{"x"}), "x"},
		"pointer, own MarshalJSON":  {keyNamed("via", &byPointer{"x"}), "x"},
		"map of a named type":       {keyNamed("id", map[hotelID]hotelID{"id": "x"}), "x"},
		"struct behind two pointer": {keyNamed("hotelId", ptr(&hotel{ID: "x"})), "x"},
	} {
		t.Run(name, func(t *testing.T) {
			_, key, err := c.get(t)
			require.NoError(t, err)
			require.Equal(t, c.key, key)
		})
	}
}

func TestMissingKeyIsAnErrorNotAnEmptyKey(t *testing.T) {
	for name, get := range map[string]func(t *testing.T) (string, string, error){
		"nil pointer to struct":    keyOf((*hotel)(nil)),
		"nil pointer to string":    keyOf(pointed{}),
		"nil embedded pointer":     keyOf(embeddingPointer{}),
		"nil UUID":                 keyOf(texted{}),
		"absent in map":            keyNamed("id", models.Document{}),
		"nil map":                  keyNamed("id", map[string]any(nil)),
		"null in map":              keyNamed("id", map[string]any{"id": nil}),
		"nil pointer in map":       keyNamed("id", map[string]any{"id": (*string)(nil)}),
		"absent in map of strings": keyNamed("id", map[string]string{}),
		"absent in raw":            keyNamed("id", json.RawMessage(`{"ID":"x"}`)),
		"null in raw":              keyNamed("id", json.RawMessage(`{"id":null}`)),
	} {
		t.Run(name, func(t *testing.T) {
			_, key, err := get(t)
			require.ErrorIs(t, err, models.ErrNoKey)
			require.ErrorAs(t, err, new(*models.EncodeError))
			require.Empty(t, key)
		})
	}
}

func TestKeyThatIsNoStringIsAnError(t *testing.T) {
	for name, get := range map[string]func(t *testing.T) (string, string, error){
		"number in map":      keyNamed("id", models.Document{"id": 7}),
		"number in raw":      keyNamed("id", json.RawMessage(`{"id":7}`)),
		"object in raw":      keyNamed("id", json.RawMessage(`{"id":{"id":"7"}}`)),
		"two keys in raw":    keyNamed("id", json.RawMessage(`{"id":"7","i\u0064":"8"}`)),
		"raw array":          keyNamed("id", json.RawMessage(`[]`)),
		"raw null":           keyNamed("id", json.RawMessage(`null`)),
		"nil raw pointer":    keyNamed("id", (*json.RawMessage)(nil)),
		"nil Document":       keyNamed("id", (*models.Document)(nil)),
		"malformed raw":      keyNamed("id", json.RawMessage(`{"id":"7`)),
		"empty raw":          keyNamed("id", json.RawMessage(``)),
		"UUID that fails":    keyOf(texted{&uuid{}}),
		"any holding nil":    keyNamed[any]("id", nil),
		"any holding a NaN":  keyNamed[any]("id", failing{}),
		"bad string in raw":  keyNamed("id", json.RawMessage(`{"id":"\x"}`)),
		"panicking document": keyNamed[any]("id", panicking{}),
	} {
		t.Run(name, func(t *testing.T) {
			_, key, err := get(t)
			require.ErrorAs(t, err, new(*models.EncodeError))
			require.Empty(t, key)
		})
	}
}

func BenchmarkKeyFieldGet(b *testing.B) {
	h := benchHotel()
	raw, err := json.Marshal(h)
	require.NoError(b, err)
	byTag, err := models.KeyFieldOf[hotel]()
	require.NoError(b, err)
	byName, err := models.KeyFieldByName[json.RawMessage]("hotelId")
	require.NoError(b, err)
	b.Run("struct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := byTag.Get(h); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("raw JSON of 650 bytes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := byName.Get(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
