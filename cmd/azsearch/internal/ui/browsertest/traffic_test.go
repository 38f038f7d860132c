package browsertest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
	"github.com/go-azsearch/azsearch/search/searchtest"
)

// rows returns the lines of the request log: method, operation and path, actions and status.
func (p *tab) rows() []string {
	p.t.Helper()
	return evaluate[[]string](p, `[...document.querySelectorAll('#log tr:not(.more)')].map((row) => [...row.children].slice(1, 5).map((c) => c.innerText.trim()).join(' | '))`)
}

func (p *tab) waitForRows(n int) {
	p.t.Helper()
	p.waitFor(`document.querySelectorAll('#log tr:not(.more)').length >= ` + strconv.Itoa(n))
}

// client returns a client of the SDK without retries, so each call is one request.
func client(t *testing.T, e emulator) *search.Client {
	t.Helper()
	options := &search.ClientOptions{}
	options.Retry.MaxRetries = -1
	c, err := search.NewClientWithKey(e.url, "hotels", azcore.NewKeyCredential(searchtest.AdminKey), options)
	require.NoError(t, err)
	return c
}

func upload(id string) models.IndexDocumentsBatch[models.Document] {
	return models.IndexDocumentsBatch[models.Document]{Actions: []models.IndexDocumentsAction[models.Document]{
		models.MergeOrUploadAction(models.Document{"id": id, "name": "The New One"}),
	}}
}

func TestRequestsShowAsTheyComeWithTheirFaults(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e)
	p.choose("hotels")
	assert.Empty(t, p.rows(), "the page's own looking is not in the log")
	c := client(t, e)
	_, err := search.IndexDocuments(t.Context(), c, upload("100"), nil)
	require.NoError(t, err)
	p.waitForRows(1)
	assert.Equal(t, []string{"POST | indexDocuments /indexes('hotels')/docs/search.index | 1 | 200"}, p.rows())
	p.waitFor(`document.querySelector('[data-index=hotels]').textContent === 'hotels25'`) // the list updates its count

	p.press("503 every 3rd batch")
	p.waitFor(`document.getElementById('fault-state').textContent.startsWith('Active: 503 every 3rd batch')`)
	for i := range 3 {
		_, err = search.IndexDocuments(t.Context(), c, upload("101"), nil)
		if i < 2 {
			require.NoError(t, err)
		}
	}
	var refused *azcore.ResponseError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
	p.waitForRows(4)
	rows := p.rows()
	assert.Contains(t, rows[0], "503", "the newest is first")
	assert.Contains(t, rows[0], "fault")
	assert.NotContains(t, rows[1], "fault")
	p.screenshot("traffic")

	p.click("#faults-only")
	assert.Equal(t, 1, evaluate[int](p, `[...document.querySelectorAll('#log tr')].filter((r) => r.checkVisibility()).length`))
	p.click("#log tr:first-child .disclose")
	p.waitFor(`document.querySelector('#log .more pre') !== null`)
	assert.Contains(t, p.text("#log .more"), "Content-Type")
	assert.Contains(t, p.text("#log .more pre"), "The New One")
	assert.NotContains(t, p.text("#log .more"), searchtest.AdminKey)
	p.screenshot("request")
	p.click("#faults-only")

	p.press("off")
	p.waitFor(`document.getElementById('fault-state').textContent.startsWith('Off')`)
	for range 3 {
		_, err = search.IndexDocuments(t.Context(), c, upload("102"), nil)
		require.NoError(t, err)
	}
	p.waitForRows(7)
	assert.Equal(t, "7 requests, 1 with a fault", p.text("#log-summary"))
}

func TestQueriesOfThePageMeetFaultsToo(t *testing.T) {
	p := open(t, startEmulator(t), "status of 503", "net::ERR_")
	p.choose("hotels")
	p.click("#script-box > summary")
	p.write("#script", `{"rules":[{"operation":"search","count":1,"status":503},{"operation":"search","cut":"beforeCommit"}]}`)
	p.press("Apply")
	p.waitFor(`document.getElementById('fault-state').textContent.startsWith('Active: a script of 2 rules')`)
	p.search()
	assert.Contains(t, p.text("#query-error"), "503: You are sending too many requests.")
	p.waitForRows(1)
	p.search() // a browser may retry on a connection that it has used before
	assert.Contains(t, p.text("#query-error"), "No reply")
	p.waitForRows(2)
	assert.Contains(t, p.rows()[0], "cut")
	assert.Contains(t, p.rows()[0], "fault")
}

func TestScriptsThatAreWrongAreRefusedWithAllReasons(t *testing.T) {
	p := open(t, startEmulator(t), "status of 400")
	p.click("#script-box > summary")
	p.write("#script", `{"rules":[{"operation":"fly","status":503},{"statsu":503}]}`)
	p.press("Apply")
	p.waitFor(`!document.getElementById('script-errors').hidden`)
	problems := p.text("#script-errors")
	assert.Contains(t, problems, `"fly" is unknown`)
	assert.Contains(t, problems, `unknown field "statsu"`)
	assert.True(t, strings.HasPrefix(p.text("#fault-state"), "Off"), "nothing was put in force")
}

func TestWhatIsActiveIsShownToEverybody(t *testing.T) {
	e := startEmulator(t)
	first, second := open(t, e), open(t, e)
	first.press("slow (1 s)")
	for _, p := range []*tab{first, second} {
		p.waitFor(`document.getElementById('fault-chip').textContent === 'faults: slow (1 s)' && !document.getElementById('fault-chip').hidden`)
		assert.Equal(t, []string{"slow (1 s)"}, evaluate[[]string](p, `[...document.querySelectorAll('[aria-pressed=true]')].map((b) => b.textContent)`))
	}
}

func TestMoreRequestsThanTheLogHolds(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e)
	c := client(t, e)
	send := func(n int) {
		for range n {
			_, err := c.DocumentCount(t.Context(), nil)
			require.NoError(t, err)
		}
	}
	for _, step := range []struct {
		send, sent int
		summary    string
	}{{300, 300, "^300 requests,"}, {220, 520, "^500 of 520 requests,"}, {600, 1120, "^(500|499) of 1,120 requests,"}} { // how many of the last requests are kept
		send(step.send)
		p.waitFor(fmt.Sprintf(`document.querySelector('#log tr')?.dataset.seq === '%d'`, step.sent))
		assert.Regexp(t, step.summary, p.text("#log-summary"))
		assert.Equal(t, min(step.sent, 500), len(p.rows()))
	}
}

func TestARequestThatSomebodyReadsStaysWhenManyWereMissed(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e)
	c := client(t, e)
	_, err := search.IndexDocuments(t.Context(), c, upload("100"), nil)
	require.NoError(t, err)
	p.waitForRows(1)
	p.click("#log .disclose")
	p.waitFor(`document.querySelector('#log .more pre') !== null`)
	for look := 1; look <= 6; look++ {
		p.hide(true)
		for range 600 {
			_, err := c.DocumentCount(t.Context(), nil)
			require.NoError(t, err)
		}
		p.hide(false)
		p.waitFor(fmt.Sprintf(`document.querySelector('#log tr').dataset.seq === '%d'`, 1+600*look))
		assert.Equal(t, "… about 500 requests that are not shown", p.text("#log .gap"))
		assert.Len(t, p.rows(), min(1+101*look, 501), "500 and the one that is open")
		assert.Contains(t, p.text("#log .more pre"), "The New One")
	}
	assert.Regexp(t, `^49\d of 3,601 requests, 0 with a fault$`, p.text("#log-summary"))
}

// hide simulates a hidden or visible page.
func (p *tab) hide(hidden bool) {
	p.t.Helper()
	evaluate[bool](p, fmt.Sprintf(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => %t }) && document.dispatchEvent(new Event('visibilitychange'))`, hidden))
	if hidden {
		p.waitFor(`document.getElementById('live').textContent === 'paused'`)
	}
}

func TestThePageLooksOnlyWhileItIsSeen(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e)
	p.hide(true)
	_, err := client(t, e).DocumentCount(t.Context(), nil)
	require.NoError(t, err)
	looks := func() int {
		return evaluate[int](p, `performance.getEntriesByType('resource').filter((e) => e.name.includes('/_ui/state')).length`)
	}
	before := looks()
	for range 3 {
		p.hide(true) // each change triggers an update unless the page is hidden
	}
	assert.Equal(t, before, looks())
	assert.Empty(t, p.rows())
	p.hide(false)
	p.waitForRows(1)
}

func TestThePageBeginsAnewWithAnotherEmulator(t *testing.T) {
	e := startEmulator(t)
	p := open(t, e, "net::ERR_")
	_, err := client(t, e).DocumentCount(t.Context(), nil)
	require.NoError(t, err)
	p.waitForRows(1)
	e.stop()
	p.waitFor(`document.getElementById('live').textContent === 'not reachable'`)
	startEmulatorAt(t, strings.TrimPrefix(e.url, "http://"))
	evaluate[bool](p, `window.old = true`)
	p.waitForNew()
	p.waitFor(`document.getElementById('live').textContent === 'live'`)
	assert.Empty(t, p.rows(), "requests of the emulator before")
}

// waitForNew waits until the page has reloaded, which clears the variables of its window.
func (p *tab) waitForNew() {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		old, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`'old' in window`))
		return err == nil && !old
	}, patient, 50*time.Millisecond)
}
