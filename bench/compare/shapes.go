package compare

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/go-azsearch/azsearch/bench/internal/corpus"
)

// shape is a kind of document.
type shape struct {
	name string
	what string
	// bytes is the approximate size of a document in JSON. A run sends as many documents as have the total size of
	// the given number of default documents.
	bytes int
	// measure runs a task with documents of the shape.
	measure func(ctx context.Context, t task) (*measurement, error)
	// contents returns the documents in JSON.
	contents func() ([][]byte, error)
}

const defaultShape = "default"

var shapes = []shape{
	newShape("small", "5 fields", 120, 256, corpus.NewEvent, func(d *corpus.Event, key string) { d.ID = key }),
	newShape(defaultShape, "13 fields, with a nested struct, times, floats and slices", 650, 256, corpus.NewHotel, func(d *corpus.Hotel, key string) { d.ID = key }),
	newShape("vector", "1536 float32 and a text", 20_000, 64, corpus.NewChunk, func(d *corpus.Chunk, key string) { d.ID = key }),
	newShape("html", "a page of HTML", 100_000, 16, corpus.NewPage, func(d *corpus.Page, key string) { d.ID = key }),
}

// newShape returns a shape with the given number of different contents.
func newShape[T any](name, what string, bytes, contents int, content func(*rand.Rand) T, setKey func(*T, string)) shape {
	return shape{
		name: name, what: what, bytes: bytes,
		measure: func(ctx context.Context, t task) (*measurement, error) {
			return carryOut(ctx, corpus.New(t.Documents, contents, content, setKey), t)
		},
		contents: func() ([][]byte, error) {
			return corpus.New(contents, contents, content, setKey).Encode()
		},
	}
}

func shapeNamed(name string) (shape, error) {
	for _, s := range shapes {
		if s.name == name {
			return s, nil
		}
	}
	return shape{}, fmt.Errorf("there is no shape %q: use small, default, vector or html", name)
}

// scale returns the number of documents of the shape with the total size of n default documents.
func (s shape) scale(n int) int {
	standard, err := shapeNamed(defaultShape)
	if err != nil || s.name == defaultShape {
		return n
	}
	return max(1, n*standard.bytes/s.bytes)
}
