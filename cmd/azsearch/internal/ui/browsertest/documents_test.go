package browsertest

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/search/searchtest"
)

// send sends a request of the REST API with the admin key.
func (e emulator) send(t *testing.T, method, path, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, e.url+path+"?api-version=2026-04-01", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Api-Key", searchtest.AdminKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, []int{http.StatusOK, http.StatusCreated, http.StatusNoContent}, resp.StatusCode, string(reply))
}

func (e emulator) write(t *testing.T, index string, actions ...string) {
	t.Helper()
	e.send(t, "POST", "/indexes/"+index+"/docs/index", `{"value":[`+strings.Join(actions, ",")+`]}`)
}

// asked returns the number of the page's requests to URLs with this prefix.
func (p *tab) asked(path string) int {
	p.t.Helper()
	return evaluate[int](p, `performance.getEntriesByType('resource').filter((e) => e.name.includes(`+strconv.Quote(path)+`)).length`)
}

func TestDocumentsFollowWhateverHappensToTheIndex(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e)
	p.choose("hostile")
	p.write("[name=search]", "pool")
	p.search()
	p.click("#tab-documents")
	p.waitFor(`document.querySelectorAll('#documents li').length === 4`)
	shows := func(text string) {
		t.Helper()
		p.waitFor(`document.getElementById('documents').textContent.includes(` + strconv.Quote(text) + `)`)
	}
	e.write(t, "hostile", `{"id":"4","text":"as many as before"}`)
	shows("as many as before")
	e.write(t, "hostile", `{"@search.action":"delete","id":"4"}`, `{"id":"5","text":"one came, one went"}`)
	shows("one came, one went")

	for _, text := range []string{"first life", "second life"} {
		e.send(t, "DELETE", "/indexes/hostile", "")
		e.send(t, "POST", "/indexes", `{"name":"hostile","fields":[{"name":"id","type":"Edm.String","key":true},{"name":"text","type":"Edm.String"}]}`)
		e.write(t, "hostile", `{"id":"1","text":"`+text+`"}`)
		p.waitFor(`document.querySelector('#indexes [data-index=hostile]') !== null`)
		if evaluate[string](p, `document.getElementById('index-title').textContent`) != "hostile" { // the page read it in between
			p.choose("hostile")
		}
		shows(text)
	}
}

func TestNothingIsLeftOfTheLastIndex(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e)
	p.choose("hotels")
	p.write("[name=search]", "pool")
	p.search()
	p.waitFor(`!document.getElementById('reply').hidden`)
	for _, index := range []string{"hostile", "hotels"} {
		e.send(t, "DELETE", "/indexes/"+index, "")
	}
	p.waitFor(`document.getElementById('index-title').textContent === 'No index'`)
	assert.Empty(t, p.text("#summary"))
	assert.True(t, evaluate[bool](p, `document.getElementById('reply').hidden && document.getElementById('wire').hidden`))
	asked, shown := p.asked("/docs/search"), p.asked("/_ui/documents")
	p.click("#query button[type=submit]")
	p.click("#tab-documents")
	p.click("#documents-refresh")
	assert.Equal(t, asked, p.asked("/docs/search"), "the page has no index to search")
	assert.Equal(t, shown, p.asked("/_ui/documents"), "no documents are shown either")
}

func TestDocumentsAreAskedForOnlyWhenSomebodyLooks(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e)
	p.choose("hotels")
	long := func(end string) {
		e.write(t, "hotels", `{"id":"1","description":"`+strings.Repeat("lång ", 5000)+end+`"}`)
	}
	long("the end")
	for _, id := range []string{"100", "101", "102"} { // they move to the next page
		e.write(t, "hotels", `{"id":"`+id+`"}`)
		p.waitFor(`document.getElementById('log').firstChild !== null`)
	}
	p.waitFor(`document.querySelector('[data-index=hotels]').textContent === 'hotels27'`)
	const pages = "/_ui/documents?index=hotels&skip=" // the first documents before a query are asked for without skip
	assert.Zero(t, p.asked(pages), "the documents are not shown, so none are requested")

	p.click("#tab-documents")
	p.waitFor(`document.getElementById('documents-summary').textContent === '1–20 of 27, in the order of writing'`)
	p.click("#documents-next")
	p.waitFor(`document.querySelector('#documents [data-key="1"]') !== null`)
	assert.Contains(t, p.text(`#documents [data-key="1"] .rest`), "lång lång", "the cell shows the beginning of the text")
	assert.Less(t, evaluate[int](p, `document.querySelector('#documents [data-key="1"]').textContent.length`), 1000)
	assert.Zero(t, p.asked("/_ui/document?"))
	p.click(`#documents [data-key="1"] summary`)
	p.waitFor(`document.querySelector('#documents pre')?.textContent.includes('lång the end')`)
	assert.Equal(t, 1, p.asked("/_ui/document?"))

	e.write(t, "hotels", `{"@search.action":"merge","id":"102","name":"elsewhere"}`)
	p.waitFor(`document.getElementById('documents').textContent.includes('elsewhere')`)
	p.waitFor(`document.querySelector('#documents pre')?.textContent.includes('lång the end')`) // it is still open
	for _, end := range []string{"a new end", "another end"} {                                  // the last page stays the last one
		long(end)
		p.waitFor(`document.querySelector('#documents pre')?.textContent.includes('lång ` + end + `')`)
	}
	list := p.asked(pages)
	p.click("#tab-search")
	e.write(t, "hotels", `{"id":"103"}`)
	p.waitFor(`document.querySelector('[data-index=hotels]').textContent === 'hotels28'`)
	assert.Equal(t, list, p.asked(pages), "the page no longer reads it")
}

func TestAValueOfSeveralLinesIsNoFilter(t *testing.T) {
	e := startEmulator(t)
	for i, text := range []string{`"one\ntwo"`, `"one\rtwo"`, `"one two"`} {
		e.write(t, "hotels", `{"id":"10`+strconv.Itoa(i)+`","category":`+text+`}`)
	}
	p := open(t, e)
	p.choose("hotels")
	p.write("[name=filter]", "id ge '100' and id le '102'")
	p.write("[name=facets]", "category,sort:value")
	p.search()
	assert.Equal(t, []string{"several", "several", "'one two'"}, evaluate[[]string](p, `[...document.querySelectorAll('.bucket')].map((b) => b.title.match(/several|'one two'/)[0])`))
	assert.Equal(t, []bool{true, true, false}, evaluate[[]bool](p, `[...document.querySelectorAll('.bucket')].map((b) => b.disabled)`))
}

func TestWithoutTagsNothingIsMarked(t *testing.T) {
	p := open(t, startEmulator(t))
	p.choose("hostile")
	for _, tags := range []string{`"highlightPreTag":"","highlightPostTag":""`, `"highlightPreTag":"["`, `"highlightPreTag":"[","highlightPostTag":""`} {
		p.write("[name=search]", "pool")
		p.write("[name=highlight]", "text")
		p.write("[name=other]", "{"+tags+"}")
		p.search()
		p.waitFor(`document.querySelectorAll('.highlight').length === 4`)
		assert.Equal(t, tags == `"highlightPreTag":"["`, evaluate[bool](p, `document.querySelector('#hits mark') !== null`), tags)
	}
}
