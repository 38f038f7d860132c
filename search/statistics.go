package search

import (
	"context"
	"iter"

	"github.com/go-azsearch/azsearch/internal/apiversion"
	"github.com/go-azsearch/azsearch/models"
)

// GetIndexStatisticsOptions are the options of IndexClient.GetIndexStatistics.
// There are none yet.
type GetIndexStatisticsOptions struct{}

// GetIndexStatistics returns the number of documents of an index and its storage. The numbers lag behind writes.
func (c *IndexClient) GetIndexStatistics(ctx context.Context, name string, _ *GetIndexStatisticsOptions) (_ models.IndexStatistics, err error) {
	const operation = "GetIndexStatistics"
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	var stats models.IndexStatistics
	if err := c.getNamed(ctx, c.call(operation, name), "/search.stats", &stats, "documentCount"); err != nil {
		return models.IndexStatistics{}, err
	}
	return stats, nil
}

// GetServiceStatisticsOptions are the options of
// IndexClient.GetServiceStatistics. There are none yet.
type GetServiceStatisticsOptions struct{}

// GetServiceStatistics returns the used quotas of the service and the limits of its tier.
func (c *IndexClient) GetServiceStatistics(ctx context.Context, _ *GetServiceStatisticsOptions) (_ models.ServiceStatistics, err error) {
	const operation = "GetServiceStatistics"
	ctx, end := c.conn.span(ctx, "IndexClient."+operation)
	defer func() { end(err) }()
	call := c.call(operation, "")
	body, resp, err := c.conn.getURL(ctx, c.conn.url("/servicestats"), call)
	if err != nil {
		return models.ServiceStatistics{}, err
	}
	var stats models.ServiceStatistics
	if err := decodeInto(&stats, body, "counters", "limits"); err != nil {
		return models.ServiceStatistics{}, call.wrap(malformed(err, resp))
	}
	return stats, nil
}

// ListIndexStatisticsOptions are the options of IndexClient.ListIndexStatistics. nil and
// the zero value are ready to use.
type ListIndexStatisticsOptions ListIndexesOptions

// ListIndexStatistics returns the statistics of all indexes with their names, in one request per page. It needs
// api-version 2026-10-01 or 2025-11-01-preview. An error ends the iteration.
func (c *IndexClient) ListIndexStatistics(ctx context.Context, opts *ListIndexStatisticsOptions) iter.Seq2[models.NamedIndexStatistics, error] {
	call := c.call("ListIndexStatistics", "")
	page := listed((*ListIndexesOptions)(opts))
	name := func(s *models.NamedIndexStatistics) string { return s.Name }
	return listPages(ctx, c.manager, "/indexstats", call, page, missing(c.conn.apiVersion, apiversion.IndexSummaries), name)
}
