package searchtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// walked is an index whose documents change during a search.
type walked struct {
	t *testing.T
	s *Server
	r *rand.Rand
}

func newWalked(t *testing.T) *walked {
	s := NewServer(nil)
	t.Cleanup(func() { _ = s.Close() })
	require.NoError(t, s.CreateIndex(`{"name":"walks","fields":[{"name":"id","type":"Edm.String","key":true,"filterable":true,"sortable":true},
		{"name":"copy","type":"Edm.String","filterable":true},{"name":"n","type":"Edm.Int32","filterable":true,"sortable":true}]}`))
	return &walked{t, s, rand.New(rand.NewPCG(1, 2))}
}

func (w *walked) send(path, body string) map[string]any {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.s.URL()+"/indexes('walks')/docs/"+path+"?api-version="+latest.String(), strings.NewReader(body))
	require.NoError(w.t, err)
	req.Header.Set("Api-Key", AdminKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := w.s.Do(req)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	var reply map[string]any
	require.NoError(w.t, json.NewDecoder(resp.Body).Decode(&reply))
	require.Less(w.t, resp.StatusCode, 300, "%v", reply)
	return reply
}

// search returns the found keys and whether there is another page.
func (w *walked) search(query string) (ids []string) {
	w.t.Helper()
	reply := w.send("search.post.search", query)
	for _, v := range reply["value"].([]any) {
		ids = append(ids, v.(map[string]any)["id"].(string))
	}
	_, more := reply["@search.nextPageParameters"]
	return append(ids, fmt.Sprint(more))
}

func (w *walked) key() string { return fmt.Sprintf("k%d", w.r.IntN(300)) }

// write writes some documents, or none.
func (w *walked) write() {
	w.t.Helper()
	var batch []string
	for range w.r.IntN(8) {
		action, key := []string{"upload", "upload", "delete"}[w.r.IntN(3)], w.key()
		batch = append(batch, fmt.Sprintf(`{"@search.action":%q,"id":%q,"copy":%q,"n":%d}`, action, key, key, w.r.IntN(4)))
	}
	if len(batch) > 0 {
		w.send("search.index", `{"value":[`+strings.Join(batch, ",")+`]}`)
	}
}

// page returns random top and skip parameters of a query.
func (w *walked) page() string {
	top := []string{"", fmt.Sprintf(`,"top":%d`, w.r.IntN(20))}[w.r.IntN(2)]
	if w.r.IntN(4) == 0 {
		top += fmt.Sprintf(`,"skip":%d`, w.r.IntN(20))
	}
	return top
}

// A walk by key finds the same documents as a full scan, whatever is written and deleted between its pages.
func TestAWalkByKeysFindsWhatALookAtEverythingFinds(t *testing.T) {
	w := newWalked(t)
	for range 300 {
		w.write()
		filter := fmt.Sprintf([]string{"id gt '%s'", "id ge '%s'", "id ge '%s' and n eq 1", "n lt 2 and (id gt '%s' and id le 'k3')", "id ge '' and id gt '%s'"}[w.r.IntN(5)], w.key())
		top := w.page()
		page := fmt.Sprintf(`{"filter":%q,"orderby":"id"%s`, filter, top)
		walk := w.search(page + `}`)
		// Counting requires a full scan.
		require.Equal(t, w.search(page+`,"count":true}`), walk, page)
		require.Equal(t, w.search(fmt.Sprintf(`{"filter":%q,"orderby":"id,n"%s}`, filter, top)), walk, page)
	}
}

func TestKeysThatAFilterNamesAreFoundAsByALookAtEverything(t *testing.T) {
	w := newWalked(t)
	found := 0
	for range 600 {
		w.write()
		keys := make([]string, w.r.IntN(60))
		for i := range keys {
			keys[i] = w.key()
		}
		in := fmt.Sprintf("search.in(id, '%s')", strings.Join(keys, ","))
		filter := []string{
			in, in + " and n eq 1", "n lt 3 and (id gt 'k2' and " + in + ")", in + " and " + fmt.Sprintf("search.in(id, '%s,%s')", w.key(), w.key()),
			fmt.Sprintf("id eq '%s'", w.key()), fmt.Sprintf("id eq '%s' or %s or id eq 'none'", w.key(), in),
			fmt.Sprintf("(id eq '%s' or n eq 1) and %s", w.key(), in), "not " + in, in + " or n eq 3", fmt.Sprintf("id ne '%s'", w.key()),
		}[w.r.IntN(10)]
		order := []string{"", `,"orderby":"id"`, `,"orderby":"n desc, id"`}[w.r.IntN(3)] + w.page()
		named := w.search(fmt.Sprintf(`{"filter":%q%s}`, filter, order))
		// For another field the walk does not know the documents' positions.
		require.Equal(t, w.search(fmt.Sprintf(`{"filter":%q%s}`, regexp.MustCompile(`\bid\b`).ReplaceAllString(filter, "copy"), order)), named, filter+order)
		found += len(named) - 1
	}
	require.Greater(t, found, 1000)
}

// There are so many new keys that all keys are sorted again.
func TestAWalkByKeysFindsManyThatHaveCome(t *testing.T) {
	w := newWalked(t)
	for round := range 6 {
		var batch []string
		for i := range 450 {
			batch = append(batch, fmt.Sprintf(`{"@search.action":"upload","id":"%04d-%d","n":0}`, i, round))
		}
		w.send("search.index", `{"value":[`+strings.Join(batch, ",")+`]}`)
		for _, after := range []string{"", "0100", "0300-3"} {
			require.Equal(t, w.search(fmt.Sprintf(`{"filter":"id ge '%s'","orderby":"id,n","top":1000}`, after)), w.search(fmt.Sprintf(`{"filter":"id ge '%s'","orderby":"id","top":1000}`, after)))
		}
	}
}
