package schema

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/apiversion"
)

// withField is an index of a key and the field f.
func withField(f string) string {
	return withMembers(`"fields":[{"name":"id","type":"Edm.String","key":true},` + f + `]`)
}

// withMembers is an index with additional members.
func withMembers(members string) string { return `{"name":"index","fields":[],` + members + `}` }

// plainFields are fields for members that refer to some.
const plainFields = `"fields":[{"name":"id","type":"Edm.String","key":true},{"name":"title","type":"Edm.String"},` +
	`{"name":"shelf","type":"Edm.String","searchable":false},{"name":"french","type":"Edm.String","analyzer":"fr.lucene"},` +
	`{"name":"words","type":"Edm.String","analyzer":"whitespace"},{"name":"n","type":"Edm.Int32"},{"name":"at","type":"Edm.DateTimeOffset"},` +
	`{"name":"dark","type":"Edm.Int32","filterable":false},{"name":"ns","type":"Collection(Edm.Int32)"},{"name":"secret","type":"Edm.String","retrievable":false},` +
	`{"name":"where","type":"Edm.GeographyPoint"},{"name":"tags","type":"Collection(Edm.String)"},` +
	`{"name":"address","type":"Edm.ComplexType","fields":[{"name":"city","type":"Edm.String"}]}]`

// semanticTypes is a message that users have reported for a semantic configuration.
const semanticTypes = "The request is invalid. Details: definition : Semantic configurations support fields of type Edm.String and Collection(Edm.String). Subfields of Edm.ComplexType can be used but subfields of Collection(Edm.ComplexType) are not supported. " +
	"Please visit https://aka.ms/SemanticConfiguration for more info."

func plain(members string) string { return withMembers(plainFields + `,` + members) }

// vectorField is a vector field with additional members; vectorIndex is an index with that field and a configuration
// for it.
func vectorField(members string) string {
	return `{"name":"v","type":"Collection(Edm.Single)","searchable":true,"dimensions":3,"vectorSearchProfile":"p"` + members + `}`
}

const vectorSearch = `"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"},{"name":"h","kind":"hnsw","hnswParameters":{"metric":"hamming"}}],` +
	`"profiles":[{"name":"p","algorithm":"a"},{"name":"q","algorithm":"h"}]}`

func vectorIndex(field string) string {
	return withMembers(`"fields":[{"name":"id","type":"Edm.String","key":true},` + field + `],` + vectorSearch)
}

// once removes duplicate members and keeps the last. The helpers above put default "fields" first, which a test case
// may override.
func once(t *testing.T, definition string) []byte {
	t.Helper()
	if strings.Count(definition, `"fields":[],`) == 1 && strings.Count(definition, `"fields"`) > 1 {
		definition = strings.Replace(definition, `"fields":[],`, "", 1)
	}
	require.True(t, json.Valid([]byte(definition)), "%s", definition)
	return []byte(definition)
}

func TestDefinitionsTheServiceRefusesAreRefused(t *testing.T) {
	many := func(n int, format string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return strings.Join(list, ",")
	}
	nested := func(depth int) string {
		f := `{"name":"x","type":"Edm.String"}`
		for range depth {
			f = `{"name":"x","type":"Edm.ComplexType","fields":[` + f + `]}`
		}
		return f
	}
	for name, c := range map[string]struct{ definition, reason string }{
		// names
		"an index name of one letter":                 {`{"name":"a","fields":[]}`, "between 2 and 128"},
		"an index name that is too long":              {`{"name":"` + strings.Repeat("a", 129) + `","fields":[]}`, "between 2 and 128"},
		"an index name in upper case":                 {`{"name":"Hotels","fields":[]}`, "lowercase"},
		"an index name that begins with a dash":       {`{"name":"-hotels","fields":[]}`, "lowercase"},
		"an index name that ends with a dash":         {`{"name":"hotels-","fields":[]}`, "lowercase"},
		"an index name with a dot":                    {`{"name":"hotels.1","fields":[]}`, "lowercase"},
		"an index name with two dashes":               {`{"name":"hot--els","fields":[]}`, "consecutive"},
		"an index name with a dash and an underscore": {`{"name":"hot-_els","fields":[]}`, "consecutive"},
		"an index name with an underscore and a dash": {`{"name":"hot_-els","fields":[]}`, "consecutive"},
		"an index name with two underscores":          {`{"name":"hot__els","fields":[]}`, "consecutive"},
		"a field name that begins with a digit":       {withField(`{"name":"1st","type":"Edm.String"}`), "Invalid field name '1st'"},
		"a field name with a dash":                    {withField(`{"name":"a-b","type":"Edm.String"}`), "Invalid field name 'a-b'"},
		"an empty field name":                         {withField(`{"name":"","type":"Edm.String"}`), "between 1 and 128"},
		"a field name that is too long":               {withField(`{"name":"` + strings.Repeat("a", 129) + `","type":"Edm.String"}`), "between 1 and 128"},
		"a field name of the service":                 {withField(`{"name":"azureSearch_x","type":"Edm.String"}`), "azureSearch"},
		"a sub-field with a bad name":                 {withField(`{"name":"c","type":"Edm.ComplexType","fields":[{"name":"a b","type":"Edm.String"}]}`), "Invalid field name 'a b'"},
		"two fields of one name":                      {withField(`{"name":"id","type":"Edm.String"}`), "two fields named 'id'"},
		"two sub-fields of one name":                  {withField(`{"name":"c","type":"Edm.ComplexType","fields":[{"name":"x","type":"Edm.String"},{"name":"x","type":"Edm.String"}]}`), "two fields named 'c/x'"},
		"two suggesters":                              {plain(`"suggesters":[{"name":"a","sourceFields":["title"]},{"name":"b","sourceFields":["title"]}]`), "at most one suggester"},
		"a suggester without a name":                  {plain(`"suggesters":[{"name":"","sourceFields":["title"]}]`), "Invalid name ''"},
		"a scoring profile with a space":              {plain(`"scoringProfiles":[{"name":"a b"}]`), "Invalid name 'a b'"},
		"two scoring profiles of one name":            {plain(`"scoringProfiles":[{"name":"a"},{"name":"a"}]`), "two scoring profiles named 'a'"},
		"an analyzer name that ends with a space":     {plain(`"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.StopAnalyzer","name":"a "}]`), "Invalid name 'a '"},
		"two tokenizers of one name":                  {plain(`"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.ClassicTokenizer","name":"a"},{"@odata.type":"#Microsoft.Azure.Search.ClassicTokenizer","name":"a"}]`), "two tokenizers named 'a'"},
		"two semantic configurations of one name":     {plain(`"semantic":{"configurations":[{"name":"a","prioritizedFields":{"titleField":{"fieldName":"title"}}},{"name":"a","prioritizedFields":{"titleField":{"fieldName":"title"}}}]}`), "two semantic configurations named 'a'"},
		"two vector search algorithms of one name":    {plain(`"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"},{"name":"a","kind":"hnsw"}]}`), "named 'a'"},

		// keys
		"no key":                      {withMembers(`"fields":[{"name":"id","type":"Edm.String"}]`), "Found 0 key fields in index 'index'. Each index must have exactly one key field."},
		"no fields":                   {`{"name":"index","fields":[]}`, "Found 0 key fields"},
		"two keys":                    {withField(`{"name":"b","type":"Edm.String","key":true}`), "Found 2 key fields"},
		"a key that is a number":      {withMembers(`"fields":[{"name":"id","type":"Edm.Int32","key":true}]`), "must be of type 'Edm.String'"},
		"a key that is a collection":  {withMembers(`"fields":[{"name":"id","type":"Collection(Edm.String)","key":true}]`), "must be of type 'Edm.String'"},
		"a key that cannot be read":   {withMembers(`"fields":[{"name":"id","type":"Edm.String","key":true,"retrievable":false}]`), "must be retrievable"},
		"a key below a complex field": {withField(`{"name":"c","type":"Edm.ComplexType","fields":[{"name":"x","type":"Edm.String","key":true}]}`), "top level"},

		// types and attributes
		"an unknown type":                         {withField(`{"name":"x","type":"Edm.Decimal"}`), "type 'Edm.Decimal'"},
		"a type with a bracket missing":           {withField(`{"name":"x","type":"Collection(Edm.String"}`), "is not supported"},
		"a collection of collections":             {withField(`{"name":"x","type":"Collection(Collection(Edm.String))"}`), "is not supported"},
		"a single number of a vector":             {withField(`{"name":"x","type":"Edm.Single"}`), "only inside a collection"},
		"a searchable number":                     {withField(`{"name":"x","type":"Edm.Int32","searchable":true}`), "cannot be searchable"},
		"a sortable collection":                   {withField(`{"name":"x","type":"Collection(Edm.String)","sortable":true}`), "cannot be sortable"},
		"a sortable field below a collection":     {withField(`{"name":"c","type":"Collection(Edm.ComplexType)","fields":[{"name":"x","type":"Edm.String","sortable":true}]}`), "'c/x'"},
		"a sortable field deep below one":         {withField(`{"name":"c","type":"Collection(Edm.ComplexType)","fields":[{"name":"d","type":"Edm.ComplexType","fields":[{"name":"x","type":"Edm.String","sortable":true}]}]}`), "'c/d/x'"},
		"a facetable point":                       {withField(`{"name":"x","type":"Edm.GeographyPoint","facetable":true}`), "cannot be facetable"},
		"a string that is not stored":             {withField(`{"name":"x","type":"Edm.String","stored":false,"retrievable":false}`), "must be stored"},
		"a string with dimensions":                {withField(`{"name":"x","type":"Edm.String","dimensions":3}`), "belongs to vector fields"},
		"a string with a vector profile":          {withField(`{"name":"x","type":"Edm.String","vectorSearchProfile":"p"}`), "belongs to vector fields"},
		"a string with sub-fields":                {withField(`{"name":"x","type":"Edm.String","fields":[{"name":"y","type":"Edm.String"}]}`), "must not have sub-fields"},
		"a complex field without sub-fields":      {withField(`{"name":"x","type":"Edm.ComplexType","fields":[]}`), "at least one sub-field"},
		"a complex field that is filterable":      {withField(`{"name":"x","type":"Edm.ComplexType","filterable":true,"fields":[{"name":"y","type":"Edm.String"}]}`), "must not have the property 'filterable'"},
		"a complex field with a key of false":     {withField(`{"name":"x","type":"Edm.ComplexType","key":false,"fields":[{"name":"y","type":"Edm.String"}]}`), "must not have the property 'key'"},
		"a complex field with synonyms":           {withField(`{"name":"x","type":"Edm.ComplexType","synonymMaps":["m"],"fields":[{"name":"y","type":"Edm.String"}]}`), "synonymMaps"},
		"fields nested eleven deep":               {withField(nested(10)), "nested too deep"},
		"more than a thousand fields":             {withField(many(1000, `{"name":"f%d","type":"Edm.String"}`)), "At most 1000"},
		"more than forty complex collections":     {withField(many(41, `{"name":"f%d","type":"Collection(Edm.ComplexType)","fields":[{"name":"x","type":"Edm.String"}]}`)), "At most 40"},
		"an unknown analyzer":                     {withField(`{"name":"x","type":"Edm.String","analyzer":"klingon.lucene"}`), "unknown analyzer 'klingon.lucene'"},
		"an analyzer on a field that has no text": {withField(`{"name":"x","type":"Edm.Int32","analyzer":"en.lucene"}`), "not searchable"},
		"an analyzer next to an index analyzer":   {withField(`{"name":"x","type":"Edm.String","analyzer":"simple","indexAnalyzer":"simple","searchAnalyzer":"simple"}`), "must not have 'analyzer' together"},
		"an index analyzer alone":                 {withField(`{"name":"x","type":"Edm.String","indexAnalyzer":"simple"}`), "or neither"},
		"a search analyzer alone":                 {withField(`{"name":"x","type":"Edm.String","searchAnalyzer":"simple"}`), "or neither"},
		"a language analyzer for the index":       {withField(`{"name":"x","type":"Edm.String","indexAnalyzer":"en.lucene","searchAnalyzer":"simple"}`), "only as 'analyzer'"},
		"an empty analyzer":                       {withField(`{"name":"x","type":"Edm.String","analyzer":""}`), "empty name"},
		"an unknown normalizer":                   {withField(`{"name":"x","type":"Edm.String","normalizer":"shouting"}`), "unknown normalizer 'shouting'"},
		"a normalizer on a number":                {withField(`{"name":"x","type":"Edm.Int32","normalizer":"lowercase"}`), "must not have the property 'normalizer'"},
		"a normalizer that nothing uses":          {withField(`{"name":"x","type":"Edm.String","filterable":false,"sortable":false,"facetable":false,"normalizer":"lowercase"}`), "must not have the property 'normalizer'"},
		"two synonym maps":                        {withField(`{"name":"x","type":"Edm.String","synonymMaps":["a","b"]}`), "2 synonym maps"},
		"synonyms on a field without text":        {withField(`{"name":"x","type":"Edm.Int32","synonymMaps":["a"]}`), "not searchable"},

		// analysis
		"an analyzer without its tokenizer":    {plain(`"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"a","tokenizer":"t"}]`), "tokenizer 't' which is not defined"},
		"an analyzer without its token filter": {plain(`"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"a","tokenizer":"classic","tokenFilters":["f"]}]`), "token filter 'f' which is not defined"},
		"an analyzer without its char filter":  {plain(`"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"a","tokenizer":"classic","charFilters":["c"]}]`), "char filter 'c' which is not defined"},
		"an analyzer without a tokenizer":      {plain(`"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"a"}]`), "'tokenizer'"},
		"an analyzer of no type":               {plain(`"analyzers":[{"name":"a","tokenizer":"classic"}]`), "A resource without a type name was found"},
		"an analyzer of an unknown type":       {plain(`"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.MagicAnalyzer","name":"a"}]`), "MagicAnalyzer"},
		"a tokenizer among the analyzers":      {plain(`"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.ClassicTokenizer","name":"a"}]`), "ClassicTokenizer"},
		"a normalizer with a stemmer":          {plain(`"normalizers":[{"@odata.type":"#Microsoft.Azure.Search.CustomNormalizer","name":"a","tokenFilters":["porter_stem"]}]`), "token filter 'porter_stem'"},
		"tokens longer than 300":               {plain(`"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.StandardTokenizerV2","name":"a","maxTokenLength":301}]`), "between 1 and 300"},
		"grams the wrong way round":            {plain(`"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.NGramTokenizer","name":"a","minGram":3,"maxGram":2}]`), "'minGram' that is greater"},
		"an unknown stemming language":         {plain(`"tokenFilters":[{"@odata.type":"#Microsoft.Azure.Search.StemmerTokenFilter","name":"a","language":"klingon"}]`), "'klingon'"},
		"an unknown regular expression flag":   {plain(`"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.PatternTokenizer","name":"a","flags":"DOTALL|LOUD"}]`), "unknown flag 'LOUD'"},
		"a synonym filter without synonyms":    {plain(`"tokenFilters":[{"@odata.type":"#Microsoft.Azure.Search.SynonymTokenFilter","name":"a","synonyms":[]}]`), "must have something in 'synonyms'"},
		"a path delimiter of two characters":   {plain(`"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.PathHierarchyTokenizerV2","name":"a","delimiter":"::"}]`), "single character"},
		"an unknown token character":           {plain(`"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.NGramTokenizer","name":"a","tokenChars":["rune"]}]`), "'rune'"},

		// suggesters
		"a suggester without fields":               {plain(`"suggesters":[{"name":"a","sourceFields":[]}]`), "at least one source field"},
		"a suggester of a field that is not there": {plain(`"suggesters":[{"name":"a","sourceFields":["nope"]}]`), "'nope' which does not exist"},
		"a suggester of a number":                  {plain(`"suggesters":[{"name":"a","sourceFields":["n"]}]`), "not a searchable string"},
		"a suggester of a field without search":    {plain(`"suggesters":[{"name":"a","sourceFields":["shelf"]}]`), "not a searchable string"},
		"a suggester of a complex field":           {plain(`"suggesters":[{"name":"a","sourceFields":["address"]}]`), "not a searchable string"},
		"a suggester of white space":               {plain(`"suggesters":[{"name":"a","sourceFields":["words"]}]`), "neither the standard analyzer nor one for a language"},
		"a suggester that repeats itself":          {plain(`"suggesters":[{"name":"a","sourceFields":["title","title"]}]`), "twice"},
		"a suggester of another mode":              {plain(`"suggesters":[{"name":"a","searchMode":"prefix","sourceFields":["title"]}]`), "'prefix'"},

		// scoring
		"a default profile that is not there":     {plain(`"defaultScoringProfile":"p"`), "'p' does not exist"},
		"a weight of a field that is not there":   {plain(`"scoringProfiles":[{"name":"p","text":{"weights":{"nope":2}}}]`), "'nope' which does not exist"},
		"a weight of a number":                    {plain(`"scoringProfiles":[{"name":"p","text":{"weights":{"n":2}}}]`), "not a searchable string"},
		"a weight of nothing":                     {plain(`"scoringProfiles":[{"name":"p","text":{"weights":{"title":0}}}]`), "not greater than 0"},
		"a weight that is not a number":           {plain(`"scoringProfiles":[{"name":"p","text":{"weights":{"title":"2"}}}]`), "Edm.Double"},
		"a function of a field that is not there": {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"tag","fieldName":"nope","boost":2,"tag":{"tagsParameter":"t"}}]}]`), "'nope' which does not exist"},
		"a function of a field without filter":    {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"magnitude","fieldName":"dark","boost":2,"magnitude":{"boostingRangeStart":1,"boostingRangeEnd":2}}]}]`), "not filterable"},
		"a magnitude of a date":                   {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"magnitude","fieldName":"at","boost":2,"magnitude":{"boostingRangeStart":1,"boostingRangeEnd":2}}]}]`), "Edm.DateTimeOffset"},
		"a magnitude of many numbers":             {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"magnitude","fieldName":"ns","boost":2,"magnitude":{"boostingRangeStart":1,"boostingRangeEnd":2}}]}]`), "Collection(Edm.Int32)"},
		"a function that boosts by one":           {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"tag","fieldName":"tags","boost":1,"tag":{"tagsParameter":"t"}}]}]`), "not 1"},
		"a function that boosts by less than 0":   {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"tag","fieldName":"tags","boost":-2,"tag":{"tagsParameter":"t"}}]}]`), "greater than 0"},
		"a function without its parameters":       {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"tag","fieldName":"tags","boost":2}]}]`), "without the property 'tag'"},
		"a function with those of another":        {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"tag","fieldName":"tags","boost":2,"tag":{"tagsParameter":"t"},"freshness":{"boostingDuration":"P1D"}}]}]`), "with the property 'freshness'"},
		"an invalid duration":                     {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"freshness","fieldName":"at","boost":2,"freshness":{"boostingDuration":"P1DT"}}]}]`), "'P1DT', which is not a duration"},
		"a distance of nothing":                   {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"distance","fieldName":"where","boost":2,"distance":{"referencePointParameter":"x","boostingDistance":0}}]}]`), "not greater than 0"},
		"an unknown interpolation":                {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"tag","interpolation":"wavy","fieldName":"tags","boost":2,"tag":{"tagsParameter":"t"}}]}]`), "'wavy'"},
		"tags on a curve":                         {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"tag","interpolation":"quadratic","fieldName":"tags","boost":2,"tag":{"tagsParameter":"t"}}]}]`), "must be 'linear' or 'constant'"},
		"tags of no parameter":                    {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"tag","fieldName":"tags","boost":2,"tag":{"tagsParameter":""}}]}]`), "empty 'tagsParameter'"},
		"a distance from nowhere":                 {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"distance","fieldName":"where","boost":2,"distance":{"referencePointParameter":"","boostingDistance":1}}]}]`), "empty 'referencePointParameter'"},
		"a duration in words":                     {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"freshness","fieldName":"at","boost":2,"freshness":{"boostingDuration":"a year"}}]}]`), "'a year', which is not a duration"},
		"an empty duration":                       {plain(`"scoringProfiles":[{"name":"p","functions":[{"type":"freshness","fieldName":"at","boost":2,"freshness":{"boostingDuration":"P"}}]}]`), "'P', which is not a duration"},
		"an unknown aggregation":                  {plain(`"scoringProfiles":[{"name":"p","functionAggregation":"median"}]`), "'median'"},
		"nine functions":                          {plain(`"scoringProfiles":[{"name":"p","functions":[` + many(9, `{"type":"tag","fieldName":"tags","boost":2,"tag":{"tagsParameter":"t%d"}}`) + `]}]`), "At most 8"},
		"a hundred and one profiles":              {plain(`"scoringProfiles":[` + many(101, `{"name":"p%d"}`) + `]`), "At most 100"},

		// the rest
		"no allowed origin":                               {plain(`"corsOptions":{"allowedOrigins":[]}`), "at least one origin"},
		"no list of allowed origins":                      {plain(`"corsOptions":{"maxAgeInSeconds":60}`), "'allowedOrigins'"},
		"all origins and another":                         {plain(`"corsOptions":{"allowedOrigins":["*","http://a"]}`), "must be the only one"},
		"an empty origin":                                 {plain(`"corsOptions":{"allowedOrigins":[" "]}`), "empty origins"},
		"a negative age":                                  {plain(`"corsOptions":{"allowedOrigins":["*"],"maxAgeInSeconds":-1}`), "'maxAgeInSeconds'"},
		"an unknown similarity":                           {plain(`"similarity":{"@odata.type":"#Microsoft.Azure.Search.Cosine"}`), "Cosine"},
		"a similarity of no type":                         {plain(`"similarity":{"k1":1}`), "without a type name"},
		"a similarity out of range":                       {plain(`"similarity":{"@odata.type":"#Microsoft.Azure.Search.BM25Similarity","b":2}`), "'b'"},
		"a semantic configuration of nothing":             {plain(`"semantic":{"configurations":[{"name":"s","prioritizedFields":{}}]}`), "at least one of"},
		"a semantic configuration of a missing field":     {plain(`"semantic":{"configurations":[{"name":"s","prioritizedFields":{"titleField":{"fieldName":"nope"}}}]}`), "'nope'"},
		"a semantic configuration of a number":            {plain(`"semantic":{"configurations":[{"name":"s","prioritizedFields":{"prioritizedContentFields":[{"fieldName":"n"}]}}]}`), semanticTypes},
		"a semantic configuration of an object":           {plain(`"semantic":{"configurations":[{"name":"s","prioritizedFields":{"prioritizedContentFields":[{"fieldName":"address"}]}}]}`), semanticTypes},
		"a semantic configuration of collections":         {withField(`{"name":"rooms","type":"Collection(Edm.ComplexType)","fields":[{"name":"bed","type":"Edm.ComplexType","fields":[{"name":"kind","type":"Edm.String"}]}]}],"semantic":{"configurations":[{"name":"s","prioritizedFields":{"titleField":{"fieldName":"rooms/bed/kind"}}}]},"suggesters":[`), semanticTypes},
		"a semantic configuration of a secret":            {plain(`"semantic":{"configurations":[{"name":"s","prioritizedFields":{"prioritizedKeywordsFields":[{"fieldName":"secret"}]}}]}`), "'secret'"},
		"a default semantic configuration that is absent": {plain(`"semantic":{"defaultConfiguration":"s","configurations":[]}`), "'s' does not exist"},

		"a hundred and one semantic configurations": {plain(`"semantic":{"configurations":[` + many(101, `{"name":"s%d","prioritizedFields":{"titleField":{"fieldName":"title"}}}`) + `]}`), "At most 100"},

		// vectors
		"a vector with sub-fields":                {vectorIndex(vectorField(`,"fields":[{"name":"x","type":"Edm.String"}]`)), "must not have sub-fields"},
		"numbers with hamming, exhaustively":      {strings.Replace(vectorIndex(vectorField("")), `{"name":"a","kind":"hnsw"}`, `{"name":"a","kind":"exhaustiveKnn","exhaustiveKnnParameters":{"metric":"hamming"}}`, 1), "'hamming'"},
		"a field's profile without its algorithm": {strings.Replace(vectorIndex(vectorField("")), `"algorithm":"a"`, `"algorithm":"b"`, 1), "algorithm 'b' which is not defined"},
		"a vectorizer with another's parameters":  {plain(`"vectorSearch":{"vectorizers":[{"name":"a","kind":"customWebApi","azureOpenAIParameters":{}}]}`), "must not have the property 'azureOpenAIParameters'"},
		"a vector that is filterable":             {vectorIndex(vectorField(`,"filterable":true`)), "'filterable'"},
		"a vector that is sortable":               {vectorIndex(vectorField(`,"sortable":true`)), "'sortable'"},
		"a vector that is facetable":              {vectorIndex(vectorField(`,"facetable":true`)), "'facetable'"},
		"a vector with an analyzer":               {vectorIndex(vectorField(`,"analyzer":"simple"`)), "'analyzer'"},
		"a vector with synonyms":                  {vectorIndex(vectorField(`,"synonymMaps":["m"]`)), "'synonymMaps'"},
		"a vector that is not searchable":         {vectorIndex(strings.Replace(vectorField(""), `"searchable":true,`, `"searchable":false,`, 1)), "'searchable' set to true"},
		"a vector without dimensions":             {vectorIndex(strings.Replace(vectorField(""), `"dimensions":3,`, "", 1)), "The vector field 'v' must have the property 'dimensions' set."},
		"a vector without a profile":              {vectorIndex(strings.Replace(vectorField(""), `,"vectorSearchProfile":"p"`, "", 1)), "The vector field 'v' must have the property 'vectorSearchProfile' set."},
		"a vector without either":                 {vectorIndex(strings.Replace(vectorField(""), `,"dimensions":3,"vectorSearchProfile":"p"`, "", 1)), "must have the properties 'dimensions' and 'vectorSearchProfile' set."},
		"a vector of one dimension":               {vectorIndex(strings.Replace(vectorField(""), `:3`, ":1", 1)), "has 1 dimensions"},
		"a vector of 4097 dimensions":             {vectorIndex(strings.Replace(vectorField(""), `:3`, ":4097", 1)), "has 4097 dimensions"},
		"a vector with an unknown profile":        {vectorIndex(strings.Replace(vectorField(""), `"p"`, `"x"`, 1)), "The field 'v' uses a vector search algorithm configuration 'x' which is not defined."},
		"a vector shown but not stored":           {vectorIndex(vectorField(`,"stored":false,"retrievable":true`)), "The field 'v' is marked as not stored but is marked as retrievable. A retrievable field must be stored."},
		"a vector below a complex field":          {vectorIndex(`{"name":"c","type":"Edm.ComplexType","fields":[` + vectorField("") + `]}`), "top level"},
		"bytes that are not packed":               {vectorIndex(strings.Replace(vectorField(""), "Single", "Byte", 1)), "packedBit"},
		"packed bits of other than bytes":         {vectorIndex(vectorField(`,"vectorEncoding":"packedBit"`)), "packedBit"},
		"packed bits that fill no byte":           {vectorIndex(strings.NewReplacer("Single", "Byte", `"p"`, `"q","vectorEncoding":"packedBit"`).Replace(vectorField(""))), "multiple of 8"},
		"packed bits with cosine":                 {vectorIndex(strings.NewReplacer("Single", "Byte", `"p"`, `"p","vectorEncoding":"packedBit"`, ":3", ":16").Replace(vectorField(""))), "'cosine'"},
		"numbers with hamming":                    {vectorIndex(strings.Replace(vectorField(""), `"p"`, `"q"`, 1)), "'hamming'"},
		"a profile with an unknown algorithm":     {plain(`"vectorSearch":{"profiles":[{"name":"p","algorithm":"a"}]}`), "algorithm 'a' which is not defined"},
		"a profile with an unknown vectorizer":    {plain(`"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a","vectorizer":"v"}]}`), "vectorizer 'v' which is not defined"},
		"a profile with an unknown compression":   {plain(`"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw"}],"profiles":[{"name":"p","algorithm":"a","compression":"c"}]}`), "compression 'c' which is not defined"},
		"hnsw with the parameters of exhaustive":  {plain(`"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw","exhaustiveKnnParameters":{}}]}`), "must not have the property 'exhaustiveKnnParameters'"},
		"hnsw with too many links":                {plain(`"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw","hnswParameters":{"m":11}}]}`), "between 4 and 10"},
		"hnsw with an unknown metric":             {plain(`"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw","hnswParameters":{"metric":"taxi"}}]}`), "'taxi'"},
		"an unknown algorithm":                    {plain(`"vectorSearch":{"algorithms":[{"name":"a","kind":"lsh"}]}`), "'lsh'"},
		"an unknown compression":                  {plain(`"vectorSearch":{"compressions":[{"name":"a","kind":"zip"}]}`), "'zip'"},
		"a compression with another's parameters": {plain(`"vectorSearch":{"compressions":[{"name":"a","kind":"binaryQuantization","scalarQuantizationParameters":{}}]}`), "must not have the property 'scalarQuantizationParameters'"},

		// JSON
		"an unknown member":               {plain(`"colour":"red"`), "The property 'colour' does not exist on type 'Microsoft.Azure.Search.V2026_10_01.IndexDefinition'. Make sure to only use property names that are defined by the type."},
		"an unknown member of a field":    {withField(`{"name":"x","type":"Edm.String","colour":1}`), "The property 'colour' does not exist on type 'Microsoft.Azure.Search.V2026_10_01.SchemaField'."},
		"an unknown object":               {plain(`"vectorSearch":{"algorithmConfigurations":[]}`), "Cannot find nested property 'algorithmConfigurations' on the resource type 'Microsoft.Azure.Search.V2026_10_01.VectorSearch'."},
		"a member in another case":        {plain(`"Suggesters":[]`), "Cannot find nested property 'Suggesters'"},
		"no name":                         {`{"fields":[]}`, "'name'"},
		"a name of null":                  {`{"name":null,"fields":[]}`, "'name'"},
		"no list of fields":               {`{"name":"index"}`, "'fields'"},
		"a field without a type":          {withField(`{"name":"x"}`), "'type'"},
		"a list in place of an object":    {`[]`, "An unexpected 'StartArray' node was found"},
		"a word in place of an object":    {`"index"`, "'PrimitiveValue'"},
		"null in place of an object":      {`null`, "'PrimitiveValue'"},
		"an object in place of a list":    {plain(`"suggesters":{}`), "A 'StartArray' node was expected."},
		"a list in place of a word":       {`{"name":["index"],"fields":[]}`, "An unexpected 'StartArray' node was found when reading from the JSON reader. A 'PrimitiveValue' node was expected."},
		"a word in place of a truth":      {withField(`{"name":"x","type":"Edm.String","filterable":"true"}`), "Cannot convert the literal 'true' to the expected type 'Edm.Boolean'."},
		"a number in place of a word":     {`{"name":1,"fields":[]}`, "Edm.String"},
		"half a dimension":                {withField(vectorFieldOf("2.5")), "Cannot convert the literal '2.5' to the expected type 'Edm.Int32'."},
		"a word in a place for numbers":   {plain(`"vectorSearch":{"algorithms":[{"name":"a","kind":"hnsw","hnswParameters":{"m":"4"}}]}`), "Edm.Int32"},
		"a word in place of headers":      {plain(`"vectorSearch":{"vectorizers":[{"name":"a","kind":"customWebApi","customWebApiParameters":{"httpHeaders":"x"}}]}`), "'StartObject'"},
		"a word in place of an analyzer":  {plain(`"analyzers":["simple"]`), "A 'StartObject' node was expected."},
		"null in a list":                  {plain(`"suggesters":[null]`), "A null value was found"},
		"more weights than numbers reach": {plain(`"scoringProfiles":[{"name":"p","text":{"weights":{"title":1e999}}}]`), "Edm.Double"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(once(t, c.definition), apiversion.Latest())
			require.NotNil(t, err)
			assert.Equal(t, http.StatusBadRequest, err.Status)
			assert.True(t, strings.HasPrefix(err.Message, "The request is invalid. Details: "), "%s", err.Message)
			assert.Contains(t, err.Message, c.reason)
		})
	}
}

func vectorFieldOf(dimensions string) string {
	return strings.Replace(vectorField(""), ":3", ":"+dimensions, 1)
}

func TestTextThatIsNotJSONIsRefused(t *testing.T) {
	for _, text := range []string{"", "{", `{"name":}`, `{"name":"a"} x`, `{"name":"a","name":"b"}`, strings.Repeat("[", 1000),
		`{"fields":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`} {
		_, err := Compile([]byte(text), apiversion.Latest())
		require.NotNil(t, err, text)
		require.Equal(t, http.StatusBadRequest, err.Status)
		require.Contains(t, err.Message, "Invalid JSON.")
	}
}

func TestDefinitionsTheServiceTakesAreTaken(t *testing.T) {
	for name, definition := range map[string]string{
		"the shortest":                       `{"name":"ab","fields":[{"name":"a","type":"Edm.String","key":true}]}`,
		"dashes and underscores in the name": `{"name":"0a-b_c","fields":[{"name":"a","type":"Edm.String","key":true}]}`,
		"the reply to a GET":                 `{"@odata.context":"https://x/$metadata#indexes/$entity","@odata.etag":"\"0x1\"","name":"ab","fields":[{"name":"a","type":"Edm.String","key":true}],"corsOptions":null,"suggesters":[]}`,
		"unknown annotations":                `{"name":"ab","name@odata.type":"#String","fields":[{"@odata.type":"#x","name":"a","type":"Edm.String","key":true}]}`,
		"nulls for unused members":           withField(`{"name":"x","type":"Edm.ComplexType","key":null,"filterable":null,"analyzer":null,"synonymMaps":[],"fields":[{"name":"y","type":"Edm.String","fields":[]}]}`),
		"a byte order mark":                  "\ufeff" + `{"name":"ab","fields":[{"name":"a","type":"Edm.String","key":true}]}`,
		"every type": withField(`{"name":"a1","type":"Edm.Boolean"},{"name":"a2","type":"Edm.Int32"},{"name":"a3","type":"Edm.Int64"},{"name":"a4","type":"Edm.Double"},
			{"name":"a5","type":"Edm.DateTimeOffset"},{"name":"a6","type":"Edm.GeographyPoint"},{"name":"b1","type":"Collection(Edm.Boolean)"},{"name":"b2","type":"Collection(Edm.Int32)"},
			{"name":"b3","type":"Collection(Edm.Int64)"},{"name":"b4","type":"Collection(Edm.Double)"},{"name":"b5","type":"Collection(Edm.DateTimeOffset)"},{"name":"b6","type":"Collection(Edm.GeographyPoint)"}`),
		"fields nested ten deep":                    withField(`{"name":"a","type":"Edm.ComplexType","fields":[` + strings.Repeat(`{"name":"a","type":"Edm.ComplexType","fields":[`, 8) + `{"name":"x","type":"Edm.String"}` + strings.Repeat(`]}`, 8) + `]}`),
		"a sortable field below a complex field":    withField(`{"name":"c","type":"Edm.ComplexType","fields":[{"name":"x","type":"Edm.String","sortable":true}]}`),
		"suggestions from standard and French text": plain(`"suggesters":[{"name":"sg","sourceFields":["title","french","tags","address/city"]}]`),
		"every scoring function": plain(`"defaultScoringProfile":"p","scoringProfiles":[{"name":"p","text":{"weights":{"title":2,"address/city":0.5}},"functionAggregation":"firstMatching","functions":[
			{"type":"freshness","fieldName":"at","boost":2,"freshness":{"boostingDuration":"-P1DT2H3M4.5S"}},{"type":"magnitude","fieldName":"n","boost":0.5,"magnitude":{"boostingRangeStart":5,"boostingRangeEnd":1}},
			{"type":"distance","fieldName":"where","boost":3,"interpolation":"quadratic","distance":{"referencePointParameter":"here","boostingDistance":1}},{"type":"tag","fieldName":"tags","boost":2,"tag":{"tagsParameter":"t"}}]}]`),
		"an analyzer of custom components": plain(`"analyzers":[{"@odata.type":"#Microsoft.Azure.Search.CustomAnalyzer","name":"my analyzer","tokenizer":"t","tokenFilters":["f","lowercase"],"charFilters":["c","html_strip"]}],
			"tokenizers":[{"@odata.type":"#Microsoft.Azure.Search.PatternTokenizer","name":"t","flags":"DOTALL|MULTILINE"}],"tokenFilters":[{"@odata.type":"#Microsoft.Azure.Search.LengthTokenFilter","name":"f"}],
			"charFilters":[{"@odata.type":"#Microsoft.Azure.Search.MappingCharFilter","name":"c","mappings":["a => b"]}],"normalizers":[{"@odata.type":"#Microsoft.Azure.Search.CustomNormalizer","name":"n","tokenFilters":["lowercase"],"charFilters":["c"]}]`),
		"semantic configurations":                                   plain(`"semantic":{"defaultConfiguration":"s","configurations":[{"name":"s","rankingOrder":"RerankerScore","prioritizedFields":{"titleField":{"fieldName":"title"},"prioritizedContentFields":[{"fieldName":"french"}],"prioritizedKeywordsFields":[{"fieldName":"tags"}]}}]}`),
		"semantic configurations of fields that are not searchable": plain(`"semantic":{"configurations":[{"name":"s","prioritizedFields":{"titleField":{"fieldName":"shelf"},"prioritizedContentFields":[{"fieldName":"address/city"},{"fieldName":"id"}]}}]}`),
		"vectors of every type": vectorIndex(vectorField("") + `,` + strings.Replace(vectorField(`,"stored":false`), `"v"`, `"v2"`, 1) + `,` + strings.NewReplacer(`"v"`, `"v3"`, "Single", "Half").Replace(vectorField("")) + `,` +
			strings.NewReplacer(`"v"`, `"v4"`, "Single", "Int16").Replace(vectorField(`,"retrievable":true`)) + `,` + strings.NewReplacer(`"v"`, `"v5"`, "Single", "SByte").Replace(vectorField("")) + `,` +
			strings.NewReplacer(`"v"`, `"v6"`, "Single", "Byte", `"p"`, `"q","vectorEncoding":"packedBit"`, ":3", ":16").Replace(vectorField(""))),
		"vectorizers and compressions": plain(`"vectorSearch":{"algorithms":[{"name":"a","kind":"exhaustiveKnn","exhaustiveKnnParameters":{"metric":"euclidean"}}],"profiles":[{"name":"p","algorithm":"a","vectorizer":"v","compression":"c"}],
			"vectorizers":[{"name":"v","kind":"azureOpenAI","azureOpenAIParameters":{"resourceUri":"https://x","deploymentId":"d","apiKey":"k","modelName":"text-embedding-3-large"}},{"name":"w","kind":"customWebApi","customWebApiParameters":{"uri":"https://y","httpHeaders":{"a":"b"}}}],
			"compressions":[{"name":"c","kind":"scalarQuantization","rescoringOptions":{"defaultOversampling":4},"truncationDimension":2},{"name":"b","kind":"binaryQuantization"}]}`),
		"an encryption key":      plain(`"encryptionKey":{"keyVaultKeyName":"k","keyVaultKeyVersion":"1","keyVaultUri":"https://v","accessCredentials":{"applicationId":"a","applicationSecret":"s"}}`),
		"the classic similarity": plain(`"similarity":{"@odata.type":"#Microsoft.Azure.Search.ClassicSimilarity"}`),
	} {
		t.Run(name, func(t *testing.T) {
			var body []byte
			if strings.HasPrefix(definition, "\ufeff") {
				body = []byte(definition)
			} else {
				body = once(t, definition)
			}
			sc, err := Compile(body, apiversion.Latest())
			require.Nil(t, err, "%v", err)
			echoed, err := Compile(sc.Definition, apiversion.Latest())
			require.Nil(t, err, "the echo is refused: %v", err)
			require.Equal(t, string(sc.Definition), string(echoed.Definition))
		})
	}
}
