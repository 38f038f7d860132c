// Package lucene parses the simple and the full query syntax of the service into one kind of tree. It does not check
// fields, analyze text or compute scores; the evaluation of the tree does.
package lucene
