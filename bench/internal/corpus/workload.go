package corpus

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
)

// Workload has the documents of a run: a few hundred different contents, each used many times with different keys. So
// the memory of a process is that of its contestant, for any number of documents.
type Workload[T any] struct {
	contents []T
	setKey   func(doc *T, key string)
	keys     Keys
}

// New returns a workload of n documents with the given number of different contents.
func New[T any](n, contents int, content func(*rand.Rand) T, setKey func(*T, string)) *Workload[T] {
	w := &Workload[T]{setKey: setKey, keys: KeysOf(0, n)}
	r := rand.New(rand.NewPCG(1, 2))
	for range min(contents, n) {
		w.contents = append(w.contents, content(r))
	}
	return w
}

// Len returns the number of documents.
func (w *Workload[T]) Len() int { return w.keys.Len() }

// Document copies document i to doc. It allocates nothing.
func (w *Workload[T]) Document(i int, doc *T) { w.DocumentWithKey(i, w.Key(i), doc) }

// DocumentWithKey is Document with another key. i may be Len or more.
func (w *Workload[T]) DocumentWithKey(i int, key string, doc *T) {
	*doc = w.contents[i%len(w.contents)]
	w.setKey(doc, key)
}

// Key returns the key of document i.
func (w *Workload[T]) Key(i int) string { return w.keys.At(i) }

// Encode returns the contents in JSON, each with a key.
func (w *Workload[T]) Encode() ([][]byte, error) {
	all := make([][]byte, len(w.contents))
	for i := range all {
		var doc T
		w.Document(i, &doc)
		var err error
		if all[i], err = json.Marshal(&doc); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// BytesPerDocument returns the mean size of a document in JSON. The workload must not be empty.
func (w *Workload[T]) BytesPerDocument() (float64, error) {
	all, err := w.Encode()
	if err != nil {
		return 0, err
	}
	return float64(len(bytes.Join(all, nil))) / float64(len(all)), nil
}
