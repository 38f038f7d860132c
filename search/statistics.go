package search

import (
	"context"
	"encoding/json"
)

// IndexStatistics is how much an index holds. The figures are some minutes old.
type IndexStatistics struct {
	// DocumentCount is the number of documents.
	DocumentCount int64 `json:"documentCount"`
	// StorageSize is the size of the index in bytes.
	StorageSize int64 `json:"storageSize"`
	// VectorIndexSize is how much memory its vectors take, in bytes.
	VectorIndexSize int64 `json:"vectorIndexSize"`
}

// ServiceStatistics is how much of its quotas a service uses.
type ServiceStatistics struct {
	Counters ServiceCounters `json:"counters"`
	Limits   ServiceLimits   `json:"limits"`
}

// ServiceCounters counts what a service holds.
type ServiceCounters struct {
	Documents   ResourceCounter `json:"documentCount"`
	Indexes     ResourceCounter `json:"indexesCount"`
	Aliases     ResourceCounter `json:"aliasesCount"`
	Indexers    ResourceCounter `json:"indexersCount"`
	DataSources ResourceCounter `json:"dataSourcesCount"`
	Skillsets   ResourceCounter `json:"skillsetCount"`
	SynonymMaps ResourceCounter `json:"synonymMaps"`
	// StorageSize is in bytes.
	StorageSize ResourceCounter `json:"storageSize"`
	// VectorIndexSize is in bytes.
	VectorIndexSize ResourceCounter `json:"vectorIndexSize"`
}

// ResourceCounter is how much there is of something and how much there may be.
type ResourceCounter struct {
	Usage int64 `json:"usage"`
	// Quota is nil if there is no fixed quota.
	Quota *int64 `json:"quota"`
}

// ServiceLimits holds the limits of a service's tier. nil is no limit, or one
// that the service does not tell.
type ServiceLimits struct {
	MaxFieldsPerIndex                         *int64 `json:"maxFieldsPerIndex"`
	MaxFieldNestingDepthPerIndex              *int64 `json:"maxFieldNestingDepthPerIndex"`
	MaxComplexCollectionFieldsPerIndex        *int64 `json:"maxComplexCollectionFieldsPerIndex"`
	MaxComplexObjectsInCollectionsPerDocument *int64 `json:"maxComplexObjectsInCollectionsPerDocument"`
	// MaxStoragePerIndex is in bytes.
	MaxStoragePerIndex *int64 `json:"maxStoragePerIndex"`
}

// GetIndexStatisticsOptions are the options of IndexClient.GetIndexStatistics.
// There are none yet.
type GetIndexStatisticsOptions struct{}

// GetIndexStatistics returns how many documents an index holds and how much
// storage it takes.
func (c *IndexClient) GetIndexStatistics(ctx context.Context, name string, _ *GetIndexStatisticsOptions) (_ IndexStatistics, err error) {
	const operation = "GetIndexStatistics"
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	var stats IndexStatistics
	if err := c.getNamed(ctx, c.call(operation, name), "/search.stats", &stats); err != nil {
		return IndexStatistics{}, err
	}
	return stats, nil
}

// GetServiceStatisticsOptions are the options of
// IndexClient.GetServiceStatistics. There are none yet.
type GetServiceStatisticsOptions struct{}

// GetServiceStatistics returns how much of its quotas the service uses, and the
// limits of its tier.
func (c *IndexClient) GetServiceStatistics(ctx context.Context, _ *GetServiceStatisticsOptions) (_ ServiceStatistics, err error) {
	const operation = "GetServiceStatistics"
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	call := c.call(operation, "")
	body, resp, err := c.conn.getURL(ctx, c.conn.url("/servicestats"), call)
	if err != nil {
		return ServiceStatistics{}, err
	}
	var stats ServiceStatistics
	if err := json.Unmarshal(body, &stats); err != nil {
		return ServiceStatistics{}, call.wrap(malformed(err, resp))
	}
	return stats, nil
}
