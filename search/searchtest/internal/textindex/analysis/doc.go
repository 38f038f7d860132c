// Package analysis turns text into terms, for the emulator's text index and its
// analyze API: the analyzers, tokenizers, token filters, char filters and
// normalizers that the service has, by the names and the @odata.type that an
// index definition gives them.
//
// The service runs Apache Lucene's analyzers. What is here follows those chain
// by chain: most of it is written here, because positions, offsets and limits
// have to be Lucene's. Stemmers are those of the Snowball project and, with stop
// words and normalizers, those of the package languages, which were ported from
// Lucene's.
//
// # What is not supported
//
// A definition may name everything that the service knows: New accepts it, as
// the service does, and only what is then used must be available. Asking for an
// analyzer that is not, or for one that is made of such a thing, is an
// *UnsupportedError that names it. Nothing is accepted and then ignored.
//
//   - Analyzers of languages whose stemmer or dictionary is not available: see
//     Analyzers for those that are.
//   - <language>.microsoft: the linguistic analyzers of Microsoft are closed. They
//     reduce words to dictionary forms ("ran" finds "run"), which no stemmer does.
//     Unless Definition.Approximate is set they are unsupported. If it is set,
//     <language>.lucene stands in for them where there is one, and tests see that
//     words are cut and inflections mostly matched, not how the service ranks or
//     which irregular forms it finds.
//   - The tokenizers microsoft_language_tokenizer and
//     microsoft_language_stemming_tokenizer, for the same reason, always.
//   - The kstem filter and the stemmers that no available library has.
//   - The phonetic filter with encoders other than metaphone, soundex and
//     refinedSoundex.
//   - Regular expressions of Java that Go's linear-time engine cannot run:
//     look-around, back references, possessive quantifiers, atomic groups,
//     intersections of classes and the flag CANON_EQ.
package analysis
