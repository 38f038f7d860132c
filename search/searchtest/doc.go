// Package searchtest is an emulator of Azure AI Search for tests and demonstrations. It runs
// inside the process of the test, as net/http/httptest does for servers.
// The package is stable.
//
//	srv := searchtest.NewServer(nil)
//	defer srv.Close()
//	err := srv.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true}]}`)
//	client := &http.Client{Transport: srv.Transport()} // an azcore client: ClientOptions.Transport = srv
//
// Tests of programs that use search.Client need none of these lines: one call of package
// clienttest, in a folder below this one, makes an index and a client for it.
//
// Requests through Transport never touch a network and start no goroutine, so they work
// inside a testing/synctest bubble. Listen and ListenTLS make the same service reachable
// for other processes.
//
// # What is emulated
//
// Requests: both spellings of routes, /indexes('x')/docs('k') and /indexes/x/docs/k. The
// api-version is required: 2019-05-06 to 2026-10-01, or a preview up to 2026-11-01. A newer
// version is answered as the newest of these, with a warning. Admin keys, query keys and
// bearer tokens, with 401 and 403. Metadata levels, the headers of replies, error bodies,
// gzip in both directions.
//
// Index definitions: create, create or update with conditions, get, list, delete and
// statistics, with the service's validation, defaults and entity tags. The same for synonym
// maps, and for aliases in versions that have them. An alias stands for its index only in
// requests on documents and when the definition of the index is read or updated. An index
// with an alias cannot be deleted. The synonym maps of a field must exist when the index is
// created or updated; they may be deleted afterwards.
//
// Data sources, indexers, skillsets, knowledge sources and knowledge bases: the same
// operations. An indexer needs its data source, index and skillset; a knowledge base needs
// its knowledge sources; a knowledge source of the kind searchIndex needs its index. Replies
// contain no secrets. An update of a data source without a connection string keeps the old
// one. Run, reset, resync and the resets of documents and skills are answered as by the
// service and appear in the status of the indexer. No indexer reads or indexes anything: a
// run, also that of the creation, begins after a second and fails one second later with this
// reason; while it is under way, another one is refused with 409. From 2026-08 on, lists have
// pages of at most 3000 entries.
//
// Queries: search by GET and POST with the simple and the full syntax, fields, modes,
// synonyms, scoring profiles, filters, orders, selections, facets, highlights and paging
// with continuations; vector and hybrid queries; suggestions and autocompletion. Text scores
// equal those of the recorded replies to the last digit. Scores of scoring profiles are
// checked against a single recording. Nearest neighbors are always exact. Results with equal
// scores come in the order of writing.
//
// Permissions of documents: if the permissionFilterOption of an index is enabled, searches,
// suggestions, autocompletion and lookups show the documents that are open to all, and those
// that the reader named by x-ms-query-source-authorization may see (Options.Reader). Without
// that header they show only what is open to all, also for an admin key. An elevated read
// (x-ms-enable-elevated-read) shows everything.
//
// Text analysis: the analyze request, with the components of the index and most of those of
// the service.
//
// Documents: upload, merge, mergeOrUpload and delete, applied in the order of the request;
// every EDM type with its checks and its output format, Int64 exact; the rules for merges
// and keys; the limits of requests and documents; a status for each document, and 200 or 207
// for the request; lookup with $select; count. The whole request is refused, and no action
// applied, if it cannot be read: a missing or illegal key, an unknown property, a value of
// the wrong type, a vector of the wrong length, null in a collection, no action or too many.
// A single action is refused for an error that only indexing can find: a term above
// 32 766 bytes in a filterable, sortable or facetable string, more than 3000 objects in
// complex collections.
//
// Of 955 recorded exchanges with the service, 925 are answered byte for byte, except for
// entity tags, the order of the members of @search.facets and the last digit of a score.
// DIFFERENCES.md lists the others (go test -run Recorded ./search/searchtest). Azure's own
// SDKs for JavaScript, Python and Java pass the scenarios of their manuals with it
// (AZSEARCH_INTEROP=try go test -v ./internal/interop, with Node.js 20, Python 3.10 and
// JDK 17 with Maven, or newer).
//
// The behavior follows the documentation of the service, its published specification and
// recorded traffic. Where those are silent the emulator decides, and the service may differ:
//   - null for a collection stores an empty one, null for a complex object
//     clears it, and {} merged into an object that was never set leaves it null;
//   - two actions on one key in a request are both applied, in order;
//   - members whose name contains @ are ignored, except @search.action;
//   - a repeated property, a whole number with a fraction or an exponent and a time
//     without an offset are refused;
//   - a string such as "False" or "12" is accepted for a boolean or a number by the rules
//     of OData .NET, because the service's error texts are those of OData .NET; a number or
//     a boolean is refused for a string, as users have reported;
//   - NaN and infinity are refused in vectors;
//   - times are truncated, not rounded, to milliseconds;
//   - the limit on the size of a request counts decompressed bytes;
//   - an index cannot have the name of an alias, nor an alias that of an index: 409;
//   - an alias of an index that does not exist is refused with 400;
//   - a synonym map may have 20 000 rules in every tier;
//   - a semantic configuration accepts strings and collections of strings that are
//     retrievable, searchable or not: the documentation requires searchable fields, but
//     reported error texts name only types, and widely used programs have other fields;
//   - a clockwise polygon is all but its inside: the documentation requires the other order;
//   - analyzing with a normalizer gives one token, the whole text;
//   - without a search text, the search.ismatchscoring calls of a filter determine the score
//     of a document: 0 if none of them matches;
//   - a scoring function contributes boost-1 times its interpolated value, which follows the
//     documentation's description; the score is multiplied by 1 plus the contributions; in
//     vector and hybrid queries that is the score of the nearest vector, or the fused score;
//   - refusals of queries in versions from 2023-11-01 on have the codes and details that
//     users have reported, and otherwise none;
//   - a skillset with a cycle or an unknown input is refused at its creation, and so is an
//     indexer with a mapping to a missing field; an input without a source is accepted;
//   - the target index of a projection, its key and the parent key field are checked when the
//     skillset is created, the fields of mappings are not: see search.CheckDefinition;
//   - members of knowledge sources and bases, of newer skills, and of the configuration
//     of an indexer are stored without checks;
//   - a knowledge source that a knowledge base names cannot be deleted: 400;
//   - a new data source without a connection string is accepted, one with "<unchanged>" is
//     refused;
//   - permissions do not trim $count, statistics and writes; "all" in a field of users
//     or groups opens a document to all; a document whose permission fields name no reader
//     is visible to elevated reads only;
//   - an elevated read needs a bearer token that Options.Token accepts: the documentation
//     requires a role, and keys have none;
//   - sensitivity labels are kept in definitions, and not applied;
//   - versions without permission filters ignore both headers, and results are trimmed;
//   - the texts of messages that were never recorded. Tests should check the status, the
//     code and a stable part of a message.
//
// Times on an index of 100 000 hotels and two cores of a virtual machine: a filter, an order
// and the first 50 take 16 ms, three facets 46 ms, the best 50 for two words 8 ms,
// suggestions 7 ms (go test -run '^$' -bench Queries ./search/searchtest). The 10 nearest of
// 10 000 vectors of 1536 dimensions take 9 ms (-bench . in
// search/searchtest/internal/vectors). Search structures are built by the first query that
// needs them; an index that is never searched has none.
//
// # Semantic queries
//
// No rule can reproduce what the models of the service find relevant. Without
// Options.SemanticStandIn, semantic queries are answered with 501. With it, a simple rule
// replaces the models, so that programs that use reranker scores, captions and answers can
// be tested with expected values worked out by hand:
//
// The first 50 results are ranked by their title, keywords and content, as the semantic
// configuration names them: up to 128 words of the title, 128 of the keywords, and 2000 in
// all. A word of the query matches if an analyzer of the field makes the same term of it.
// Question words, pronouns and the stop words of the analyzer en.lucene do not count;
// synonym maps are not used. A word weighs 1 if all of the 50 results have it, and up to 2
// the fewer of them have it.
//
// The reranker score is the share that a document has of the weight of all words, times 3 to
// 4: 3 plus half the share of its title plus half the share of its best sentence. A document
// with all words scores 3 or more, one with half of the words less than 3, one
// without any 0. A caption is the first of the passages with the largest share: whole
// sentences of the content, at most 100 words. A question ends with a question mark or
// begins like an English one; it is answered by the captions whose share reaches the
// threshold. A rule of a faults script makes the ranking fail: see Fault.Semantic.
//
// # Making things go wrong
//
// A script for SetFaults answers with errors, delays requests, cuts connections before or
// after the request is carried out, damages replies, refuses single documents, and limits
// sizes and rates, each for a given time; see Faults. The script and its capacity can be
// replaced while requests run, without a burst in between. StopListening followed by Listen
// simulates a service that crashes under load and returns with its documents; a killed
// process of "azsearch emulator" returns empty. Intercept wraps the server in a function.
// Options has a visibility lag, a latency, a document quota and a capacity.
//
// # Fixtures
//
// Snapshot writes everything that a server holds as readable JSON. Restore loads such a
// file, or one written by hand: the indexes and documents that tests begin with. The
// command "azsearch emulator" loads it with -seed and writes it with -save.
//
// # Seeing what happened
//
// Requests, IndexNames, IndexDefinition, IndexVersion, Documents, DocumentKeys, Document,
// DocumentCount, History and Changes show the state of the server. Changes lists every
// action that an index decided on, in order, with the time, the request and the status, and
// with Options.KeepContents the document that was sent. Tests can compare their own records
// with it.
//
// # What is not emulated
//
// No indexer runs on schedule, and no run reads anything. A knowledge source
// creates no index, indexer, data source or skillset. Retrieval from knowledge bases, files
// of knowledge sources, and agents are answered with 501 and a message that names the
// feature. So are:
//   - semantic queries, without Options.SemanticStandIn;
//   - vector queries that contain no vector, such as those with a text; hybridSearch,
//     filterOverride and the vectorFilterMode strictPostFilter; search.ismatchscoring in the
//     filter of a vector query;
//   - moreLikeThis, speller, queryRewrites and semanticFields, and queryLanguage except in
//     semantic queries;
//   - in a GET, a parameter of another version, and the name that a parameter has in a POST,
//     such as filter for $filter;
//   - the parameter debug, except for semantic queries of previews;
//   - facets of previews, except metrics;
//   - text analysis by a component that is not emulated, such as most Microsoft analyzers.
//     An index may name one: the first request that needs it is refused, or with
//     Options.StrictAnalysis the definition.
//
// There are no replicas or partitions, and the only throttling is the configured one. A
// merge never meets a version conflict, and an update with allowIndexDowntime does not take
// the index offline; a faults script can answer 409 and 422. Quotas of a service tier are
// reported, not enforced. Full metadata equals minimal metadata. Encryption keys, CORS and
// role-based access are accepted without effect. A changed alias takes effect at once; the
// service needs up to ten seconds. Terms are measured before analysis. Only Snapshot keeps
// anything on disk.
//
// The project is not affiliated with Microsoft.
package searchtest
