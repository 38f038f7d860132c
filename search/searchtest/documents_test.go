package searchtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/batch"
)

func TestEachActionAnswersForItself(t *testing.T) {
	p := newProbe(t, nil)
	a := p.index(`{"id":"1","@search.action":"upload"}`, `{"@search.action":"delete","id":"none"}`, `{"@search.action":"merge","id":"none"}`,
		`{"@search.action":"mergeOrUpload","id":"3"}`, `{"id":"2"}`, `{"id":"1","@search.action":"merge"}`, `{"id":"1","@search.action":null}`)
	assert.Equal(t, http.StatusMultiStatus, a.status)
	assert.Equal(t, `{"value":[{"key":"1","status":true,"errorMessage":null,"statusCode":201},{"key":"none","status":true,"errorMessage":null,"statusCode":200},`+
		`{"key":"none","status":false,"errorMessage":"Document not found.","statusCode":404},{"key":"3","status":true,"errorMessage":null,"statusCode":201},`+
		`{"key":"2","status":true,"errorMessage":null,"statusCode":201},{"key":"1","status":true,"errorMessage":null,"statusCode":200},{"key":"1","status":true,"errorMessage":null,"statusCode":200}]}`, a.body)
	assert.Equal(t, "3", p.count())
}

func TestBatchWithoutFailuresAnswers200(t *testing.T) {
	assert.Equal(t, http.StatusOK, newProbe(t, nil).index(`{"id":"1"}`, `{"id":"2","@search.action":"delete"}`).status)
}

func TestUploadReplacesTheWholeDocument(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1","s":"a","i":1,"ss":["x"],"c":{"x":"a"}}`)
	p.indexed(`{"id":"1","i":2}`)
	assert.Equal(t, `{"s":null,"i":2,"ss":[],"c":null}`, p.lookup("1", "s,i,c,ss"))
}

func TestMerge(t *testing.T) {
	const before = `{"id":"1","s":"a","i":1,"ss":["x","y"],"c":{"x":"a","y":1,"n":{"z":"q","w":2}},"cs":[{"x":"a","tags":["t"]},{"x":"b"}],"d":1}`
	for _, test := range []struct{ name, change, fields, after string }{
		{"keeps fields that are not sent", `{"id":"1"}`, "s,i,ss,d", `{"s":"a","i":1,"d":1.0,"ss":["x","y"]}`},
		{"sets fields that are sent", `{"id":"1","s":"b","b":true}`, "s,b,i", `{"s":"b","b":true,"i":1}`},
		{"overwrites with null", `{"id":"1","s":null,"d":null}`, "s,i,d", `{"s":null,"i":1,"d":null}`},
		{"replaces collections whole", `{"id":"1","ss":["z"]}`, "ss", `{"ss":["z"]}`},
		{"empties collections with null", `{"id":"1","ss":null}`, "ss", `{"ss":[]}`},
		{"replaces complex collections whole", `{"id":"1","cs":[{"y":9}]}`, "cs", `{"cs":[{"x":null,"y":9,"tags":[],"in":[]}]}`},
		{"merges complex objects", `{"id":"1","c":{"y":5}}`, "c", `{"c":{"x":"a","y":5,"n":{"z":"q","w":2}}}`},
		{"merges complex objects inside each other", `{"id":"1","c":{"n":{"w":null}}}`, "c", `{"c":{"x":"a","y":1,"n":{"z":"q","w":null}}}`},
		{"changes nothing for an empty object", `{"id":"1","c":{}}`, "c", `{"c":{"x":"a","y":1,"n":{"z":"q","w":2}}}`},
		{"clears a complex object with null", `{"id":"1","c":null}`, "c", `{"c":null}`},
	} {
		for _, action := range []string{"merge", "mergeOrUpload"} {
			t.Run(action+" "+test.name, func(t *testing.T) {
				p := newProbe(t, nil)
				p.indexed(before)
				p.indexed(strings.Replace(test.change, "{", `{"@search.action":"`+action+`",`, 1))
				assert.Equal(t, test.after, p.lookup("1", test.fields))
			})
		}
	}
}

func TestMergeLosesVectorsThatAreNotStored(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1","vx":[1,2],"v":[1,2,3]}`)
	p.indexed(`{"@search.action":"merge","id":"1","s":"a"}`)
	doc, _ := p.Document("types", "1")
	assert.Contains(t, string(doc), `"v":[1.0,2.0,3.0]`)
	assert.Contains(t, string(doc), `"vx":[]`)
}

func TestEmptyObjectMergedIntoNothingStaysNull(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1"}`, `{"@search.action":"merge","id":"1","c":{}}`)
	assert.Equal(t, `{"c":null}`, p.lookup("1", "c"))
	p.indexed(`{"@search.action":"merge","id":"1","c":{"n":{}}}`)
	assert.Equal(t, `{"c":{"x":null,"y":null,"n":null}}`, p.lookup("1", "c"))
}

func TestDeleteIgnoresEverythingButTheKey(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1","s":"a"}`)
	p.indexed(`{"s":"` + strings.Repeat("x", batch.MaxTermBytes+1) + `","id":"1","@search.action":"delete"}`)
	assert.Equal(t, "0", p.count())
	assert.Equal(t, http.StatusNotFound, p.send("GET", "/indexes('types')/docs('1')", "").status)
}

func TestActionsAreAppliedInTheOrderOfTheRequest(t *testing.T) {
	p := newProbe(t, nil)
	a := p.index(`{"id":"1","i":1}`, `{"id":"1","@search.action":"delete"}`, `{"id":"1","@search.action":"merge","i":2}`, `{"id":"1","i":3}`, `{"id":"1","@search.action":"merge","s":"z"}`)
	assert.Equal(t, []int{201, 200, 404, 201, 200}, a.statuses(t))
	assert.Equal(t, `{"s":"z","i":3}`, p.lookup("1", "s,i"))
}

// A request with one of these mistakes is refused as a whole, with 400.
func TestUnreadableRequestsAreRefusedWhole(t *testing.T) {
	const path = "/indexes('types')/docs/search.index"
	long := strings.Repeat("k", batch.MaxKeyLength+1)
	for _, test := range []struct{ name, body, message string }{
		{"no body", "", "No indexing actions found in the request. Please include between 1 and 1000 indexing actions in your request."},
		{"an empty batch", `{"value":[]}`, "No indexing actions found in the request."},
		{"no value", `{}`, "No indexing actions found in the request."},
		{"a null value", `{"value":null}`, "No indexing actions found in the request."},
		{"a value that is not an array", `{"value":{}}`, "must be a collection"},
		{"two values", `{"value":[{"id":"1"}],"value":[{"id":"1"}]}`, "Multiple parameters"},
		{"another parameter", `{"value":[{"id":"1"}],"actions":[]}`, "The parameter 'actions' in the request payload is not a valid parameter"},
		{"an array for a body", `[{"id":"1"}]`, "not valid JSON"},
		{"an action that is not an object", `{"value":["1"]}`, "'StartObject' node was expected"},
		{"half a body", `{"value":[{"id":"1"}`, "not valid JSON"},
		{"something after the body", `{"value":[{"id":"1"}]} x`, "not valid JSON"},
		{"a comma too many", `{"value":[{"id":"1",}]}`, "not valid JSON"},
		{"an action type in the wrong case", `{"value":[{"@search.action":"Upload","id":"1"}]}`, "actions : 0: The value 'Upload' is not a valid @search.action"},
		{"an action type that is not a string", `{"value":[{"@search.action":1,"id":"1"}]}`, "'PrimitiveValue'"},
		{"no key", `{"value":[{"id":"1"},{"s":"x"}]}`, "The request is invalid. Details: actions : 1: Document key cannot be missing or empty."},
		{"an empty key", `{"value":[{"id":""}]}`, "actions : 0: Document key cannot be missing or empty."},
		{"a null key", `{"value":[{"id":null}]}`, "actions : 0: Document key cannot be missing or empty."},
		{"a key that is a number", `{"value":[{"id":1}]}`, "Cannot convert the literal '1'"},
		{"a key with a space", `{"value":[{"id":"a b"}]}`, "Invalid document key: 'a b'. Keys can only contain letters, digits, underscore (_), dash (-), or equal sign (=)."},
		{"a key with a letter that is not ASCII", `{"value":[{"id":"é"}]}`, "Invalid document key: 'é'."},
		{"a key that begins with an underscore", `{"value":[{"id":"_a"}]}`, "Invalid document key: '_a'."},
		{"a key that is too long", `{"value":[{"id":"` + long + `"}]}`, "Document key cannot be longer than 1024 characters"},
		{"a property that is not a field", `{"value":[{"id":"1","X":1}]}`, "The property 'X' does not exist on type 'search.documentFields' or is not present in the API version '2026-10-01'. Make sure to only use property names that are defined by the type."},
		{"a property in another case", `{"value":[{"ID":"1"}]}`, "The property 'ID' does not exist"},
		{"a property that comes twice", `{"value":[{"id":"1","s":"a","s":"b"}]}`, "Multiple properties with the name 's'"},
		{"@search.action below the top", `{"value":[{"id":"1","c":{"x":"a"},"nope":{"@search.action":"delete"}}]}`, "Cannot find nested property 'nope'"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProbe(t, nil)
			a := p.send(http.MethodPost, path, test.body)
			assert.Equal(t, http.StatusBadRequest, a.status, a.body)
			assert.Contains(t, a.message(), test.message)
			assert.Equal(t, "0", p.count())
			assert.Empty(t, p.Changes("types"))
		})
	}
}

func TestIllegalKeysHaveACode(t *testing.T) {
	a := newProbe(t, nil).index(`{"id":"a b"}`)
	assert.Contains(t, a.body, `"code":"InvalidName"`)
	assert.Contains(t, a.body, `"details":[{"code":"InvalidDocumentKey"`)
}

// The message names every action that breaks a rule, and the details explain them.
func TestAllInvalidDocumentsAreNamed(t *testing.T) {
	p := newProbe(t, nil)
	a := p.index(`{"id":"1"}`, `{"s":"x"}`, `{"id":"3","v":[1]}`, `{"id":"a b","v":[1]}`, `{"@search.action":"x","id":"_"}`, `{"id":"6"}`, `{"id":null}`)
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Regexp(t, `^The request is invalid\. Details: actions : 1: Document key cannot be missing or empty\. 2: There's a mismatch in .* vector field\. `+
		`3: There's a mismatch in .* vector field\. 4: The value 'x' is not a valid @search\.action\. [^:]*: upload, merge, mergeOrUpload, delete\. 6: Document key cannot be missing or empty\.$`, a.message())
	assert.Contains(t, a.body, `"code":"OperationNotAllowed"`)
	assert.Contains(t, a.body, `"details":[{"code":"MissingKeyField","message":"1: Document key cannot be missing or empty. Parameters: actions"},{"code":"MissingKeyField","message":"6: `)
	assert.Equal(t, "0", p.count())

	// The JSON reader stops at its first error.
	a = p.index(`{"s":"x"}`, `{"id":"1","no":1}`, `{"id":""}`)
	assert.Contains(t, a.message(), "Details: The property 'no' does not exist")
}

func TestLegalKeys(t *testing.T) {
	p := newProbe(t, nil)
	for _, key := range []string{"a", "Z", "0", "-", "=", "a_", "-_=", strings.Repeat("k", batch.MaxKeyLength)} {
		p.indexed(`{"id":"` + key + `"}`)
		assert.Equal(t, `{"id":"`+key+`"}`, p.lookup(key, "id"))
	}
	p.indexed(`{"id":"a","s":"lower"}`, `{"id":"A","s":"upper"}`)
	assert.Equal(t, `{"s":"lower"}`, p.lookup("a", "s"), "keys are case-sensitive")
}

func TestAnnotationsInDocumentsAreIgnored(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"@search.score":1.5,"@odata.type":{"a":[1]},"s@odata.type":"#String","id":"1","c":{"@x":1,"y":2}}`)
	assert.Equal(t, `{"s":null,"c":{"x":null,"y":2,"n":null}}`, p.lookup("1", "s,c"))
}

func TestPropertyNamesMayBeEscaped(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"\u0069d":"1","\u0073":"x","@search\u002eaction":"upload"}`)
	assert.Equal(t, `{"id":"1","s":"x"}`, p.lookup("1", "id,s"))
}

func TestNumberOfActionsIsLimited(t *testing.T) {
	actions := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf(`{"id":"%d"}`, i)
		}
		return out
	}
	for _, test := range []struct {
		name          string
		option, limit int
	}{
		{"1000 by default", 0, 1000},
		{"less if asked for", 3, 3},
		{"32000 at most", 50_000, 32_000},
		{"32000 if turned off", -1, 32_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProbe(t, &Options{MaxBatchActions: test.option})
			p.indexed(actions(test.limit)...)
			a := p.index(actions(test.limit + 1)...)
			assert.Equal(t, http.StatusBadRequest, a.status)
			assert.Contains(t, a.message(), fmt.Sprintf("between 1 and %d indexing actions", test.limit))
		})
	}
}

func TestSizeOfARequestIsLimited(t *testing.T) {
	p := newProbe(t, &Options{MaxBatchBytes: 100})
	body := func(n int) string {
		text := `{"value":[{"id":"1","s":""}]}`
		return strings.Replace(text, `""`, `"`+strings.Repeat("x", n-len(text))+`"`, 1)
	}
	send := func(body string) answered { return p.send("POST", "/indexes('types')/docs/search.index", body) }
	assert.Equal(t, http.StatusOK, send(body(100)).status)
	a := send(body(101))
	assert.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	assert.NotEmpty(t, a.message())
	assert.Equal(t, http.StatusRequestEntityTooLarge, send(body(1<<20)).status)

	p = newProbe(t, nil)
	assert.Equal(t, http.StatusRequestEntityTooLarge, send(body(16<<20+1)).status, "16 MiB by default")
	p = newProbe(t, &Options{MaxBatchBytes: -1})
	assert.Equal(t, http.StatusMultiStatus, send(body(16<<20+1)).status, "no limit but that of the term")
}

func TestTermsThatAreTooLongFailTheirActionOnly(t *testing.T) {
	p := newProbe(t, nil)
	most := strings.Repeat("x", batch.MaxTermBytes)
	for _, test := range []struct {
		name, members string
		status        int
	}{
		{"the longest term", `"s":"` + most + `"`, 201},
		{"one byte more", `"s":"` + most + `x"`, 400},
		{"bytes are counted, not letters", `"s":"` + strings.Repeat("é", batch.MaxTermBytes/2+1) + `"`, 400},
		{"escapes are counted as the characters they represent", `"s":"` + strings.Repeat(`\u0061`, batch.MaxTermBytes) + `"`, 201},
		{"a field that is neither filterable nor sortable nor facetable", `"plain":"` + most + `x"`, 201},
		{"an element of a collection", `"ss":["a","` + most + `x"]`, 400},
		{"a field of a complex object", `"c":{"x":"` + most + `x"}`, 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := probe{t, p.Server}
			a := p.index(`{"id":"other"}`, `{"id":"1",`+test.members+`}`, `{"id":"1","@search.action":"delete"}`)
			assert.Equal(t, test.status, a.statuses(t)[1])
			if test.status == 400 {
				assert.Equal(t, http.StatusMultiStatus, a.status)
				assert.Contains(t, a.body, "contains a term that is too large to process. The max length for UTF-8 encoded terms is 32766 bytes.")
			}
		})
	}
}

func TestEveryUseOfAWholeTermLimitsIt(t *testing.T) {
	s := NewServer(nil)
	require.NoError(t, s.CreateIndex(`{"name":"types","fields":[{"name":"id","type":"Edm.String","key":true},
		{"name":"f","type":"Edm.String","filterable":true,"sortable":false,"facetable":false},
		{"name":"s","type":"Edm.String","filterable":false,"sortable":true,"facetable":false},
		{"name":"c","type":"Edm.String","filterable":false,"sortable":false,"facetable":true},
		{"name":"n","type":"Edm.String","filterable":false,"sortable":false,"facetable":false}]}`))
	p := probe{t, s}
	long := `":"` + strings.Repeat("x", batch.MaxTermBytes+1) + `"}`
	a := p.index(`{"id":"1","f`+long, `{"id":"2","s`+long, `{"id":"3","c`+long, `{"id":"4","n`+long)
	assert.Equal(t, []int{400, 400, 400, 201}, a.statuses(t))
}

func TestComplexElementsOfADocumentAreLimited(t *testing.T) {
	p := newProbe(t, nil)
	elements := func(n int) string { return `[` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]` }
	assert.Equal(t, []int{201}, p.index(`{"id":"1","cs":`+elements(batch.MaxComplexElements)+`}`).statuses(t))
	a := p.index(`{"id":"2","cs":`+elements(batch.MaxComplexElements+1)+`}`, `{"id":"3"}`)
	assert.Equal(t, []int{400, 201}, a.statuses(t))
	assert.Contains(t, a.body, "The document with key '2' has '3001' objects in collections (JSON arrays). At most '3000' objects are allowed")
	assert.Equal(t, []int{400}, p.index(`{"id":"4","cs":[{"in":`+elements(batch.MaxComplexElements)+`}]}`).statuses(t), "objects inside each other count too")
	assert.Equal(t, []int{200}, p.index(`{"@search.action":"merge","id":"1","cs":`+elements(5)+`}`).statuses(t), "a collection that is replaced no longer counts")
}

func TestMergeCountsTheElementsOfTheResult(t *testing.T) {
	s := NewServer(nil)
	require.NoError(t, s.CreateIndex(`{"name":"types","fields":[{"name":"id","type":"Edm.String","key":true},
		{"name":"a","type":"Collection(Edm.ComplexType)","fields":[{"name":"x","type":"Edm.String"}]},
		{"name":"n","type":"Collection(Edm.ComplexType)","fields":[{"name":"in","type":"Collection(Edm.ComplexType)","fields":[{"name":"x","type":"Edm.String"}]}]},
		{"name":"c","type":"Edm.ComplexType","fields":[{"name":"in","type":"Collection(Edm.ComplexType)","fields":[{"name":"x","type":"Edm.String"}]}]},
		{"name":"b","type":"Collection(Edm.ComplexType)","fields":[{"name":"x","type":"Edm.String"}]}]}`))
	p := probe{t, s}
	many := `[` + strings.TrimSuffix(strings.Repeat("{},", 2000), ",") + `]`
	p.indexed(`{"id":"1","a":`+many+`}`, `{"id":"2","n":[{"in":`+many+`}]}`, `{"id":"3","c":{"in":`+many+`}}`)
	for key, total := range map[string]string{"1": "4000", "2": "4001", "3": "4000"} {
		a := p.index(`{"@search.action":"merge","id":"` + key + `","b":` + many + `}`)
		assert.Equal(t, []int{400}, a.statuses(t))
		assert.Contains(t, a.body, "has '"+total+"' objects")
	}
}

func TestLookupOfAMissingDocumentDoesNotSaySo(t *testing.T) {
	p := newProbe(t, nil)
	for _, version := range append(versionsOfOld, versionsOfNow...) {
		a := p.send("GET", "/indexes('types')/docs('none')?api-version="+version, "")
		assert.Equal(t, http.StatusNotFound, a.status)
		assert.Empty(t, a.body)
		assert.Equal(t, "0", a.header.Get("Content-Length"))
		assert.Empty(t, a.header.Get("OData-Version"))
	}
}

// Document requests have their own message for a missing index.
func TestDocumentsOfAMissingIndexAreNotFound(t *testing.T) {
	p := newProbe(t, nil)
	const missing = `{"error":{"code":"","message":"The index 'nope' for service 'searchtest' was not found."}}`
	for path, body := range map[string]string{
		"/docs('none')": "", "/docs/$count": "", "/docs?search=*": "", "/docs/search.index": `{"value":[{"id":"1"}]}`, "/docs/search.post.search": `{}`,
		"/docs/search.post.suggest": `{"search":"a","suggesterName":"s"}`, "/docs/search.post.autocomplete": `{"search":"a","suggesterName":"s"}`,
	} {
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		a := p.send(method, "/indexes('nope')"+path, body)
		assert.Equal(t, http.StatusNotFound, a.status, path)
		assert.Equal(t, missing, a.body, path)
	}
}

func TestRefusedBatchesHaveTheCodesOfTheirVersion(t *testing.T) {
	p := newProbe(t, nil)
	const path = "/indexes('types')/docs/search.index?api-version="
	for _, version := range []string{"2019-05-06", "2020-06-30"} {
		a := p.send(http.MethodPost, path+version, `{"value":[{"id":"1"},{"s":"x"}]}`)
		assert.Equal(t, `{"error":{"code":"","message":"The request is invalid. Details: actions : 1: Document key cannot be missing or empty.\r\n"}}`, a.body)
	}
	for _, version := range []string{"2023-11-01", "2024-07-01", "2025-11-01-preview", "2026-04-01"} {
		a := p.send(http.MethodPost, path+version, `{"value":[{"id":"1"},{"s":"x"}]}`)
		assert.Equal(t, `{"error":{"code":"OperationNotAllowed","message":"The request is invalid. Details: actions : 1: Document key cannot be missing or empty.",`+
			`"details":[{"code":"MissingKeyField","message":"1: Document key cannot be missing or empty. Parameters: actions"}]}}`, a.body)
		a = p.send(http.MethodPost, path+version, `{"value":[]}`)
		assert.True(t, strings.HasSuffix(a.message(), "indexing actions in your request."), a.body)
	}
}

func TestSelect(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1","s":"a","c":{"x":"b","n":{"z":"q"}},"cs":[{},{"x":null,"y":null,"tags":[]},{"y":2}]}`)
	for _, test := range []struct{ fields, want string }{
		{"s,id", `{"id":"1","s":"a"}`},
		{"%20s%20,id", `{"id":"1","s":"a"}`},
		{"c/x", `{"c":{"x":"b"}}`},
		{"c/n/z,c/x", `{"c":{"x":"b","n":{"z":"q"}}}`},
		{"c,c/x", `{"c":{"x":"b","y":null,"n":{"z":"q","w":null}}}`},
		{"c/x,c", `{"c":{"x":"b","y":null,"n":{"z":"q","w":null}}}`},
		{"cs", `{"cs":[{"x":null,"y":null,"tags":[],"in":[]},{"x":null,"y":null,"tags":[],"in":[]},{"x":null,"y":2,"tags":[],"in":[]}]}`},
		{"cs/y", `{"cs":[{"y":null},{"y":2}]}`}, // the element {} is dropped
	} {
		t.Run(test.fields, func(t *testing.T) {
			assert.Equal(t, test.want, p.lookup("1", test.fields))
		})
	}
	all := p.lookup("1", "")
	assert.Equal(t, all, p.lookup("1", "*"))
	assert.NotContains(t, all, "hidden")
	for fields, message := range map[string]string{
		"id,Nope": "Invalid expression: Could not find a property named 'Nope' on type 'search.document'.\r\nParameter name: $select",
		"c/nope":  "Could not find a property named 'nope'",
		"s/x":     "Could not find a property named 'x'",
		"hidden":  "not a retrievable field",
	} {
		a := p.send("GET", "/indexes('types')/docs('1')?$select="+fields, "")
		assert.Equal(t, http.StatusBadRequest, a.status, fields)
		assert.Contains(t, a.message(), message)
	}
}

func TestSelectMayBeEncodedOnceOrNotAtAll(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1","c":{"x":"b"}}`)
	for _, parameter := range []string{"$select=id,c/x", "%24select=id,c%2Fx", "$select=id%2cc/x"} {
		assert.Equal(t, `{"id":"1","c":{"x":"b"}}`, p.send("GET", "/indexes('types')/docs('1')?"+parameter, "").body)
	}
	// The JavaScript client encodes the parameter twice; the service ignores it.
	assert.Contains(t, p.send("GET", "/indexes('types')/docs('1')?%2524select=id", "").body, `"ss":[]`)
}

func TestCountIsTextWithAByteOrderMark(t *testing.T) {
	p := newProbe(t, nil)
	p.indexed(`{"id":"1"}`)
	a := p.send("GET", "/indexes('types')/docs/$count", "")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, "\ufeff1", a.body)
	assert.Equal(t, "text/plain; charset=utf-8", a.header.Get("Content-Type"))
}

func TestDocumentQuotaRefusesNewDocumentsOnly(t *testing.T) {
	p := newProbe(t, &Options{DocumentQuota: 2})
	a := p.index(`{"id":"1"}`, `{"id":"2"}`, `{"id":"3"}`, `{"id":"1","s":"a"}`, `{"id":"4","@search.action":"mergeOrUpload"}`, `{"id":"2","@search.action":"delete"}`, `{"id":"3"}`)
	assert.Equal(t, []int{201, 201, 429, 200, 429, 200, 201}, a.statuses(t))
	assert.Contains(t, a.body, "Document quota has been exceeded")
}

func TestWritesBecomeVisibleAfterTheLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, &Options{VisibilityLag: 2 * time.Second})
		found := func(key string) int { return p.send("GET", "/indexes('types')/docs('"+key+"')", "").status }
		p.indexed(`{"id":"1","i":1}`)
		time.Sleep(time.Second)
		p.indexed(`{"id":"1","@search.action":"merge","s":"a"}`, `{"id":"2"}`)
		assert.Equal(t, "0", p.count())
		assert.Equal(t, http.StatusNotFound, found("1"))
		assert.EqualValues(t, 2, p.DocumentCount("types"), "inspection sees everything")
		time.Sleep(time.Second)
		assert.Equal(t, "1", p.count())
		assert.Equal(t, `{"s":null,"i":1}`, p.lookup("1", "s,i"))
		time.Sleep(time.Second)
		assert.Equal(t, `{"s":"a","i":1}`, p.lookup("1", "s,i"), "the merge saw the upload before any reader")
		p.indexed(`{"id":"1","@search.action":"delete"}`)
		assert.Equal(t, "2", p.count())
		time.Sleep(2 * time.Second)
		assert.Equal(t, "1", p.count())
		assert.Equal(t, http.StatusNotFound, found("1"))
	})
}

// Documents are stored by field number, so an update that inserts a field must not shift them.
func TestDocumentsSurviveNewFieldsAnywhere(t *testing.T) {
	p := probe{t, NewServer(nil)}
	index := func(fields string) string { return `{"name":"types","fields":[` + fields + `]}` }
	const id, s, c1, c2 = `{"name":"id","type":"Edm.String","key":true}`, `{"name":"s","type":"Edm.String"}`,
		`{"name":"c","type":"Edm.ComplexType","fields":[{"name":"x","type":"Edm.String"}]}`,
		`{"name":"c","type":"Edm.ComplexType","fields":[{"name":"n","type":"Edm.Int32"},{"name":"x","type":"Edm.String"}]}`
	require.NoError(t, p.CreateIndex(index(id+`,`+s+`,`+c1)))
	p.indexed(`{"id":"1","s":"a","c":{"x":"b"}}`)
	a := p.send("PUT", "/indexes('types')", index(`{"name":"new","type":"Edm.Int32"},`+s+`,`+c2+`,`+id))
	require.Equal(t, http.StatusOK, a.status, a.body)
	assert.Equal(t, `{"new":null,"s":"a","id":"1","c":{"n":null,"x":"b"}}`, p.lookup("1", ""))
	p.indexed(`{"@search.action":"merge","id":"1","new":5,"c":{"n":7}}`)
	assert.Equal(t, `{"new":5,"s":"a","id":"1","c":{"n":7,"x":"b"}}`, p.lookup("1", ""))
}

func TestDiscardedDocumentsAreStillCounted(t *testing.T) {
	p := newProbe(t, &Options{DiscardDocuments: true})
	a := p.index(`{"id":"1","s":"a"}`, `{"id":"1","@search.action":"merge","s":"b"}`, `{"id":"2","@search.action":"merge"}`, `{"id":"3"}`, `{"id":"3","@search.action":"delete"}`)
	assert.Equal(t, []int{201, 200, 404, 201, 200}, a.statuses(t))
	assert.Equal(t, `{"id":"1","s":null}`, p.lookup("1", "id,s"))
	assert.Equal(t, "1", p.count())
}
