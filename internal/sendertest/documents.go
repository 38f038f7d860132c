package sendertest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-azsearch/azsearch/bufferedsender"
	"github.com/go-azsearch/azsearch/events"
	"github.com/go-azsearch/azsearch/models"
)

// Hotel is the document of most tests.
type Hotel struct {
	ID    string `json:"id" search:"key"`
	Name  string `json:"name,omitempty"`
	Rooms int    `json:"rooms,omitempty"`
}

// Options are the options of a sender of hotels.
type Options = bufferedsender.Options[Hotel]

// Handlers are the handlers of a sender of hotels.
type Handlers = events.Handlers[Hotel]

// Action is an action of a hotel.
type Action = models.IndexDocumentsAction[Hotel]

// HotelIndex is the definition of an index of hotels. A name may be of any length.
const HotelIndex = `{"name":"hotels","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"name","type":"Edm.String","filterable":false,"sortable":false,"facetable":false},
	{"name":"rooms","type":"Edm.Int32"}]}`

// Hotels returns n hotels with the keys prefix-0, prefix-1, …
func Hotels(prefix string, n int) []Hotel {
	docs := make([]Hotel, n)
	for i := range docs {
		docs[i] = Hotel{ID: fmt.Sprintf("%s-%d", prefix, i), Rooms: i + 1}
	}
	return docs
}

// RoomlessHotels returns n hotels without a property that others have.
func RoomlessHotels(prefix string, n int) []Hotel {
	docs := Hotels(prefix, n)
	for i := range docs {
		docs[i].Rooms = 0
	}
	return docs
}

// HotelOfSize returns a hotel whose request, with it alone, has size bytes.
func HotelOfSize(key string, size int) Hotel {
	empty := len(`{"value":[{"@search.action":"upload","id":"","name":""}]}`)
	return Hotel{ID: key, Name: strings.Repeat("x", size-empty-len(key))}
}

// TaggedUpload is an upload of a version of a hotel, tagged with it.
func TaggedUpload(key string, version int) Action {
	return models.UploadAction(Hotel{ID: key, Rooms: version}).WithTag(version)
}

// Uploads returns an upload of each hotel.
func Uploads(docs []Hotel) (actions []Action) {
	for _, doc := range docs {
		actions = append(actions, models.UploadAction(doc))
	}
	return actions
}

// IDs returns the keys of hotels.
func IDs(docs []Hotel) (keys []string) {
	for _, d := range docs {
		keys = append(keys, d.ID)
	}
	return keys
}

// DocumentRig is the rig of documents of any form.
type DocumentRig = RigOf[models.Document]

// DocumentOptions are the options of a sender of documents of any form.
type DocumentOptions = bufferedsender.Options[models.Document]

// DocumentAction is an action of a document of any form.
type DocumentAction = models.IndexDocumentsAction[models.Document]

// DocumentIndex is the definition of an index for documents with collections and
// objects in objects.
const DocumentIndex = `{"name":"hotels","fields":[
	{"name":"id","type":"Edm.String","key":true},
	{"name":"name","type":"Edm.String"},
	{"name":"rooms","type":"Edm.Int32"},
	{"name":"tags","type":"Collection(Edm.String)"},
	{"name":"address","type":"Edm.ComplexType","fields":[
		{"name":"city","type":"Edm.String"},
		{"name":"zip","type":"Edm.String"},
		{"name":"owner","type":"Edm.ComplexType","fields":[{"name":"first","type":"Edm.String"},{"name":"last","type":"Edm.String"}]}]}]}`

// ParseDocument returns the document of a JSON text as a program would create it. It panics on invalid JSON.
func ParseDocument(text string) models.Document {
	var doc models.Document
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		panic(err)
	}
	return doc
}

// ParseAction returns an action with a document given as JSON.
func ParseAction(typ models.ActionType, text string, tag any) DocumentAction {
	return DocumentAction{Type: typ, Document: ParseDocument(text), Tag: tag}
}
