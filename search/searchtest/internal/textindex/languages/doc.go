// Package languages is for the analyzers of the emulator: it has what Lucene's
// analyzers for languages need and no library offers by itself. Those are the
// light stemmers, the normalizations of letters, the folding to ASCII and the
// lists of stop words. Everything here is safe for concurrent use.
//
// # Where it comes from
//
// It is taken from github.com/blevesearch/bleve v2.6.3, which has ported it from
// Apache Lucene, and is under the Apache License 2.0 (the file LICENSE beside
// this one), other than the rest of the module. The lists of stop words name
// their own authors and licences; the Polish table is that of Stempel, which
// Lucene and bleve distribute. Importing bleve for it brought a dozen modules
// (a key-value store, bitmaps, geometry) into the go.mod of everybody who tests
// with the emulator.
//
// What was changed: functions of a word instead of filters of a stream of
// tokens, no registry, names as in the rest of this module, the tables of indic
// scripts and of the folding to ASCII as data, the Polish table compressed, and
// its reader reduced to the one form that it has. What comes out is the same,
// letter by letter; testdata/words.txt was written with bleve and holds it to
// that.
package languages
