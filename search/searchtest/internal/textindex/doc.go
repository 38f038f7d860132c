// Package textindex is the inverted index behind the emulator's text search: the
// terms of documents with their positions, the evaluation of queries over them
// with the scores of the service, highlighting, suggestions and autocompletion.
//
// It is ours because no library for Go scores as Lucene did when the service's
// replies were recorded, and because those there are start goroutines, which the
// emulator promises not to do. Only the analysis of text comes from a library, in
// the package analysis below this one.
//
// # Scores
//
// The recorded scores of the service, of both similarities, come out to the last
// bit. They show that the service
//
//   - rounds the length of a text to one byte, as Lucene did before version 7;
//   - counted the objects in collections of complex types as documents of their own
//     in the number of documents and the average length, until 2021 at least; in
//     2023 and later it does not (Options.Nested);
//   - adds up the scores of a word over the fields;
//   - takes the best of the scores of synonyms.
//
// # Speed
//
// On one core, with 100 000 documents of 16 fields and some 170 words, a search for
// two words that nearly all of them have takes 8 ms, one for a phrase of these
// words 14 ms, one for a rare word 0.2 ms. Building takes about 10 s, half of it
// analysis, and keeps 77 MiB; a further document costs 0.1 ms. A document that is
// deleted costs memory until half of the documents are, when the index is
// compacted.
package textindex
