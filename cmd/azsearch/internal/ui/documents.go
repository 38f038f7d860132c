package ui

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/go-azsearch/azsearch/internal/webpage"
	"github.com/go-azsearch/azsearch/internal/wire"
)

// What one answer holds at most. A list is for a glance: of a large document it has
// the beginning only, and of those that come after very large ones just the keys.
const (
	mostDocuments  = 100
	mostWhole      = 4 << 10 // bytes of a document that is whole in a list
	beginningBytes = 400     // of one that is larger
	mostRead       = 4 << 20 // bytes of documents after which a list has keys only
)

// indexState is one line in the list of indexes.
type indexState struct {
	Name      string `json:"name"`
	Documents int64  `json:"documents"`
	// Revision changes when the definition does, and if it is another index.
	Revision string `json:"revision"`
	// Changes grows when documents change.
	Changes uint64 `json:"changes"`
}

func (p *Page) indexes() []indexState {
	out := []indexState{}
	for _, name := range p.srv.IndexNames() {
		version, ok := p.srv.IndexVersion(name)
		if !ok {
			continue // it was deleted just now
		}
		out = append(out, indexState{name, p.srv.DocumentCount(name), version.ETag, version.Changes})
	}
	return out
}

// kindState is a kind of definitions other than indexes, with their names.
type kindState struct {
	Kind  string   `json:"kind"` // "dataSources"
	Names []string `json:"names"`
}

// definitions lists what there is besides indexes, in the order in which it is used: where data comes from, what is
// made of it, what it is called.
func (p *Page) definitions() []kindState {
	all := p.srv.Definitions()
	out := []kindState{}
	for _, kind := range []string{"dataSources", "skillsets", "indexers", "knowledgeSources", "knowledgeBases", "synonymMaps", "aliases"} {
		if len(all[kind]) > 0 {
			out = append(out, kindState{kind, slices.Sorted(maps.Keys(all[kind]))})
		}
	}
	return out
}

func (p *Page) definition(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if kind := q.Get("kind"); kind != "" {
		definition, ok := p.srv.Definitions()[kind][q.Get("name")]
		if !ok {
			webpage.Refuse(w, http.StatusNotFound, "definition not found")
			return
		}
		webpage.WriteJSON(w, http.StatusOK, json.RawMessage(wire.Redact(definition)))
		return
	}
	definition, ok := p.srv.IndexDefinition(q.Get("index"))
	if !ok {
		webpage.Refuse(w, http.StatusNotFound, "there is no such index")
		return
	}
	webpage.WriteJSON(w, http.StatusOK, definition)
}

// listedDocument is a document as the index holds it, fields that queries do not
// return included: whole, or its beginning as text, or neither; see mostWhole.
type listedDocument struct {
	Key       string          `json:"key"`
	Document  json.RawMessage `json:"document,omitempty"`
	Beginning string          `json:"beginning,omitempty"`
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
	if _, ok := p.srv.IndexVersion(index); !ok {
		webpage.Refuse(w, http.StatusNotFound, "there is no such index")
		return
	}
	keys := p.srv.DocumentKeys(index)
	from := min(skip, int64(len(keys)))
	documents := []listedDocument{}
	read := 0
	for _, key := range keys[from:min(from+top, int64(len(keys)))] {
		listed := listedDocument{Key: key}
		if read < mostRead {
			document, ok := p.srv.Document(index, key)
			if !ok {
				continue // it was deleted just now
			}
			read += len(document)
			if len(document) <= mostWhole {
				listed.Document = document
			} else {
				listed.Beginning = string(document[:beginningBytes])
			}
		}
		documents = append(documents, listed)
	}
	webpage.WriteJSON(w, http.StatusOK, map[string]any{"count": len(keys), "documents": documents})
}

// document answers with one document, however large it is.
func (p *Page) document(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	document, ok := p.srv.Document(q.Get("index"), q.Get("key"))
	if !ok {
		webpage.Refuse(w, http.StatusNotFound, "there is no such document")
		return
	}
	webpage.WriteJSON(w, http.StatusOK, document)
}
