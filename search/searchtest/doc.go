// Package searchtest is for tests and demonstrations of programs that use Azure
// AI Search: an emulator of the service that runs inside the process, as
// net/http/httptest does for servers.
// The package is stable.
//
//	srv := searchtest.NewServer(nil)
//	defer srv.Close()
//	err := srv.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true}]}`)
//	client := &http.Client{Transport: srv.Transport()} // or ClientOptions.Transport of an azcore client
//
// Tests of programs that use search.Client need none of these lines: package
// clienttest, below this one, makes an index and a client for it in one.
//
// Requests through Transport never touch a network and start no goroutine, so
// they work inside a testing/synctest bubble. Listen and ListenTLS open the same
// service to other processes.
//
// # What is emulated
//
// Routes in both spellings, /indexes('x')/docs('k') and /indexes/x/docs/k. The
// api-version, which must be there and be one of 2019-05-06 to 2026-10-01 or a preview
// up to 2026-11-01; a newer one is answered as the newest of these, with a warning.
// Admin keys, query keys and bearer tokens, 401 and 403. Metadata levels, the headers
// of replies, error bodies, gzip in both directions.
//
// Index definitions: create, create or update with conditions, get, list,
// delete, statistics, with the service's validation, defaults and entity tags.
// Synonym maps and aliases in the same way, aliases for the versions that have
// them. An alias stands for its index in requests on documents and where the
// definition of the index is read or updated, and nowhere else; an index that has
// one is not deleted. A field's synonym maps have to exist when the index is created
// or updated, and may be deleted afterwards.
//
// Data sources, indexers, skillsets, knowledge sources and knowledge bases in the same
// way: an indexer needs its data source, index and skillset, a base its sources, a
// source of the kind searchIndex its index. Secrets are not given back, and a data
// source keeps its connection string in an update that leaves it out. Run, reset,
// resync and the resets of documents and skills are answered as the service does, and
// the status of an indexer has them; nothing is read or indexed, and a run is in the
// status a second later as a failure that says so. Lists come in pages from 2026-08 on,
// 3000 at most.
//
// Queries: search by GET and POST with the simple and the full syntax, fields,
// modes, synonyms, scoring profiles, filters, orders, selections, facets,
// highlights, paging with continuations; vector and hybrid queries; suggestions
// and autocompletion. Scores are computed as the service computed them when its
// replies were recorded, to the last digit, for text; a scoring profile as far as
// one recording shows. Nearest neighbors are always exact. What is found among
// equals comes in the order of writing.
//
// Permissions of documents: an index whose permissionFilterOption is enabled shows in
// searches, suggestions, autocompletion and lookups what is open to all, and what the
// reader of x-ms-query-source-authorization may see: Options.Reader. A request without
// that header, with an admin key as well, sees what is open to all. An elevated read
// (x-ms-enable-elevated-read) sees everything.
//
// Text analysis: the analyze request, with the components of the index and most
// of the service's.
//
// Documents: upload, merge, mergeOrUpload and delete, applied in the order of
// the request; every EDM type with its checks and its form on the way out, Int64
// exact; merging; the rules for keys; the limits of a request and of a document;
// a status for each document and 200 or 207 for all; lookup with $select; count.
// A whole request is refused, and nothing of it applied, for what makes it
// unreadable: a missing or illegal key, an unknown property, a value of the
// wrong type, a vector of the wrong length, null in a collection, no action or
// too many of them. A single action is refused for what shows only while
// indexing: a term above 32 766 bytes in a filterable, sortable or facetable
// string, more than 3000 objects in complex collections.
//
// Of 955 recorded exchanges with the service 925 come out byte for byte, but for entity
// tags, the order of the members of @search.facets and the last digit of a score;
// DIFFERENCES.md has the rest (go test -run Recorded ./search/searchtest). Azure's own
// SDKs go through their manuals' scenarios with it: JavaScript, Python and Java
// (AZSEARCH_INTEROP=try go test -v ./internal/interop, with Node.js 20, Python 3.10 and
// JDK 17 with Maven, or newer).
//
// What the service does was taken from its documentation, its published
// specification and recorded traffic. Where those are silent the emulator
// decides; these decisions are no promise of the service:
//   - null for a collection stores an empty one, null for a complex object
//     clears it, and {} merged into an object that was never set leaves it null;
//   - two actions on one key in a request are both applied, in order;
//   - members whose name contains @ are ignored, @search.action excepted;
//   - a property that comes twice, a whole number with a fraction or an exponent
//     and a time without an offset are refused;
//   - a string is taken for a boolean or a number, "False" or "12" for example, by
//     the rules of OData .NET, whose words the service has in its refusals; a number
//     or a boolean is not taken for a string, as users have reported;
//   - NaN and infinity are refused in vectors;
//   - times are cut off, not rounded, to milliseconds;
//   - the limit on the size of a request counts decompressed bytes;
//   - a name that is an alias cannot become an index, nor the other way round: 409;
//   - an alias of an index that does not exist is refused with 400;
//   - a synonym map may have 20 000 rules, whatever the tier;
//   - a semantic configuration takes strings and collections of strings that are
//     retrievable, searchable or not: the documentation asks for searchable ones too,
//     but what users report names types only, and much used programs have others;
//   - analyzing with a normalizer gives one token, the whole text;
//   - a filter with search.ismatchscoring and no search text scores what these
//     score, and 0 where none of them matches;
//   - a scoring function adds its share of boost-1 to 1, by which the score is
//     multiplied; the shares of its interpolations are as documented in words; in
//     vector and hybrid queries that is the score of the nearest, or the fused one;
//   - in versions from 2023-11-01 on, refusals of queries have the codes and details
//     that users have reported, and none where nobody has;
//   - a skillset with a cycle or an unknown input is refused at its creation, and an
//     indexer with a mapping to no field of its index; inputs without a source are not;
//   - members of knowledge sources and bases, of newer skills, and of the configuration
//     of an indexer are kept as they came and not checked;
//   - a knowledge source that a base names is not deleted: 400;
//   - a new data source without a connection string is taken, one with "<unchanged>" is
//     refused;
//   - permissions do not trim $count, statistics and writes; "all" in a field of users
//     or groups opens a document to all, and one whose permission fields name no reader
//     is for elevated reads alone;
//   - an elevated read needs a bearer token, which Options.Token grants everything: the
//     documentation asks for a role, and no key has one;
//   - versions without permission filters know neither header, and results are trimmed;
//   - the texts of messages that were never recorded. Tests should look at the
//     status, the code and a stable part of a message.
//
// On one index of 100 000 hotels, on two cores of a virtual machine: a filter, an
// order and the first 50 take 16 ms, three facets 46 ms, the best 50 for two words 8
// ms, suggestions 7 ms (go test -run '^$' -bench Queries ./search/searchtest); the 10
// nearest of 10 000 vectors of 1536 dimensions 9 ms (-bench . in
// search/searchtest/internal/vectors). The first query of a kind makes what it
// needs; an index that is never searched costs nothing.
//
// # Semantic queries
//
// What the models of the service find relevant no rule can tell. With
// Options.SemanticStandIn a rule takes their place that anyone can work out, so
// that programs can be tested that use reranker scores, captions and answers;
// without, semantic queries are answered with 501. The first 50 results are
// ranked. Of each the title is read, the keywords and the content, as the
// configuration names them: 128 words, 128, and 2000 in all. A word of the query
// is found where an analyzer of the field makes the same term of it; question
// words, pronouns and what the analyzer en.lucene leaves out do not count, nor do
// synonym maps. A word is worth 1 if all of the 50 have it and up to 2 the fewer
// have it. The reranker score is the share of the worth of all words that a
// document has, times 3; or up to 4, by half the share that its title has and half
// of what one of its sentences has. So a document with all the words scores 3 or
// more, one with half of them less, one with none 0. A caption is the first of the
// passages with the largest share: whole sentences of the content, 100 words at
// most. Questions, which end with a question mark or begin as in English, are
// answered by the captions whose share reaches the threshold. A rule of a faults
// script makes the ranking fail: see Fault.Semantic.
//
// # Making things go wrong
//
// SetFaults puts a script in force that answers with errors, delays, cuts
// connections before or after the request was carried out, damages replies,
// refuses single documents and limits sizes and rates, for as long as it says;
// see Faults. It can be replaced while requests are under way, and the capacity
// with it, without a burst in between. StopListening and Listen are a service
// that dies under load and comes back with its documents; a killed process of
// "azsearch emulator" comes back empty. Intercept puts a function around the
// server. Options has a visibility lag, a latency, a document quota and a
// capacity.
//
// # Fixtures
//
// Snapshot writes everything that a server holds as JSON that people can read, and
// Restore puts it into a server, from a file that was written by hand as well: the
// indexes and documents that tests begin with, or that "azsearch emulator -seed"
// starts with and "-save" writes.
//
// # Seeing what happened
//
// Requests, IndexNames, IndexDefinition, IndexVersion, Documents, DocumentKeys,
// Document, DocumentCount, History and Changes look inside.
// Changes is every action that an index decided on, in the order in which it did,
// with the time, the request and the status, and with Options.KeepContents also
// what was sent: what a test needs that compares its own accounts with the index.
//
// # What is not emulated
//
// No indexer runs, at its creation, by its schedule or by request, and a knowledge source
// makes no index, indexer, data source and skillset of its own. Retrieval from knowledge
// bases, files of knowledge sources, and agents are answered with 501 and
// a message that names the feature. So are, without Options.SemanticStandIn,
// semantic queries, vector queries that are not made of a vector, the parameter
// debug except for semantic queries of previews, facets of previews other than
// metrics, and text analysis by a component that is not emulated, the analyzers of Microsoft's for example: an index
// may have one all the same, and is refused when that is needed, or at its creation
// with Options.StrictAnalysis. There are
// no replicas and no partitions, and no throttling but the one that is
// configured. A merge does not meet a version conflict and an update with
// allowIndexDowntime does not take the index offline: a faults script gives 409
// and 422. Quotas of a service tier are reported, not enforced. Full metadata is
// the same as minimal. Encryption keys, CORS and role-based access of requests are accepted
// and not acted on. A changed alias counts at once, while the service takes up to
// ten seconds. Terms are measured before analysis. Nothing is kept on disk but by
// Snapshot.
//
// The project is not affiliated with Microsoft.
package searchtest
