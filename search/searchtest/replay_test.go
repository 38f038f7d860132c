package searchtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// exchangeRecord is one request to the real service and its reply.
type exchangeRecord struct {
	method, url string
	header      http.Header
	body        []byte

	status      int
	replyHeader http.Header
	reply       string
}

// recording has the exchanges of one live test of an SDK.
type recording struct {
	name      string // folder and file name without extension
	exchanges []exchangeRecord
}

// comparedHeaders are the reply headers of the service itself; the others come from proxies and clocks.
var comparedHeaders = []string{"Content-Type", "OData-Version", "Preference-Applied", "Content-Language", "Location", "Cache-Control", "Pragma", "Expires"}

// difference is a difference between the replies of emulator and service.
type difference struct{ recording, exchange, where, recorded, emulated string }

// The test sends recorded requests of the real service to the emulator. DIFFERENCES.md lists and explains the
// differences; a missing entry fails the test, and so does an obsolete one.
func TestRecordedExchangesAreAnsweredAsRecorded(t *testing.T) {
	var found []difference
	counts := map[string]int{"equal but for score": 0}
	for _, rec := range loadRecordings(t) {
		differs := replay(t, rec, counts)
		found = append(found, differs...)
	}
	listed, listedCounts := readDifferences(t, "DIFFERENCES.md")
	for _, d := range found {
		if _, ok := listed[d]; !ok {
			t.Errorf("not in DIFFERENCES.md:\n| %s | %s | %s | `%s` | `%s` | why? |", d.recording, d.exchange, d.where, d.recorded, d.emulated)
		}
	}
	for d, reason := range listed {
		if !slices.Contains(found, d) {
			t.Errorf("in DIFFERENCES.md, but the answers are the same now: %+v", d)
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("DIFFERENCES.md gives no reason for %+v", d)
		}
	}
	require.Equal(t, listedCounts, counts, "the counts in DIFFERENCES.md")
	t.Logf("%v", counts)
}

// replay sends the requests of a recording to a new server and returns the differences. It adds to counts.
func replay(t *testing.T, rec recording, counts map[string]int) []difference {
	t.Helper()
	if len(rec.exchanges) == 0 {
		counts["recordings without exchanges"]++
		return nil
	}
	first, err := url.Parse(rec.exchanges[0].url)
	require.NoError(t, err)
	service, _, _ := strings.Cut(first.Host, ".")
	srv := NewServer(&Options{ServiceName: service, MaxBatchActions: -1})
	defer srv.Close()
	setUp(t, srv, rec)
	var differs []difference
	tags := map[string]string{} // recorded to emulated
	for n, x := range rec.exchanges {
		counts["replayed"]++
		status, header, body := send(t, srv, x, tags)
		list, scored := compare(x, status, header, body)
		learnTags(tags, x, header, body)
		switch {
		case len(list) > 0:
			counts["different"]++
		case !scored:
			counts["equal but for score"]++
		default:
			counts["equal"]++
		}
		for _, d := range list {
			d.recording, d.exchange = rec.name, strconv.Itoa(n)
			differs = append(differs, d)
		}
	}
	return differs
}

// definitions has the indexes that existed before a recording, by name.
var definitions = map[string]string{
	"hotels": "HotelsTestsIndexData.json", "books": "BooksIndexData.json", "data-types-tests-index": "DataTypesTestsIndexData.json",
	"testindex": "ModelWithValueTypesIndexData.json", "non-nullable-index": "NonNullableIndexData.json", "geopoints": "GeoPointsIndexData.json",
	"drgqefsg": "py_hotel_schema.json",
}

// setUp creates what existed before the recording: the index of its first request, unless that request creates it,
// and for the Python tests the documents.
func setUp(t *testing.T, srv *Server, rec recording) {
	t.Helper()
	python := strings.HasPrefix(rec.name, "python")
	r, err := http.NewRequest(rec.exchanges[0].method, rec.exchanges[0].url, nil)
	require.NoError(t, err)
	rt, _ := operations.Find(r)
	name := rt.Index
	if rec.name == "python-2020-06-30/test_search_index_client_live.test_list_indexes" {
		name = "drgqefsg"
	}
	if rec.name == "java-2019-05-06-indexers/createIndexerReturnsCorrectDefinition" {
		for path, body := range map[string]string{
			"/datasources": `{"name":"azs-java-test-sql","type":"azuresql","credentials":{},"container":{"name":"GeoNamesRI"}}`,
			"/indexes":     `{"name":"indexforindexers","fields":[{"name":"id","type":"Edm.String","key":true}]}`,
		} {
			status, _, reply := send(t, srv, exchangeRecord{method: http.MethodPost, url: "https://" + r.URL.Host + path + "?api-version=2019-05-06", body: []byte(body)}, nil)
			require.Equal(t, http.StatusCreated, status, "%s", reply)
		}
	}
	file, known := definitions[name]
	documents := slices.ContainsFunc(rec.exchanges, func(x exchangeRecord) bool { return strings.Contains(x.url, "/docs") })
	if !known || !python && (rt.Operation == string(OpCreateOrUpdateIndex) || rt.Operation == string(OpDeleteIndex) || !documents) || python && name != "drgqefsg" {
		return
	}
	definition := testdata(t, "recordings/testdata/"+file)
	_, serr := srv.kept.AddIndex(definition, rt.Version)
	require.Nil(t, serr, "%s: %s", file, serr)
	if python && documents {
		upload := exchangeRecord{
			method: http.MethodPost, url: "https://" + r.URL.Host + "/indexes('drgqefsg')/docs/search.index?api-version=2020-06-30",
			body: testdata(t, "recordings/testdata/py_hotel_small.json"),
		}
		status, _, body := send(t, srv, upload, nil)
		require.Equal(t, http.StatusOK, status, "%s", body)
	}
}

// send sends a recorded request with the emulator's entity tags in place of the recorded ones.
func send(t *testing.T, srv *Server, x exchangeRecord, tags map[string]string) (int, http.Header, string) {
	t.Helper()
	body := string(x.body)
	for theirs, ours := range tags {
		body = strings.ReplaceAll(body, theirs, ours)
	}
	r, err := http.NewRequestWithContext(context.Background(), x.method, x.url, strings.NewReader(body))
	require.NoError(t, err)
	for name, values := range x.header {
		for _, v := range values {
			for theirs, ours := range tags {
				v = strings.ReplaceAll(v, theirs, ours)
			}
			r.Header.Add(name, v)
		}
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	r.Header.Del("Accept-Encoding")
	r.Header.Del("Content-Length")
	r.Header.Set("api-key", AdminKey)
	resp, err := srv.Transport().RoundTrip(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, string(reply)
}

// timePattern matches the times in an indexer's history.
var timePattern = regexp.MustCompile(`"(start|end)Time":"20[^"]+"`)

var tagPattern = regexp.MustCompile(`"@odata\.etag":"\\"(0x[0-9A-F]+)\\""`)

// learnTags maps recorded entity tags to the emulator's.
func learnTags(tags map[string]string, x exchangeRecord, header http.Header, body string) {
	theirs, ours := tagPattern.FindAllStringSubmatch(x.reply, -1), tagPattern.FindAllStringSubmatch(body, -1)
	for i := range min(len(theirs), len(ours)) {
		tags[theirs[i][1]] = ours[i][1]
	}
	if a, b := x.replyHeader.Get("ETag"), header.Get("ETag"); a != "" && b != "" {
		tags[strings.Trim(a, `W/"`)] = strings.Trim(b, `W/"`)
	}
}

// compare returns the differences between the recorded reply and the emulator's, except document scores; scored
// reports whether the scores are equal.
func compare(x exchangeRecord, status int, header http.Header, body string) (out []difference, scored bool) {
	if status != x.status {
		out = append(out, difference{where: "status", recorded: strconv.Itoa(x.status), emulated: strconv.Itoa(status)})
	}
	for _, name := range comparedHeaders {
		if a, b := x.replyHeader.Get(name), header.Get(name); a != b {
			out = append(out, difference{where: "header " + name, recorded: a, emulated: b})
		}
	}
	if a, b := x.replyHeader.Get("ETag") != "", header.Get("ETag") != ""; a != b {
		out = append(out, difference{where: "header ETag", recorded: strconv.FormatBool(a), emulated: strconv.FormatBool(b)})
	}
	theirs, ours := tagPattern.ReplaceAllString(x.reply, `"@odata.etag":"TAG"`), tagPattern.ReplaceAllString(body, `"@odata.etag":"TAG"`)
	theirs, ours = timePattern.ReplaceAllString(theirs, `"${1}Time":"TIME"`), timePattern.ReplaceAllString(ours, `"${1}Time":"TIME"`)
	theirs, ours = sortFacets(theirs), sortFacets(ours)
	theirs, ours, scored = withoutScores(theirs, ours)
	if theirs == ours {
		return out, scored
	}
	var a, b any
	if decode(theirs, &a) != nil || decode(ours, &b) != nil {
		return append(out, difference{where: "body", recorded: short(theirs), emulated: short(ours)}), scored
	}
	list := compareValues("", a, b)
	if len(list) == 0 { // the same values in another notation
		i := 0
		for i < min(len(theirs), len(ours)) && theirs[i] == ours[i] {
			i++
		}
		list = []difference{{where: "body from byte " + strconv.Itoa(i), recorded: short(theirs[i:]), emulated: short(ours[i:])}}
	}
	return append(out, list...), scored
}

// sortFacets sorts the members of facets by name; the service uses the order of a hash table.
func sortFacets(body string) string {
	const name = `"@search.facets":`
	before, rest, found := strings.Cut(body, name)
	if !found {
		return body
	}
	var facets map[string]json.RawMessage
	dec := json.NewDecoder(strings.NewReader(rest))
	if dec.Decode(&facets) != nil {
		return body
	}
	var sorted strings.Builder
	for i, facet := range slices.Sorted(maps.Keys(facets)) {
		if i > 0 {
			sorted.WriteByte(',')
		}
		fmt.Fprintf(&sorted, "%q:%s", facet, facets[facet])
	}
	return before + name + "{" + sorted.String() + "}" + rest[dec.InputOffset():]
}

var scorePattern = regexp.MustCompile(`"@search\.score":([-+.0-9eE]+)`)

// withoutScores removes the scores from two bodies with equally many documents, and reports whether they agree to one
// part in a million.
func withoutScores(theirs, ours string) (a, b string, equal bool) {
	scores, own := scorePattern.FindAllStringSubmatch(theirs, -1), scorePattern.FindAllStringSubmatch(ours, -1)
	if len(scores) != len(own) {
		return theirs, ours, false
	}
	equal = true
	for i := range scores {
		x, err := strconv.ParseFloat(scores[i][1], 64)
		y, fault := strconv.ParseFloat(own[i][1], 64)
		equal = equal && err == nil && fault == nil && math.Abs(x-y) <= 1e-6*math.Abs(x)
	}
	const removed = `"@search.score":"SCORE"`
	return scorePattern.ReplaceAllString(theirs, removed), scorePattern.ReplaceAllString(ours, removed), equal
}

func decode(text string, v any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return dec.Decode(v)
}

// compareValues returns the paths at which two JSON values differ.
func compareValues(path string, a, b any) []difference {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		names := slices.Collect(maps.Keys(x))
		for name := range y {
			if _, both := x[name]; !both {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		var out []difference
		for _, name := range names {
			v, inA := x[name]
			w, inB := y[name]
			switch where := "body " + strings.TrimPrefix(path+"."+name, "."); {
			case !inA:
				out = append(out, difference{where: where, recorded: "absent", emulated: asText(w)})
			case !inB:
				out = append(out, difference{where: where, recorded: asText(v), emulated: "absent"})
			default:
				out = append(out, compareValues(path+"."+name, v, w)...)
			}
		}
		return out
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		var out []difference
		for i := range x {
			out = append(out, compareValues(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])...)
		}
		return out
	}
	if asText(a) == asText(b) {
		return nil
	}
	return []difference{{where: "body " + strings.TrimPrefix(path, "."), recorded: asText(a), emulated: asText(b)}}
}

func asText(v any) string {
	out, _ := json.Marshal(v)
	return short(string(out))
}

// short shortens s to fit into a table.
func short(s string) string {
	s = strings.NewReplacer("\r", `\r`, "\n", `\n`, "|", `¦`, "`", "'").Replace(s)
	if len(s) > 100 {
		s = s[:100] + "…"
	}
	return s
}

// readDifferences reads the tables of DIFFERENCES.md: the first has the counts,
// the second the differences with their reasons.
func readDifferences(t *testing.T, file string) (map[difference]string, map[string]int) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	listed, counts := map[difference]string{}, map[string]int{}
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") {
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.Trim(strings.TrimSpace(cell), "`"))
		}
		switch len(cells) {
		case 2:
			if n, err := strconv.Atoi(cells[1]); err == nil {
				counts[cells[0]] = n
			}
		case 6:
			if _, err := strconv.Atoi(cells[1]); err == nil {
				listed[difference{cells[0], cells[1], cells[2], cells[3], cells[4]}] = cells[5]
			}
		}
	}
	return listed, counts
}

func testdata(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return bytes.TrimPrefix(data, []byte("\ufeff"))
}
