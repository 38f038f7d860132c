// Package wire reads JSON as bytes, for the encoder of documents, the decoder of replies and the folding of actions.
// It finds the ends of tokens, members and values, and decodes nothing.
//
// It has two scanners, for two kinds of text:
//
//   - Check and Compact, with StringEnd, NumberEnd and WordEnd, check each byte. They are for JSON from a program: a
//     json.RawMessage, the result of a MarshalJSON, a folded action.
//   - EachMember and ValueEnd find the members of an object in text that is known to be JSON, or that encoding/json
//     checks member by member. They check little, and skip strings at the speed of bytes.IndexByte.
//
// A single scanner was measured: with StringEnd in EachMember, reading the key of a raw document takes 1.5 times as
// long, and a page of results 1.1 times (medians of seven alternating runs of
//
//	go test -run '^$' -bench 'KeyFieldGet/raw' ./models
//	go test -run '^$' -bench SearchPage ./search
//
// ), and encoding/json reads a search reply in any case. The list of members in bufferedsender/internal/fold, and the
// reply scanner in package search, stay in their packages, because they depend on the meaning of the text. The
// emulator has its own scanner, whose errors have the service's wording.
package wire
