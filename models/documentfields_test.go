package models_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
)

// A type without search tags, which FieldsOf refuses because it has no key.
func ExampleDocumentFieldsOf() {
	type Hotel struct {
		ID      string   `json:"hotelId"`
		Rating  float64  `json:"rating"`
		Tags    []string `json:"tags"`
		Details any      `json:"details"`
		Address struct {
			City string `json:"city"`
		} `json:"address"`
	}
	fields, err := models.DocumentFieldsOf[Hotel]()
	for _, f := range fields {
		fmt.Printf("%s %q %d\n", f.Name, f.Type, len(f.Fields))
	}
	fmt.Println(err)
	// Output:
	// hotelId "Edm.String" 0
	// rating "Edm.Double" 0
	// tags "Collection(Edm.String)" 0
	// details "" 0
	// address "Edm.ComplexType" 1
	// <nil>
}

type tree struct {
	Name     string `json:"name"`
	Children []tree `json:"children"`
}

type writesItself struct{}

func (writesItself) MarshalJSON() ([]byte, error) { return []byte(`{}`), nil }

func TestDocumentFieldsOfAreThoseOfFieldsOfWithoutWhatOnlyANewIndexNeeds(t *testing.T) {
	type hotel struct {
		ID      string                `json:"id" search:"key,filterable"`
		Name    string                `json:"name" search:"analyzer=en.lucene"`
		Opened  time.Time             `json:"opened" search:"sortable"`
		Where   models.GeographyPoint `json:"where"`
		Vector  []float32             `json:"vector" search:"dimensions=3,vectorProfile=p"`
		Address struct {
			City string `json:"city" search:"facetable"`
		} `json:"address"`
		Secret string `json:"secret,omitempty" search:"-"`
	}
	want, err := models.FieldsOf[hotel]()
	require.NoError(t, err)
	got, err := models.DocumentFieldsOf[*hotel]()
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestDocumentFieldsOfPassesOverWhatFieldsOfRefuses(t *testing.T) {
	type lax struct {
		Big    uint64          `json:"big"`
		Bytes  []byte          `json:"bytes"`
		Any    any             `json:"any"`
		Number json.Number     `json:"number"`
		Own    writesItself    `json:"own"`
		Map    map[string]int  `json:"map"`
		Raw    json.RawMessage `json:"raw"`
		Typo   string          `json:"typo" search:"sortabel,filterable"`
		Vector []float32       `json:"vector"`
		Tree   *tree           `json:"tree"`
	}
	fields, err := models.DocumentFieldsOf[lax]()
	require.NoError(t, err)
	types := map[string]models.DataType{}
	for _, f := range fields {
		types[f.Name] = f.Type
	}
	assert.Equal(t, map[string]models.DataType{
		"big": models.DataTypeInt64, "bytes": models.DataTypeString, "any": "", "number": "", "own": "", "map": "", "raw": "",
		"typo": models.DataTypeString, "vector": models.Collection(models.DataTypeSingle), "tree": models.DataTypeComplex,
	}, types)
	assert.True(t, *fields[7].Filterable)
	assert.Nil(t, fields[8].Dimensions)
	inner := fields[9].Fields
	require.Len(t, inner, 2)
	assert.Equal(t, models.Collection(models.DataTypeComplex), inner[1].Type)
	assert.Empty(t, inner[1].Fields, "the struct contains itself")
}

func TestDocumentFieldsOfWhatIsNoStructIsAnError(t *testing.T) {
	var problem *models.FieldError
	for text, do := range map[string]func() error{
		"models.Document: it is not a struct":              func() error { _, err := models.DocumentFieldsOf[models.Document](); return err },
		"time.Time: it is not a struct":                    func() error { _, err := models.DocumentFieldsOf[time.Time](); return err },
		"models_test.writesItself: it writes its own JSON": func() error { _, err := models.DocumentFieldsOf[*writesItself](); return err },
	} {
		err := do()
		require.ErrorAs(t, err, &problem)
		require.ErrorContains(t, err, text)
	}
}
