package bufferedsender

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-azsearch/azsearch/models"
)

// textOnly is a string in JSON.
type textOnly struct{ at time.Time }

func (t textOnly) MarshalText() ([]byte, error) { return []byte(t.at.String()), nil }

type plain struct{ ID string }

func TestOnlyWhatIsAnObjectInJSONIsADocument(t *testing.T) {
	for name, err := range map[string]error{
		"string": of[string](), "int": of[int](), "bool": of[*bool](),
		"slice": of[[]plain](), "text": of[textOnly](), "pointer to text": of[*textOnly](),
	} {
		assert.ErrorContains(t, err, "are not JSON objects", name)
	}
	for name, err := range map[string]error{
		"struct": of[plain](), "pointer": of[*plain](), "map": of[map[string]any](),
		"any": of[any](), "raw": of[json.RawMessage](), "patch": of[*models.Patch](),
		"document": of[models.Document](),
	} {
		assert.NoError(t, err, name)
	}
}

func of[T any]() error { return checkDocumentType(reflect.TypeFor[T]()) }
