package resources

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/reply"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/routing"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/schema"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/shape"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/store"
)

func init() {
	offer("indexStatistics", 0, false, (*Service).indexStatistics, "GET /indexes/{index}/search.stats", "GET /indexes/{index}/stats")
	offer("serviceStatistics", 0, false, (*Service).serviceStatistics, "GET /servicestats")
	offer("listIndexStatistics", apiversion.IndexSummaries, false, (*Service).listIndexStatistics, "GET /indexstats")
}

// indexStatistics answers GET /indexes('x')/search.stats.
func (s *Service) indexStatistics(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	now := time.Now()
	ix, ok := s.LookupIndex(rt.Index)
	if !ok {
		reply.WriteError(w, r, s.NoSuchIndex(rt.Index))
		return
	}
	documents, bytes := ix.Count(now)
	body := reply.AppendContext([]byte{'{'}, r, "/$metadata#"+shape.ResourceType(rt.Version, "IndexStatistics"))
	body = append(body, `"documentCount":`...)
	body = strconv.AppendInt(body, documents, 10)
	body = append(body, `,"storageSize":`...)
	body = strconv.AppendInt(body, bytes, 10)
	if rt.Version.Has(apiversion.VectorIndexSize) {
		body = append(body, `,"vectorIndexSize":`...)
		body = strconv.AppendInt(body, ix.VectorBytes(now), 10)
	}
	reply.WriteJSON(w, r, http.StatusOK, append(body, '}'))
}

// listIndexStatistics answers GET /indexstats.
func (s *Service) listIndexStatistics(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	s.lock.RLock()
	names, next, err := pageOf(r, rt, sortedKeys(s.indexes))
	indexes := make([]*store.Index, len(names))
	for i, name := range names {
		indexes[i] = s.indexes[name]
	}
	s.lock.RUnlock()
	if err != nil {
		reply.WriteError(w, r, err)
		return
	}
	now := time.Now()
	body := reply.AppendContext([]byte{'{'}, r, "/$metadata#Collection("+shape.ResourceType(rt.Version, "IndexStatisticsSummary")+")")
	body = append(body, `"value":[`...)
	for i, ix := range indexes {
		if i > 0 {
			body = append(body, ',')
		}
		documents, bytes := ix.Count(now)
		body = append(body, `{"name":`...)
		body = reply.AppendString(body, ix.Name)
		body = append(body, `,"documentCount":`...)
		body = strconv.AppendInt(body, documents, 10)
		body = append(body, `,"storageSize":`...)
		body = strconv.AppendInt(body, bytes, 10)
		body = append(body, `,"vectorIndexSize":`...)
		body = strconv.AppendInt(body, ix.VectorBytes(now), 10)
		body = append(body, '}')
	}
	reply.WriteJSON(w, r, http.StatusOK, appendNextLink(append(body, ']'), next))
}

// counter is one of the counters in the service statistics.
type counter struct {
	name  string
	usage int64
	needs apiversion.Capability
}

// serviceStatistics answers GET /servicestats. The emulator has no tiers and reports no
// quotas. The limits are those that it enforces.
func (s *Service) serviceStatistics(w http.ResponseWriter, r *http.Request, rt routing.Route) {
	now := time.Now()
	s.lock.RLock()
	indexes := slices.Collect(maps.Values(s.indexes))
	c := &s.Catalog
	synonymMaps, aliases, indexers, dataSources, skillsets := len(c.synonymMaps), len(c.aliases), len(c.indexers), len(c.dataSources), len(c.skillsets)
	sources, bases := len(c.knowledgeSources), len(c.knowledgeBases)
	s.lock.RUnlock()
	var documents, bytes, vectors int64
	for _, ix := range indexes {
		n, size := ix.Count(now)
		documents += n
		bytes += size
		vectors += ix.VectorBytes(now)
	}
	counters := slices.DeleteFunc([]counter{
		{"documentCount", documents, 0},
		{"indexesCount", int64(len(indexes)), 0},
		{"indexersCount", int64(indexers), 0},
		{"dataSourcesCount", int64(dataSources), 0},
		{"storageSize", bytes, 0},
		{"synonymMaps", int64(synonymMaps), 0},
		{"skillsetCount", int64(skillsets), apiversion.SkillsetCounter},
		{"aliasesCount", int64(aliases), apiversion.Aliases},
		{"vectorIndexSize", vectors, apiversion.VectorIndexSize},
		{"knowledgeBasesCount", int64(bases), apiversion.KnowledgeCounters},
		{"knowledgeSourcesCount", int64(sources), apiversion.KnowledgeCounters},
	}, func(c counter) bool { return !rt.Version.Has(c.needs) })
	body := reply.AppendContext([]byte{'{'}, r, "/$metadata#"+shape.ResourceType(rt.Version, "ServiceStatistics"))
	body = append(body, `"counters":{`...)
	for i, c := range counters {
		if i > 0 {
			body = append(body, ',')
		}
		body = reply.AppendString(body, c.name)
		body = append(body, `:{"usage":`...)
		body = strconv.AppendInt(body, c.usage, 10)
		body = append(body, `,"quota":null}`...)
	}
	body = append(body, `},"limits":{`...)
	if rt.Version.Has(apiversion.StorageLimit) {
		body = append(body, `"maxStoragePerIndex":null,`...)
	}
	body = append(body, `"maxFieldsPerIndex":`...)
	body = strconv.AppendInt(body, schema.MaxFields, 10)
	body = append(body, `,"maxFieldNestingDepthPerIndex":`...)
	body = strconv.AppendInt(body, schema.MaxNestingDepth, 10)
	body = append(body, `,"maxComplexCollectionFieldsPerIndex":`...)
	body = strconv.AppendInt(body, schema.MaxComplexCollections, 10)
	body = append(body, `,"maxComplexObjectsInCollectionsPerDocument":`...)
	body = strconv.AppendInt(body, schema.MaxComplexObjects, 10)
	reply.WriteJSON(w, r, http.StatusOK, append(body, "}}"...))
}
