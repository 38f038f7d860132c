package models

import (
	"encoding/json"
	"slices"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

// The objects of definitions and replies are written and read by package object.

func encodeObject(x any) ([]byte, error) { return object.Encode(x) }

func decodeObject(b []byte, x any) error { return object.Decode(b, x) }

func withoutContext(more map[string]json.RawMessage) map[string]json.RawMessage {
	return object.WithoutContext(more)
}

const odataType = "@odata.type"

// componentTypes are the types of all analysis components.
var componentTypes = slices.Concat(analyzerTypes, tokenizerTypes, tokenFilterTypes, charFilterTypes, normalizerTypes)

func init() {
	object.Register[Analyzer, UnknownComponent](odataType, analyzerTypes...)
	object.Register[Tokenizer, UnknownComponent](odataType, tokenizerTypes...)
	object.Register[TokenFilter, UnknownComponent](odataType, tokenFilterTypes...)
	object.Register[CharFilter, UnknownComponent](odataType, charFilterTypes...)
	object.Register[Normalizer, UnknownComponent](odataType, normalizerTypes...)
}

func component[T any](name string) object.Type {
	return object.Of[T]("#Microsoft.Azure.Search." + name)
}
