// Package knowledge holds the knowledge sources and knowledge bases of Azure AI Search, which gather the context for
// a language model, and the requests to a base with their answers. The package is experimental: its API may change in
// any release.
//
// A [Source] is an index, a container of blobs, the web and so on, according to its Parameters. A [Base] refers to
// sources. A [Request] is a question to a base. Its answer is a [Response] with references, or a stream of [Event]
// values while the answer is written. search.IndexClient manages sources and bases, and search.KnowledgeBaseClient
// asks a base.
//
// All of them need api-version 2026-04-01 or a preview that has them; some members need a newer one.
//
// As in package models, nil and empty members are omitted, so that the service's defaults apply, and unknown members
// are kept in AdditionalProperties. Types with secrets print and log *** in their place.
// encoding/json encodes the secrets, because requests are made of it, and so does the JSON handler of log/slog for
// slices, maps and structs that hold such types. fmt cannot mask values in unexported fields of other structs.
package knowledge
