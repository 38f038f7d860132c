// Package languages has the parts of Lucene's language analyzers that no library offers separately: light stemmers,
// normalization of characters, folding to ASCII, and lists of stop words. All functions are safe for concurrent use.
//
// # Origin
//
// The code comes from github.com/blevesearch/bleve v2.6.3, which ported it from Apache Lucene. Unlike the rest of
// the module, it is under the Apache License 2.0 (file LICENSE in this directory). The lists of stop words name
// their own authors and licences. The Polish table is that of Stempel, which Lucene and bleve distribute. Importing
// bleve would add a dozen modules (a key-value store, bitmaps, geometry) to the go.mod of everyone who tests with
// the emulator.
//
// Changes: functions of a word instead of filters of a token stream; no registry; names in the style of this module;
// the tables for Indic scripts and for folding to ASCII as data; the Polish table compressed, and its reader reduced
// to the one form of that table. The results are the same; the test compares them with testdata/words.txt, which
// bleve wrote.
package languages
