package fold_test

import (
	"fmt"

	"github.com/go-azsearch/azsearch/bufferedsender/internal/fold"
	"github.com/go-azsearch/azsearch/models"
)

func ExampleActions() {
	a := []byte(`{"@search.action":"upload","id":"1","name":"Ritz","address":{"street":"12 Main St","city":"Oslo"}}`)
	b := []byte(`{"@search.action":"merge","id":"1","rooms":80,"address":{"city":"Bergen"}}`)
	typ, body, ok := fold.Actions(models.ActionTypeUpload, a, models.ActionTypeMerge, b)
	fmt.Println(ok, typ)
	fmt.Println(string(body))
	// Output:
	// true upload
	// {"@search.action":"upload","id":"1","name":"Ritz","address":{"street":"12 Main St","city":"Bergen"},"rooms":80}
}

// A possible street must be removed. No merge can express that.
func ExampleActions_refused() {
	a := []byte(`{"@search.action":"merge","id":"1","address":null}`)
	b := []byte(`{"@search.action":"merge","id":"1","address":{"city":"Bergen"}}`)
	_, _, ok := fold.Actions(models.ActionTypeMerge, a, models.ActionTypeMerge, b)
	fmt.Println(ok)
	// Output:
	// false
}
