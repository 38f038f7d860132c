package ui

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/go-azsearch/azsearch/internal/webpage"
	"github.com/go-azsearch/azsearch/internal/wire"
)

// Limits of one reply. A list has only the beginning of a large document; after mostRead bytes it has only keys.
const (
	mostDocuments  = 100
	mostWhole      = 4 << 10 // maximum bytes of a document that a list has completely
	beginningBytes = 400     // bytes of a larger document in a list
	mostRead       = 4 << 20 // bytes of documents after which a list has only keys
)

// indexState is one line in the list of indexes.
type indexState struct {
	Name      string `json:"name"`
	Documents int64  `json:"documents"`
	// Revision changes when the definition changes or the index is created again.
	Revision string `json:"revision"`
	// Changes grows when documents change.
	Changes uint64 `json:"changes"`
}

func (p *Page) indexes() []indexState {
	out := []indexState{}
	for _, name := range p.srv.IndexNames() {
		version, ok := p.srv.IndexVersion(name)
		if !ok {
			continue // it was deleted meanwhile
		}
		out = append(out, indexState{name, p.srv.DocumentCount(name), version.ETag, version.Changes})
	}
	return out
}

// kindState has the names of the definitions of one kind other than indexes.
type kindState struct {
	Kind  string   `json:"kind"` // such as "dataSources"
	Names []string `json:"names"`
}

// definitions returns the definitions other than indexes, in the order in which data passes through them.
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

// listedDocument is a document as stored, including fields that queries do not return: complete, its beginning as
// text, or only its key; see mostWhole.
type listedDocument struct {
	Key       string          `json:"key"`
	Document  json.RawMessage `json:"document,omitempty"`
	Beginning string          `json:"beginning,omitempty"`
}

// documents writes a page of the documents of an index, in the order of writing.
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
				continue // it was deleted meanwhile
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

// document writes one complete document.
func (p *Page) document(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	document, ok := p.srv.Document(q.Get("index"), q.Get("key"))
	if !ok {
		webpage.Refuse(w, http.StatusNotFound, "there is no such document")
		return
	}
	webpage.WriteJSON(w, http.StatusOK, document)
}
