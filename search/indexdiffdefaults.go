package search

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-azsearch/azsearch/models"
)

// normalForm returns the form that all definitions with the same effect share: without null and empty lists, and with
// the defaults of the service.
func normalForm(index models.SearchIndex) (jsonObject, error) {
	b, err := json.Marshal(index)
	if err != nil {
		return nil, err
	}
	tree, err := decodeTree(b)
	if err != nil {
		return nil, err
	}
	delete(tree, "@odata.etag")
	delete(tree, "@odata.context")
	prune(tree)
	completeDefinition(tree)
	return tree, nil
}

func decodeTree(b []byte) (jsonObject, error) {
	var tree jsonObject
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	return tree, dec.Decode(&tree)
}

// prune removes null and empty lists, which have the same effect as a missing member.
func prune(o jsonObject) {
	for name, value := range o {
		switch v := value.(type) {
		case nil:
			delete(o, name)
		case jsonObject:
			prune(v)
		case []any:
			if len(v) == 0 {
				delete(o, name)
			}
			for _, entry := range v {
				if inner, ok := entry.(jsonObject); ok {
					prune(inner)
				}
			}
		}
	}
}

// completeDefinition adds the members that the service fills in, or takes their defaults away.
func completeDefinition(o jsonObject) {
	// These are taken away and not filled in: what an api-version does not show must differ from nothing.
	for name, value := range serviceDefaults["Index"] {
		if sameJSON(o[name], value) {
			delete(o, name)
		}
	}
	for _, f := range entriesOf(o["fields"]) {
		completeField(f, false)
	}
	for _, p := range entriesOf(o["scoringProfiles"]) {
		for _, f := range entriesOf(p["functions"]) {
			fillDefaults(f, "ScoringFunction")
			if magnitude, ok := f["magnitude"].(jsonObject); ok {
				fillDefaults(magnitude, "MagnitudeParameters")
			}
		}
		if p["functions"] != nil {
			fillDefaults(p, "ScoringProfile")
		}
	}
	for _, s := range entriesOf(o["suggesters"]) {
		fillDefaults(s, "Suggester")
	}
	for _, list := range componentLists {
		for _, c := range entriesOf(o[list]) {
			typ, _ := c["@odata.type"].(string)
			fillDefaults(c, strings.TrimPrefix(typ, "#Microsoft.Azure.Search."))
			if typ == "#Microsoft.Azure.Search.StopwordsTokenFilter" && c["stopwords"] == nil && c["stopwordsList"] == nil {
				c["stopwordsList"] = "english"
			}
		}
	}
	similarity := objectMember(o, "similarity")
	fillDefaults(similarity, "Similarity")
	if similarity["@odata.type"] == string(models.SimilarityBM25) {
		fillDefaults(similarity, "BM25Similarity")
	}
	if cors, ok := o["corsOptions"].(jsonObject); ok {
		fillDefaults(cors, "CorsOptions")
	}
	for _, c := range entriesOf(objectMember(o, "semantic")["configurations"]) {
		fillDefaults(c, "SemanticConfiguration")
	}
	completeVectorSearch(objectMember(o, "vectorSearch"))
}

// objectMember returns the object in a member of o. If the member is missing, an empty object is added.
func objectMember(o jsonObject, name string) jsonObject {
	inner, ok := o[name].(jsonObject)
	if !ok {
		inner = jsonObject{}
		if o[name] == nil {
			o[name] = inner
		}
	}
	return inner
}

func completeVectorSearch(o jsonObject) {
	for _, a := range entriesOf(o["algorithms"]) {
		switch a["kind"] {
		case models.VectorSearchAlgorithmHNSW:
			fillDefaults(objectMember(a, "hnswParameters"), "HNSWParameters")
		case models.VectorSearchAlgorithmExhaustiveKNN:
			fillDefaults(objectMember(a, "exhaustiveKnnParameters"), "ExhaustiveKNNParameters")
		}
	}
	for _, c := range entriesOf(o["compressions"]) {
		fillDefaults(c, "VectorCompression")
		fillDefaults(objectMember(c, "rescoringOptions"), "RescoringOptions")
		if c["kind"] == models.VectorCompressionScalarQuantization {
			fillDefaults(objectMember(c, "scalarQuantizationParameters"), "ScalarQuantizationParameters")
		}
	}
}

// completeField adds the attributes of a field. Their defaults depend on its type and on whether it is below a list
// of complex objects.
func completeField(f jsonObject, below bool) {
	name, _ := f["type"].(string)
	typ := models.DataType(name)
	element, list := typ.Element()
	if !list {
		element = typ
	}
	if element == models.DataTypeComplex {
		for _, sub := range entriesOf(f["fields"]) {
			completeField(sub, below || list)
		}
		return
	}
	vector := typ.IsVector()
	for attribute, value := range map[string]bool{
		"sensitivityLabel":  false,
		"sharepointSiteUrl": false,

		"key":         false,
		"retrievable": !vector,
		"stored":      true,
		"searchable":  vector || element == models.DataTypeString,
		"filterable":  !vector,
		"sortable":    !vector && !list && !below,
		"facetable":   !vector && element != models.DataTypeGeographyPoint,
	} {
		if f[attribute] == nil {
			f[attribute] = value
		}
	}
}

// fillDefaults sets missing members to the defaults of a type.
func fillDefaults(o jsonObject, typ string) { fillMissing(o, serviceDefaults[typ]) }

func fillMissing(o, defaults jsonObject) {
	for name, value := range defaults {
		if o[name] == nil {
			o[name] = value
		}
	}
}

// serviceDefaults are, by type, the defaults of the service that do not depend on other members, from its published
// description. Analysis components are listed by the name in their @odata.type.
var serviceDefaults = func() map[string]jsonObject {
	defaults := map[string]jsonObject{}
	for typ, text := range map[string]string{
		"Index":                        `{"permissionFilterOption": "disabled", "purviewEnabled": false}`,
		"Similarity":                   `{"@odata.type": "#Microsoft.Azure.Search.BM25Similarity"}`,
		"BM25Similarity":               `{"k1": 1.2, "b": 0.75}`,
		"CorsOptions":                  `{"maxAgeInSeconds": 300}`,
		"Suggester":                    `{"searchMode": "analyzingInfixMatching"}`,
		"ScoringProfile":               `{"functionAggregation": "sum"}`,
		"ScoringFunction":              `{"interpolation": "linear"}`,
		"MagnitudeParameters":          `{"constantBoostBeyondRange": false}`,
		"SemanticConfiguration":        `{"rankingOrder": "BoostedRerankerScore"}`,
		"HNSWParameters":               `{"metric": "cosine", "m": 4, "efConstruction": 400, "efSearch": 500}`,
		"ExhaustiveKNNParameters":      `{"metric": "cosine"}`,
		"VectorCompression":            `{"rerankWithOriginalVectors": true}`,
		"RescoringOptions":             `{"enableRescoring": true, "rescoreStorageMethod": "preserveOriginals"}`,
		"ScalarQuantizationParameters": `{"quantizedDataType": "int8"}`,

		"PatternAnalyzer":  `{"lowercase": true, "pattern": "\\W+"}`,
		"StandardAnalyzer": `{"maxTokenLength": 255}`,

		"ClassicTokenizer":                   `{"maxTokenLength": 255}`,
		"EdgeNGramTokenizer":                 `{"minGram": 1, "maxGram": 2}`,
		"KeywordTokenizer":                   `{"bufferSize": 256}`,
		"KeywordTokenizerV2":                 `{"maxTokenLength": 256}`,
		"MicrosoftLanguageTokenizer":         `{"maxTokenLength": 255, "isSearchTokenizer": false, "language": "english"}`,
		"MicrosoftLanguageStemmingTokenizer": `{"maxTokenLength": 255, "isSearchTokenizer": false, "language": "english"}`,
		"NGramTokenizer":                     `{"minGram": 1, "maxGram": 2}`,
		"PathHierarchyTokenizerV2":           `{"delimiter": "/", "replacement": "/", "maxTokenLength": 300, "reverse": false, "skip": 0}`,
		"PatternTokenizer":                   `{"pattern": "\\W+", "group": -1}`,
		"StandardTokenizer":                  `{"maxTokenLength": 255}`,
		"StandardTokenizerV2":                `{"maxTokenLength": 255}`,
		"UaxUrlEmailTokenizer":               `{"maxTokenLength": 255}`,

		"AsciiFoldingTokenFilter":           `{"preserveOriginal": false}`,
		"CjkBigramTokenFilter":              `{"outputUnigrams": false}`,
		"CommonGramTokenFilter":             `{"ignoreCase": false, "queryMode": false}`,
		"DictionaryDecompounderTokenFilter": `{"minWordSize": 5, "minSubwordSize": 2, "maxSubwordSize": 15, "onlyLongestMatch": false}`,
		"EdgeNGramTokenFilter":              `{"minGram": 1, "maxGram": 2, "side": "front"}`,
		"EdgeNGramTokenFilterV2":            `{"minGram": 1, "maxGram": 2, "side": "front"}`,
		"KeepTokenFilter":                   `{"keepWordsCase": false}`,
		"KeywordMarkerTokenFilter":          `{"ignoreCase": false}`,
		"LengthTokenFilter":                 `{"min": 0, "max": 300}`,
		"LimitTokenFilter":                  `{"maxTokenCount": 1, "consumeAllTokens": false}`,
		"NGramTokenFilter":                  `{"minGram": 1, "maxGram": 2}`,
		"NGramTokenFilterV2":                `{"minGram": 1, "maxGram": 2}`,
		"PatternCaptureTokenFilter":         `{"preserveOriginal": true}`,
		"PhoneticTokenFilter":               `{"encoder": "metaphone", "replace": true}`,
		"ShingleTokenFilter":                `{"maxShingleSize": 2, "minShingleSize": 2, "outputUnigrams": true, "outputUnigramsIfNoShingles": false, "tokenSeparator": " ", "filterToken": "_"}`,
		"StopwordsTokenFilter":              `{"ignoreCase": false, "removeTrailing": true}`,
		"SynonymTokenFilter":                `{"ignoreCase": false, "expand": true}`,
		"TruncateTokenFilter":               `{"length": 300}`,
		"UniqueTokenFilter":                 `{"onlyOnSamePosition": false}`,
		"WordDelimiterTokenFilter": `{"generateWordParts": true, "generateNumberParts": true, "catenateWords": false, "catenateNumbers": false,
			"catenateAll": false, "splitOnCaseChange": true, "preserveOriginal": false, "splitOnNumerics": true, "stemEnglishPossessive": true}`,
	} {
		tree, err := decodeTree([]byte(text))
		if err != nil {
			panic(typ + ": " + err.Error()) // a typing error above
		}
		defaults[typ] = tree
	}
	return defaults
}()
