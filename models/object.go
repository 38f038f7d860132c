package models

import (
	"slices"

	"github.com/go-azsearch/azsearch/models/internal/object"
)

//go:generate go run ./internal/object/methods

const odataType = "@odata.type"

// componentTypes are the Go types of all analysis components.
var componentTypes = slices.Concat(analyzerTypes, tokenizerTypes, tokenFilterTypes, charFilterTypes, normalizerTypes)

func register(pkg *object.Package) {
	object.Register[Analyzer, UnknownComponent](pkg, odataType, analyzerTypes...)
	object.Register[Tokenizer, UnknownComponent](pkg, odataType, tokenizerTypes...)
	object.Register[TokenFilter, UnknownComponent](pkg, odataType, tokenFilterTypes...)
	object.Register[CharFilter, UnknownComponent](pkg, odataType, charFilterTypes...)
	object.Register[Normalizer, UnknownComponent](pkg, odataType, normalizerTypes...)
}

func component[T any](name string) object.Type {
	return object.Of[T]("#Microsoft.Azure.Search." + name)
}
