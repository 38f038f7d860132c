package models_test

import (
	"context"
	"fmt"

	"github.com/go-azsearch/azsearch/models"
)

// wire prints an action as it is sent.
func wire[T any](a models.IndexDocumentsAction[T]) {
	b, err := models.NewIndexDocumentsBatch(a).MarshalJSON()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(b))
}

func ExampleUploadAction() {
	wire(models.UploadAction(Book{ID: "1", Title: "Walden"}))
	// Output: {"value":[{"@search.action":"upload","id":"1","title":"Walden"}]}
}

func ExampleMergeAction() {
	wire(models.MergeAction(models.NewPatch("id", "1").Set("title", "Walden Two")))
	// Output: {"value":[{"@search.action":"merge","id":"1","title":"Walden Two"}]}
}

// A struct sends all of its fields, so it overwrites the title with "". A Patch sends only the fields set.
func ExampleMergeAction_zeroValues() {
	type Rated struct {
		ID     string `json:"id" search:"key"`
		Title  string `json:"title"`
		Pages  int    `json:"pages,omitempty"` // cannot be set to 0
		Rating int    `json:"rating"`
	}
	wire(models.MergeAction(Rated{ID: "1", Rating: 5}))
	wire(models.MergeAction(models.NewPatch("id", "1").Set("rating", 5)))
	wire(models.MergeAction(models.NewPatch("id", "1").Set("pages", 0).Clear("title")))
	// Output:
	// {"value":[{"@search.action":"merge","id":"1","title":"","rating":5}]}
	// {"value":[{"@search.action":"merge","id":"1","rating":5}]}
	// {"value":[{"@search.action":"merge","id":"1","pages":0,"title":null}]}
}

func ExampleMergeOrUploadAction() {
	wire(models.MergeOrUploadAction(models.Document{"id": "1", "title": nil}))
	// Output: {"value":[{"@search.action":"mergeOrUpload","id":"1","title":null}]}
}

func ExampleDeleteAction() {
	wire(models.DeleteAction(models.Document{"id": "1"}))
	// Output: {"value":[{"@search.action":"delete","id":"1"}]}
}

// The tag comes back with the action's outcome. Here it is the document's position in a file.
func ExampleIndexDocumentsAction_WithTag() {
	a := models.UploadAction(Book{ID: "1", Title: "Walden"}).WithTag(int64(4711))
	wire(a) // the tag is not sent
	fmt.Println(a.Tag)
	// Output:
	// {"value":[{"@search.action":"upload","id":"1","title":"Walden"}]}
	// 4711
}

func ExampleNewIndexDocumentsBatch() {
	batch := models.NewIndexDocumentsBatch(
		models.UploadAction(Book{ID: "1", Title: "Walden"}),
		models.DeleteAction(Book{ID: "2"}),
	)
	for _, a := range batch.Actions {
		fmt.Println(a.Type, a.Document.ID)
	}
	// Output:
	// upload 1
	// delete 2
}

func ExampleActionType_Valid() {
	fmt.Println(models.ActionTypeMergeOrUpload.Valid(), models.ActionType("mergeorupload").Valid())
	// Output: true false
}

func ExampleWithClientRequestID() {
	ctx := models.WithClientRequestID(context.Background(), "7e2f9c1a-3c1e-4b57-9d53-1e7a0c3a1f60")
	fmt.Println(models.ClientRequestID(ctx)) // the id of requests made with ctx
	// Output: 7e2f9c1a-3c1e-4b57-9d53-1e7a0c3a1f60
}

func ExampleClientRequestID() {
	fmt.Printf("%q\n", models.ClientRequestID(context.Background()))
	// Output: ""
}

func ExampleKeyField_Get() {
	key, err := models.KeyFieldByName[models.Document]("id")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(key.Get(models.Document{"id": "1", "title": "Walden"}))
	fmt.Println(key.Get(models.Document{"title": "Walden"}))
	// Output:
	// 1 <nil>
	//  encode document: field id: document has no key
}
