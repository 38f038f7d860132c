// Package indexers holds the data sources, indexers and indexer status of Azure AI Search, in the form that
// search.IndexerClient takes and returns. The package is experimental: its API may change in any release.
//
// A [DataSource] is the origin of documents, an [Indexer] reads it into an index, and a skillset of package skills
// enriches the documents in between. [Status] is the outcome.
//
// As in package models, nil and empty members are omitted, so that the service's defaults apply, and unknown members
// are kept in AdditionalProperties. Types with secrets print and log *** in their place.
// encoding/json encodes the secrets, because requests are made of it, and so does the JSON handler of log/slog for
// slices, maps and structs that hold such types. fmt cannot mask values in unexported fields of other structs.
package indexers
