package deadletter

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/go-azsearch/azsearch/models"
)

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

// The document is read back byte for byte, whatever the escapes in its strings.
func TestADocumentSurvivesALetterByteForByte(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var document bytes.Buffer
		enc := json.NewEncoder(&document)
		enc.SetEscapeHTML(rapid.Bool().Draw(rt, "escape HTML"))
		if err := enc.Encode(rapid.MapOfN(rapid.String(), anyJSON(2), 0, 4).Draw(rt, "document")); err != nil {
			rt.Fatal(err)
		}
		sent := bytes.TrimSpace(document.Bytes())
		encoded, err := encodeLetter(Letter{Action: models.ActionTypeUpload, Document: sent}, 0)
		if err != nil {
			rt.Fatal(err)
		}
		r, err := parseRecord(appendRecord(nil, 1, encoded))
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(r.Document, sent) {
			rt.Fatalf("%s became %s", sent, r.Document)
		}
	})
}
