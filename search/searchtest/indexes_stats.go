package searchtest

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/search/searchtest/internal/stored"
)

// The operations that count.
const (
	OpIndexStatistics   Operation = "indexStatistics"
	OpServiceStatistics Operation = "serviceStatistics"
)

func init() {
	register(operation{
		name: OpIndexStatistics, serve: (*Server).indexStatistics,
		routes: []string{"GET /indexes/{index}/search.stats", "GET /indexes/{index}/stats"},
	})
	register(operation{name: OpServiceStatistics, serve: (*Server).serviceStatistics, routes: []string{"GET /servicestats"}})
}

// indexStatistics answers GET /indexes('x')/search.stats.
func (s *Server) indexStatistics(w http.ResponseWriter, r *http.Request, rt route, _ *exchange) {
	now := time.Now()
	ix, ok := s.lookupIndex(rt.index)
	if !ok {
		writeError(w, r, s.noSuchIndex(rt.index))
		return
	}
	documents, bytes := ix.count(now)
	body := appendContext([]byte{'{'}, r, "/$metadata#"+resourceType(rt.version, "IndexStatistics"))
	body = append(body, `"documentCount":`...)
	body = strconv.AppendInt(body, documents, 10)
	body = append(body, `,"storageSize":`...)
	body = strconv.AppendInt(body, bytes, 10)
	if rt.version.Has(apiversion.VectorIndexSize) {
		body = append(body, `,"vectorIndexSize":`...)
		body = strconv.AppendInt(body, ix.vectorBytes(now), 10)
	}
	writeJSON(w, r, http.StatusOK, append(body, '}'))
}

// vectorBytes is how many bytes the vectors of all documents take, each element
// counted as its type has it.
func (ix *index) vectorBytes(now time.Time) int64 {
	sizes := make(map[int]int) // bytes of an element by the ordinal of the field
	for _, f := range ix.schema.Load().fields {
		switch f.Type {
		case stored.Single:
			sizes[f.Ordinal] = 4
		case stored.Half, stored.Int16:
			sizes[f.Ordinal] = 2
		case stored.SByte, stored.Byte:
			sizes[f.Ordinal] = 1
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.settle(now)
	var total int64
	fields := ix.schema.Load().fields
	for _, document := range ix.visible {
		for _, f := range fields {
			if size := sizes[f.Ordinal]; size > 0 {
				if m, ok := stored.FindMember(document.data, f.Ordinal); ok && !m.Null {
					total += int64(len(m.Value) / f.Type.Size() * size)
				}
			}
		}
	}
	return total
}

// counter is one of the counters of the service.
type counter struct {
	name  string
	usage int64
}

// serviceStatistics answers GET /servicestats. The emulator has no tiers and
// announces no quotas. The limits are those that it keeps to.
func (s *Server) serviceStatistics(w http.ResponseWriter, r *http.Request, rt route, _ *exchange) {
	now := time.Now()
	s.mu.RLock()
	indexes := slices.Collect(maps.Values(s.indexes))
	synonymMaps, aliases := int64(len(s.synonymMaps)), int64(len(s.aliases))
	s.mu.RUnlock()
	var documents, bytes, vectors int64
	for _, ix := range indexes {
		n, size := ix.count(now)
		documents += n
		bytes += size
		vectors += ix.vectorBytes(now)
	}
	counters := []counter{
		{name: "documentCount", usage: documents}, {name: "indexesCount", usage: int64(len(indexes))}, {name: "indexersCount"},
		{name: "dataSourcesCount"}, {name: "storageSize", usage: bytes}, {name: "synonymMaps", usage: synonymMaps},
	}
	if rt.version.Has(apiversion.SkillsetCounter) {
		counters = append(counters, counter{name: "skillsetCount"})
	}
	if rt.version.Has(apiversion.Aliases) {
		counters = append(counters, counter{name: "aliasesCount", usage: aliases})
	}
	if rt.version.Has(apiversion.VectorIndexSize) {
		counters = append(counters, counter{name: "vectorIndexSize", usage: vectors})
	}
	body := appendContext([]byte{'{'}, r, "/$metadata#"+resourceType(rt.version, "ServiceStatistics"))
	body = append(body, `"counters":{`...)
	for i, c := range counters {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendJSONString(body, c.name)
		body = append(body, `:{"usage":`...)
		body = strconv.AppendInt(body, c.usage, 10)
		body = append(body, `,"quota":null}`...)
	}
	body = append(body, `},"limits":{`...)
	if rt.version.Has(apiversion.StorageLimit) {
		body = append(body, `"maxStoragePerIndex":null,`...)
	}
	body = append(body, `"maxFieldsPerIndex":`...)
	body = strconv.AppendInt(body, maxFields, 10)
	body = append(body, `,"maxFieldNestingDepthPerIndex":`...)
	body = strconv.AppendInt(body, maxNestingDepth, 10)
	body = append(body, `,"maxComplexCollectionFieldsPerIndex":`...)
	body = strconv.AppendInt(body, maxComplexCollections, 10)
	body = append(body, `,"maxComplexObjectsInCollectionsPerDocument":`...)
	body = strconv.AppendInt(body, maxComplexObjects, 10)
	writeJSON(w, r, http.StatusOK, append(body, "}}"...))
}
