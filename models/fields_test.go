package models_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/testkit"
	"github.com/go-azsearch/azsearch/models"
)

type audit struct {
	Created time.Time  `json:"created" search:"filterable, sortable"`
	Changed *time.Time `json:"changed"`
}

type address struct {
	City   string                `json:"city" search:"searchable,filterable,sortable,facetable,normalizer=lowercase"`
	Street *string               `json:"street"`
	At     models.GeographyPoint `json:"at" search:"filterable,sortable"`
}

type suite struct {
	Type   string   `json:"type" search:"searchAnalyzer=keyword,indexAnalyzer=words,facetable"`
	Rate   float64  `json:"rate" search:"filterable"`
	Beds   []uint16 `json:"beds,omitempty"`
	Secret string   `json:"secret" search:"hidden"`
}

type everything struct {
	audit
	ID       string            `json:"id" search:"key,filterable"`
	Text     string            `json:"text" search:"analyzer=en.lucene,synonymMaps=syn"`
	Plain    string            `json:"plain"`
	Named    hotelID           `json:"named" search:"searchable"`
	UUID     uuid              `json:"uuid" search:"filterable"`
	IP       netip.Addr        `json:"ip"`
	Tags     []string          `json:"tags" search:"searchable,filterable,facetable"`
	Bool     bool              `json:"bool" search:"filterable,sortable,facetable"`
	I8       int8              `json:"i8"`
	I16      int16             `json:"i16"`
	I32      int32             `json:"i32"`
	U8       uint8             `json:"u8"`
	U16      uint16            `json:"u16"`
	I        int               `json:"i" search:"sortable"`
	I64      *int64            `json:"i64"`
	U32      uint32            `json:"u32"`
	U64      uint64            `json:"u64" search:"type=Edm.Int64"`
	F32      float32           `json:"f32"`
	F64      float64           `json:"f64"`
	Quoted   int               `json:"quoted,string"`
	Number   json.Number       `json:"number" search:"type=Edm.Double"`
	Any      any               `json:"any" search:"type=Collection(Edm.Int32)"`
	Bytes    []byte            `json:"bytes" search:"type=Edm.String"`
	Pair     [2]float64        `json:"pair"`
	Doubles  []float64         `json:"doubles"`
	Bytes2   [4]byte           `json:"bytes2"`
	Vector   []float32         `json:"vector" search:"dimensions=1536,vectorProfile=fast"`
	Array    [3]float32        `json:"array" search:"vectorProfile=fast,retrievable"`
	Wide     []float64         `json:"wide" search:"dimensions=4,vectorProfile=fast,stored=false"`
	Small    []int8            `json:"small" search:"dimensions=4,vectorProfile=fast,stored=true"`
	Short    []int16           `json:"short" search:"dimensions=4,vectorProfile=fast"`
	Half     []float32         `json:"half" search:"dimensions=4,vectorProfile=fast,type=Collection(Edm.Half)"`
	Bits     [2]int            `json:"bits" search:"type=Collection(Edm.Byte),vectorEncoding=packedBit,vectorProfile=fast"`
	Address  address           `json:"address"`
	Suites   []suite           `json:"suites"`
	Pointers []*suite          `json:"pointers"`
	Groups   []string          `json:"groups" search:"permissionFilter=groupIds,filterable"`
	Label    string            `json:"label" search:"sensitivityLabel,filterable"`
	Skipped  map[string]string `json:"skipped,omitempty" search:"-"`
	Ignored  chan int          `json:"-"`
	hidden   chan int
}

func TestFieldsOfAStructAreThoseOfTheGoldenFile(t *testing.T) {
	_ = everything{}.hidden
	fields, err := models.FieldsOf[everything]()
	require.NoError(t, err)
	b, err := json.MarshalIndent(fields, "", "  ")
	require.NoError(t, err)
	testkit.Golden(t, "golden/fields.json", append(b, '\n'))
	again, err := models.FieldsOf[**everything]()
	require.NoError(t, err)
	require.Equal(t, fields, again)
}

func TestUntaggedFieldIsOnlyRetrievable(t *testing.T) {
	fields, err := models.FieldsOf[struct {
		ID    string `json:"id" search:"key"`
		Plain string `json:"plain"`
		Empty string `json:"empty" search:""`
	}]()
	require.NoError(t, err)
	off := new(false)
	require.Equal(t, []models.SearchField{
		{Name: "id", Type: models.DataTypeString, Key: new(true), Retrievable: new(true), Searchable: off, Filterable: off, Sortable: off, Facetable: off},
		{Name: "plain", Type: models.DataTypeString, Retrievable: new(true), Searchable: off, Filterable: off, Sortable: off, Facetable: off},
		{Name: "empty", Type: models.DataTypeString, Retrievable: new(true), Searchable: off, Filterable: off, Sortable: off, Facetable: off},
	}, fields)
}

func TestFieldsAndKeyAgree(t *testing.T) {
	fields, err := models.FieldsOf[everything]()
	require.NoError(t, err)
	key, err := models.KeyFieldOf[everything]()
	require.NoError(t, err)
	inIndex, ok := models.SearchIndex{Fields: fields}.KeyField()
	require.True(t, ok)
	require.Equal(t, inIndex.Name, key.Name)
}

type selfish struct {
	ID   string `search:"key"`
	Next []*selfish
}

type ownJSON struct{}

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte(`7`), nil }

func TestEveryProblemOfADocumentTypeIsReportedAtOnce(t *testing.T) {
	type nested struct {
		Sub    string    `json:"sub" search:"key"`
		Sort   int       `search:"sortable"`
		Vector []float32 `search:"dimensions=4,vectorProfile=p"`
	}
	type bad struct {
		ID       string                `search:"key,hidden"`
		Second   int                   `search:"key"`
		Quoted   string                `json:"Quoted,string" search:"key"`
		Typo     string                `search:"serchable"`
		Short    string                `search:"filter"`
		Case     string                `search:"Filterable"`
		Value    string                `search:"sortable=false"`
		NoValue  string                `search:"analyzer"`
		Empty    string                `search:"sortable,"`
		Twice    string                `search:"sortable,sortable"`
		Minus    string                `search:"-,sortable"`
		Both     string                `search:"hidden,retrievable"`
		Int      int                   `search:"searchable"`
		OneOf    string                `search:"searchAnalyzer=a"`
		Three    string                `search:"analyzer=a,searchAnalyzer=b,indexAnalyzer=c"`
		Norm     string                `search:"normalizer=lowercase"`
		NormInt  int                   `search:"normalizer=lowercase,filterable"`
		List     []string              `search:"sortable"`
		Point    models.GeographyPoint `search:"facetable"`
		Dims     string                `search:"dimensions=3"`
		Stored   string                `search:"stored=false"`
		Vec      []float32
		VecBad   []float32  `search:"dimensions=x,vectorProfile=p"`
		VecOne   []float32  `search:"dimensions=1,vectorProfile=p"`
		VecFilt  []float32  `search:"dimensions=9,vectorProfile=p,filterable"`
		VecText  []float32  `search:"dimensions=9,vectorProfile=p,analyzer=keyword"`
		VecStore []float32  `search:"dimensions=9,vectorProfile=p,stored=false,retrievable"`
		VecMaybe []float32  `search:"dimensions=9,vectorProfile=p,stored=maybe"`
		VecEnc   []float32  `search:"dimensions=9,vectorProfile=p,vectorEncoding=packedBit"`
		Arr      [3]float32 `search:"dimensions=4,vectorProfile=p"`
		U        uint
		Chan     chan int
		Map      map[string]string
		Any      any
		Lists    [][]string
		Bytes    []byte
		Number   json.Number
		Own      ownJSON
		Owns     []ownJSON
		Type     string `search:"type=Edm.Money"`
		Complex  string `search:"type=Edm.ComplexType"`
		Single   string `search:"type=Edm.Single"`
		Dash     string `json:"a-b"`
		Digit    string `json:"1st"`
		Azure    string `json:"azureSearchX"`
		Perm     string `search:"permissionFilter=everyone"`
		One      nested `search:"filterable"`
		Many     []nested
		Nothing  struct{}
		Self     selfish
		JSON     string `json:"-" search:"filterable"`
		private  string `search:"filterable"` //nolint:unused // on purpose: encoding/json does not write it
	}
	_, err := models.FieldsOf[*bad]()
	problems := map[string]int{}
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var fe *models.FieldError
		require.ErrorAs(t, e, &fe)
		require.Equal(t, "models_test.bad", fe.Type)
		require.NotEmpty(t, fe.Problem)
		problems[fe.Field]++
	}
	for field, n := range map[string]int{
		"ID": 1, "Second": 1, "Quoted": 1, "Typo": 1, "Short": 1, "Case": 1, "Value": 1, "NoValue": 1, "Empty": 1, "Twice": 1, "Minus": 1,
		"Both": 1, "Int": 1, "OneOf": 1, "Three": 1, "Norm": 1, "NormInt": 1, "List": 1, "Point": 1, "Dims": 1, "Stored": 1,
		"Vec": 2, "VecBad": 1, "VecOne": 1, "VecFilt": 1, "VecText": 1, "VecStore": 1, "VecMaybe": 1, "VecEnc": 1, "Arr": 1,
		"U": 1, "Chan": 1, "Map": 1, "Any": 1, "Lists": 1, "Bytes": 1, "Number": 1, "Own": 1, "Owns": 1, "Type": 1, "Complex": 1, "Single": 1,
		"Dash": 1, "Digit": 1, "Azure": 1, "Perm": 1, "One": 1, "One.Sub": 1, "One.Vector": 1, "Many.Sub": 1, "Many.Sort": 1, "Many.Vector": 1,
		"Self.ID": 1, "Self.Next": 1, "JSON": 1, "private": 1,
		"ID, Second, Quoted, One.Sub, Many.Sub, Self.ID": 1,
	} {
		require.Equal(t, n, problems[field], "problems of %q in\n%v", field, err)
		delete(problems, field)
	}
	require.Empty(t, problems)
	for _, says := range []string{`"serchable" is not a word of the tag`, `is it "filterable"?`, "field One.Vector: a vector must be", "Self.Next: models_test.selfish contains itself"} {
		require.ErrorContains(t, err, says)
	}
}

func TestTypeThatCannotBeADocumentIsRefused(t *testing.T) {
	for says, err := range map[string]error{
		"it is not a struct":      second(models.FieldsOf[map[string]any]()),
		"no field is the key":     second(models.FieldsOf[noKey]()),
		"has no fields":           second(models.FieldsOf[struct{}]()),
		"type string":             second(models.FieldsOf[*string]()),
		"type time.Time":          second(models.FieldsOf[time.Time]()),
		"exactly one key":         second(models.FieldsOf[twoKeys]()),
		"must be a string":        second(models.FieldsOf[intKey]()),
		"not exported":            second(models.FieldsOf[unexportedKey]()),
		"contains itself":         second(models.FieldsOf[selfish]()),
		"models.GeographyPoint: ": second(models.FieldsOf[models.GeographyPoint]()),
	} {
		require.ErrorContains(t, err, says)
		var fe *models.FieldError
		require.True(t, errors.As(err, &fe), says)
	}
}
