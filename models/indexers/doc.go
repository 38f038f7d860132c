// Package indexers is for programs that manage the indexers of Azure AI Search: it holds data
// sources, indexers and their status, as search.IndexerClient takes and returns them.
// The package is experimental: its API may change in any release.
//
// A [DataSource] says where documents come from, an [Indexer] reads it into an index, and a skillset
// of package skills enriches the documents on their way. [Status] describes the outcome.
//
// As in package models, nil and empty members are left out, so that the service's defaults apply, and
// members that this library does not know survive in AdditionalProperties. What holds secrets is
// printed and logged as JSON with *** in their place; encoding/json writes them.
package indexers
