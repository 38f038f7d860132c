package models_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// Otherwise every document would be refused.
func TestGivenTypesFitWhatTheGoTypeWrites(t *testing.T) {
	type misfits struct {
		ID     string          `json:"id" search:"key"`
		Bytes  []uint8         `json:"bytes" search:"type=Collection(Edm.Byte),dimensions=16,vectorEncoding=packedBit,vectorProfile=p"`
		Long   string          `json:"long" search:"type=Edm.Int64"`
		Times  []time.Time     `json:"times" search:"type=Edm.Boolean"`
		Moment time.Time       `json:"moment" search:"type=Edm.Int64"`
		Texts  []string        `json:"texts" search:"type=Collection(Edm.Double)"`
		Number json.Number     `json:"number" search:"type=Edm.String"`
		Quoted int             `json:"quoted,string" search:"type=Edm.Int32"`
		Flag   *bool           `json:"flag" search:"type=Edm.String"`
		Map    map[string]int  `json:"map" search:"type=Edm.String"`
		Func   chan int        `json:"func" search:"type=Edm.String"`
		One    int             `json:"one" search:"type=Collection(Edm.Int32)"`
		Vec    []string        `json:"vec" search:"type=Collection(Edm.Half),dimensions=2,vectorProfile=p"`
		Whole  float64         `json:"whole" search:"type=Edm.Int64"`
		Wholes []float64       `json:"wholes" search:"type=Collection(Edm.Int32)"`
		Small  []float32       `json:"small" search:"type=Collection(Edm.SByte),dimensions=2,vectorProfile=p"`
		Ints   map[string]int  `json:"ints" search:"type=Edm.GeographyPoint"`
		Struct struct{ X int } `json:"struct" search:"type=Edm.GeographyPoint"`
		Half   struct {
			Type        string  `json:"type" search:"-"`
			Coordinates float64 `json:"coordinates" search:"-"`
		} `json:"half" search:"type=Edm.GeographyPoint"`
		Points []map[string]string   `json:"points" search:"type=Collection(Edm.GeographyPoint)"`
		Place  models.GeographyPoint `json:"place" search:"type=Edm.String"`
	}
	_, err := models.FieldsOf[misfits]()
	problems := map[string]string{}
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var field *models.FieldError
		require.ErrorAs(t, e, &field)
		problems[field.Field] = field.Problem
	}
	assert.Equal(t, map[string]string{
		"Bytes":  "type=Collection(Edm.Byte) takes a list, and []uint8 is written as a string: []byte is written as base64, PackedBits as a list of numbers",
		"Long":   "type=Edm.Int64 takes a whole number, and string is written as a string",
		"Times":  "type=Edm.Boolean takes a boolean, and []time.Time is written as a list",
		"Moment": "type=Edm.Int64 takes a whole number, and time.Time is written as a string",
		"Texts":  "type=Collection(Edm.Double) takes a list whose elements are each a number, and those of []string are each a string",
		"Number": "type=Edm.String takes a string, and json.Number is written as a number",
		"Quoted": "type=Edm.Int32 takes a whole number, and int is written as a string",
		"Flag":   "type=Edm.String takes a string, and bool is written as a boolean",
		"Map":    "type=Edm.String takes a string, and map[string]int is written as an object",
		"Func":   "type=Edm.String takes a string, and chan int is written as nothing",
		"One":    "type=Collection(Edm.Int32) takes a list, and int is written as a whole number",
		"Vec":    "type=Collection(Edm.Half) takes a list whose elements are each a number, and those of []string are each a string",
		"Whole":  "type=Edm.Int64 takes a whole number, and float64 is written as a number with a fraction",
		"Wholes": "type=Collection(Edm.Int32) takes a list whose elements are each a whole number, and those of []float64 are each a number with a fraction",
		"Small":  "type=Collection(Edm.SByte) takes a list whose elements are each a whole number, and those of []float32 are each a number with a fraction",
		"Ints":   "type=Edm.GeographyPoint takes an object with type and coordinates, and map[string]int is written as an object",
		"Struct": "type=Edm.GeographyPoint takes an object with type and coordinates, and struct { X int } is written as an object",
		"Half":   "type=Edm.GeographyPoint takes an object with type and coordinates, and struct { Type string \"json:\\\"type\\\" search:\\\"-\\\"\"; Coordinates float64 \"json:\\\"coordinates\\\" search:\\\"-\\\"\" } is written as an object",
		"Points": "type=Collection(Edm.GeographyPoint) takes a list whose elements are each an object with type and coordinates, and those of []map[string]string are each an object",
		"Place":  "type=Edm.String takes a string, and models.GeographyPoint is written as an object with type and coordinates",
	}, problems)

	fields, err := models.DocumentFieldsOf[misfits]()
	require.NoError(t, err)
	types := map[string]models.DataType{}
	for _, f := range fields {
		types[f.Name] = f.Type
	}
	assert.Equal(t, models.DataTypeString, types["bytes"], "the shape of the Go type, for Check to compare with the index")
	assert.Equal(t, models.DataTypeString, types["long"])
	assert.Equal(t, models.Collection(models.DataTypeDateTimeOffset), types["times"])
	assert.Equal(t, models.DataTypeDouble, types["whole"])
	assert.Equal(t, models.DataTypeComplex, types["struct"])
	assert.Empty(t, types["ints"])
}

type givenTypesThatFit struct {
	ID     string                      `json:"id" search:"key"`
	Time   string                      `json:"time" search:"type=Edm.DateTimeOffset"`
	Text   time.Time                   `json:"text" search:"type=Edm.String"`
	Own    ownJSON                     `json:"own" search:"type=Edm.Boolean"`
	Any    any                         `json:"any" search:"type=Collection(Edm.Int32)"`
	Anys   []any                       `json:"anys" search:"type=Collection(Edm.Int32)"`
	Point  map[string]any              `json:"point" search:"type=Edm.GeographyPoint"`
	Array  [2]uint8                    `json:"array" search:"type=Collection(Edm.Byte),vectorEncoding=packedBit,vectorProfile=p"`
	Bits   models.PackedBits           `json:"bits" search:"dimensions=16,vectorEncoding=packedBit,vectorProfile=p"`
	Others []*json.Number              `json:"others" search:"type=Collection(Edm.Double)"`
	Number json.Number                 `json:"number" search:"type=Edm.Int64"`
	Double int64                       `json:"double" search:"type=Edm.Double"`
	Raw    *map[string]json.RawMessage `json:"raw" search:"type=Edm.GeographyPoint"`
	Places []struct {
		Type        string    `json:"type" search:"-"`
		Coordinates []float64 `json:"coordinates" search:"-"`
	} `json:"places" search:"type=Collection(Edm.GeographyPoint)"`
}

func TestGivenTypesThatFitAreTaken(t *testing.T) {
	_, err := models.FieldsOf[givenTypesThatFit]()
	require.NoError(t, err)
}

// An embedded type promotes its MarshalJSON.
func TestDocumentThatWritesItselfHasNoKnownFields(t *testing.T) {
	type stamped struct {
		time.Time
		ID string `json:"id" search:"key"`
	}
	_, fieldsErr := models.FieldsOf[stamped]()
	_, documentErr := models.DocumentFieldsOf[*stamped]()
	for _, err := range []error{fieldsErr, documentErr} {
		require.ErrorContains(t, err, "it writes its own JSON, perhaps by a method of an embedded type")
		require.ErrorAs(t, err, new(*models.FieldError))
	}
}

func TestPackedBitsAreAListOfNumbers(t *testing.T) {
	type document struct {
		Bits  models.PackedBits   `json:"bits"`
		Lists []models.PackedBits `json:"lists,omitempty"`
	}
	for text, bits := range map[string]models.PackedBits{`{"bits":[0,128,255]}`: {0, 128, 255}, `{"bits":null}`: nil, `{"bits":[]}`: {}} {
		out, err := json.Marshal(document{Bits: bits})
		require.NoError(t, err)
		assert.Equal(t, text, string(out))
		var back document
		require.NoError(t, json.Unmarshal([]byte(text), &back))
		assert.Equal(t, bits, back.Bits)
	}
	require.Error(t, json.Unmarshal([]byte(`{"bits":[256]}`), new(document)))
	_, err := models.FieldsOf[struct {
		ID    string              `json:"id" search:"key"`
		Lists []models.PackedBits `json:"lists"`
	}]()
	require.ErrorContains(t, err, "a list of lists")
}
