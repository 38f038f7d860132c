package bufferedsender

import (
	"encoding/json"
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
		"string": checkDocumentType[string](), "int": checkDocumentType[int](), "bool": checkDocumentType[*bool](),
		"slice": checkDocumentType[[]plain](), "text": checkDocumentType[textOnly](), "pointer to text": checkDocumentType[*textOnly](),
	} {
		assert.ErrorContains(t, err, "are no JSON objects", name)
	}
	for name, err := range map[string]error{
		"struct": checkDocumentType[plain](), "pointer": checkDocumentType[*plain](), "map": checkDocumentType[map[string]any](),
		"any": checkDocumentType[any](), "raw": checkDocumentType[json.RawMessage](), "patch": checkDocumentType[*models.Patch](),
		"document": checkDocumentType[models.Document](),
	} {
		assert.NoError(t, err, name)
	}
}
