package browsertest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIndexesAndTheirDocumentsAreShown(t *testing.T) {
	p := open(t, startEmulator(t))
	assert.Equal(t, "hostile\n4\nhotels\n24", p.text("#indexes"))
	p.choose("hotels")

	p.click("#tab-fields")
	assert.Contains(t, p.text("#fields"), "rating\tInt32\tfilterablesortablefacetable")
	assert.Contains(t, p.text("#fields"), "12 dimensions")
	assert.Contains(t, p.text("#fields"), "hidden", "notes are not retrievable")
	assert.Equal(t, 1, evaluate[int](p, `[...document.querySelectorAll('.field-name')].filter((f) => f.textContent === 'city' && f.style.getPropertyValue('--depth') === '1').length`),
		"a nested field is below its parent")

	p.click("#tab-documents")
	p.waitFor(`document.getElementById('documents-summary').textContent === '1–20 of 24, in the order of writing'`)
	p.click("#documents-next")
	p.waitFor(`document.getElementById('documents-summary').textContent === '21–24 of 24, in the order of writing'`)
	assert.True(t, evaluate[bool](p, `document.getElementById('documents-next').disabled`))
	p.click("#documents li:first-child summary")
	p.waitFor(`document.querySelector('#documents pre') !== null`)
	document := p.text("#documents pre")
	assert.Contains(t, document, `"id": "21"`)
	assert.Contains(t, document, `"visits": 9007199254741013`, "every digit of an Int64")
	assert.Contains(t, document, "for the staff only", "fields that are not retrievable are shown too")
	assert.Contains(t, document, "… 4 more", "a vector is cut off")
}

func TestAnIndexShowsItsFirstDocumentsAndExamplesFromItsFieldsBeforeAnyQuery(t *testing.T) {
	p := open(t, startEmulator(t))
	p.choose("hotels")
	p.waitFor(`document.getElementById('summary').textContent === 'the first 10 of 24, in the order of writing'`)
	assert.Equal(t, 10, evaluate[int](p, `document.querySelectorAll('#hits > li').length`))
	assert.NotContains(t, p.text("#hits"), "for the staff only", "fields that no query returns")
	assert.Empty(t, p.rows(), "no request was sent")
	placeholders := evaluate[map[string]string](p, `Object.fromEntries([...document.querySelectorAll('#query [placeholder]')].map((c) => [c.name, c.placeholder]))`)
	assert.Equal(t, "rating ge 4", placeholders["filter"])
	assert.Equal(t, "rating desc, search.score() desc", placeholders["orderby"])
	assert.Equal(t, "name,count:5\nrating,interval:1", placeholders["facets"], "the emulator makes it facetable, as the service does")
	assert.Equal(t, "name, description", placeholders["highlight"])
	for _, name := range []string{"filter", "orderby", "facets", "highlight", "select", "other"} {
		p.write("[name="+name+"]", strings.ReplaceAll(placeholders[name], "\n", kb.Enter))
	}
	p.search()
	assert.Regexp(t, `^\d+ documents, these are 1–10`, p.text("#summary"), "the examples can be sent as they are")
	p.choose("hostile")
	p.waitFor(`document.querySelector('[name=filter]').placeholder === "text eq 'text'"`)
	p.waitFor(`document.getElementById('summary').textContent === 'all 4, in the order of writing'`)
}

func TestTheAddressHasTheIndexAndItsOpenTab(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e)
	p.choose("hotels")
	assert.True(t, strings.HasSuffix(evaluate[string](p, `location.href`), "/#hotels"))
	p.click("#tab-fields")
	assert.True(t, strings.HasSuffix(evaluate[string](p, `location.href`), "/#hotels/fields"))
	evaluate[any](p, `window.old = true`)
	p.do(chromedp.Reload())
	p.waitForNew()
	p.waitFor(`document.getElementById('index-title').textContent === 'hotels' && !document.getElementById('panel-fields').hidden`)
	assert.True(t, evaluate[bool](p, `document.getElementById('panel-search').hidden`))
	assert.Contains(t, p.text("#fields"), "rating")
}

func TestAnEditedAddressIsFollowed(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e)
	p.choose("hotels")
	evaluate[any](p, `location.hash = '#hostile/fields/traffic'`)
	p.waitFor(`document.getElementById('index-title').textContent === 'hostile' && !document.getElementById('panel-fields').hidden && document.body.dataset.view === 'traffic'`)
	evaluate[any](p, `location.hash = '#none'`)
	p.waitFor(`document.body.dataset.view === 'index' && location.hash === '#hostile' && !document.getElementById('panel-search').hidden`)
	evaluate[any](p, `document.querySelector('[data-view=traffic]').click()`)
	assert.True(t, strings.HasSuffix(evaluate[string](p, `location.href`), "/#hostile//traffic"))
}

func TestDefinitionsOfOtherKindsAreShown(t *testing.T) {
	p := open(t, startEmulator(t))
	p.choose("hotels")
	assert.Equal(t, []string{"Data sources", "Skillsets", "Indexers", "Knowledge sources", "Knowledge bases"}, evaluate[[]string](p, `[...document.querySelectorAll('#others h2')].map((h) => h.textContent)`))
	for name, part := range map[string]string{"blobs": "azureblob", "skills": "SplitSkill", "nightly": "PT1H", "ks": "searchIndexName", "kb": "deploymentId"} {
		p.press(name)
		p.waitFor(`document.getElementById('index-title').textContent === ` + strconv.Quote(name) + ` && document.getElementById('other').textContent.includes(` + strconv.Quote(part) + `)`)
		assert.NotContains(t, p.text("#other"), "never-shown")
	}
	p.screenshot("definition")
	assert.False(t, evaluate[bool](p, `document.getElementById('query').checkVisibility()`))
	p.choose("hotels")
	assert.True(t, evaluate[bool](p, `document.getElementById('query').checkVisibility() && !document.getElementById('other').checkVisibility()`))
}

func TestAQueryIsNarrowedDownByItsFacets(t *testing.T) {
	p := open(t, startEmulator(t))
	p.choose("hotels")
	p.write("[name=search]", "pool")
	p.write("[name=filter]", "rating ge 1")
	p.write("[name=facets]", "category")
	p.write("[name=highlight]", "description")
	p.write("[name=top]", "3")
	p.search()
	require.Regexp(t, `^15 documents, these are 1–3 · \d+ ms$`, p.text("#summary"))
	assert.Equal(t, 3, evaluate[int](p, `document.querySelectorAll('#hits > li').length`))
	assert.NotEmpty(t, evaluate[[]string](p, `[...document.querySelectorAll('#hits mark')].map((m) => m.textContent)`))
	p.screenshot("search")

	p.click("#next")
	p.waitFor(`/these are 4–6/.test(document.getElementById('summary').textContent)`)
	assert.Equal(t, "3", evaluate[string](p, `document.querySelector('[name=skip]').value`))

	label := evaluate[[]string](p, `[...document.querySelector('.bucket').children].map((c) => c.textContent)`)
	p.click(".bucket")
	p.waitFor(fmt.Sprintf(`/^%s documents?,/.test(document.getElementById('summary').textContent)`, label[1]))
	assert.Equal(t, "rating ge 1 and category eq '"+label[0]+"'", evaluate[string](p, `document.querySelector('[name=filter]').value`))
	assert.Equal(t, "0", evaluate[string](p, `document.querySelector('[name=skip]').value`), "the search begins with the first page")

	p.click("#wire > summary")
	assert.JSONEq(t, `{"search":"pool","filter":"rating ge 1 and category eq '`+label[0]+`'","facets":["category"],"highlight":"description","top":3,"count":true}`, p.text("#request-json"))
	assert.Contains(t, p.text("#request-curl"), "curl -sS -X POST '"+p.url+"/indexes/hotels/docs/search?api-version=2026-10-01'")
	assert.Contains(t, p.text("#request-curl"), `category eq '\''`+label[0]+`'\''`, "quoted for a shell")
}

// The test does not click: for each bucket it compares the page's filter with the emulator's count.
func TestEveryFacetHasAFilterThatFindsItsDocuments(t *testing.T) {
	p := open(t, startEmulator(t))
	for _, facet := range []string{
		"category", "tags", "rating", "price", "opened", "parking", "visits", "address/city", "rooms/type", "rooms/features", "rooms/beds,sort:-value",
		"rating,values:2|4", "price,values:80|120.5", "opened,values:2000-01-01T00:00:00Z|2003-06-01T00:00:00Z", "rooms/beds,values:2",
		"rating,interval:2", "price,interval:100", "visits,interval:7",
		"opened,interval:hour", "opened,interval:day", "opened,interval:week", "opened,interval:month", "opened,interval:quarter", "opened,interval:year",
		"opened,interval:month,timeoffset:+05:30", "opened,interval:year,timeoffset:-0800", "opened,interval:quarter,timeoffset:-11",
	} {
		wrong := evaluate[[]string](p, `(async () => {
			const emulator = await import('/_ui/page/emulator.js'), { bucketFilter } = await import('/_ui/page/filter.js'), { parse } = await import('/_ui/page/json.js')
			const ask = async (body) => {
				const reply = await emulator.search('hotels', JSON.stringify({ count: true, top: 0, ...body }))
				return reply.ok ? parse(reply.text) : reply.text
			}
			const { fields } = await emulator.ask('definition?index=hotels')
			const facet = `+strconv.Quote(facet)+`
			const buckets = Object.values((await ask({ facets: [facet] }))['@search.facets'] ?? {}).find(Array.isArray) ?? []
			const wrong = buckets.length ? [] : ['no buckets']
			for (const bucket of buckets) {
				const filter = bucketFilter(fields, facet, bucket)
				const found = await ask({ filter })
				if (found['@odata.count'] !== bucket.count) wrong.push(JSON.stringify(bucket) + ' ' + filter + ' ' + JSON.stringify(found))
			}
			return wrong
		})()`)
		assert.Empty(t, wrong, facet)
	}
}

func TestConditionsAreAddedWithoutChangingTheFilterThatWasThere(t *testing.T) {
	p := open(t, startEmulator(t))
	for _, c := range [][3]string{
		{"", "a eq 1", "a eq 1"},
		{"  b eq 2 ", "a eq 1", "b eq 2 and a eq 1"},
		{"b eq 2 or c eq 3", "a eq 1", "(b eq 2 or c eq 3) and a eq 1"},
	} {
		assert.Equal(t, c[2], evaluate[string](p, fmt.Sprintf(`import('/_ui/page/filter.js').then(({ and }) => and(%q, %q))`, c[0], c[1])))
	}
	assert.Equal(t, "text eq 'it''s'", evaluate[string](p, `import('/_ui/page/filter.js').then(({ bucketFilter }) =>
		bucketFilter([{ name: 'text', type: 'Edm.String' }], 'text', { value: "it's", count: 1 }))`))
	assert.True(t, evaluate[bool](p, `import('/_ui/page/filter.js').then(({ bucketFilter }) =>
		bucketFilter([{ name: 'x', type: 'Edm.Double' }], 'x', { value: 'NaN', count: 1 }) === null)`), "NaN equals no number")
}

func TestErrorsAreShownInTheWordsOfTheService(t *testing.T) {
	p := open(t, startEmulator(t), "status of 400")
	p.choose("hotels")
	p.write("[name=filter]", "stars gt 3")
	p.search()
	problem := p.text("#query-error")
	assert.Contains(t, problem, "400")
	assert.Contains(t, problem, "Could not find a property named 'stars'")
	assert.Contains(t, problem, "$filter")
	assert.Equal(t, "alert", evaluate[string](p, `document.getElementById('query-error').getAttribute('role')`))

	p.write("[name=filter]", "")
	p.write("[name=other]", `{"searchFields": name}`)
	p.search()
	assert.Contains(t, p.text("#query-error"), "Other parameters")

	p.write("[name=other]", `{"searchFields": "name", "search": "harbour"}`)
	p.search()
	assert.Regexp(t, `^1 document, these are 1–1`, p.text("#summary"))
	assert.False(t, evaluate[bool](p, `!document.getElementById('query-error').hidden`), "the error is hidden")
}

func TestMarkupInDocumentsStaysText(t *testing.T) {
	p := open(t, startEmulator(t), "This document requires 'TrustedHTML' assignment") // caused by the last line
	p.choose("hostile")
	p.write("[name=search]", "pool")
	p.write("[name=highlight]", "text")
	p.write("[name=facets]", "text")
	p.search()
	p.waitFor(`document.querySelectorAll('#hits mark').length === 4`)
	assert.Contains(t, p.text("#hits"), `<img src=x onerror="window.pwned=1">`)
	assert.Contains(t, p.text("#facets"), `<script>window.pwned=1</script>`)
	p.click("#hits li:first-child summary")
	p.click("#wire > summary")
	p.click(".bucket")
	p.waitFor(`/^1 document,/.test(document.getElementById('summary').textContent)`)
	p.click("#tab-documents")
	p.waitFor(`document.querySelectorAll('#documents li').length === 4`)
	p.click("#documents li:nth-child(3) summary")
	p.waitFor(`document.querySelector('#documents pre') !== null`)
	assert.Contains(t, p.text("#documents pre"), "</pre></details><b>pool</b>")
	p.screenshot("hostile")

	assert.False(t, evaluate[bool](p, `'pwned' in window`))
	assert.Zero(t, evaluate[int](p, `document.querySelectorAll('main script, main img, main svg, main b').length`))
	assert.Contains(t, evaluate[string](p, `(() => { try { document.body.innerHTML = '<b>x</b>'; return 'taken' } catch (e) { return String(e) } })()`), "TrustedHTML",
		"even a mistake in a script could not make markup")
}

func TestThePageIsUsableWithoutAMouse(t *testing.T) {
	p := open(t, startEmulator(t))
	p.choose("hotels")
	p.do(chromedp.Focus(chromedp.CSS("[name=search]")), chromedp.KeyEvent("spa\r"))
	p.waitFor(`/ms$/.test(document.getElementById('summary').textContent)`)
	p.do(chromedp.Focus(chromedp.CSS("#tab-search")), chromedp.KeyEvent(kb.ArrowRight))
	p.waitFor(`!document.getElementById('panel-documents').hidden && document.activeElement.id === 'tab-documents'`)
	assert.Empty(t, evaluate[[]string](p, `[...document.querySelectorAll('input, select, textarea')].filter((c) => !c.labels.length).map((c) => c.outerHTML)`), "controls without a label")
	assert.Empty(t, evaluate[[]string](p, `[...document.querySelectorAll('button')].filter((b) => !b.textContent.trim()).map((b) => b.outerHTML)`), "buttons without a name")
}

func TestThePageFitsEveryWindow(t *testing.T) {
	p := open(t, startEmulator(t))
	p.choose("hostile") // has a word of 400 characters
	p.write("[name=search]", "pool")
	p.write("[name=facets]", "text")
	p.write("[name=highlight]", "text")
	p.search()
	p.waitFor(`document.querySelectorAll('#hits mark').length === 4`)
	evaluate[any](p, `document.querySelectorAll('#panel-search details, #panel-fields details').forEach((d) => { d.open = true })`)
	p.click("#tab-documents")
	p.waitFor(`document.querySelectorAll('#documents li').length === 4`)
	evaluate[any](p, `document.querySelectorAll('#documents details').forEach((d) => { d.open = true })`)
	p.waitFor(`document.querySelectorAll('#hits pre').length === 4 && document.querySelectorAll('#documents pre').length === 4`)
	p.click("#script-box > summary")
	p.waitForRows(1)
	evaluate[any](p, `document.querySelector('#log .disclose').click()`)
	p.waitFor(`document.querySelector('#log .more pre') !== null`)
	for _, size := range [][2]int64{{360, 740}, {768, 1000}, {1151, 800}, {1500, 950}, {2200, 1200}} {
		p.resize(size[0], size[1])
		for _, view := range []string{"index", "traffic"} {
			if size[0] <= 1150 {
				p.click(".views [data-view=" + view + "]")
			}
			if view == "traffic" { // again, for the current columns
				evaluate[any](p, `document.querySelector('#log .disclose').click()`)
				p.waitFor(`document.querySelector('#log .more') === null`)
				evaluate[any](p, `document.querySelector('#log .disclose').click()`)
				p.waitFor(`document.querySelector('#log .more pre') !== null`)
			}
			for _, panel := range []string{"search", "documents", "fields"} {
				if view == "index" || size[0] > 1150 {
					p.click("#tab-" + panel)
				}
				wide := evaluate[int](p, `document.documentElement.scrollWidth`)
				assert.LessOrEqual(t, wide, int(size[0]), "%s and %s at %d", view, panel, size[0])
			}
			if size[0] <= 1150 {
				p.screenshot(fmt.Sprintf("%d-%s", size[0], view))
			}
		}
	}
}

func TestPicturesOfThePage(t *testing.T) {
	if os.Getenv("AZSEARCH_SCREENSHOTS") == "" {
		t.Skip("no screenshots: AZSEARCH_SCREENSHOTS is not set")
	}
	p := open(t, startEmulator(t))
	p.choose("hotels")
	p.write("[name=search]", "view")
	p.write("[name=filter]", "rating ge 2")
	p.write("[name=facets]", "category\nrating,values:3|5")
	p.write("[name=highlight]", "description")
	p.search()
	p.press("slow (1 s)")
	p.waitForRows(1)
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.resize(1500, 950)
		p.screenshot("wide-" + scheme)
		p.resize(360, 740)
		p.screenshot("narrow-" + scheme)
	}
	p.resize(1500, 950)
	p.click("#tab-fields")
	p.screenshot("fields")
}
