// Package searchtest is for tests and demonstrations of programs that use Azure
// AI Search: an emulator of the service that runs inside the process, as
// net/http/httptest does for servers.
//
//	srv := searchtest.NewServer(nil)
//	defer srv.Close()
//	err := srv.CreateIndex(`{"name":"hotels","fields":[{"name":"id","type":"Edm.String","key":true}]}`)
//	client := &http.Client{Transport: srv.Transport()} // or ClientOptions.Transport of an azcore client
//
// Requests through Transport never touch a network and start no goroutine, so
// they work inside a testing/synctest bubble. Listen and ListenTLS open the same
// service to other processes.
//
// # What is emulated
//
// Routes in both spellings, /indexes('x')/docs('k') and /indexes/x/docs/k. The
// api-version, which must be there and be one of 2019-05-06 to 2026-04-01 or a
// preview between them. Admin keys, query keys and bearer tokens, 401 and 403.
// Metadata levels, the headers of replies, error bodies, gzip in both
// directions.
//
// Index definitions: create, create or update with conditions, get, list,
// delete, statistics, with the service's validation, defaults and entity tags.
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
// What the service does was taken from its documentation, its published
// specification and recorded traffic. Where those are silent the emulator
// decides; these decisions are no promise of the service:
//   - null for a collection stores an empty one, null for a complex object
//     clears it, and {} merged into an object that was never set leaves it null;
//   - two actions on one key in a request are both applied, in order;
//   - members whose name contains @ are ignored, @search.action excepted;
//   - a property that comes twice, a whole number with a fraction or an exponent
//     and a time without an offset are refused;
//   - times are cut off, not rounded, to milliseconds;
//   - the limit on the size of a request counts decompressed bytes;
//   - the texts of messages that were never recorded. Tests should look at the
//     status, the code and a stable part of a message.
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
// # Seeing what happened
//
// Requests, Documents, Document, DocumentCount, History and Changes look inside.
// Changes is every action that an index decided on, in the order in which it did,
// with the time, the request and the status, and with Options.KeepContents also
// what was sent: what a test needs that compares its own books with the index.
//
// # What is not emulated
//
// Searching, suggestions, autocompletion, text analysis, synonym maps, index
// aliases, indexers, data sources, skillsets and knowledge bases are answered
// with 501 and a message that names the feature. There are no replicas and no
// partitions, and no throttling but the one that is configured. A merge does not
// meet a version conflict and an update with allowIndexDowntime does not take
// the index offline: a faults script gives 409 and 422. Quotas of a service tier
// are reported, not enforced. Full metadata is the same as minimal. Encryption
// keys, CORS and role-based access are accepted and not acted on. Terms are
// measured before analysis. Nothing is kept on disk.
//
// The project is not affiliated with Microsoft.
package searchtest
