package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/go-azsearch/azsearch/models"
)

// Kept is the number of different documents. They are sent in turn, each time with a new key.
const Kept = 1000

// Documents is an endless sequence of documents.
type Documents struct {
	Size int // mean size in bytes

	key   string
	tails [][]byte // documents without the beginning up to the key
	n     int
}

// NewDocuments returns documents that repeat some with new keys.
func NewDocuments(keyField string, some []json.RawMessage) (*Documents, error) {
	if len(some) == 0 {
		return nil, errors.New("no documents to send")
	}
	name, err := json.Marshal(keyField)
	if err != nil {
		return nil, err
	}
	d := &Documents{key: "{" + string(name) + `:"`}
	for _, document := range some {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(document, &members); err != nil {
			return nil, err
		}
		delete(members, keyField)
		tail, err := json.Marshal(members)
		if err != nil {
			return nil, err
		}
		if len(members) > 0 {
			tail[0] = ','
		} else {
			tail = tail[1:]
		}
		d.tails = append(d.tails, append([]byte{'"'}, tail...))
		d.Size += len(tail) + len(d.key) + 8
	}
	d.Size /= len(some)
	return d, nil
}

func (d *Documents) next() models.RawAction {
	key := strconv.Itoa(d.n)
	tail := d.tails[d.n%len(d.tails)]
	d.n++
	document := make([]byte, 0, len(d.key)+len(key)+len(tail))
	document = append(append(append(document, d.key...), key...), tail...)
	return models.RawAction{Key: key, Type: models.ActionTypeUpload, Document: document}
}

var words = strings.Fields("a bright harbour view quiet rooms near the old town market with breakfast pool garden terrace and bicycles for guests who stay longer than one night")

// Generate returns Kept random documents with the given fields, always the same ones.
func Generate(fields []models.SearchField) ([]json.RawMessage, error) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	all := make([]json.RawMessage, Kept)
	var err error
	for i := range all {
		if all[i], err = json.Marshal(g.object(fields)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

type generator struct{ *rand.Rand }

func (g generator) object(fields []models.SearchField) map[string]any {
	o := map[string]any{}
	for _, f := range fields {
		if f.Key == nil || !*f.Key {
			o[f.Name] = g.value(f.Type, &f)
		}
	}
	return o
}

// Maximum number of elements in a list, and of words in a text.
const (
	mostElements = 4
	mostWords    = 40
)

func (g generator) value(t models.DataType, f *models.SearchField) any {
	if element, is := t.Element(); is {
		n := g.IntN(mostElements + 1)
		if f.Dimensions != nil {
			if n = *f.Dimensions; element == models.DataTypeByte { // packed bits
				n = (n + 7) / 8
			}
		}
		all := make([]any, n)
		for i := range all {
			all[i] = g.value(element, f)
		}
		return all
	}
	switch t {
	case models.DataTypeBoolean:
		return g.IntN(2) == 0
	case models.DataTypeInt32, models.DataTypeInt64:
		return g.IntN(1000)
	case models.DataTypeByte, models.DataTypeSByte, models.DataTypeInt16:
		return g.IntN(100)
	case models.DataTypeDouble:
		return g.Float64() * 1000
	case models.DataTypeSingle, models.DataTypeHalf:
		return float64(g.IntN(2000)-1000) / 1000
	case models.DataTypeDateTimeOffset:
		return time.Unix(1.6e9+g.Int64N(2e8), 0).UTC().Format(time.RFC3339)
	case models.DataTypeGeographyPoint:
		return json.RawMessage(fmt.Sprintf(`{"type":"Point","coordinates":[%.5f,%.5f]}`, g.Float64()*360-180, g.Float64()*180-90))
	case models.DataTypeComplex:
		return g.object(f.Fields)
	}
	text := make([]string, 1)
	if f.Searchable == nil || *f.Searchable { // other strings have one word, like a category
		text = make([]string, 1+g.IntN(mostWords))
	}
	for i := range text {
		text[i] = words[g.IntN(len(words))]
	}
	return strings.Join(text, " ")
}
