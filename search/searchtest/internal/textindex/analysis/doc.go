// Package analysis converts text to terms, for the emulator's text index and its analyze API. It has the service's
// analyzers, tokenizers, token filters, char filters and normalizers, by their names and @odata.types in an index
// definition.
//
// The service runs Apache Lucene's analyzers. This package reproduces their chains, and implements most components
// itself, because positions, offsets and limits must equal Lucene's. Stemmers come from the Snowball project or,
// together with stop words and normalizers, from the package languages, a port of Lucene's.
//
// # What is not supported
//
// As in the service, a definition may name every component that the service has: New accepts it. Only components in
// use must be available: using an unavailable analyzer, or one with an unavailable part, is an *UnsupportedError
// that names the part. No parameter is accepted and then ignored.
//
//   - Analyzers of languages whose stemmer or dictionary is not available. Analyzers returns the available ones.
//   - <language>.microsoft: the linguistic analyzers of Microsoft are closed. They reduce words to dictionary forms
//     ("ran" finds "run"), which no stemmer does. Unless Definition.Approximate is set, they are unsupported. If it
//     is set, <language>.lucene replaces them where it exists: then words are separated correctly and most
//     inflections match, but ranking and irregular forms differ from the service.
//   - The tokenizers microsoft_language_tokenizer and microsoft_language_stemming_tokenizer, for the same reason,
//     even with Approximate.
//   - The kstem filter, and stemmers that no available library has.
//   - The phonetic filter with encoders other than metaphone, soundex and refinedSoundex.
//   - Java regular expressions that Go's linear-time engine cannot run: look-around, back references, possessive
//     quantifiers, atomic groups, intersections of classes and the flag CANON_EQ.
package analysis
