package ui

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strconv"
)

// mostDocuments is the most that one answer holds.
const mostDocuments = 100

// indexState is one line in the list of indexes.
type indexState struct {
	Name      string `json:"name"`
	Documents int64  `json:"documents"`
	// Revision changes when the definition does.
	Revision string `json:"revision"`
}

func (p *Page) indexes() []indexState {
	out := []indexState{}
	for _, name := range p.srv.IndexNames() {
		definition, ok := p.srv.IndexDefinition(name)
		if !ok {
			continue // it was deleted just now
		}
		h := fnv.New64a()
		_, _ = h.Write(definition)
		out = append(out, indexState{name, p.srv.DocumentCount(name), strconv.FormatUint(h.Sum64(), 36)})
	}
	return out
}

func (p *Page) definition(w http.ResponseWriter, r *http.Request) {
	definition, ok := p.srv.IndexDefinition(r.URL.Query().Get("index"))
	if !ok {
		refuse(w, http.StatusNotFound, "there is no such index")
		return
	}
	writeJSON(w, http.StatusOK, definition)
}

// storedDocument is a document as the index holds it, fields that queries do not
// return included.
type storedDocument struct {
	Key      string          `json:"key"`
	Document json.RawMessage `json:"document"`
}

// documents answers with a page of an index, in the order of writing.
func (p *Page) documents(w http.ResponseWriter, r *http.Request) {
	const most = 1 << 40
	skip, ok := number(w, r, "skip", 0, most)
	if !ok {
		return
	}
	top, ok := number(w, r, "top", 1, mostDocuments)
	if !ok {
		return
	}
	index := r.URL.Query().Get("index")
	if _, ok := p.srv.IndexDefinition(index); !ok {
		refuse(w, http.StatusNotFound, "there is no such index")
		return
	}
	keys := p.srv.DocumentKeys(index)
	from := min(skip, int64(len(keys)))
	documents := []storedDocument{}
	for _, key := range keys[from:min(from+top, int64(len(keys)))] {
		if document, ok := p.srv.Document(index, key); ok {
			documents = append(documents, storedDocument{key, document})
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"count": len(keys), "documents": documents})
}
