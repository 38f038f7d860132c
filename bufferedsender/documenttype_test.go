package bufferedsender_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/models"
	"github.com/stretchr/testify/assert"
)

// newOf makes a sender of a type and returns the error.
func newOf[T any]() error {
	_, err := bufferedsender.New(&fakeIndexer{}, &bufferedsender.Options[T]{Documents: bufferedsender.Documents[T]{KeyField: "id"}, Logger: mute})
	return err
}

func TestATypeThatIsNoJSONObjectIsRefusedByNew(t *testing.T) {
	for name, err := range map[string]error{
		"string": newOf[string](), "int": newOf[int](), "slice": newOf[[]hotel](), "bool": newOf[*bool](), "text": newOf[textOnly](),
	} {
		assert.ErrorContains(t, err, "are no JSON objects", name)
	}
	for name, err := range map[string]error{
		"struct": newOf[hotel](), "pointer": newOf[*hotel](), "map": newOf[map[string]any](), "raw": newOf[json.RawMessage](),
		"any": newOf[any](), "patch": newOf[*models.Patch](), "document": newOf[models.Document](),
	} {
		assert.NoError(t, err, name)
	}
}

// textOnly is a string in JSON.
type textOnly struct{ at time.Time }

func (t textOnly) MarshalText() ([]byte, error) { return []byte(t.at.String()), nil }
