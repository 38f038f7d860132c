// Package lucene reads the two query languages of the search service, the
// simple and the full syntax, into one tree. It knows no index: whether a field
// exists, how its text is analyzed and what a clause scores is the business of
// whoever evaluates the tree.
package lucene
