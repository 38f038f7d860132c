package textindex_test

import (
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/go-azsearch/azsearch/search/searchtest/internal/lucene"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/textindex"
)

// recordedHit is a hit of the service.
type recordedHit struct {
	ID         string
	Name       string
	Score      float32
	Highlights map[string][]string
	Text       string
}

func (h *recordedHit) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	for name, value := range members {
		var to any
		switch strings.ToLower(name) {
		case "hotelid":
			to = &h.ID
		case "hotelname":
			to = &h.Name
		case "@search.score":
			to = &h.Score
		case "@search.highlights":
			to = &h.Highlights
		case "@search.text":
			to = &h.Text
		default:
			continue
		}
		if err := json.Unmarshal(value, to); err != nil {
			return err
		}
	}
	return nil
}

// javaHits returns the hits in the last reply of a recording.
func javaHits(t testing.TB, name string) []recordedHit {
	var reply struct{ Value []recordedHit }
	require.NoError(t, json.Unmarshal(javaReply(t, name), &reply))
	return reply.Value
}

func javaReply(t testing.TB, name string) []byte {
	data, err := os.ReadFile(path.Join(recordings, "java-2019-05-06", name+".json"))
	require.NoError(t, err)
	var recording struct {
		NetworkCallRecords []struct {
			Response map[string]string
		} `json:"networkCallRecords"`
	}
	require.NoError(t, json.Unmarshal(data, &recording))
	return []byte(recording.NetworkCallRecords[len(recording.NetworkCallRecords)-1].Response["Body"])
}

func parse(t testing.TB, text string, full bool, op lucene.Operator) lucene.Node {
	if !full {
		return lucene.ParseSimple(text, op)
	}
	n, err := lucene.ParseFull(text, op)
	require.NoError(t, err)
	return n
}

func ids(hits []textindex.Hit, hotels []hotel) []string {
	out := []string{}
	for _, h := range hits {
		id, ok := hotels[h.ID-1]["HotelId"].(string)
		if !ok {
			id = hotels[h.ID-1]["hotelId"].(string)
		}
		out = append(out, id)
	}
	return out
}

func idOf(hotels []hotel, id string) uint32 {
	for i, h := range hotels {
		if h["HotelId"] == id || h["hotelId"] == id || h["HotelName"] == id {
			return uint32(i + 1)
		}
	}
	return 0
}

func TestClassicScoresAreThoseRecorded(t *testing.T) {
	for _, test := range []struct {
		recording string
		search    string
		full      bool
		op        lucene.Operator
		fields    []string
		only      []string // the filter
		synonyms  string   // on HotelName
	}{
		{recording: "defaultSearchModeIsAny", search: "Cheapest hotel"},
		{recording: "canSearchWithSearchModeAll", search: "Cheapest hotel", op: lucene.And},
		{recording: "canSearchWithSelectedFields", search: "fancy luxury secret", fields: []string{"HotelName", "Category"}},
		{recording: "canSearchWithDateInStaticModel", search: "Fancy"},
		{recording: "canSearchWithLuceneSyntax", search: "HotelName:roch~", full: true},
		{recording: "canSearchWithRegex", search: `HotelName:/.*oach.*\/?/`, full: true},
		{recording: "canSearchWithEscapedSpecialCharsInRegex", search: `\+\-\&\|\!\(\)\{\}\[\]\^\~\*\?\:`, full: true},
		{recording: "canSearchWithSynonyms", search: "luxury", full: true, fields: []string{"HotelName"}, synonyms: "luxury,fancy"},
		{recording: "canUseHitHighlighting", search: "luxury hotel", only: []string{"1"}},
		{recording: "canSearchDynamicDocuments", search: "*"},
	} {
		t.Run(test.recording, func(t *testing.T) {
			x, hotels := hotelIndex(t, "HotelsDataArray.json", hotelFields, textindex.Classic())
			if test.synonyms != "" {
				s, err := textindex.ParseSynonyms(test.synonyms)
				require.NoError(t, err)
				fields := fieldsOf(t, hotelFields)
				fields[1].Synonyms = s
				x.SetFields(fields)
			}
			o := textindex.Options{Fields: test.fields, Operator: test.op, Nested: true}
			if test.only != nil {
				o.Filter = new(textindex.IDs)
				for _, id := range test.only {
					o.Filter.Add(idOf(hotels, id))
				}
			}
			m, err := x.Search(parse(t, test.search, test.full, test.op), o)
			require.NoError(t, err)
			want := javaHits(t, test.recording)
			got := m.Top(50)
			require.Len(t, got, len(want))
			for i, w := range want {
				id := w.ID
				if id == "" {
					id = w.Name
				}
				assert.Equal(t, idOf(hotels, id), got[i].ID, "hit %d", i)
				assert.Equal(t, w.Score, got[i].Score, "score of %s", id)
			}
		})
	}
}

func TestBM25ScoresAreThoseRecorded(t *testing.T) {
	for _, file := range []string{"test_get_search_simple", "test_get_search_counts", "test_get_search_facets_none"} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(path.Join(recordings, "python-2020-06-30", "test_search_client_search_live."+file+".yaml"))
			require.NoError(t, err)
			var tape struct {
				Interactions []struct {
					Request  struct{ Body, URI string }
					Response struct{ Body struct{ String string } }
				}
			}
			require.NoError(t, yaml.Unmarshal(data, &tape))
			replayed := 0
			for _, call := range tape.Interactions {
				if !strings.Contains(call.Request.URI, "search.post.search") {
					continue
				}
				var request struct{ Search string }
				require.NoError(t, json.Unmarshal([]byte(call.Request.Body), &request))
				var reply struct{ Value []recordedHit }
				require.NoError(t, json.Unmarshal([]byte(call.Response.Body.String), &reply))

				x, hotels := hotelIndex(t, "py_hotel_small.json", pythonFields, nil)
				m, err := x.Search(lucene.ParseSimple(request.Search, lucene.Or), textindex.Options{Nested: true})
				require.NoError(t, err)
				got := m.Top(50)
				require.Len(t, got, len(reply.Value))
				for i, want := range reply.Value {
					if want.ID != "" {
						assert.Equal(t, want.ID, ids(got[i:i+1], hotels)[0])
					}
					assert.Equal(t, want.Score, got[i].Score, "%s: hit %d", request.Search, i)
				}
				replayed++
			}
			assert.NotZero(t, replayed)
		})
	}
}

func TestHighlightsAreThoseRecorded(t *testing.T) {
	x, hotels := hotelIndex(t, "HotelsDataArray.json", hotelFields, textindex.Classic())
	h, err := x.Highlighter(lucene.ParseSimple("luxury hotel", lucene.Or), textindex.Options{})
	require.NoError(t, err)
	want := javaHits(t, "canUseHitHighlighting")[0].Highlights
	require.NotEmpty(t, want)
	for field, fragments := range want {
		assert.Equal(t, fragments, h.Fragments(field, texts(hotels[0], field), 5, textindex.Tags{Pre: "<b>", Post: "</b>"}))
	}
}

// suggester has the fields of the suggester sg of the Java recordings.
func suggester(t testing.TB, file string, paths ...string) (*textindex.Suggester, []hotel) {
	hotels := readHotels(t, file)
	s := textindex.NewSuggester(paths, analyzer(t, "standard.lucene"))
	for i, h := range hotels {
		var values [][]string
		for _, path := range paths {
			values = append(values, texts(h, path))
		}
		s.Put(uint32(i+1), values)
	}
	return s, hotels
}

func TestSuggestionsAreThoseRecorded(t *testing.T) {
	for _, test := range []struct {
		recording string
		search    string
		fuzzy     bool
		fields    []string
		only      []string
		marked    bool
		unordered bool // the request had its own order
		top       int
	}{
		{recording: "canSuggestDynamicDocuments", search: "more", unordered: true},
		{recording: "searchFieldsExcludesFieldsFromSuggest", search: "luxury", fields: []string{"HotelName"}},
		{recording: "canUseSuggestHitHighlighting", search: "hotel", only: []string{"1"}, marked: true},
		{recording: "canGetFuzzySuggestions", search: "hitel", fuzzy: true, top: 5},
		{recording: "fuzzyIsOffByDefault", search: "hitel"},
		{recording: "testCanSuggestWithMinimumCoverage", search: "luxury"},
		{recording: "testCanFilter", search: "hotel", only: []string{"1", "5"}, unordered: true},
		{recording: "testCanSuggestWithSelectedFields", search: "secret"},
	} {
		t.Run(test.recording, func(t *testing.T) {
			s, hotels := suggester(t, "HotelsDataArray.json", "Description", "HotelName")
			typed := textindex.TypedText{Text: test.search, Fuzzy: test.fuzzy, Fields: test.fields}
			if test.only != nil {
				typed.Filter = new(textindex.IDs)
				for _, id := range test.only {
					typed.Filter.Add(idOf(hotels, id))
				}
			}
			found, err := s.Suggest(typed)
			require.NoError(t, err)
			var got []string
			for _, suggestion := range found.List {
				text := texts(hotels[suggestion.ID-1], suggestion.Path)[suggestion.Value]
				if test.marked {
					text = found.Mark(text, textindex.Tags{Pre: "<b>", Post: "</b>"})
				}
				got = append(got, text)
			}
			if test.top > 0 && len(got) > test.top {
				got = got[:test.top]
			}
			var want []string
			for _, hit := range javaHits(t, test.recording) {
				want = append(want, hit.Text)
			}
			if test.unordered {
				assert.ElementsMatch(t, want, got)
			} else {
				assert.Equal(t, want, got)
			}
		})
	}
	t.Run("python", func(t *testing.T) {
		s, hotels := suggester(t, "py_hotel_small.json", "description", "hotelName")
		found, err := s.Suggest(textindex.TypedText{Text: "mot"})
		require.NoError(t, err)
		require.Len(t, found.List, 2)
		assert.Equal(t, "2", hotels[found.List[0].ID-1]["hotelId"])
		assert.Equal(t, "description", found.List[0].Path)
		assert.Equal(t, "9", hotels[found.List[1].ID-1]["hotelId"])
	})
}

func TestCompletionsAreThoseRecorded(t *testing.T) {
	for _, test := range []struct {
		recording string
		search    string
		mode      textindex.AutocompleteMode
		fuzzy     bool
		fields    []string
		only      []string
		tags      textindex.Tags
		top       int
	}{
		{recording: "canAutocompleteDefaultsToOneTermMode", search: "po"},
		{recording: "canAutocompleteOneTerm", search: "po"},
		{recording: "canAutocompleteStaticallyTypedDocuments", search: "very po"},
		{recording: "canAutocompleteOneTermWithContext", search: "looking for very po", mode: textindex.OneTermWithContext},
		{recording: "canAutocompleteTwoTerms", search: "po", mode: textindex.TwoTerms},
		{recording: "testAutocompleteTopTrimsResults", search: "po", top: 2},
		{recording: "testAutocompleteWithFilter", search: "po", only: []string{"6", "7"}},
		{recording: "testAutocompleteCanUseHitHighlighting", search: "po", only: []string{"1", "3"}, tags: textindex.Tags{Pre: "<b>", Post: "</b>"}},
		{recording: "testAutocompleteWithMultipleSelectedFields", search: "mod", fields: []string{"HotelName", "Description"}},
		{recording: "testAutocompleteWithSelectedFields", search: "mod", fields: []string{"HotelName"}, only: []string{"7"}},
		{recording: "testAutocompleteOneTermWithFuzzy", search: "mod", fuzzy: true},
		{recording: "testAutocompleteTwoTermsWithFuzzy", search: "mod", fuzzy: true, mode: textindex.TwoTerms},
		{recording: "testAutocompleteWithFilterAndFuzzy", search: "mod", fuzzy: true, only: []string{"2", "3", "4", "5", "7"}},
		{recording: "testAutocompleteOneTermWithContextWithFuzzy", search: "very polit", fuzzy: true, mode: textindex.OneTermWithContext},
		{recording: "canAutocompleteExcludesFieldsNotInSuggester", search: "luxu", fields: []string{"HotelName"}},
		{recording: "canAutocompleteFuzzyIsOffByDefault", search: "pi"},
	} {
		t.Run(test.recording, func(t *testing.T) {
			s, hotels := suggester(t, "HotelsDataArray.json", "Description", "HotelName")
			typed := textindex.TypedText{Text: test.search, Fuzzy: test.fuzzy, Fields: test.fields}
			if test.only != nil {
				typed.Filter = new(textindex.IDs)
				for _, id := range test.only {
					typed.Filter.Add(idOf(hotels, id))
				}
			}
			got, err := s.Autocomplete(typed, test.mode, test.tags)
			require.NoError(t, err)
			if test.top > 0 {
				got = got[:test.top]
			}
			var reply struct{ Value []textindex.Completion }
			require.NoError(t, json.Unmarshal(javaReply(t, test.recording), &reply))
			assert.Equal(t, len(reply.Value), len(got))
			for i := range min(len(got), len(reply.Value)) {
				assert.Equal(t, reply.Value[i], got[i])
			}
		})
	}
}
