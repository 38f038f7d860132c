// Package facets compiles facet expressions and counts stored documents.
//
// A [Facet] is compiled once per request. A [Counter] receives every document that matches the query; its [Bucket]s
// are in the order of the reply. The caller encodes values as JSON; for bounds of ranges of times see [AppendBound].
//
// Metrics are a preview feature of the service: see [Metric]. No recording shows their result without any value;
// here sums and cardinalities are 0 then, and the others null.
//
// Not supported, and refused with their name: hierarchies (a > b) and term filters, which are preview features.
//
// Three facets of 100 000 documents, by values, ranges or intervals, take 30 ms in total on one core of an AMD EPYC:
//
//	go test -run '^$' -bench . -cpu 1 ./search/searchtest/internal/facets
package facets
