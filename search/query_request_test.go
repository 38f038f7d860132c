package search_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/models"
	"github.com/go-azsearch/azsearch/search"
)

// sent returns the body of a query.
func sent(t *testing.T, version, text string, opts *search.SearchOptions) (body string, err error) {
	t.Helper()
	w := reply(200, emptyOK)
	options := options(w)
	options.APIVersion = version
	client, err := search.NewClientWithKey(testEndpoint, "hotels", azcore.NewKeyCredential(testKey), options)
	require.NoError(t, err)
	_, err = search.NewSearchPager[models.Document](client, text, opts).NextPage(t.Context())
	if err != nil {
		require.Empty(t, w.requests, "errors are found before anything is sent")
		return "", err
	}
	require.Len(t, w.requests, 1)
	return w.bodies[0], nil
}

// The expected bodies are recordings of the JavaScript SDK 13.0.0 with equivalent options. Members with default
// values ("skip":0) are removed because this client does not send them.
func TestQueriesAreThoseOfTheOfficialSDK(t *testing.T) {
	all := []string{"*"}
	for name, c := range map[string]struct {
		text string
		opts *search.SearchOptions
		body string
	}{
		"search *":         {"*", &search.SearchOptions{Select: all}, `{"search":"*","select":"*"}`},
		"search undefined": {"", &search.SearchOptions{Select: all}, `{"select":"*"}`},
		"nothing at all":   {"", nil, `{}`},
		"search everything": {`fox +"brown"`, &search.SearchOptions{
			IncludeTotalCount: true,
			Facets:            []search.Facet{search.FacetByValue("tags", &search.FacetByValueOptions{Count: 3}), search.FacetByRange("n", 1, 5)},
			Filter:            search.RawFilter("n ge 1 and tags/any(t: t eq 'a')"),
			HighlightFields:   []string{"title-2", "tags"},
			HighlightPreTag:   "<b>", HighlightPostTag: "</b>",
			MinimumCoverage:   to.Ptr(80.),
			OrderBy:           []string{"n desc", "search.score() desc"},
			QueryType:         models.QueryTypeFull,
			ScoringStatistics: models.ScoringStatisticsGlobal,
			SessionID:         "s1",
			SearchFields:      []string{"title", "tags"},
			SearchMode:        models.SearchModeAll,
			Select:            []string{"id", "title", "addr/city"},
			Top:               to.Ptr(3),
		}, `{"count":true,"facets":["tags,count:3","n,values:1|5"],"filter":"n ge 1 and tags/any(t: t eq 'a')","highlight":"title-2,tags","highlightPostTag":"</b>","highlightPreTag":"<b>","minimumCoverage":80,"orderby":"n desc,search.score() desc","queryType":"full","scoringStatistics":"global","sessionId":"s1","search":"fox +\"brown\"","searchFields":"title,tags","searchMode":"all","select":"id,title,addr/city","top":3}`},
		"paging": {"page", &search.SearchOptions{OrderBy: []string{"id"}, Select: []string{"id"}, Skip: 50}, `{"orderby":"id","search":"page","select":"id","skip":50}`},
		"vectors": {"x", &search.SearchOptions{
			ScoringProfile:    "w",
			ScoringParameters: []search.ScoringParameterValue{search.ScoringParameter("a", "1")},
			Select:            all,
			VectorQueries:     []search.VectorQuery{{Vector: models.VectorOf([]float32{1, 0, 0}), Fields: []string{"v"}, K: 3, Exhaustive: true, Weight: 2}},
			VectorFilterMode:  models.VectorFilterModePreFilter,
		}, `{"scoringParameters":["a-1"],"scoringProfile":"w","search":"x","select":"*","vectorQueries":[{"k":3,"fields":"v","exhaustive":true,"weight":2,"kind":"vector","vector":[1,0,0]}],"vectorFilterMode":"preFilter"}`},
		"semantic": {"x", &search.SearchOptions{
			QueryType: models.QueryTypeSemantic,
			Select:    all,
			Semantic: &search.SemanticOptions{
				ConfigurationName: "sc", ErrorHandling: models.SemanticErrorHandlingPartial,
				Answers: &search.AnswerOptions{Count: 3}, Captions: &search.CaptionOptions{},
			},
		}, `{"queryType":"semantic","search":"x","select":"*","semanticConfiguration":"sc","semanticErrorHandling":"partial","answers":"extractive|count-3","captions":"extractive"}`},
		"all of semantic": {"*", &search.SearchOptions{
			QueryType: models.QueryTypeFull,
			Semantic: &search.SemanticOptions{
				Query: "where?", MaxWait: 1500 * time.Millisecond,
				Answers:  &search.AnswerOptions{Count: 2, Threshold: to.Ptr(0.), MaxLength: 100},
				Captions: &search.CaptionOptions{NoHighlights: true, MaxLength: 200},
			},
		}, `{"search":"*","queryType":"full","semanticQuery":"where?","semanticMaxWaitInMilliseconds":1500,"answers":"extractive|count-2,threshold-0,maxcharlength-100","captions":"extractive|highlight-false,maxcharlength-200"}`},
		"all kinds of vectors": {"", &search.SearchOptions{
			Top: to.Ptr(0), Debug: models.QueryDebugModeVector,
			Filter: search.Eq("a", "it's"),
			VectorQueries: []search.VectorQuery{
				{Vector: models.VectorOf([]int8{-1, 2}), Fields: []string{"v", "a/w"}, Oversampling: 1.5},
				{Text: "a \"pool\"", Fields: []string{"v"}},
				{ImageURL: "https://example.com/a.png", Fields: []string{"v"}},
				{ImageBinary: []byte{0xff, 0}, Fields: []string{"v"}},
			},
			VectorFilterMode: models.VectorFilterModeStrictPostFilter,
		}, `{"top":0,"debug":"vector","filter":"a eq 'it''s'","vectorFilterMode":"strictPostFilter","vectorQueries":[
			{"kind":"vector","vector":[-1,2],"fields":"v,a/w","oversampling":1.5},{"kind":"text","text":"a \"pool\"","fields":"v"},
			{"kind":"imageUrl","url":"https://example.com/a.png","fields":"v"},{"kind":"imageBinary","base64Image":"/wA=","fields":"v"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := sent(t, "", c.text, c.opts)
			require.NoError(t, err)
			assert.JSONEq(t, c.body, body)
		})
	}
}

func TestPreviewOptionsAreSentToPreviews(t *testing.T) {
	opts := &search.SearchOptions{
		VectorQueries: []search.VectorQuery{{
			Text: "x", Fields: []string{"v"},
			Threshold:      &search.VectorThreshold{Kind: search.VectorThresholdSimilarity, Value: .8},
			FilterOverride: search.Gt("n", 1),
		}},
		HybridSearch: &search.HybridSearch{MaxTextRecallSize: 100, CountAndFacetMode: "countAllResults"},
	}
	body, err := sent(t, "2024-09-01-preview", "x", opts)
	require.NoError(t, err)
	assert.JSONEq(t, `{"search":"x","vectorQueries":[{"kind":"text","text":"x","fields":"v","threshold":{"kind":"vectorSimilarity","value":0.8},"filterOverride":"n gt 1"}],
		"hybridSearch":{"maxTextRecallSize":100,"countAndFacetMode":"countAllResults"}}`, body)
}

// The error names the versions that have the option.
func TestOptionThatTheVersionLacksIsRefused(t *testing.T) {
	vector := func(q search.VectorQuery) *search.SearchOptions {
		q.Fields = []string{"v"}
		if q.Text == "" && q.ImageURL == "" && q.ImageBinary == nil {
			q.Vector = models.VectorOf([]float32{1})
		}
		return &search.SearchOptions{VectorQueries: []search.VectorQuery{q}}
	}
	for name, c := range map[string]struct {
		opts        *search.SearchOptions
		has, hasNot string
		text        string
	}{
		"semantic":          {&search.SearchOptions{QueryType: models.QueryTypeSemantic}, "2023-11-01", "2020-06-30", "Semantic: api-version 2020-06-30 does not have it; set ClientOptions.APIVersion to 2023-11-01 or newer, or 2021-04-30-preview or a newer preview"},
		"semantic, preview": {&search.SearchOptions{QueryType: models.QueryTypeSemantic}, "2021-04-30-preview", "2020-06-30-preview", "Semantic: "},
		"semantic wait": {&search.SearchOptions{QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{MaxWait: time.Second}},
			"2023-07-01-preview", "2021-04-30-preview", "Semantic.MaxWait: "},
		"semantic errors": {&search.SearchOptions{QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{ErrorHandling: models.SemanticErrorHandlingFail}},
			"2023-11-01", "2021-04-30-preview", "Semantic.ErrorHandling: "},
		"semantic query":   {&search.SearchOptions{Semantic: &search.SemanticOptions{Query: "q"}}, "2024-07-01", "2023-11-01", "Semantic.Query: api-version 2023-11-01"},
		"vectors":          {vector(search.VectorQuery{}), "2023-11-01", "2020-06-30", "VectorQueries: api-version 2020-06-30"},
		"vectors, preview": {vector(search.VectorQuery{}), "2023-10-01-preview", "2023-07-01-preview", "VectorQueries: api-version 2023-07-01-preview"},
		"text":             {vector(search.VectorQuery{Text: "x"}), "2024-07-01", "2023-11-01", "VectorQueries[0].Text: api-version 2023-11-01"},
		"weight":           {vector(search.VectorQuery{Weight: 2}), "2024-05-01-preview", "2023-11-01", "VectorQueries[0].Weight: api-version 2023-11-01"},
		"oversampling":     {vector(search.VectorQuery{Oversampling: 2}), "2024-07-01", "2023-11-01", "VectorQueries[0].Oversampling: "},
		"image":            {vector(search.VectorQuery{ImageURL: "https://a/b"}), "2026-04-01", "2025-09-01", "VectorQueries[0].ImageURL: "},
		"image bytes":      {vector(search.VectorQuery{ImageBinary: []byte("x")}), "2026-05-01-preview", "2025-09-01", "VectorQueries[0].ImageBinary: "},
		"threshold":        {vector(search.VectorQuery{Threshold: &search.VectorThreshold{Kind: "searchScore"}}), "2025-11-01-preview", "2026-04-01", "VectorQueries[0].Threshold: api-version 2026-04-01 does not have it; set ClientOptions.APIVersion to 2024-05-01-preview or a newer preview"},
		"filter override":  {vector(search.VectorQuery{FilterOverride: search.IsTrue("a")}), "2024-09-01-preview", "2026-04-01", "VectorQueries[0].FilterOverride: "},
		"hybrid": {&search.SearchOptions{HybridSearch: &search.HybridSearch{}, VectorQueries: vector(search.VectorQuery{}).VectorQueries},
			"2024-05-01-preview", "2026-04-01", "HybridSearch: "},
		"strict post filter": {&search.SearchOptions{VectorFilterMode: models.VectorFilterModeStrictPostFilter, VectorQueries: vector(search.VectorQuery{}).VectorQueries},
			"2025-08-01-preview", "2025-09-01", "VectorFilterMode: "},
		"debug":      {&search.SearchOptions{Debug: models.QueryDebugModeVector}, "2023-07-01-preview", "2024-07-01", "Debug: "},
		"session":    {&search.SearchOptions{SessionID: "s"}, "2020-06-30", "2019-05-06", "SessionID: api-version 2019-05-06 does not have it; set ClientOptions.APIVersion to 2020-06-30 or newer"},
		"statistics": {&search.SearchOptions{ScoringStatistics: models.ScoringStatisticsLocal}, "2020-06-30-Preview", "2019-05-06-Preview", "ScoringStatistics: "},
		"length of answers": {&search.SearchOptions{QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{Answers: &search.AnswerOptions{MaxLength: 9}}},
			"2026-04-01", "2025-09-01", "Semantic.Answers.MaxLength: "},
		"length of captions": {&search.SearchOptions{QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{Captions: &search.CaptionOptions{MaxLength: 9}}},
			"2026-04-01", "2025-09-01", "Semantic.Captions.MaxLength: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sent(t, c.has, "x", c.opts)
			require.NoError(t, err)
			_, err = sent(t, c.hasNot, "x", c.opts)
			require.ErrorContains(t, err, c.text)
			var invalid *search.InvalidQueryError
			require.ErrorAs(t, err, &invalid)
			assert.Len(t, invalid.Problems, 1)
		})
	}
}

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	vector := func(q search.VectorQuery) *search.SearchOptions {
		return &search.SearchOptions{VectorQueries: []search.VectorQuery{q}}
	}
	one := models.VectorOf([]float32{1})
	v := []string{"v"}
	for text, opts := range map[string]*search.SearchOptions{
		`Top: -1 is not from 0 to 2147483647: nil is for all results`:                          {Top: to.Ptr(-1)},
		`Skip: -1 is not from 0 to 100000`:                                                     {Skip: -1},
		`Skip: 100001 is not from 0 to 100000: to read on, use Scan`:                           {Skip: 100001},
		`MinimumCoverage: 100.5 is not a percentage from 0 to 100`:                             {MinimumCoverage: to.Ptr(100.5)},
		`MinimumCoverage: NaN is not`:                                                          {MinimumCoverage: to.Ptr(math.NaN())},
		`SessionID: "_s" starts with an underscore`:                                            {SessionID: "_s"},
		`HighlightPreTag: HighlightPreTag and HighlightPostTag go together`:                    {HighlightPreTag: "<b>"},
		`HighlightPreTag: HighlightPreTag and`:                                                 {HighlightPostTag: "</b>"},
		`HighlightFields: "a-0" does not end in a number of fragments from 1 to 1000`:          {HighlightFields: []string{"a-0"}},
		`HighlightFields: the path "a b"`:                                                      {HighlightFields: []string{"a b-5"}},
		`Select: the path "a,b" is not made of names`:                                          {Select: []string{"a,b"}},
		`Select: the path of a field is empty`:                                                 {Select: []string{""}},
		`SearchFields: the path "*"`:                                                           {SearchFields: []string{"*"}},
		`OrderBy: clause 1 is empty`:                                                           {OrderBy: []string{"a", " "}},
		`OrderBy: it has 33 clauses, the service takes 32`:                                     {OrderBy: strings.Split(strings.Repeat("a ", 32)+"a", " ")},
		`QueryType: "lucene" is none of "simple", "full", "semantic"`:                          {QueryType: "lucene"},
		`SearchMode: "none" is none of "any", "all"`:                                           {SearchMode: "none"},
		`ScoringStatistics: "x" is none of`:                                                    {ScoringStatistics: "x"},
		`Debug: "loud" is not a debug mode`:                                                    {Debug: "vector|loud"},
		`Filter: invalid filter: the path of a field is empty`:                                 {Filter: search.Eq("", 1)},
		`Facets[1]: the facet is empty: see FacetByValue`:                                      {Facets: []search.Facet{search.FacetByValue("a", nil), {}}},
		`ScoringParameters[0]: the parameter is empty: see ScoringParameter`:                   {ScoringParameters: make([]search.ScoringParameterValue, 1)},
		`ScoringProfile: is not valid UTF-8`:                                                   {ScoringProfile: "\xff"},
		`Semantic: it has no effect without models.QueryTypeSemantic or a Semantic.Query`:      {Semantic: &search.SemanticOptions{ConfigurationName: "c"}},
		`OrderBy: it cannot be combined with semantic ranking`:                                 {QueryType: models.QueryTypeSemantic, OrderBy: []string{"a"}},
		`Semantic.MaxWait: 699ms is shorter than 700ms`:                                        {QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{MaxWait: 699 * time.Millisecond}},
		`Semantic.ErrorHandling: "panic" is none of "partial", "fail"`:                         {QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{ErrorHandling: "panic"}},
		`Semantic.Answers.Count: -1 is not a number of answers`:                                {QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{Answers: &search.AnswerOptions{Count: -1}}},
		`Semantic.Answers.Threshold: 1.5 is not from 0 to 1`:                                   {QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{Answers: &search.AnswerOptions{Threshold: to.Ptr(1.5)}}},
		`Semantic.Captions.MaxLength: -1 is not a number of characters`:                        {QueryType: models.QueryTypeSemantic, Semantic: &search.SemanticOptions{Captions: &search.CaptionOptions{MaxLength: -1}}},
		`VectorFilterMode: it has no effect without VectorQueries`:                             {VectorFilterMode: models.VectorFilterModePostFilter},
		`HybridSearch: it has no effect without VectorQueries`:                                 {HybridSearch: &search.HybridSearch{}},
		`VectorQueries[0].Fields: it names no vector field to search`:                          vector(search.VectorQuery{Vector: one}),
		`VectorQueries[0].K: -1 is not a number from 1 on`:                                     vector(search.VectorQuery{Vector: one, Fields: v, K: -1}),
		`VectorQueries[0].Vector: Vector and Text are set: a query looks for one of them`:      vector(search.VectorQuery{Vector: one, Text: "x", Fields: v}),
		`VectorQueries[0].Vector: Text and ImageURL and ImageBinary are set`:                   vector(search.VectorQuery{Text: "x", ImageURL: "y", ImageBinary: []byte("z"), Fields: v}),
		`VectorQueries[0].Vector: none of Vector, Text, ImageURL and ImageBinary is set`:       vector(search.VectorQuery{Fields: v}),
		`VectorQueries[0].Vector: element 0 of the vector is NaN`:                              vector(search.VectorQuery{Vector: models.VectorOf([]float64{math.NaN()}), Fields: v}),
		`VectorQueries[0].Weight: -1 is not a number above 0`:                                  vector(search.VectorQuery{Vector: one, Fields: v, Weight: -1}),
		`VectorQueries[0].Oversampling: 0.5 is not a number from 1 on`:                         vector(search.VectorQuery{Vector: one, Fields: v, Oversampling: .5}),
		`VectorQueries[0].Oversampling: NaN is not`:                                            vector(search.VectorQuery{Vector: one, Fields: v, Oversampling: math.NaN()}),
		`VectorQueries[0].ImageURL: "a b" is not an address`:                                   vector(search.VectorQuery{ImageURL: "a b", Fields: v}),
		`VectorQueries: they name 11 fields, the service takes 10`:                             vector(search.VectorQuery{Vector: one, Fields: strings.Split("abcdefghijk", "")}),
		`VectorQueries[0].Threshold.Kind: "near" is none of "vectorSimilarity", "searchScore"`: vector(search.VectorQuery{Vector: one, Fields: v, Threshold: &search.VectorThreshold{Kind: "near"}}),
		`VectorQueries[0].Threshold.Value: NaN is not a finite number`:                         vector(search.VectorQuery{Vector: one, Fields: v, Threshold: &search.VectorThreshold{Kind: "searchScore", Value: math.NaN()}}),
		`HybridSearch.MaxTextRecallSize: 10001 is not from 1 to 10000`:                         {HybridSearch: &search.HybridSearch{MaxTextRecallSize: 10001}, VectorQueries: []search.VectorQuery{{Vector: one, Fields: v}}},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := sent(t, "2026-05-01-preview", "x", opts)
			require.ErrorContains(t, err, text)
			var invalid *search.InvalidQueryError
			require.ErrorAs(t, err, &invalid)
			assert.Len(t, invalid.Problems, 1, "%v", err)
		})
	}
	for _, text := range []string{"", "*"} {
		_, err := sent(t, "", text, &search.SearchOptions{QueryType: models.QueryTypeSemantic})
		require.ErrorContains(t, err, "QueryType: a semantic query needs a text, or a Semantic.Query, to rank by")
	}
	_, err := sent(t, "", "\xff", nil)
	require.ErrorContains(t, err, "the search text: is not valid UTF-8")
}

// The joined errors can be inspected separately.
func TestEverythingThatIsWrongIsReportedAtOnce(t *testing.T) {
	_, err := sent(t, "", "x", &search.SearchOptions{
		Top: to.Ptr(-1), Skip: -1, SessionID: "_", Filter: search.Eq("", 1), QueryType: "x", Select: []string{"?"},
		VectorQueries: []search.VectorQuery{{}, {Text: "x", Fields: []string{"v"}}, {K: -1}},
	})
	var invalid *search.InvalidQueryError
	require.ErrorAs(t, err, &invalid)
	var names []string
	for _, p := range invalid.Problems {
		names = append(names, p.Option)
	}
	assert.Equal(t, []string{
		"Filter", "Skip", "Top", "Select", "QueryType", "SessionID",
		"VectorQueries[0].Vector", "VectorQueries[0].Fields", "VectorQueries[2].Vector", "VectorQueries[2].Fields", "VectorQueries[2].K",
	}, names)
	require.ErrorContains(t, err, `search: Search of index "hotels": nothing was sent, because the query is not valid: Filter: `)
	require.ErrorContains(t, err, "; and 6 more")
	var filter *search.InvalidFilterError
	require.ErrorAs(t, err, &filter, "the problem itself is there")
}

func TestNothingOfAnOptionCanBecomeAnother(t *testing.T) {
	const hostile = `x","filter":"true` + "\u2028<&>"
	body, err := sent(t, "", hostile, &search.SearchOptions{SessionID: hostile, ScoringProfile: hostile, OrderBy: []string{hostile}, HighlightPreTag: hostile, HighlightPostTag: hostile})
	require.NoError(t, err)
	var members map[string]string
	require.NoError(t, json.Unmarshal([]byte(body), &members))
	assert.Equal(t, map[string]string{"search": hostile, "sessionId": hostile, "scoringProfile": hostile, "orderby": hostile, "highlightPreTag": hostile, "highlightPostTag": hostile}, members)
}

func TestFacetsAreWrittenAsTheServiceReadsThem(t *testing.T) {
	for want, f := range map[string]search.Facet{
		"Rating":                                         search.FacetByValue("Rating", nil),
		"Rating,count:2,sort:-value":                     search.FacetByValue("Rating", &search.FacetByValueOptions{Count: 2, Sort: search.FacetSortValueDescending}),
		"Rating,count:0":                                 search.FacetByValue("Rating", &search.FacetByValueOptions{Count: -1}),
		"SmokingAllowed,sort:count":                      search.FacetByValue("SmokingAllowed", &search.FacetByValueOptions{Sort: search.FacetSortCountDescending}),
		"Rooms/BaseRate,values:5|8|10":                   search.FacetByRange("Rooms/BaseRate", 5, 8, 10),
		"Rooms/BaseRate,values:-0.5|1e-07|8":             search.FacetByRange("Rooms/BaseRate", -.5, 1e-7, 8),
		"LastRenovationDate,values:2000-01-01T00:00:00Z": search.FacetByRange("LastRenovationDate", time.Date(2000, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))),
		"LastRenovationDate,interval:year":               search.FacetByPeriod("LastRenovationDate", search.FacetPeriodYear, 0),
		"at,interval:day,timeoffset:-01:30":              search.FacetByPeriod("at", search.FacetPeriodDay, -90*time.Minute),
		"at,interval:hour,timeoffset:+05:45":             search.FacetByPeriod("at", search.FacetPeriodHour, 5*time.Hour+45*time.Minute),
		"n,interval:100":                                 search.FacetByInterval("n", 100),
		"Rooms/SleepsCount,metric:sum":                   search.RawFacet("Rooms/SleepsCount,metric:sum"),
	} {
		require.NoError(t, f.Err(), want)
		assert.Equal(t, want, f.String())
	}
	for text, f := range map[string]search.Facet{
		`the path "a,count:0" is not made of names`:                  search.FacetByValue("a,count:0", nil),
		`"down" is not an order of a facet`:                          search.FacetByValue("a", &search.FacetByValueOptions{Sort: "down"}),
		`it has no boundaries`:                                       search.FacetByRange[int]("a"),
		`boundary 1, 5, is not above 5`:                              search.FacetByRange("a", 5, 5),
		`boundary 1, 1970-01-01T00:00:00Z, is not above 1970`:        search.FacetByRange("a", time.Unix(0, 0), time.Unix(0, 999_999)),
		`boundary 2, 1, is not above 2`:                              search.FacetByRange[int64]("a", 1, 2, 1),
		`boundary 1, 2000-01-01T00:00:00Z, is not above 2001`:        search.FacetByRange("a", time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)),
		`boundary 0 is NaN`:                                          search.FacetByRange("a", math.NaN()),
		`boundary 0 is +Inf`:                                         search.FacetByRange("a", math.Inf(1)),
		`0 is not the width of an interval`:                          search.FacetByInterval("a", 0),
		`"decade" is not a period`:                                   search.FacetByPeriod("a", "decade", 0),
		`the offset 1s is not whole minutes`:                         search.FacetByPeriod("a", search.FacetPeriodDay, time.Second),
		`the offset 24h0m0s is not whole minutes of less than a day`: search.FacetByPeriod("a", search.FacetPeriodDay, 24*time.Hour),
		`the expression is empty`:                                    search.RawFacet(" "),
		`is not valid UTF-8`:                                         search.RawFacet("\xff"),
	} {
		require.ErrorContains(t, f.Err(), text)
	}
}

func TestScoringParametersAreWrittenAsTheServiceReadsThem(t *testing.T) {
	for want, p := range map[string]search.ScoringParameterValue{
		"a-1":                             search.ScoringParameter("a", "1"),
		"tags-pool,wifi":                  search.ScoringParameter("tags", "pool", "wifi"),
		"tags-'Hello, O''Brien',Smith,''": search.ScoringParameter("tags", "Hello, O'Brien", "Smith", ""),
		"my loc--122.1,44.7":              search.ScoringPoint("my loc", models.GeographyPoint{Longitude: -122.1, Latitude: 44.7}),
		"loc-0.0000001,-90":               search.ScoringPoint("loc", models.GeographyPoint{Longitude: 1e-7, Latitude: -90}),
	} {
		require.NoError(t, p.Err(), want)
		assert.Equal(t, want, p.String())
	}
	for text, p := range map[string]search.ScoringParameterValue{
		`the name of the parameter is empty`:              search.ScoringParameter("", "1"),
		`the name of the parameter "a-b" holds a dash`:    search.ScoringParameter("a-b", "1"),
		`the parameter "a" has no value`:                  search.ScoringParameter("a"),
		`value 1 of the parameter "a" is not valid UTF-8`: search.ScoringParameter("a", "x", "\xff"),
		`not a GeoJSON point in EPSG:4326: longitude 181`: search.ScoringPoint("a", models.GeographyPoint{Longitude: 181}),
		`the name of the parameter "a-" holds a dash`:     search.ScoringPoint("a-", models.GeographyPoint{}),
	} {
		require.ErrorContains(t, p.Err(), text)
	}
}
