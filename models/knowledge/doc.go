// Package knowledge is for programs that let Azure AI Search gather what a language model needs: it
// holds sources of knowledge, the bases that ask them, and the requests and answers of a base.
// The package is experimental: its API may change in any release.
//
// A [Source] is an index, a container of blobs, the web and so on; its Parameters say which. A [Base]
// refers to sources. A [Request] asks it, and a [Response] holds the answer with its references, or a
// stream of [Event] values as it is made. search.IndexClient manages sources and bases, and
// search.KnowledgeBaseClient asks.
//
// They need api-version 2026-04-01 or a preview that has them, and some members a newer one.
//
// As in package models, nil and empty members are left out, so that the service's defaults apply, and
// members that this library does not know survive in AdditionalProperties. What holds secrets is
// printed and logged as JSON with *** in their place; encoding/json writes them.
package knowledge
