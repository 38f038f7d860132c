package models

import (
	"slices"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

//go:generate go run ./internal/object/methods

const odataType = "@odata.type"

// componentTypes are the Go types of all analysis components.
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
