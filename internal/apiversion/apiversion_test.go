package apiversion

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-azsearch/azsearch/internal/spec"
)

// specified has the items of a specification that show a capability, with the names that each generator gives them.
var specified = map[Capability][]string{
	EncryptionKeys:        {"SearchIndex.encryptionKey"},
	Similarity:            {"SearchIndex.similarity"},
	Normalizers:           {"SearchIndex.normalizers"},
	SemanticRanking:       {"SearchIndex.semantic"},
	RankingOrder:          {"SemanticConfiguration.rankingOrder"},
	VectorSearch:          {"SearchRequest.vectorQueries"},
	NarrowVectors:         {"SearchFieldDataType=Edm.Half"},
	PackedBits:            {"SearchField.vectorEncoding"},
	Stored:                {"SearchField.stored"},
	Compressions:          {"VectorSearch.compressions"},
	RerankWithOriginals:   {"VectorSearchCompression.rerankWithOriginalVectors", "VectorSearchCompressionConfiguration.rerankWithOriginalVectors"},
	Rescoring:             {"VectorSearchCompression.rescoringOptions"},
	TruncationDimension:   {"VectorSearchCompression.truncationDimension"},
	Vectorizers:           {"VectorSearch.vectorizers"},
	IndexDescription:      {"SearchIndex.description"},
	Aliases:               {"GET /aliases"},
	AnalyzeNormalizer:     {"AnalyzeRequest.normalizer", "AnalyzeTextOptions.normalizer"},
	ScoringStatistics:     {"SearchRequest.scoringStatistics"},
	SemanticErrorHandling: {"SearchRequest.semanticErrorHandling"},
	SemanticQuery:         {"SearchRequest.semanticQuery"},
	SemanticFields:        {"SearchRequest.semanticFields"},
	SemanticDebug:         {"DocumentDebugInfo.semantic"},
	Debug:                 {"SearchRequest.debug"},
	QueryLanguage:         {"SearchRequest.queryLanguage"},
	QueryRewrites:         {"SearchRequest.queryRewrites"},
	MoreLikeThis:          {"SearchRequest.moreLikeThis", "GET /indexes('{}')/docs moreLikeThis"},
	Oversampling:          {"VectorQuery.oversampling"},
	VectorWeight:          {"VectorQuery.weight"},
	VectorThreshold:       {"VectorQuery.threshold"},
	VectorImages:          {"VectorQueryKind=imageUrl"},
	FilterOverride:        {"VectorQuery.filterOverride"},
	StrictPostFilter:      {"VectorFilterMode=strictPostFilter"},
	HybridSearch:          {"SearchRequest.hybridSearch"},
	FacetMetrics:          {"FacetResult.avg"},
	SkillsetCounter:       {"ServiceCounters.skillsetCount", "SearchServiceCounters.skillsetCount"},
	VectorIndexSize:       {"GetIndexStatisticsResult.vectorIndexSize"},
	VisionVectorizers:     {"AIServicesVisionVectorizer", "AIServicesVisionVectorizer.aiServicesVisionParameters"},
	PermissionFilters:     {"SearchField.permissionFilter"},
	SensitivityLabels:     {"SearchIndex.purviewEnabled"},
	SharePointPermissions: {"SearchField.sharepointSiteUrl"},
	KnowledgeStore:        {"SearchIndexerSkillset.knowledgeStore"},
	IndexProjections:      {"SearchIndexerSkillset.indexProjections"},
	DataSourceIdentities:  {"SearchIndexerDataSource.identity", "SearchIndexerDataSourceConnection.identity"},
	KnowledgeBases:        {"GET /knowledgebases"},
	KnowledgeCounters:     {"SearchServiceCounters.knowledgeBasesCount"},
	IndexSummaries:        {"GET /indexstats"},
	ListPages:             {"GET /indexes pageSize", "GET /aliases pageSize"},
	Resync:                {"POST /indexers/search.resync", "POST /indexers('{}')/search.resync"},
	ResetDocuments:        {"POST /indexers/search.resetdocs", "POST /indexers('{}')/search.resetdocs"},
	ResetSkills:           {"POST /skillsets('{}')/search.resetskills"},
	KnowledgeFiles:        {"POST /knowledgesources('{}')/files multipart"},
	RetrieveStream:        {"POST /knowledgebases('{}')/retrieve stream"},
	StorageLimit:          {"ServiceLimits.maxStoragePerIndex", "SearchServiceLimits.maxStoragePerIndex"},
}

// unspecified has the capabilities without an item in any specification: limits and settings described only in text,
// and recorded behaviour.
var unspecified = []Capability{WideVectors, PassageLength, CodedErrors, RenewedHeaders, CountLast, FlatScores, FuzzyFallback, RetiredMembers, IndexerCache}

// The test compares the table with package spec. Older versions, and items that were renamed since, are compared with
// testdata/specification.json.
func TestTheSpecificationAgrees(t *testing.T) {
	data, err := os.ReadFile("testdata/specification.json")
	require.NoError(t, err)
	var specification map[string][]string
	require.NoError(t, json.Unmarshal(data, &specification))
	newer, err := spec.Load()
	require.NoError(t, err)
	for item, in := range newer.Sets() {
		for _, name := range newer.Names(in) {
			specification[name] = append(specification[name], item)
		}
	}
	require.Len(t, specification, 9)
	for name, items := range specification {
		version := Of(name)
		require.True(t, version.Known(), name)
		for c, names := range specified {
			want := slices.ContainsFunc(names, func(item string) bool { return slices.Contains(items, item) })
			if c == RerankWithOriginals && name == "2025-09-01" {
				want = false // the package of 2025-09-01 keeps these members but restricts them to 2024-07-01
			}
			assert.Equal(t, want, version.Has(c), "%s, %v", name, names)
		}
	}
	for c := Capability(1); c < end; c++ {
		assert.NotEqual(t, len(specified[c]) > 0, slices.Contains(unspecified, c), "capability %d is in one of both lists", c)
	}
}

func TestAStableVersionMayLackWhatAnOlderPreviewHad(t *testing.T) {
	for c, versions := range map[Capability]struct{ preview, stable string }{
		Aliases:          {"2021-04-30-preview", "2025-09-01"},
		Normalizers:      {"2020-06-30-preview", "2024-07-01"},
		Debug:            {"2023-07-01-preview", "2024-07-01"},
		HybridSearch:     {"2024-05-01-preview", "2026-04-01"},
		VectorThreshold:  {"2024-05-01-preview", "2026-04-01"},
		FilterOverride:   {"2024-09-01-preview", "2026-04-01"},
		FacetMetrics:     {"2025-11-01-preview", "2026-04-01"},
		StrictPostFilter: {"2025-08-01-preview", "2025-09-01"},
	} {
		assert.True(t, Of(versions.preview).Has(c), versions.preview)
		assert.False(t, Of(versions.stable).Has(c), versions.stable)
	}
	assert.True(t, Of("2024-07-01").Has(RerankWithOriginals))
	assert.False(t, Latest().Has(RerankWithOriginals))
}

func TestUnknownVersionsHaveTheSetOfTheNearestOneOfTheirKind(t *testing.T) {
	for unknown, like := range map[string]string{
		"2030-01-01": "2026-10-01", "2030-01-01-preview": "2026-11-01-preview", "2030-01-01-Private": "2026-11-01-preview",
		"2025-01-01": "2024-07-01", "2025-01-01-preview": "2024-11-01-preview",
		"2015-02-28": "2019-05-06", "2015-02-28-preview": "2019-05-06", "": Default, "1": "2019-05-06", "no version": "2026-10-01",
	} {
		assert.Equal(t, Of(like).has, Of(unknown).has, unknown)
		assert.False(t, Of(unknown).Known(), unknown)
		assert.Equal(t, unknown, Of(unknown).String())
	}
	assert.True(t, Of("2023-10-01-Preview").Known())
	assert.True(t, Of("2023-10-01-Preview").Has(Vectorizers))
	assert.False(t, Version{}.Has(SemanticRanking))
	assert.True(t, Version{}.Has(0), "all versions have unrestricted members")
	assert.Equal(t, Latest(), Of(Default))
}

func TestTheTableIsWellFormed(t *testing.T) {
	require.Less(t, int(end), 64, "a set has a bit for each capability")
	var all capabilities
	seen := make(map[string]bool)
	for i, r := range table {
		require.Equal(t, strings.ToLower(r.version), r.version)
		require.False(t, seen[r.version], r.version)
		require.Equal(t, i > 0, seen[r.like], "%s is compared with a version above it", r.version)
		seen[r.version] = true
		all |= r.has
		for _, c := range r.adds {
			require.False(t, r.like != "" && Of(r.like).Has(c), "%s adds what %s already has", r.version, r.like)
		}
		for _, c := range r.lacks {
			require.True(t, Of(r.like).Has(c), "%s removes what %s lacks", r.version, r.like)
		}
	}
	for c := Capability(1); c < end; c++ {
		require.NotZero(t, all&c.bit(), "no version has capability %d", c)
	}
	require.True(t, Latest().Known())
	require.Len(t, Versions(), len(table))
}

func TestVersionsOfACapabilityAreDescribed(t *testing.T) {
	assert.Equal(t, "2026-04-01 or newer, or 2021-04-30-preview or a newer preview", Aliases.Versions())
	assert.Equal(t, "2024-05-01-preview or a newer preview", VectorThreshold.Versions())
	// Newer versions have all capabilities except those that the service has withdrawn.
	given := []Capability{RerankWithOriginals, RetiredMembers, IndexerCache}
	for c := Capability(1); c < end; c++ {
		for _, stable := range []bool{true, false} {
			had := false
			for _, v := range Versions() {
				if preview(v.String()) == stable || slices.Contains(given, c) {
					continue
				}
				assert.True(t, !had || v.Has(c), "capability %d is lost in %s", c, v)
				had = v.Has(c)
			}
		}
	}
}

func TestOnlyADateBehindAllKnownOnesIsNewer(t *testing.T) {
	for text, newer := range map[string]bool{
		"2026-12-01": true, "2027-01-01-preview": true, "2027-01-01-Preview": true,
		"2026-10-01": false, "2026-11-01": false, "2026-11-01-preview": false, "2025-01-01": false,
		"2027-13-01": false, "2027-01-01-private": false, "2027": false, "latest": false, "": false,
	} {
		assert.Equal(t, newer, Of(text).Newer(), text)
	}
	assert.Equal(t, "2026-10-01", Of("2027-01-01").Nearest().String())
	assert.Equal(t, "2026-11-01-preview", Of("2027-01-01-preview").Nearest().String())
}
