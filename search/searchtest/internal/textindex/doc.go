// Package textindex is the inverted index of the emulator's text search. It stores the terms of documents with their
// positions, evaluates queries with the scores of the service, and does highlighting, suggestions and
// autocompletion.
//
// No Go library computes the scores that Lucene had when the replies of the service were recorded, and the existing
// ones start goroutines, which the emulator promises not to do. So the module has its own index. Only text analysis
// uses libraries, in the package analysis.
//
// # Scores
//
// The recorded scores of the service, of both similarities, are reproduced to the last bit. They show that the
// service
//
//   - rounds the length of a text to one byte, as Lucene did before version 7;
//   - counted objects in collections of complex types as separate documents in the number of documents and the
//     average length, until 2021 at least; in 2023 and later it does not (Options.Nested);
//   - sums the scores of a word over the fields;
//   - uses the maximum of the scores of synonyms.
//
// # Speed
//
// On one core, with 100 000 documents of 16 fields and about 170 words, a search for two words that nearly all
// documents have takes 8 ms, a phrase of these words 14 ms, and a rare word 0.2 ms. Building takes about 10 s, half
// of it analysis, and keeps 77 MiB. Adding a document takes 0.1 ms. A deleted document keeps its memory until half
// of the documents are deleted; then the index is compacted.
package textindex
